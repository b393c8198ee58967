# ExecuTorchBackendKit::pte: reads, verifies and checks .pte files, without ExecuTorch. Compiled from
# the installed sources in the application's own build, so for whatever machine that is; not built
# unless something links it. A project without C++ has no such target: a plugin may be plain C.
include_guard(DIRECTORY)

if(NOT TARGET ExecuTorchBackendKit::pte
   AND CMAKE_CXX_COMPILER_LOADED
   AND EXISTS "${ETBK_PREFIX}/share/executorch_backend_kit/pte/pte_sources.cmake")
  include("${ETBK_PREFIX}/share/executorch_backend_kit/pte/pte_sources.cmake")
  list(TRANSFORM ETBK_PTE_SOURCES PREPEND "${ETBK_PREFIX}/share/executorch_backend_kit/pte/src/")
  add_library(etbk_pte_from_source STATIC EXCLUDE_FROM_ALL ${ETBK_PTE_SOURCES})
  target_compile_features(etbk_pte_from_source PRIVATE cxx_std_17)
  target_include_directories(etbk_pte_from_source PUBLIC "${ETBK_PREFIX}/include")
  target_include_directories(
    etbk_pte_from_source SYSTEM
    PRIVATE "${ETBK_PREFIX}/share/executorch_backend_kit/pte/third_party"
            "${ETBK_PREFIX}/share/executorch_backend_kit/pte/third_party/flatbuffers/include")
  set_target_properties(
    etbk_pte_from_source PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
                                    VISIBILITY_INLINES_HIDDEN ON)
  add_library(ExecuTorchBackendKit::pte ALIAS etbk_pte_from_source)
endif()
