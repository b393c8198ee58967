# Keeps the place where the kit is built out of what is built: equal sources give equal bytes.
include_guard(GLOBAL)

add_compile_options("-ffile-prefix-map=${CMAKE_SOURCE_DIR}=." "-ffile-prefix-map=${CMAKE_BINARY_DIR}=.")
