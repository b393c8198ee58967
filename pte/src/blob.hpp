// A delegate's blob: where it is, what its first bytes say, whether its hash is right.
// Licence: BSD-3-Clause.
#pragma once

#include <executorch_backend_kit/envelope.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "container.hpp"

namespace etbk::pte {

using Json = nlohmann::ordered_json;

// Where the blob of a delegate lies; not valid if it does not.
Range blob_range(const Container& file, const ps::BackendDelegate& delegate);

// The envelope of a blob with the memory it points into.
class BlobEnvelope {
 public:
  BlobEnvelope(const Container& file, const Range& blob);
  int result() const { return result_; }  // ETBK_ENVELOPE_...
  const EtbkEnvelope& get() const { return envelope_; }
  const uint8_t* bytes() const { return head_.data(); }
  size_t size() const { return head_.size(); }
  Json json() const;

 private:
  std::vector<uint8_t> head_;
  EtbkEnvelope envelope_{};
  int result_ = ETBK_ENVELOPE_ABSENT;
};

std::string text_of(EtbkEnvelopeText text);

// Hash of part of a file as hexadecimal digits; empty if the file cannot be read there.
std::string xxh3_of(const Container& file, const Range& range);
std::string sha256_of(const Container& file, const Range& range);

// What the blobs of ExecuTorch's own backends say of themselves; null if nothing.
Json stock_header(const Container& file, const Range& blob);

}  // namespace etbk::pte
