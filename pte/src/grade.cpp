// Grades with the numbers and names that led to them.
// Licence: BSD-3-Clause.
#include "grade.hpp"

#include <cstring>
#include <vector>

#include "text.hpp"

namespace etbk::pte {
namespace {

const char* verdict_name(int verdict) {
  static const char* const kNames[] = {
#define X(name, grade, text, cure) #name,
      ETBK_ENVELOPE_VERDICT_LIST(X)
#undef X
  };
  return kNames[verdict];
}

std::string details(int verdict, int result, const EtbkEnvelope& e, const BlobReader& reader) {
  const std::string reads = "this backend reads " + std::to_string(reader.format_oldest) + " to " +
                            std::to_string(reader.format_newest);
  switch (verdict) {
    case ETBK_VERDICT_FORMAT_TOO_NEW:
    case ETBK_VERDICT_NEWER_BUT_READABLE:
      return "format " + std::to_string(e.blob_format) + ", readable from format " +
             std::to_string(e.oldest_reader) + " on; " + reads;
    case ETBK_VERDICT_FORMAT_TOO_OLD:
      return "format " + std::to_string(e.blob_format) + "; " + reads;
    case ETBK_VERDICT_OTHER_BACKEND:
      return "made for " + in_quotes(text_of(e.backend_id)) + ", this is " + in_quotes(reader.id);
    case ETBK_VERDICT_OTHER_ARCH:
      return "compiled for " + text_of(e.arch) + ", this machine is " + reader.arch;
    case ETBK_VERDICT_DAMAGED_ENVELOPE:
    case ETBK_VERDICT_TOO_NEW_ENVELOPE:
    case ETBK_VERDICT_CUT_SHORT:
      return etbk_envelope_result_text(result);
    default:
      return "";
  }
}

}  // namespace

const char* grade_name(uint32_t grade) {
  static const char* const kNames[] = {"optimal", "usable", "needs rebuild", "unusable"};
  return kNames[grade];
}

Json grade_json(const void* blob, size_t size, uint64_t blob_size, const BlobReader& reader) {
  // Aligned as a mapped file is: where these bytes happen to lie now says nothing.
  constexpr size_t kPage = 4096;
  std::vector<uint8_t> copy(size + kPage);
  auto start = reinterpret_cast<uintptr_t>(copy.data());
  uint8_t* const aligned = copy.data() + (kPage - start % kPage) % kPage;
  if (size > 0) {
    std::memcpy(aligned, blob, size);
    blob = aligned;
  }
  const EtbkEnvelopeReader wanted{reader.id.data(), reader.id.size(), reader.format_oldest,
                                  reader.format_newest, reader.arch.c_str()};
  EtbkEnvelope envelope{};
  int result = ETBK_ENVELOPE_ABSENT;
  const int verdict = etbk_envelope_grade(blob, size, blob_size, &wanted, &envelope, &result);
  const EtbkEnvelopeVerdict known = etbk_envelope_verdict(verdict);
  const std::string more = details(verdict, result, envelope, reader);
  return {{"grade", grade_name(known.grade)},
          {"verdict", verdict_name(verdict)},
          {"sentence", std::string(known.sentence) + (more.empty() ? "" : " (" + more + ")")},
          {"cure", known.cure}};
}

}  // namespace etbk::pte
