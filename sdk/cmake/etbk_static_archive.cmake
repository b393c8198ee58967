# The static form of a plugin: one object in which everything but the entry is local, so that two
# plugins that contain the same names (the C++ library's, a common dependency's) never share code.
#
# The plugin's objects, and the static libraries it uses, are linked into one relocatable object;
# section groups are dissolved in it, since the linker would otherwise drop "duplicate" inline
# functions of the second plugin together with their local symbols. Then objcopy gives the entry
# its name and makes every other definition local.
include_guard(DIRECTORY)

# etbk_can_localize(RESULT REASON)
function(etbk_can_localize result reason)
  if(NOT CMAKE_SYSTEM_NAME MATCHES "Linux|Android|BSD|Generic")
    # Not verified elsewhere: Mach-O and PE have other tools for the same thing.
    set(${result} FALSE PARENT_SCOPE)
    set(${reason} "possible for ELF only, and this builds for ${CMAKE_SYSTEM_NAME}" PARENT_SCOPE)
    return()
  endif()
  if(NOT CMAKE_OBJCOPY)
    set(${result} FALSE PARENT_SCOPE)
    set(${reason} "done with objcopy, which was not found: name it in CMAKE_OBJCOPY" PARENT_SCOPE)
    return()
  endif()
  if(NOT DEFINED ETBK_LINKER_DISSOLVES_GROUPS)
    # A language that is enabled; a plugin may be plain C.
    if(CMAKE_CXX_COMPILER_LOADED)
      set(probe probe.cpp)
    else()
      set(probe probe.c)
    endif()
    try_compile(
      ETBK_LINKER_DISSOLVES_GROUPS
      SOURCE_FROM_CONTENT ${probe} "int etbk_probe;\n"
      LINK_OPTIONS -r -nostdlib LINKER:--force-group-allocation)
  endif()
  set(${result} "${ETBK_LINKER_DISSOLVES_GROUPS}" PARENT_SCOPE)
  set(${reason} "done by a linker with --force-group-allocation, such as GNU ld" PARENT_SCOPE)
endfunction()

# etbk_sort_link_items(BUNDLED PASSED_ON item...): the static and object libraries among the items,
# through their own interfaces, which go into the archive; and the rest, which the application has
# to link too.
function(etbk_sort_link_items bundled passed_on)
  set(queue ${ARGN})
  set(seen "")
  set(inside "")
  set(outside "")
  while(queue)
    list(POP_FRONT queue item)
    if(item MATCHES "^\\$<LINK_ONLY:(.*)>$")
      set(item "${CMAKE_MATCH_1}")
    endif()
    if(item IN_LIST seen)
      continue()
    endif()
    list(APPEND seen "${item}")
    if(NOT TARGET "${item}")
      list(APPEND outside "${item}")
      continue()
    endif()
    get_target_property(real "${item}" ALIASED_TARGET)
    if(NOT real)
      set(real "${item}")
    endif()
    get_target_property(type ${real} TYPE)
    get_target_property(imported ${real} IMPORTED)
    if(type STREQUAL "STATIC_LIBRARY" OR type STREQUAL "OBJECT_LIBRARY")
      list(APPEND inside "${real}")
      set(follow INTERFACE_LINK_LIBRARIES)
    elseif(type STREQUAL "INTERFACE_LIBRARY" AND NOT imported)
      set(follow INTERFACE_LINK_LIBRARIES)
    else()
      list(APPEND outside "${item}")
      continue()
    endif()
    get_target_property(next ${real} ${follow})
    if(next)
      list(APPEND queue ${next})
    endif()
  endwhile()
  set(${bundled} "${inside}" PARENT_SCOPE)
  set(${passed_on} "${outside}" PARENT_SCOPE)
endfunction()

# etbk_add_archive(TARGET t NAME n OBJECTS target ARCHIVE file BUNDLED target...)
# `t` is the target that makes `file`.
function(etbk_add_archive)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "TARGET;NAME;OBJECTS;ARCHIVE" "BUNDLED")
  set(parts "")
  foreach(library IN LISTS arg_BUNDLED)
    get_target_property(type ${library} TYPE)
    if(type STREQUAL "OBJECT_LIBRARY")
      list(APPEND parts $<TARGET_OBJECTS:${library}>)
    else()
      list(APPEND parts $<TARGET_FILE:${library}>)
    endif()
    get_target_property(imported ${library} IMPORTED)
    if(NOT imported)
      # objcopy cannot make GCC's unique symbols local.
      target_compile_options(${library} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>)
    endif()
  endforeach()

  # An "executable" linked with -r is that relocatable object, with every flag of the toolchain.
  add_executable(${arg_TARGET} $<TARGET_OBJECTS:${arg_OBJECTS}>)
  set_target_properties(
    ${arg_TARGET}
    PROPERTIES SUFFIX ".o"
               POSITION_INDEPENDENT_CODE OFF
               INTERPROCEDURAL_OPTIMIZATION OFF
               RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/etbk/${arg_NAME}")
  get_target_property(language ${arg_OBJECTS} ETBK_LINKER_LANGUAGE)
  set_target_properties(${arg_TARGET} PROPERTIES LINKER_LANGUAGE ${language})
  target_link_options(
    ${arg_TARGET}
    PRIVATE
    -r
    -nostdlib
    LINKER:--no-gc-sections
    LINKER:--force-group-allocation
    # Bundled libraries may be compiled here, where they were made for link-time optimization.
    $<$<LINK_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>)
  if(parts)
    target_link_libraries(${arg_TARGET} PRIVATE LINKER:--start-group ${parts} LINKER:--end-group)
    add_dependencies(${arg_TARGET} ${arg_BUNDLED})
  endif()

  set(entry etbk_plugin_entry_${arg_NAME})
  add_custom_command(
    TARGET ${arg_TARGET}
    POST_BUILD
    # Two steps: llvm-objcopy applies both to the old name, GNU objcopy to the new one.
    COMMAND "${CMAKE_OBJCOPY}" --redefine-sym etbk_plugin_entry=${entry}
            $<TARGET_FILE:${arg_TARGET}>
    COMMAND "${CMAKE_OBJCOPY}" --keep-global-symbol=${entry} $<TARGET_FILE:${arg_TARGET}>
    COMMAND
      "${CMAKE_COMMAND}" "-DNM=${CMAKE_NM}" "-DOBJECT=$<TARGET_FILE:${arg_TARGET}>"
      "-DENTRY=${entry}" -P "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/etbk_check_archive.cmake"
    COMMAND "${CMAKE_COMMAND}" -E rm -f "${arg_ARCHIVE}"
    COMMAND "${CMAKE_AR}" qcs "${arg_ARCHIVE}" $<TARGET_FILE:${arg_TARGET}>
    BYPRODUCTS "${arg_ARCHIVE}"
    COMMENT "Archive of the plugin ${arg_NAME}, with ${entry} as its only global symbol"
    VERBATIM)
endfunction()

# The same where the tools cannot localize: the sources compiled once more, under the static entry's
# name. Two such plugins may collide, so it says so.
function(etbk_add_plain_archive)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "TARGET;NAME;OBJECTS;ARCHIVE;REASON"
                        "BUNDLED;SOURCES")
  message(
    WARNING
      "The static plugin '${arg_NAME}' is a plain archive, whose internal names are visible: another "
      "static plugin that defines the same C or C++ names shares code with it or fails to link. "
      "Keeping them apart is ${arg_REASON}. To do without the archive, pass NO_STATIC.")
  set(parts "")
  foreach(library IN LISTS arg_BUNDLED)
    get_target_property(type ${library} TYPE)
    if(NOT type STREQUAL "OBJECT_LIBRARY")
      message(FATAL_ERROR "The static library ${library} cannot be put into the plain archive of "
                          "'${arg_NAME}'. Make it an OBJECT library, or pass NO_STATIC.")
    endif()
    list(APPEND parts $<TARGET_OBJECTS:${library}>)
  endforeach()
  add_library(${arg_TARGET} STATIC ${arg_SOURCES} ${parts})
  get_filename_component(folder "${arg_ARCHIVE}" DIRECTORY)
  get_filename_component(stem "${arg_ARCHIVE}" NAME_WE)
  string(REGEX REPLACE "^lib" "" stem "${stem}")
  set_target_properties(${arg_TARGET} PROPERTIES ARCHIVE_OUTPUT_DIRECTORY "${folder}"
                                                 OUTPUT_NAME "${stem}" PREFIX lib SUFFIX .a)
  foreach(property COMPILE_OPTIONS COMPILE_DEFINITIONS INCLUDE_DIRECTORIES LINK_LIBRARIES
                   COMPILE_FEATURES)
    set_property(TARGET ${arg_TARGET}
                 PROPERTY ${property} "$<TARGET_PROPERTY:${arg_OBJECTS},${property}>")
  endforeach()
  foreach(property C_VISIBILITY_PRESET CXX_VISIBILITY_PRESET VISIBILITY_INLINES_HIDDEN
                   POSITION_INDEPENDENT_CODE)
    get_target_property(value ${arg_OBJECTS} ${property})
    set_target_properties(${arg_TARGET} PROPERTIES ${property} "${value}")
  endforeach()
  target_compile_definitions(${arg_TARGET} PRIVATE ETBK_STATIC_PLUGIN)
endfunction()
