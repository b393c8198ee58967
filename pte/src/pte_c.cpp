// The C API: JSON in, JSON out, no exception through it.
// Licence: BSD-3-Clause.
#include <executorch_backend_kit/envelope.h>
#include <executorch_backend_kit/pte.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "check.hpp"
#include "envelope_rules.hpp"
#include "fast_hash.hpp"
#include "grade.hpp"
#include "report.hpp"
#include "semantics.hpp"

using namespace etbk::pte;

struct EtbkPte {
  Findings findings;
  std::unique_ptr<Container> container;
};

namespace {

Json parse(const char* text) {
  Json value = text == nullptr ? Json::object() : Json::parse(text, nullptr, false);
  return value.is_object() ? value : Json::object();
}

uint64_t number(const Json& options, const char* key, uint64_t otherwise) {
  const auto found = options.find(key);
  return found != options.end() && found->is_number_unsigned() ? found->get<uint64_t>() : otherwise;
}

bool flag(const Json& options, const char* key) {
  const auto found = options.find(key);
  return found != options.end() && found->is_boolean() && found->get<bool>();
}

std::string text(const Json& options, const char* key) {
  const auto found = options.find(key);
  return found != options.end() && found->is_string() ? found->get<std::string>() : std::string();
}

char* hand_over(const Json& document) {
  const std::string written =
      document.dump(-1, ' ', false, nlohmann::detail::error_handler_t::replace);
  auto* const copy = static_cast<char*>(std::malloc(written.size() + 1));
  if (copy != nullptr) {
    std::memcpy(copy, written.c_str(), written.size() + 1);
  }
  return copy;
}

// Runs `make` and turns an exception, which can only be exhausted memory, into null.
template <typename Make>
auto guarded(Make make) -> decltype(make()) {
  try {
    return make();
  } catch (...) {
    return nullptr;
  }
}

template <typename Source>
EtbkPte* open_with(Source source, const char* options_text) {
  return guarded([&]() -> EtbkPte* {
    auto opened = std::make_unique<EtbkPte>();
    const Json options = parse(options_text);
    Limits limits;
    limits.program_bytes = number(options, "program_bytes", limits.program_bytes);
    limits.work = number(options, "work", limits.work);
    limits.planned_bytes = number(options, "planned_bytes", limits.planned_bytes);
    opened->container = Container::open(source(opened->findings), limits, opened->findings);
    return opened.release();
  });
}

}  // namespace

extern "C" {

EtbkPte* etbk_pte_open(const char* path, const char* options) {
  return open_with([&](Findings& findings) { return ByteFile::open(path, findings); }, options);
}

EtbkPte* etbk_pte_open_descriptor(int descriptor, const char* options) {
  return open_with(
      [&](Findings& findings) { return ByteFile::of_descriptor(descriptor, findings); }, options);
}

EtbkPte* etbk_pte_open_memory(const void* data, size_t size, const char* options) {
  return open_with([&](Findings&) { return ByteFile::of_memory(data, size); }, options);
}

void etbk_pte_close(EtbkPte* file) { delete file; }

int etbk_pte_is_sound(const EtbkPte* file) { return file->container != nullptr ? 1 : 0; }

char* etbk_pte_inspect(EtbkPte* file, const char* options_text) {
  return guarded([&] {
    const Json options = parse(options_text);
    Findings findings = file->findings;
    Json report;
    if (file->container == nullptr) {
      report = {{"schema", "etbk.inspect/1"},
                {"file", nullptr},
                {"methods", Json::array()},
                {"segments", Json::array()},
                {"named_data", Json::array()}};
    } else {
      report = inspect(*file->container, {flag(options, "hash")});
      check_semantics(*file->container, nullptr, findings);
    }
    report["findings"] = findings_json(findings);
    return hand_over(report);
  });
}

char* etbk_pte_verify(EtbkPte* file, EtbkPte* external, const char* options_text) {
  return guarded([&] {
    const Json options = parse(options_text);
    const bool structure = text(options, "level") == "structure";
    Findings findings = file->findings;
    const Container* const data = external == nullptr ? nullptr : external->container.get();
    if (external != nullptr) {
      for (const Finding& finding : external->findings.list()) {
        findings.add(finding.rule, "external " + finding.place, finding.evidence);
      }
    }
    if (file->container != nullptr && !structure) {
      check_semantics(*file->container, data, findings);
    }
    if (file->container != nullptr && flag(options, "hash")) {
      check_hashes(*file->container, data, findings);
    }
    if (file->container != nullptr && file->container->file().shrank() && !findings.has(5)) {
      findings.add(5, "file", "after it was opened");
    }
    return hand_over({{"schema", "etbk.verify/1"},
                      {"level", structure ? "structure" : "semantics"},
                      {"accepted", findings.list().empty()},
                      {"findings", findings_json(findings)}});
  });
}

char* etbk_pte_check(EtbkPte* file, EtbkPte* external, const char* profile,
                     const char* options_text) {
  return guarded([&] {
    Findings opening = file->findings;
    if (external != nullptr) {
      for (const Finding& finding : external->findings.list()) {
        opening.add(finding.rule, "external " + finding.place, finding.evidence);
      }
    }
    return hand_over(check(file->container.get(),
                           external == nullptr ? nullptr : external->container.get(), opening,
                           parse(profile), {flag(parse(options_text), "hash")}));
  });
}

const void* etbk_pte_bytes(EtbkPte* file, uint64_t offset, uint64_t size) {
  if (file->container == nullptr) {
    return nullptr;
  }
  ByteFile& bytes = file->container->file();
  if (offset > bytes.size() || size > bytes.size() - offset) {
    return nullptr;
  }
  const uint8_t* const data = bytes.map();
  return data == nullptr ? nullptr : data + offset;
}

int etbk_pte_shrank(const EtbkPte* file) {
  return file->container != nullptr && file->container->file().shrank() ? 1 : 0;
}

char* etbk_pte_rules(void) {
  return guarded([] {
    Json list = Json::array();
    for (const Rule& rule : rules()) {
      list.push_back({{"code", rule_name(rule.number)},
                      {"severity", rule.severity == Severity::kUnknown ? "unknown" : "error"},
                      {"meaning", rule.meaning}});
    }
    return hand_over({{"rules", std::move(list)}});
  });
}

char* etbk_pte_grade(const void* blob, size_t size, uint64_t blob_size, const char* reader_text) {
  return guarded([&] {
    const Json reader = parse(reader_text);
    BlobReader wanted;
    wanted.id = text(reader, "id");
    wanted.format_oldest = static_cast<uint32_t>(number(reader, "format_oldest", 0));
    wanted.format_newest = static_cast<uint32_t>(number(reader, "format_newest", UINT32_MAX));
    wanted.arch = text(reader, "arch").empty() ? etbk_envelope_arch() : text(reader, "arch");
    return hand_over(grade_json(blob, size, blob_size, wanted));
  });
}

uint64_t etbk_pte_hash(const void* data, size_t size) {
  FastHash hash;
  hash.add(data, size);
  return hash.end();
}

void etbk_pte_free(char* text) { std::free(text); }

}  // extern "C"
