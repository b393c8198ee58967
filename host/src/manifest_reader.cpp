// Manifest text to fields and back.
// Licence: BSD-3-Clause.
#include "manifest_reader.hpp"

#include <limits>
#include <nlohmann/json.hpp>
#include <set>

namespace etbk::host {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

std::string read_text(const json& document, const char* field, std::string* value) {
  const auto found = document.find(field);
  if (found == document.end()) {
    return std::string("the field '") + field + "' is missing";
  }
  if (!found->is_string()) {
    return std::string("the field '") + field + "' is not a string";
  }
  *value = found->get<std::string>();
  return "";
}

std::string read_number(const json& abi, const char* field, std::uint32_t* value) {
  const auto found = abi.find(field);
  if (found == abi.end()) {
    return std::string("the field 'abi.") + field + "' is missing";
  }
  if (!found->is_number_unsigned() ||
      found->get<std::uint64_t>() > std::numeric_limits<std::uint32_t>::max()) {
    return std::string("the field 'abi.") + field + "' is not a whole number from 0 to 2^32-1";
  }
  *value = found->get<std::uint32_t>();
  return "";
}

std::string read_abi(const json& document, PluginIdentity* identity) {
  const auto abi = document.find("abi");
  if (abi == document.end()) {
    return "the field 'abi' is missing";
  }
  if (!abi->is_object()) {
    return "the field 'abi' is not an object";
  }
  std::string problem = read_number(*abi, "major", &identity->abi_major);
  if (problem.empty()) {
    problem = read_number(*abi, "minor", &identity->abi_minor);
  }
  if (problem.empty()) {
    problem = read_number(*abi, "minor_needed", &identity->abi_minor_needed);
  }
  return problem;
}

std::string read_backends(const json& document, std::vector<std::string>* backends) {
  const auto list = document.find("backends");
  if (list == document.end()) {
    return "the field 'backends' is missing";
  }
  if (!list->is_array() || list->size() > kMaxBackendsPerPlugin) {
    return "the field 'backends' is not a list of 1 to 64 ids";
  }
  for (const json& id : *list) {
    if (!id.is_string()) {
      return "the field 'backends' holds something other than strings";
    }
    backends->push_back(id.get<std::string>());
  }
  return "";
}

// Enough of a text to be recognized; it may be as long as the file.
std::string shown(const std::string& text) {
  constexpr std::size_t kMost = 64;
  return "'" + (text.size() > kMost ? text.substr(0, kMost) + "..." : text) + "'";
}

std::string check_library(const std::string& library) {
  const std::string problem = check_plain_text(library);
  if (!problem.empty()) {
    return "the field 'library' " + problem;
  }
  return library[0] == '/' ? "the field 'library' is not relative to the manifest" : "";
}

}  // namespace

std::string parse_manifest(const std::string& text, Manifest* manifest) {
  *manifest = Manifest();
  if (text.size() > kMaxManifestBytes) {
    return "it has " + std::to_string(text.size()) + " bytes, at most " +
           std::to_string(kMaxManifestBytes) + " are allowed";
  }
  std::set<std::string> seen;
  std::string twice;
  const auto watch = [&](int depth, json::parse_event_t event, json& parsed) {
    if (depth == 1 && event == json::parse_event_t::key && parsed.is_string() &&
        !seen.insert(parsed.get<std::string>()).second) {
      twice = parsed.get<std::string>();
    }
    return true;
  };
  const json document = json::parse(text, watch, false);
  if (document.is_discarded()) {
    return "it is not JSON";
  }
  if (!document.is_object()) {
    return "it is not a JSON object";
  }
  if (!twice.empty()) {
    return "it has the field " + shown(twice) + " twice";
  }
  std::string schema;
  std::string problem = read_text(document, "schema", &schema);
  if (!problem.empty()) {
    return problem;
  }
  if (schema != kManifestSchema) {
    return "its schema is " + shown(schema) + ", this host reads '" + kManifestSchema + "'";
  }
  PluginIdentity& identity = manifest->identity;
  const struct {
    const char* field;
    std::string* value;
  } texts[] = {{"name", &identity.name},
               {"vendor", &identity.vendor},
               {"version", &identity.version},
               {"library", &manifest->library}};
  for (const auto& item : texts) {
    problem = read_text(document, item.field, item.value);
    if (!problem.empty()) {
      return problem;
    }
  }
  problem = read_abi(document, &identity);
  if (problem.empty()) {
    problem = read_backends(document, &identity.backends);
  }
  if (problem.empty()) {
    problem = check_library(manifest->library);
  }
  return problem.empty() ? check_identity(identity) : problem;
}

std::string write_manifest(const Manifest& manifest) {
  const PluginIdentity& identity = manifest.identity;
  ordered_json document;
  document["schema"] = kManifestSchema;
  document["name"] = identity.name;
  document["vendor"] = identity.vendor;
  document["version"] = identity.version;
  document["library"] = manifest.library;
  document["abi"]["major"] = identity.abi_major;
  document["abi"]["minor"] = identity.abi_minor;
  document["abi"]["minor_needed"] = identity.abi_minor_needed;
  document["backends"] = identity.backends;
  return document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace etbk::host
