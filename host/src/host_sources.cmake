# The sources of the host, once: for this build, and for applications that compile the installed
# host in their own. Paths are relative to the folder of the sources.
#
#   ETBK_HOST_CORE_SOURCES   knows plugins, and no ExecuTorch header
#   ETBK_HOST_SOURCES        with the adapter, which knows ExecuTorch
#   ETBK_HOST_NOTE_SOURCES   the part that reads libraries and manifests
set(ETBK_HOST_NOTE_SOURCES
    architecture.cpp
    byte_source.cpp
    elf_reader.cpp
    finding_texts.cpp
    json_report.cpp
    library_inspector.cpp
    manifest_reader.cpp
    plugin_note.cpp)
set(ETBK_HOST_CORE_SOURCES
    ${ETBK_HOST_NOTE_SOURCES}
    audit.cpp
    discovery.cpp
    host.cpp
    host_c.cpp
    loader.cpp
    plugin_entry.cpp
    registry.cpp
    surroundings.cpp)
set(ETBK_HOST_SOURCES adapter.cpp ${ETBK_HOST_CORE_SOURCES})
