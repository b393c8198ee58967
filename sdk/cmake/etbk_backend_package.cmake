# The package that applications find: written into the build folder with this machine's paths, and
# installed with paths relative to itself. Works on the arguments of etbk_add_backend.
include_guard(DIRECTORY)
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

# What an application has to link beside the archive, checked to mean something there.
function(etbk_check_passed_on)
  foreach(item IN LISTS passed_on)
    if(item MATCHES "\\$<")
      message(FATAL_ERROR "etbk_add_backend: '${item}' in LINK_LIBRARIES, or in the interface of a "
                          "library there, cannot be written into the package of the static plugin "
                          "'${arg_NAME}'. Name libraries without generator expressions, or pass "
                          "NO_STATIC.")
    elseif(TARGET "${item}")
      get_target_property(imported "${item}" IMPORTED)
      if(NOT imported)
        message(FATAL_ERROR "etbk_add_backend: an application that links the static plugin "
                            "'${arg_NAME}' would need '${item}', which only this project has. Make "
                            "it a STATIC library, import it from a package named in "
                            "FIND_DEPENDENCIES, or pass NO_STATIC.")
      endif()
    elseif(IS_ABSOLUTE "${item}")
      message(FATAL_ERROR "etbk_add_backend: '${item}' in LINK_LIBRARIES is a path of this machine "
                          "and would be written into the package. Name the library without its "
                          "folder, import it from a package named in FIND_DEPENDENCIES, or pass "
                          "NO_STATIC.")
    endif()
  endforeach()
endfunction()

function(etbk_package_backend)
  set(archive_link_libraries "")
  set(find_dependencies "")
  if(archive)
    etbk_check_passed_on()
    set(archive_link_libraries "${passed_on}")
  endif()
  foreach(dependency IN LISTS arg_FIND_DEPENDENCIES)
    string(APPEND find_dependencies "find_dependency(${dependency})\n")
  endforeach()
  string(REGEX MATCH "^[0-9]+\\.[0-9]+\\.[0-9]+" number "${arg_VERSION}")
  set(config_folder lib/cmake/${arg_PACKAGE})
  set(work "${CMAKE_CURRENT_BINARY_DIR}/etbk/${arg_NAME}")

  # Installed: everything relative to the folder of the config.
  set(here "\${CMAKE_CURRENT_LIST_DIR}")
  file(RELATIVE_PATH up "/${config_folder}" "/")
  string(REGEX REPLACE "/$" "" up "${up}")
  set(kit_hint "${here}/${up}/../executorch_backend_kit")
  set(library_file "")
  if(shared)
    set(library_file "${here}/${up}/${arg_DESTINATION}/$<TARGET_FILE_NAME:${library}>")
  endif()
  set(archive_file "")
  if(archive)
    set(archive_file "${here}/${up}/lib/lib${library}.a")
  endif()
  configure_file("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/BackendConfig.cmake.in" "${work}/installed.cmake.in" @ONLY)
  file(GENERATE OUTPUT "${work}/$<CONFIG>/installed.cmake" INPUT "${work}/installed.cmake.in")

  # In the build folder: the files where they were built.
  set(kit_hint "${ETBK_PREFIX}")
  if(shared)
    set(library_file "$<TARGET_FILE:${library}>")
  endif()
  set(archive_file "${archive}")
  configure_file("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/BackendConfig.cmake.in" "${work}/built.cmake.in" @ONLY)
  get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(multi_config)
    set(config_suffix "$<CONFIG>/")
  endif()
  file(GENERATE OUTPUT "${CMAKE_BINARY_DIR}/${config_suffix}${arg_PACKAGE}Config.cmake"
       INPUT "${work}/built.cmake.in")
  write_basic_package_version_file("${CMAKE_BINARY_DIR}/${arg_PACKAGE}ConfigVersion.cmake"
                                   VERSION ${number} COMPATIBILITY SameMajorVersion)

  if(shared)
    install(
      TARGETS ${library}
      LIBRARY DESTINATION "${arg_DESTINATION}" COMPONENT ${arg_NAME}
      RUNTIME DESTINATION "${arg_DESTINATION}" COMPONENT ${arg_NAME}
      ARCHIVE DESTINATION lib COMPONENT ${arg_NAME})
    install(FILES "${manifest}" DESTINATION "${arg_DESTINATION}" COMPONENT ${arg_NAME})
  endif()
  if(archive)
    install(FILES "${archive}" DESTINATION lib COMPONENT ${arg_NAME})
  endif()
  install(FILES "${work}/$<CONFIG>/installed.cmake" DESTINATION ${config_folder}
          RENAME ${arg_PACKAGE}Config.cmake COMPONENT ${arg_NAME})
  install(FILES "${CMAKE_BINARY_DIR}/${arg_PACKAGE}ConfigVersion.cmake"
          DESTINATION ${config_folder} COMPONENT ${arg_NAME})
endfunction()

# PACKAGE::Backend and PACKAGE::Backend_static in the vendor's own project, for its own tests.
function(etbk_link_targets_here)
  if(NOT TARGET ExecuTorchBackendKit::host)
    return()
  endif()
  set(forms "")
  if(shared)
    set(forms SHARED ${library} LIBRARY_NAME lib${library}${CMAKE_SHARED_LIBRARY_SUFFIX})
  endif()
  if(archive)
    add_library(${arg_PACKAGE}::archive INTERFACE IMPORTED)
    target_link_libraries(${arg_PACKAGE}::archive INTERFACE "${archive}" ${passed_on})
    list(APPEND forms STATIC ${arg_PACKAGE}::archive ARCHIVE_TARGET ${archive_target})
  endif()
  etbk_link_targets(PACKAGE ${arg_PACKAGE} NAME ${arg_NAME} ${forms})
endfunction()
