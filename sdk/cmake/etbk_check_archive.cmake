# Build step: stops the build unless a static plugin's entry is its only global definition (ABI-013).
# Arguments: NM OBJECT ENTRY
cmake_minimum_required(VERSION 3.28)

execute_process(
  COMMAND "${NM}" -g --defined-only "${OBJECT}"
  OUTPUT_VARIABLE symbols
  COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^ \n]+ [A-Za-z] [^\n]+" symbols "${symbols}")
set(strange ${symbols})
list(FILTER strange EXCLUDE REGEX " T ${ENTRY}$")
list(LENGTH symbols count)
list(LENGTH strange strange_count)
if(count EQUAL strange_count)
  message(FATAL_ERROR "The plugin defines no entry. One of its sources needs ETBK_PLUGIN(...) "
                      "(C++) or ETBK_PLUGIN_ENTRY(...) (C), compiled without ETBK_STATIC_PLUGIN.")
endif()
if(strange)
  list(JOIN strange "\n  " strange)
  message(FATAL_ERROR "Beside its entry, the static plugin defines symbols that another plugin can "
                      "collide with:\n  ${strange}\nSymbols of the kind 'u' come from a library "
                      "that was compiled by GCC without -fno-gnu-unique: compile it with that "
                      "option, or pass NO_STATIC.")
endif()
