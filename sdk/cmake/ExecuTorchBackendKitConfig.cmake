# ExecuTorch Backend Kit: what find_package(ExecuTorchBackendKit CONFIG) gives.
#
#   ExecuTorchBackendKit::plugin      the headers a backend is written against; needs no ExecuTorch
#   ExecuTorchBackendKit::host        the host, compiled in this build against the ExecuTorch that
#                                     was found before (find_package(executorch CONFIG REQUIRED))
#   ExecuTorchBackendKit::pte         reads, verifies and checks .pte files; needs no ExecuTorch
#   ExecuTorchBackendKit::etbk-note   reads a plugin's note and writes its manifest; runs on the
#                                     machine that builds
#   etbk_add_backend(...)             builds and packages a backend: see etbk_add_backend.cmake
#
# Components: `host` makes the missing of ExecuTorch an error. Everything is found relative to this
# file, so the folder can be moved.
cmake_minimum_required(VERSION 3.28)

get_filename_component(ETBK_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

if(NOT EXISTS "${ETBK_PREFIX}/include/executorch_backend_kit/plugin.h")
  set(ExecuTorchBackendKit_FOUND FALSE)
  set(ExecuTorchBackendKit_NOT_FOUND_MESSAGE
      "the installation is incomplete: ${ETBK_PREFIX}/include has no executorch_backend_kit/plugin.h. Install the package executorch-backend-kit again")
  return()
endif()

if(NOT TARGET ExecuTorchBackendKit::plugin)
  add_library(ExecuTorchBackendKit::plugin INTERFACE IMPORTED)
  set_target_properties(ExecuTorchBackendKit::plugin PROPERTIES INTERFACE_INCLUDE_DIRECTORIES
                                                                "${ETBK_PREFIX}/include")
endif()

include("${CMAKE_CURRENT_LIST_DIR}/etbk_note_tool.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/etbk_host.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/etbk_pte.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/etbk_backend_targets.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/etbk_static_archive.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/etbk_backend_package.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/etbk_add_backend.cmake")

etbk_provide_host(ExecuTorchBackendKit_host_FOUND ETBK_HOST_MISSING_BECAUSE)
foreach(ETBK_COMPONENT IN LISTS ExecuTorchBackendKit_FIND_COMPONENTS)
  if(ETBK_COMPONENT STREQUAL "plugin")
    set(ExecuTorchBackendKit_plugin_FOUND TRUE)
  elseif(NOT ETBK_COMPONENT STREQUAL "host")
    set(ExecuTorchBackendKit_${ETBK_COMPONENT}_FOUND FALSE)
    set(ETBK_HOST_MISSING_BECAUSE
        "it has no component '${ETBK_COMPONENT}'; the components are plugin and host")
  endif()
  if(ExecuTorchBackendKit_FIND_REQUIRED_${ETBK_COMPONENT}
     AND NOT ExecuTorchBackendKit_${ETBK_COMPONENT}_FOUND)
    set(ExecuTorchBackendKit_FOUND FALSE)
    set(ExecuTorchBackendKit_NOT_FOUND_MESSAGE "${ETBK_HOST_MISSING_BECAUSE}")
    return()
  endif()
endforeach()
unset(ETBK_COMPONENT)
if(NOT ExecuTorchBackendKit_host_FOUND AND NOT ExecuTorchBackendKit_FIND_QUIETLY)
  message(STATUS "ExecuTorchBackendKit: plugins can be built here, applications cannot: "
                 "${ETBK_HOST_MISSING_BECAUSE}")
endif()
