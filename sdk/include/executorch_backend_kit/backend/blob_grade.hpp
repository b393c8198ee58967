// ExecuTorch Backend Kit, author API: a backend's judgement of a blob that it has not loaded.
// Licence: BSD-3-Clause.
#pragma once

#include <executorch_backend_kit/plugin.h>

#include <string>
#include <utility>

namespace etbk {
inline namespace author_1 {

// How well a blob fits, and for anything but `optimal` the reason, for a person.
class BlobGrade {
 public:
  static BlobGrade optimal() { return BlobGrade(ETBK_BLOB_OPTIMAL, {}); }
  // Runs, but a rebuild would run better.
  static BlobGrade usable(std::string reason) {
    return BlobGrade(ETBK_BLOB_USABLE, std::move(reason));
  }
  // The model is fine, its blob is not: export again.
  static BlobGrade needs_rebuild(std::string reason) {
    return BlobGrade(ETBK_BLOB_NEEDS_REBUILD, std::move(reason));
  }
  static BlobGrade unusable(std::string reason) {
    return BlobGrade(ETBK_BLOB_UNUSABLE, std::move(reason));
  }

  uint32_t grade() const noexcept { return grade_; }
  const std::string& reason() const noexcept { return reason_; }

 private:
  BlobGrade(uint32_t grade, std::string reason) : grade_(grade), reason_(std::move(reason)) {}

  uint32_t grade_;
  std::string reason_;
};

}  // namespace author_1
}  // namespace etbk
