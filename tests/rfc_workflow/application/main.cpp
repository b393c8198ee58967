// An application as anybody writes it with ExecuTorch: loads a program, runs it, prints the result.
#include <executorch/extension/module/module.h>
#include <executorch/extension/tensor/tensor.h>

#include <cstdio>

#ifdef ACME_PLUGIN  // the variant that loads the backend at run time
#include <executorch_backend_kit/host.hpp>
#endif

using executorch::extension::make_tensor_ptr;
using executorch::extension::Module;

int main(int, char** arguments) {
#ifdef ACME_PLUGIN
  const etbk::host::Plugin plugin = etbk::host::load_plugin(ACME_PLUGIN);
  for (const etbk::host::Finding& finding : plugin.findings) {
    std::fprintf(stderr, "%s: %s\n", finding.code.c_str(), finding.message.c_str());
  }
#endif
  Module module(arguments[1]);
  const auto a = make_tensor_ptr({2, 3}, std::vector<float>{0, 1, 2, 3, 4, 5});
  const auto b = make_tensor_ptr({2, 3}, std::vector<float>{5, 4, 3, 2, 1, 0});
  const auto result = module.forward({a, b});
  if (!result.ok()) {
    std::printf("error 0x%x\n", static_cast<unsigned>(result.error()));
    return 1;
  }
  const auto sum = result.get()[0].toTensor();
  for (ssize_t i = 0; i < sum.numel(); ++i) {
    std::printf("%g ", static_cast<double>(sum.const_data_ptr<float>()[i]));
  }
  std::printf("\n");
  return 0;
}
