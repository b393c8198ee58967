// The runtime half of Acme's backend: runs the steps that backend.py wrote.
#include <executorch_backend_kit/backend.hpp>

#include <cstdint>
#include <cstring>
#include <vector>

namespace {

constexpr uint32_t kBlobFormat = 1;

struct Step {
  uint32_t operation;  // 1 = add, 2 = multiply
  uint32_t left, right;
};

class AcmeDelegate {
 public:
  static constexpr auto info = etbk::Info("AcmeBackend").blob_formats(kBlobFormat, kBlobFormat);

  explicit AcmeDelegate(const etbk::InitContext& init) {
    const etbk::Bytes blob = init.blob();
    if (blob.size() < 20 || blob.size() % 4 != 0 || std::memcmp(blob.data(), "ACME", 4) != 0) {
      throw etbk::Error(ETBK_STATUS_INCOMPATIBLE_BLOB, "this is not a blob of Acme's");
    }
    std::vector<uint32_t> words(blob.size() / 4 - 1);
    std::memcpy(words.data(), blob.data() + 4, words.size() * 4);
    if (words[0] != kBlobFormat) {
      etbk::Error::format(ETBK_STATUS_INCOMPATIBLE_BLOB,
                          "the blob has format %u and AcmeBackend reads format %u: export the "
                          "model again, or update acme-executorch-backend",
                          words[0], kBlobFormat)
          .raise();
    }
    inputs_ = words[1];
    if (inputs_ == 0 || inputs_ > words.size() || words[2] > words.size() ||
        words[3] > words.size() || words.size() != size_t{4} + size_t{3} * words[2] + words[3]) {
      throw etbk::Error(ETBK_STATUS_INCOMPATIBLE_BLOB, "Acme's blob is damaged");
    }
    for (uint32_t i = 0; i < words[2]; ++i) {
      const Step step{words[4 + 3 * i], words[5 + 3 * i], words[6 + 3 * i]};
      if (step.left >= inputs_ + i || step.right >= inputs_ + i || step.operation - 1 > 1) {
        throw etbk::Error(ETBK_STATUS_INCOMPATIBLE_BLOB, "a step of Acme's blob makes no sense");
      }
      steps_.push_back(step);
    }
    results_.assign(words.end() - words[3], words.end());
    for (const uint32_t result : results_) {
      if (result >= inputs_ + steps_.size()) {
        throw etbk::Error(ETBK_STATUS_INCOMPATIBLE_BLOB, "a result of Acme's blob does not exist");
      }
    }
    values_.resize(steps_.size());
  }

  void execute(const etbk::ExecuteContext& run) {
    if (run.changed()) {
      accept(run);
    }
    for (size_t i = 0; i < steps_.size(); ++i) {
      const float* const a = value(run, steps_[i].left);
      const float* const b = value(run, steps_[i].right);
      for (size_t j = 0; j < values_[i].size(); ++j) {
        values_[i][j] = steps_[i].operation == 1 ? a[j] + b[j] : a[j] * b[j];
      }
    }
    for (size_t i = 0; i < results_.size(); ++i) {
      const etbk::Span<float> out = run.elements<float>(inputs_ + i);
      std::memcpy(out.data(), value(run, results_[i]), out.size() * sizeof(float));
    }
  }

 private:
  // All tensors have one shape: that of the first input.
  void accept(const etbk::ExecuteContext& run) {
    run.check_count(inputs_ + results_.size()).raise();
    const etbk::Argument first = run.argument(0);
    const auto same =
        etbk::Expectation(ETBK_DTYPE_FLOAT32, first.rank()).exactly(first.sizes().data());
    for (size_t i = 0; i < run.count(); ++i) {
      run.check(i, same).raise();
    }
    for (std::vector<float>& value : values_) {
      value.resize(first.size_bytes() / sizeof(float));
    }
  }

  const float* value(const etbk::ExecuteContext& run, uint32_t number) const {
    return number < inputs_ ? run.data<const float>(number) : values_[number - inputs_].data();
  }

  uint32_t inputs_ = 0;
  std::vector<Step> steps_;
  std::vector<uint32_t> results_;
  std::vector<std::vector<float>> values_;  // of the steps
};

}  // namespace

ETBK_PLUGIN(ETBK_PLUGIN_NAME, ETBK_PLUGIN_VENDOR, ETBK_PLUGIN_VERSION, AcmeDelegate);
