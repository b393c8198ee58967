# The sources of the .pte library, once: for this build, and for applications that compile the
# installed sources in their own. Paths are relative to the folder `src`.
set(ETBK_PTE_SOURCES
    alignment.cpp
    blob.cpp
    byte_file.cpp
    check.cpp
    container.cpp
    damage.cpp
    delegate_rules.cpp
    dtype.cpp
    envelope_rules.cpp
    fast_hash.cpp
    findings.cpp
    grade.cpp
    instruction_rules.cpp
    kernel_limits.cpp
    operator_schemas.cpp
    pte_c.cpp
    report.cpp
    segment_rules.cpp
    semantics.cpp
    sha256.cpp
    stock_blobs.cpp
    tensor_rules.cpp
    text.cpp
    xnnpack_blob.cpp)
