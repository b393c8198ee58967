// Multiplies two float tensors. Licence: BSD-3-Clause.
#include <executorch_backend_kit/backend.hpp>

#include <cstring>

// The names of vendor_sum/arithmetic.hpp, with another meaning.
float combine(float a, float b);
inline float weight() { return 2.0f; }
inline int& calls() {
  static int count = 100;
  return count;
}
inline const char* const owner = "product";

float combine(float a, float b) {
  ++calls();
  return 0.25f * (weight() * a) * (weight() * b);
}

namespace {

class ProductDelegate {
 public:
  static constexpr auto info = etbk::Info("ProductBackend");

  static etbk::Result<ProductDelegate> create(const etbk::InitContext& init) {
    if (init.blob().size() != 4 || std::memcmp(init.blob().data(), "PRD1", 4) != 0) {
      return etbk::Error(ETBK_STATUS_INCOMPATIBLE_BLOB, "this is no blob of ProductBackend");
    }
    if (std::strcmp(owner, "product") != 0) {
      return etbk::Error(ETBK_STATUS_INTERNAL, "this plugin runs with another plugin's data");
    }
    return ProductDelegate();
  }

  etbk::Error execute(const etbk::ExecuteContext& run) {
    ETBK_RETURN_IF_FAILED(run.check_count(3));
    const etbk::Span<const float> a = run.elements<const float>(0);
    for (size_t i = 0; i < a.size(); ++i) {
      run.data<float>(2)[i] = combine(a[i], run.data<const float>(1)[i]);
    }
    return {};
  }
};

}  // namespace

ETBK_PLUGIN(product, "Product Inc", "0.3.1", ProductDelegate);
