# etbk_add_backend(
#   NAME acme                          the plugin's name: [a-z][a-z0-9_]*
#   IDS AcmeBackend [AcmeOther...]     the backends in it, as stored in .pte files
#   VENDOR "Acme"
#   VERSION 1.2.0                      of the backend
#   PACKAGE AcmeExecuTorchBackend      the CMake package that applications will find
#   SOURCES acme_backend.cpp ...       C++ or C; one of them has ETBK_PLUGIN or ETBK_PLUGIN_ENTRY
#   [LINK_LIBRARIES item...]           static and object libraries go into the plugin; what else
#                                      there is (a driver, Threads::Threads) is linked
#   [FIND_DEPENDENCIES "OpenCL 3.0"]   packages that an application must find for the static plugin
#   [DESTINATION lib]                  installed folder of library and manifest, below the prefix;
#                                      default: lib/executorch_backends
#   [NO_STATIC])                       no static plugin
#
# Makes the targets
#   acme_executorch_backend            libacme_executorch_backend.so, with its manifest (.json)
#   acme_executorch_backend_archive    libacme_executorch_backend.a
#   acme_executorch_backend_objects    the compiled sources: set compile options here
# and the package, installed (component `acme`) and in the build folder, from which an application
# gets PACKAGE::Backend, PACKAGE::Backend_static and PACKAGE_LIBRARY; the targets are there in this
# project too where ExecuTorch was found.
#
# The sources see ETBK_PLUGIN_NAME (a token), ETBK_PLUGIN_VENDOR and ETBK_PLUGIN_VERSION (literals).
# What the note in the built library says must agree with NAME, IDS, VENDOR and VERSION: otherwise
# the build stops.
include_guard(DIRECTORY)

function(etbk_check_backend_arguments)
  foreach(required NAME IDS VENDOR VERSION PACKAGE SOURCES)
    if(NOT arg_${required})
      message(FATAL_ERROR "etbk_add_backend: ${required} is missing")
    endif()
  endforeach()
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "etbk_add_backend: unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "etbk_add_backend: without a value: ${arg_KEYWORDS_MISSING_VALUES}")
  endif()
  if(NOT arg_NAME MATCHES "^[a-z][a-z0-9_]*$")
    message(FATAL_ERROR "etbk_add_backend: NAME '${arg_NAME}' is not [a-z][a-z0-9_]*")
  endif()
  foreach(id IN LISTS arg_IDS)
    string(LENGTH "${id}" length)
    if(NOT id MATCHES "^[A-Za-z_][A-Za-z0-9_]*$" OR length GREATER 63)
      message(FATAL_ERROR "etbk_add_backend: the id '${id}' is not an identifier of at most 63 "
                          "bytes: it is the name of a Python class")
    endif()
  endforeach()
  if(NOT arg_VERSION MATCHES "^[0-9]+\\.[0-9]+\\.[0-9]+")
    message(FATAL_ERROR "etbk_add_backend: VERSION '${arg_VERSION}' is not MAJOR.MINOR.PATCH")
  endif()
  if(NOT arg_PACKAGE MATCHES "^[A-Za-z][A-Za-z0-9_]*$")
    message(FATAL_ERROR "etbk_add_backend: PACKAGE '${arg_PACKAGE}' is not [A-Za-z][A-Za-z0-9_]*")
  endif()
  if(arg_VENDOR MATCHES "[\"\\\\;\n]")
    message(FATAL_ERROR "etbk_add_backend: VENDOR must not hold quotes, backslashes, semicolons or "
                        "line ends")
  endif()
  if(IS_ABSOLUTE "${arg_DESTINATION}")
    message(FATAL_ERROR "etbk_add_backend: DESTINATION '${arg_DESTINATION}' is absolute; a package "
                        "that can be moved needs a folder below the prefix")
  endif()
endfunction()

# Settings that a plugin needs however the project is set up.
function(etbk_configure_objects objects)
  set_target_properties(
    ${objects}
    PROPERTIES POSITION_INDEPENDENT_CODE ON
               C_VISIBILITY_PRESET hidden
               CXX_VISIBILITY_PRESET hidden
               VISIBILITY_INLINES_HIDDEN ON
               INTERPROCEDURAL_OPTIMIZATION OFF)
  target_link_libraries(${objects} PRIVATE ExecuTorchBackendKit::plugin ${arg_LINK_LIBRARIES})
  target_compile_definitions(
    ${objects} PRIVATE "ETBK_PLUGIN_NAME=${arg_NAME}" "ETBK_PLUGIN_VENDOR=\"${arg_VENDOR}\""
                       "ETBK_PLUGIN_VERSION=\"${arg_VERSION}\"")
  target_compile_options(
    ${objects}
    PRIVATE $<$<C_COMPILER_ID:GNU,Clang>:-ffunction-sections>
            $<$<C_COMPILER_ID:GNU,Clang>:-fdata-sections>
            # Unique symbols are shared between plugins even under RTLD_LOCAL (ABI-014).
            $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>)
  set(language C)
  if(CMAKE_CXX_COMPILER_LOADED)
    target_compile_features(${objects} PRIVATE cxx_std_17)
    foreach(source IN LISTS arg_SOURCES)
      if(NOT source MATCHES "\\.[cC]$|\\.[sS]$")
        set(language CXX)
      endif()
    endforeach()
  endif()
  set_target_properties(${objects} PROPERTIES ETBK_LINKER_LANGUAGE ${language})
endfunction()

# The shared library, and beside it the manifest, whose path is left in `manifest`.
function(etbk_add_library)
  add_library(${library} SHARED $<TARGET_OBJECTS:${objects}>)
  get_target_property(language ${objects} ETBK_LINKER_LANGUAGE)
  set_target_properties(
    ${library}
    PROPERTIES LINKER_LANGUAGE ${language}
               PREFIX lib
               OUTPUT_NAME ${library}
               DEBUG_POSTFIX ""
               # As built, so installed: no run path of the build machine at any time. A vendor whose
               # driver lies beside the plugin may set INSTALL_RPATH to $ORIGIN.
               BUILD_WITH_INSTALL_RPATH ON
               INSTALL_RPATH ""
               INSTALL_RPATH_USE_LINK_PATH OFF
               INTERPROCEDURAL_OPTIMIZATION OFF)
  target_link_libraries(${library} PRIVATE ${arg_LINK_LIBRARIES})
  if(CMAKE_SYSTEM_NAME MATCHES "Linux|Android|BSD")
    set(exports "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/plugin_exports.map")
    target_link_options(${library} PRIVATE "LINKER:--version-script=${exports}" LINKER:--as-needed
                        LINKER:--gc-sections)
    set_target_properties(${library} PROPERTIES LINK_DEPENDS "${exports}")
    if(NOT "${CMAKE_C_FLAGS} ${CMAKE_CXX_FLAGS}" MATCHES "-fsanitize")
      target_link_options(${library} PRIVATE LINKER:-z,defs)
    endif()
  endif()

  list(JOIN arg_IDS "," ids)
  set(manifest "$<TARGET_FILE_DIR:${library}>/lib${library}.json")
  add_custom_command(
    TARGET ${library}
    POST_BUILD
    COMMAND
      "${CMAKE_COMMAND}" "-DTOOL=$<TARGET_FILE:ExecuTorchBackendKit::etbk-note>"
      "-DLIBRARY=$<TARGET_FILE:${library}>" "-DMANIFEST=${manifest}" "-DNAME=${arg_NAME}"
      "-DIDS=${ids}" "-DVENDOR=${arg_VENDOR}" "-DVERSION=${arg_VERSION}" -P
      "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/etbk_write_manifest.cmake"
    COMMENT "Manifest of the plugin ${arg_NAME}"
    VERBATIM)
  set(manifest "${manifest}" PARENT_SCOPE)
endfunction()

function(etbk_add_backend)
  cmake_parse_arguments(PARSE_ARGV 0 arg "NO_STATIC" "NAME;VENDOR;VERSION;PACKAGE;DESTINATION"
                        "IDS;SOURCES;LINK_LIBRARIES;FIND_DEPENDENCIES")
  etbk_check_backend_arguments()
  if(NOT arg_DESTINATION)
    set(arg_DESTINATION lib/executorch_backends)
  endif()
  set(library ${arg_NAME}_executorch_backend)
  set(objects ${library}_objects)

  add_library(${objects} OBJECT ${arg_SOURCES})
  etbk_configure_objects(${objects})

  etbk_sort_link_items(bundled passed_on ${arg_LINK_LIBRARIES})
  # Bare metal has no shared libraries: there the archive is all.
  get_property(shared GLOBAL PROPERTY TARGET_SUPPORTS_SHARED_LIBS)
  if(shared)
    etbk_add_library()
  elseif(arg_NO_STATIC)
    message(FATAL_ERROR "etbk_add_backend: ${CMAKE_SYSTEM_NAME} has no shared libraries, and "
                        "NO_STATIC forbids the archive: nothing is left to build")
  endif()

  set(archive "")
  set(archive_target "")
  if(NOT arg_NO_STATIC)
    set(archive_target ${library}_archive)
    set(archive "${CMAKE_CURRENT_BINARY_DIR}/etbk/${arg_NAME}/$<CONFIG>/lib${library}.a")
    etbk_can_localize(can_localize why)
    if(can_localize)
      etbk_add_archive(TARGET ${archive_target} NAME ${arg_NAME} OBJECTS ${objects} ARCHIVE
                       "${archive}" BUNDLED ${bundled})
    else()
      etbk_add_plain_archive(TARGET ${archive_target} NAME ${arg_NAME} OBJECTS ${objects} ARCHIVE
                             "${archive}" BUNDLED ${bundled} REASON "${why}" SOURCES ${arg_SOURCES})
    endif()
  endif()

  etbk_package_backend()
  etbk_link_targets_here()
endfunction()
