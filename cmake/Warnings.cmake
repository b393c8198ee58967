# The warnings that the kit's own sources are free of: link etbk_warnings privately to get them.
# They are errors in the presets, and only warnings for somebody who builds the wheel with a
# compiler that we have not seen.
include_guard(GLOBAL)

add_library(etbk_warnings INTERFACE)
target_compile_options(
  etbk_warnings
  INTERFACE -Wall
            -Wextra
            -Wpedantic
            -Wconversion
            -Wshadow
            -Wundef
            -Wvla
            $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>
            $<$<COMPILE_LANGUAGE:CXX>:-Woverloaded-virtual>
            $<$<COMPILE_LANGUAGE:CXX>:-Wextra-semi>)
