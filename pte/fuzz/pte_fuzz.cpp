// Fuzz target: any bytes as a .pte or .ptd, through every report there is.
#include <executorch_backend_kit/pte.h>

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // A small work limit, so that slow inputs are no finding of the fuzzer.
  EtbkPte* const file = etbk_pte_open_memory(data, size, R"({"work": 2000000})");
  etbk_pte_free(etbk_pte_inspect(file, R"({"hash": true})"));
  etbk_pte_free(etbk_pte_verify(file, file, R"({"hash": true})"));
  etbk_pte_free(etbk_pte_check(file, file, R"({"backends": [], "kernels": []})", nullptr));
  etbk_pte_close(file);
  return 0;
}
