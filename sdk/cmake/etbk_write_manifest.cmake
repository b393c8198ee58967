# Build step: writes a plugin's manifest from the note in the built library, and stops the build
# where the note says something else than etbk_add_backend was told.
# Arguments: TOOL LIBRARY MANIFEST NAME IDS (comma-separated) VENDOR VERSION
cmake_minimum_required(VERSION 3.28)

if(NOT EXISTS "${TOOL}")
  message(FATAL_ERROR "The tool etbk-note, which writes manifests, is missing: ${TOOL}\n"
                      "Install the package executorch-backend-kit again, or configure with "
                      "-DETBK_NOTE_TOOL=<an etbk-note for this machine>.")
endif()
# Written under another name until it is known to be right.
execute_process(
  COMMAND "${TOOL}" --manifest "${LIBRARY}" -o "${MANIFEST}.new"
  ERROR_VARIABLE error
  RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "The manifest of ${LIBRARY} could not be written (etbk-note: ${status}).\n"
                      "${error}If etbk-note cannot run on this machine, configure with "
                      "-DETBK_NOTE_TOOL=<an etbk-note for this machine>.")
endif()
file(READ "${MANIFEST}.new" text)

function(compare what given)
  if(ARGC GREATER 2)
    set(written "${ARGV2}")
  else()
    string(JSON written GET "${text}" ${what})
  endif()
  if(NOT written STREQUAL given)
    file(REMOVE "${MANIFEST}.new")
    message(FATAL_ERROR "The plugin's source and etbk_add_backend disagree about '${what}': the "
                        "note in ${LIBRARY} says '${written}', etbk_add_backend says '${given}'. "
                        "Make the two equal; ETBK_PLUGIN(ETBK_PLUGIN_NAME, ETBK_PLUGIN_VENDOR, "
                        "ETBK_PLUGIN_VERSION, ...) takes all but the ids from etbk_add_backend.")
  endif()
endfunction()

compare(name "${NAME}")
compare(vendor "${VENDOR}")
compare(version "${VERSION}")
string(JSON count LENGTH "${text}" backends)
set(ids "")
if(count GREATER 0)
  math(EXPR last "${count} - 1")
  foreach(index RANGE ${last})
    string(JSON id GET "${text}" backends ${index})
    list(APPEND ids "${id}")
  endforeach()
endif()
list(JOIN ids "," ids)
compare(backends "${IDS}" "${ids}")

file(RENAME "${MANIFEST}.new" "${MANIFEST}")
