// A whole backend plugin: adds two float tensors of equal shape. The blob is the four bytes "ADD1".
// Licence: BSD-3-Clause.
#include <executorch_backend_kit/backend.hpp>

#include <cstring>

namespace {

class MinimalDelegate {
 public:
  static constexpr auto info =
      etbk::Info("MinimalBackend").blob_formats(1, 1).capabilities(ETBK_CAPABILITY_DYNAMIC_SHAPES);

  // Prepares one delegate call. What it throws reaches the application as a status and a text.
  explicit MinimalDelegate(const etbk::InitContext& init) {
    const etbk::Bytes blob = init.blob();
    if (blob.size() != 4 || std::memcmp(blob.data(), "ADD1", 4) != 0) {
      throw etbk::Error(ETBK_STATUS_INCOMPATIBLE_BLOB,
                        "the blob is not one of MinimalBackend's: export the model again");
    }
  }

  void execute(const etbk::ExecuteContext& run) {
    if (run.changed()) {
      accept(run);
    }
    const float* const a = run.data<const float>(0);
    const float* const b = run.data<const float>(1);
    for (float& sum : run.elements<float>(2)) {
      const auto i = &sum - run.data<float>(2);
      sum = a[i] + b[i];
    }
  }

 private:
  // Looks at the arguments; called only when one of them is new. Sizes are the caller's word.
  static void accept(const etbk::ExecuteContext& run) {
    run.check_count(3).raise();
    const etbk::Argument first = run.argument(0);
    const auto same =
        etbk::Expectation(ETBK_DTYPE_FLOAT32, first.rank()).exactly(first.sizes().data());
    run.check(0, same).raise();
    run.check(1, same).raise();
    run.resize(2, first.sizes()).raise();
    run.check(2, same).raise();
  }
};

}  // namespace

ETBK_PLUGIN(minimal, "ExecuTorch Backend Kit", "1.0.0", MinimalDelegate);
