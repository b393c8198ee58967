// Runs the test program with ExecuTorch's own API and prints what it sees: one line with the
// runtime's list of backends, then the numbers or the error. Licence: BSD-3-Clause.
#include <executorch/extension/module/module.h>
#include <executorch/extension/tensor/tensor.h>
#include <executorch/runtime/backend/interface.h>

#include <cstdio>

#ifdef SUM_LIBRARY
#include <executorch_backend_kit/host.hpp>
#endif

namespace runtime = ::executorch::runtime;
namespace extension = ::executorch::extension;

int main(int count, char** values) {
  if (count != 2) {
    std::fprintf(stderr, "usage: %s MODEL.pte\n", values[0]);
    return 2;
  }
#ifdef SUM_LIBRARY
  for (const char* library : {SUM_LIBRARY, PRODUCT_LIBRARY}) {
    const etbk::host::Plugin plugin = etbk::host::load_plugin(library);
    for (const etbk::host::Finding& finding : plugin.findings) {
      std::printf("%s: %s\n", finding.code.c_str(), finding.message.c_str());
    }
  }
#endif
  std::printf("backends:");
  for (size_t i = 0; i < runtime::get_num_registered_backends(); ++i) {
    std::printf(" %s", *runtime::get_backend_name(i));
  }
  std::printf("\n");

  extension::Module module(values[1]);
  const auto x = extension::full({2, 3}, 2.0f);
  const auto y = extension::full({2, 3}, 3.0f);
  const auto result = module.forward({x, y});
  if (!result.ok()) {
    std::printf("forward failed: %s\n", runtime::to_string(result.error()));
    return 1;
  }
  const auto output = result->at(0).toTensor();
  std::printf("output:");
  for (ssize_t i = 0; i < output.numel(); ++i) {
    std::printf(" %g", static_cast<double>(output.const_data_ptr<float>()[i]));
  }
  std::printf("\n");
  return 0;
}
