# The host as a target: compiled from the installed sources, in the application's own build, against
# whichever ExecuTorch was found before. Made once per project; not built unless something links it.
include_guard(DIRECTORY)

# Releases whose headers the host is known to compile against; tested at run time: 1.5 (and 1.4 in
# Python). Others need ETBK_ALLOW_UNKNOWN_EXECUTORCH=ON.
set(ETBK_EXECUTORCH_OLDEST 1.1)
set(ETBK_EXECUTORCH_NEWER_THAN_ALL 1.6)

# etbk_find_runtime(TARGETS VERSION REASON): the targets of the ExecuTorch that was found, and its
# release; or a sentence that says why there is none.
function(etbk_find_runtime targets version reason)
  set(${targets} "" PARENT_SCOPE)
  set(${version} "" PARENT_SCOPE)
  set(${reason} "" PARENT_SCOPE)
  if(TARGET executorch::runtime)
    # The package of the wheel. The thread pool comes with the runtime.
    set(found executorch::runtime)
  elseif(TARGET executorch_core)
    # A source build, as a subdirectory or installed: bare names, the thread pool apart.
    set(found executorch_core)
    foreach(part extension_threadpool pthreadpool cpuinfo)
      if(TARGET ${part})
        list(APPEND found ${part})
      endif()
    endforeach()
  elseif(EXECUTORCH_FOUND OR TARGET _portable_lib)
    set(${reason}
        "the ExecuTorch that was found has no C++ runtime library to link (wheels have one from 1.5 on, with CMake 3.28 or newer): use executorch 1.5 or build ExecuTorch from source"
        PARENT_SCOPE)
    return()
  else()
    set(${reason}
        "ExecuTorch was not found before. Add this line above: find_package(executorch CONFIG REQUIRED)"
        PARENT_SCOPE)
    return()
  endif()

  if(ETBK_EXECUTORCH_VERSION)
    set(release "${ETBK_EXECUTORCH_VERSION}")
  elseif(EXECUTORCH_BUILD_VERSION)
    set(release "${EXECUTORCH_BUILD_VERSION}")
  elseif(executorch_VERSION)
    set(release "${executorch_VERSION}")
  elseif(ExecuTorch_VERSION)
    set(release "${ExecuTorch_VERSION}")
  else()
    set(${reason}
        "the ExecuTorch that was found does not tell its release. Set ETBK_EXECUTORCH_VERSION, for example: set(ETBK_EXECUTORCH_VERSION 1.5.1)"
        PARENT_SCOPE)
    return()
  endif()
  string(REGEX MATCH "^[0-9]+\\.[0-9]+(\\.[0-9]+)?" number "${release}")
  if(NOT ETBK_ALLOW_UNKNOWN_EXECUTORCH
     AND (NOT number
          OR number VERSION_LESS ETBK_EXECUTORCH_OLDEST
          OR NOT number VERSION_LESS ETBK_EXECUTORCH_NEWER_THAN_ALL))
    set(${reason}
        "ExecuTorch ${release} is not a release that this kit (${ExecuTorchBackendKit_VERSION}) knows: it knows ${ETBK_EXECUTORCH_OLDEST} up to, but not, ${ETBK_EXECUTORCH_NEWER_THAN_ALL}. Use a newer kit, or try it with ETBK_ALLOW_UNKNOWN_EXECUTORCH=ON"
        PARENT_SCOPE)
    return()
  endif()
  set(${targets} "${found}" PARENT_SCOPE)
  set(${version} "${release}" PARENT_SCOPE)
endfunction()

# Settings for a source of the kit that is compiled in somebody else's build: it has passed the
# kit's own checks, and the project's warnings and linters are not meant for it.
function(etbk_compile_as_ours target)
  set_target_properties(
    ${target}
    PROPERTIES CXX_STANDARD 17
               CXX_STANDARD_REQUIRED ON
               CXX_EXTENSIONS OFF
               CXX_VISIBILITY_PRESET hidden
               VISIBILITY_INLINES_HIDDEN ON
               POSITION_INDEPENDENT_CODE ON
               COMPILE_WARNING_AS_ERROR OFF
               CXX_CLANG_TIDY ""
               CXX_CPPCHECK ""
               CXX_CPPLINT ""
               CXX_INCLUDE_WHAT_YOU_USE ""
               UNITY_BUILD OFF)
  target_compile_options(
    ${target} PRIVATE $<$<CXX_COMPILER_ID:GNU,Clang,AppleClang>:-w> $<$<CXX_COMPILER_ID:MSVC>:/w>
                      $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)
endfunction()

# etbk_provide_host(FOUND REASON): makes ExecuTorchBackendKit::host, or says why not.
function(etbk_provide_host found reason)
  set(${found} TRUE PARENT_SCOPE)
  set(${reason} "" PARENT_SCOPE)
  if(TARGET ExecuTorchBackendKit::host)
    return()
  endif()
  etbk_find_runtime(runtime version why)
  if(NOT runtime)
    set(${found} FALSE PARENT_SCOPE)
    set(${reason} "${why}" PARENT_SCOPE)
    return()
  endif()
  if(NOT CMAKE_CXX_COMPILER_LOADED)
    set(${found} FALSE PARENT_SCOPE)
    set(${reason} "the host is C++: add CXX to the LANGUAGES of project()" PARENT_SCOPE)
    return()
  endif()

  set(source_folder "${ETBK_PREFIX}/share/executorch_backend_kit/src")
  include("${source_folder}/host_sources.cmake") # sets ETBK_HOST_SOURCES
  list(TRANSFORM ETBK_HOST_SOURCES PREPEND "${source_folder}/")
  find_package(Threads REQUIRED)
  add_library(etbk_host STATIC EXCLUDE_FROM_ALL ${ETBK_HOST_SOURCES})
  add_library(ExecuTorchBackendKit::host ALIAS etbk_host)
  etbk_compile_as_ours(etbk_host)
  target_include_directories(etbk_host PUBLIC "${ETBK_PREFIX}/include"
                             PRIVATE "${source_folder}" "${source_folder}/third_party")
  target_compile_definitions(etbk_host PRIVATE "ETBK_EXECUTORCH_VERSION=\"${version}\"")
  target_link_libraries(etbk_host PRIVATE ${runtime} Threads::Threads ${CMAKE_DL_LIBS})
endfunction()
