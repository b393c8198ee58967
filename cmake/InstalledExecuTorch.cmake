# Lets find_package(executorch) see the ExecuTorch of the Python that the build uses. For tests
# only: they run programs, and so need the kernels that the installed wheel carries.
include_guard(GLOBAL)

find_package(Python 3.10 REQUIRED COMPONENTS Interpreter)
execute_process(
  COMMAND "${Python_EXECUTABLE}" -c
          "import importlib.util as u; print(u.find_spec('executorch').submodule_search_locations[0])"
  OUTPUT_VARIABLE ETBK_INSTALLED_EXECUTORCH
  ERROR_VARIABLE reason
  OUTPUT_STRIP_TRAILING_WHITESPACE
  RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "The tests need ExecuTorch, and ${Python_EXECUTABLE} has none. "
                      "Run scripts/setup, or configure with -DETBK_BUILD_TESTS=OFF.\n${reason}")
endif()
list(APPEND CMAKE_PREFIX_PATH "${ETBK_INSTALLED_EXECUTORCH}")
