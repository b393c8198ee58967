// Adds two float tensors. Licence: BSD-3-Clause.
#include <executorch_backend_kit/backend.hpp>

#include <cstring>
#include <stdexcept>

#include "arithmetic.hpp"

namespace {

class SumDelegate {
 public:
  static constexpr auto info = etbk::Info("SumBackend");

  explicit SumDelegate(const etbk::InitContext& init) {
    if (init.blob().size() != 4 || std::memcmp(init.blob().data(), "SUM1", 4) != 0) {
      throw std::runtime_error("this is no blob of SumBackend");
    }
    if (std::strcmp(owner, "sum") != 0) {
      throw std::runtime_error("this plugin runs with another plugin's data");
    }
  }

  void execute(const etbk::ExecuteContext& run) {
    run.check_count(3).raise();
    const etbk::Span<const float> a = run.elements<const float>(0);
    for (size_t i = 0; i < a.size(); ++i) {
      run.data<float>(2)[i] = combine(a[i], run.data<const float>(1)[i]);
    }
  }
};

}  // namespace

ETBK_PLUGIN(ETBK_PLUGIN_NAME, ETBK_PLUGIN_VENDOR, ETBK_PLUGIN_VERSION, SumDelegate);
