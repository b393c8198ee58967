# The targets that an application links: PACKAGE::Backend and PACKAGE::Backend_static.
#
# Each brings an object file that registers the backends before main. An object on the link line is
# never dropped, so neither --as-needed nor --gc-sections nor an unreferenced archive can lose the
# backend, and it reaches the program even through a static library that links the backend
# privately. The object is compiled here, in the application's build.
include_guard(DIRECTORY)

# etbk_add_registration(TARGET KIND PACKAGE NAME): an object library that registers a plugin.
# KIND is `shared` or `static`.
function(etbk_add_registration target kind package name library_name)
  if(TARGET ${target})
    return()
  endif()
  etbk_find_runtime(runtime version why)
  set(ETBK_PACKAGE "${package}")
  set(ETBK_NAME "${name}")
  set(ETBK_LIBRARY_NAME "${library_name}")
  set(source "${CMAKE_CURRENT_BINARY_DIR}/etbk/${package}_${kind}_registration.cpp")
  configure_file("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/registration_${kind}.cpp.in" "${source}" @ONLY)
  add_library(${target} OBJECT EXCLUDE_FROM_ALL "${source}")
  etbk_compile_as_ours(${target})
  target_link_libraries(${target} PRIVATE ExecuTorchBackendKit::host ${runtime})
endfunction()

# etbk_link_targets(PACKAGE p NAME n [SHARED target LIBRARY_NAME file]
#                   [STATIC target [ARCHIVE_TARGET target]])
# Makes the link targets from the library targets, real or imported. ARCHIVE_TARGET builds the
# archive, where this project does.
function(etbk_link_targets)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "PACKAGE;NAME;SHARED;STATIC;LIBRARY_NAME;ARCHIVE_TARGET"
                        "")
  if(arg_SHARED AND NOT TARGET ${arg_PACKAGE}::Backend)
    set(registration etbk_register_${arg_PACKAGE})
    etbk_add_registration(${registration} shared ${arg_PACKAGE} ${arg_NAME} ${arg_LIBRARY_NAME})
    add_library(${arg_PACKAGE}::Backend INTERFACE IMPORTED)
    target_link_libraries(
      ${arg_PACKAGE}::Backend INTERFACE $<TARGET_OBJECTS:${registration}>
                                        ExecuTorchBackendKit::host ${arg_SHARED})
    # The library is linked twice: above for the run path, here so that --as-needed keeps it.
    if(CMAKE_SYSTEM_NAME MATCHES "Linux|Android|BSD")
      target_link_options(
        ${arg_PACKAGE}::Backend
        INTERFACE
        "LINKER:--push-state,--no-as-needed,$<TARGET_LINKER_FILE:${arg_SHARED}>,--pop-state")
    elseif(APPLE)
      # Not verified: no Apple machine was at hand.
      target_link_options(${arg_PACKAGE}::Backend INTERFACE
                          "LINKER:-needed_library,$<TARGET_LINKER_FILE:${arg_SHARED}>")
    endif()
  endif()

  if(arg_STATIC AND NOT TARGET ${arg_PACKAGE}::Backend_static)
    set(registration etbk_register_${arg_PACKAGE}_static)
    etbk_add_registration(${registration} static ${arg_PACKAGE} ${arg_NAME} "")
    if(arg_ARCHIVE_TARGET)
      add_dependencies(${registration} ${arg_ARCHIVE_TARGET})
    endif()
    add_library(${arg_PACKAGE}::Backend_static INTERFACE IMPORTED)
    target_link_libraries(
      ${arg_PACKAGE}::Backend_static INTERFACE $<TARGET_OBJECTS:${registration}> ${arg_STATIC}
                                               ExecuTorchBackendKit::host)
  endif()
endfunction()

# etbk_import_backend(PACKAGE p NAME n [LIBRARY file] [ARCHIVE file]
#                     [ARCHIVE_LINK_LIBRARIES item...])
# Called by the package that etbk_add_backend writes. Its arguments are kept compatible: a vendor's
# package is used with later versions of the kit.
function(etbk_import_backend)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "PACKAGE;NAME;LIBRARY;ARCHIVE"
                        "ARCHIVE_LINK_LIBRARIES")
  set(forms "")
  if(arg_LIBRARY)
    get_filename_component(library_name "${arg_LIBRARY}" NAME)
    set(forms SHARED ${arg_PACKAGE}::library LIBRARY_NAME ${library_name})
    if(NOT TARGET ${arg_PACKAGE}::library)
      add_library(${arg_PACKAGE}::library SHARED IMPORTED)
      set_target_properties(${arg_PACKAGE}::library PROPERTIES IMPORTED_LOCATION "${arg_LIBRARY}"
                                                               IMPORTED_SONAME "${library_name}")
    endif()
  endif()
  if(arg_ARCHIVE)
    list(APPEND forms STATIC ${arg_PACKAGE}::archive)
    if(NOT TARGET ${arg_PACKAGE}::archive)
      add_library(${arg_PACKAGE}::archive STATIC IMPORTED)
      set_target_properties(
        ${arg_PACKAGE}::archive
        PROPERTIES IMPORTED_LOCATION "${arg_ARCHIVE}"
                   IMPORTED_LINK_INTERFACE_LANGUAGES CXX
                   INTERFACE_LINK_LIBRARIES "${arg_ARCHIVE_LINK_LIBRARIES}")
    endif()
  endif()
  etbk_link_targets(PACKAGE ${arg_PACKAGE} NAME ${arg_NAME} ${forms})
endfunction()
