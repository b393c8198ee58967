# The tool that reads notes and writes manifests. It is installed for the machine that builds; when
# the kit's folder is one for another machine, name a tool that runs here in ETBK_NOTE_TOOL.
include_guard(DIRECTORY)

set(ETBK_NOTE_TOOL
    ""
    CACHE FILEPATH "etbk-note for the machine that builds; empty: the one beside the kit's headers")
mark_as_advanced(ETBK_NOTE_TOOL)

if(NOT TARGET ExecuTorchBackendKit::etbk-note)
  add_executable(ExecuTorchBackendKit::etbk-note IMPORTED)
  if(ETBK_NOTE_TOOL)
    set_target_properties(ExecuTorchBackendKit::etbk-note PROPERTIES IMPORTED_LOCATION
                                                                     "${ETBK_NOTE_TOOL}")
  else()
    set_target_properties(
      ExecuTorchBackendKit::etbk-note
      PROPERTIES IMPORTED_LOCATION
                 "${ETBK_PREFIX}/bin/etbk-note${CMAKE_HOST_EXECUTABLE_SUFFIX}")
  endif()
endif()
