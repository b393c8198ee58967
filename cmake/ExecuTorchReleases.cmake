# The ExecuTorch releases that the prebuilt hosts are compiled against, without installing them.
#
#   etbk_executorch_release(1.5 FOUND)
#     makes the target executorch_release::1.5 (headers, definitions, and the library that owns the
#     registry), or sets FOUND to FALSE where that line has no prebuilt host on this processor.
#
# Release 1.4 keeps its registry in its Qualcomm library on x86-64, and inside the extension module
# of one single Python on AArch64: there no library can serve every Python, so there is none.
include_guard(GLOBAL)

set(ETBK_EXECUTORCH_LINES 1.5 1.4)
set(ETBK_CMAKE_FOLDER "${CMAKE_CURRENT_LIST_DIR}")

function(etbk_executorch_folder line result)
  get_property(folder GLOBAL PROPERTY ETBK_EXECUTORCH_FOLDER_${line})
  if(NOT folder)
    find_package(Python 3.10 REQUIRED COMPONENTS Interpreter)
    message(STATUS "ExecuTorch ${line}: looking for the pinned wheel")
    execute_process(
      COMMAND "${Python_EXECUTABLE}" "${ETBK_CMAKE_FOLDER}/unpack_executorch.py"
              "${ETBK_CMAKE_FOLDER}/executorch-${line}.txt" "${CMAKE_SYSTEM_PROCESSOR}"
      OUTPUT_VARIABLE folder
      ERROR_VARIABLE reason
      OUTPUT_STRIP_TRAILING_WHITESPACE
      RESULT_VARIABLE status)
    if(NOT status EQUAL 0)
      message(FATAL_ERROR "${reason}")
    endif()
    message(STATUS "ExecuTorch ${line}: ${folder}")
    set_property(GLOBAL PROPERTY ETBK_EXECUTORCH_FOLDER_${line} "${folder}")
    set_property(
      DIRECTORY "${CMAKE_SOURCE_DIR}"
      APPEND
      PROPERTY CMAKE_CONFIGURE_DEPENDS "${ETBK_CMAKE_FOLDER}/executorch-${line}.txt"
               "${ETBK_CMAKE_FOLDER}/unpack_executorch.py")
  endif()
  set(${result} "${folder}" PARENT_SCOPE)
endfunction()

function(etbk_add_release_library name file)
  add_library(${name} SHARED IMPORTED GLOBAL)
  set_target_properties(${name} PROPERTIES IMPORTED_LOCATION "${file}")
endfunction()

function(etbk_executorch_release line found)
  set(${found} TRUE PARENT_SCOPE)
  if(TARGET executorch_release::${line})
    return()
  endif()
  if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux" OR NOT CMAKE_SYSTEM_PROCESSOR MATCHES
                                               "^(x86_64|aarch64)$")
    message(STATUS "ExecuTorch ${line}: no prebuilt host for ${CMAKE_SYSTEM_NAME} "
                   "${CMAKE_SYSTEM_PROCESSOR}; applications compile the host themselves")
    set(${found} FALSE PARENT_SCOPE)
    return()
  endif()
  if(line STREQUAL "1.4" AND CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
    set(${found} FALSE PARENT_SCOPE)
    return()
  endif()

  etbk_executorch_folder(${line} folder)
  set(root "${folder}/executorch")
  add_library(executorch_release::${line} INTERFACE IMPORTED GLOBAL)
  target_include_directories(
    executorch_release::${line}
    INTERFACE "${root}/include" "${root}/include/executorch/runtime/core/portable_type/c10")
  target_compile_definitions(executorch_release::${line} INTERFACE C10_USING_CUSTOM_GENERATED_MACROS
                                                                   ET_EVENT_TRACER_ENABLED)
  if(line STREQUAL "1.4")
    etbk_add_release_library(executorch_release::1.4_qnn
                             "${root}/backends/qualcomm/libqnn_executorch_backend.so")
    target_link_libraries(executorch_release::1.4 INTERFACE executorch_release::1.4_qnn)
  else()
    etbk_add_release_library(executorch_release::${line}_runtime "${root}/lib/libexecutorch.so")
    etbk_add_release_library(executorch_release::${line}_threadpool
                             "${root}/lib/libexecutorch_threadpool.so")
    target_compile_definitions(executorch_release::${line} INTERFACE ET_USE_THREADPOOL)
    target_link_libraries(
      executorch_release::${line} INTERFACE executorch_release::${line}_runtime
                                            executorch_release::${line}_threadpool)
  endif()
endfunction()
