// Hashes of payloads and named data against what envelopes say.
// Licence: BSD-3-Clause.
#include "envelope_rules.hpp"

#include <cstdio>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "blob.hpp"
#include "text.hpp"

namespace etbk::pte {
namespace {

struct Entry {
  const Container* file;
  Range range;
};
using Entries = std::unordered_map<std::string_view, Entry>;

template <typename Root>
void collect(const Container& file, const Root& root, Entries& entries) {
  if (root.named_data() == nullptr || root.segments() == nullptr) {
    return;
  }
  for (const auto* entry : *root.named_data()) {
    if (entry->key() != nullptr && entry->segment_index() < root.segments()->size()) {
      const auto& segment = *root.segments()->Get(entry->segment_index());
      entries.emplace(view(entry->key()),
                      Entry{&file, file.segment(segment.offset(), segment.size())});
    }
  }
}

std::string hexadecimal(uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

void check_payload(const Container& file, const Range& blob, const BlobEnvelope& envelope,
                   const std::string& place, Findings& findings) {
  const EtbkEnvelope& e = envelope.get();
  const Range payload{blob.offset + e.header_size, e.payload_size, blob.valid};
  const Json stated = envelope.json()["payload"];
  std::string actual;
  if (e.hash_kind == ETBK_PAYLOAD_HASH_XXH3) {
    actual = xxh3_of(file, payload);
  } else if (e.hash_kind == ETBK_PAYLOAD_HASH_SHA256) {
    actual = sha256_of(file, payload);
  } else {
    return;
  }
  if (file.file().shrank()) {
    findings.add(5, "file", "while its payloads were hashed");
  } else if (stated["hash"] != actual) {
    findings.add(610, place + ".processed",
                 "envelope " + stated["hash"].get<std::string>() + ", payload " + actual);
  }
}

void check_named(const BlobEnvelope& envelope, const Entries& entries, const std::string& place,
                 Findings& findings) {
  for (uint32_t i = 0; i < envelope.get().named_count; ++i) {
    const EtbkEnvelopeNamed needed = etbk_envelope_named(envelope.bytes(), &envelope.get(), i);
    const std::string key = text_of(needed.key);
    const auto found = entries.find(key);
    if (found == entries.end()) {
      findings.add(611, place, in_quotes(key) + " is absent");
    } else if (found->second.range.size != needed.size) {
      findings.add(611, place,
                   in_quotes(key) + " has " + std::to_string(found->second.range.size) +
                       " bytes, needed are " + std::to_string(needed.size));
    } else if (xxh3_of(*found->second.file, found->second.range) != hexadecimal(needed.hash)) {
      findings.add(611, place, in_quotes(key) + " has another content");
    }
  }
}

}  // namespace

void check_hashes(const Container& file, const Container* external, Findings& findings) {
  if (file.kind() != Container::Kind::kProgram || file.program()->execution_plan() == nullptr) {
    return;
  }
  Entries entries;
  collect(file, *file.program(), entries);
  if (external != nullptr && external->kind() == Container::Kind::kData) {
    collect(*external, *external->data(), entries);
  }
  std::set<uint64_t> seen;  // methods may share blobs
  for (uint32_t p = 0; p < file.program()->execution_plan()->size(); ++p) {
    const auto* const delegates = file.program()->execution_plan()->Get(p)->delegates();
    for (uint32_t i = 0; delegates != nullptr && i < delegates->size(); ++i) {
      const Range blob = blob_range(file, *delegates->Get(i));
      const BlobEnvelope envelope(file, blob);
      if (envelope.result() != ETBK_ENVELOPE_OK || !seen.insert(blob.offset).second) {
        continue;
      }
      const std::string place =
          "execution_plan[" + std::to_string(p) + "].delegates[" + std::to_string(i) + "]";
      check_payload(file, blob, envelope, place, findings);
      check_named(envelope, entries, place, findings);
    }
  }
}

}  // namespace etbk::pte
