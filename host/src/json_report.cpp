// JSON out and in, without exceptions: types are asked before values are read.
// Licence: BSD-3-Clause.
#include "json_report.hpp"

#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

namespace etbk::host {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

const char* text_of(Severity severity) {
  switch (severity) {
    case Severity::kInfo:
      return "info";
    case Severity::kWarning:
      return "warning";
    case Severity::kError:
      return "error";
  }
  return "";
}

const char* text_of(Origin origin) {
  switch (origin) {
    case Origin::kExplicit:
      return "explicit";
    case Origin::kEnvironment:
      return "environment";
    case Origin::kManifest:
      return "manifest";
    case Origin::kInstalled:
      return "installed";
    case Origin::kLinked:
      return "linked";
  }
  return "";
}

// Paths and vendors' texts may be any bytes: what is not UTF-8 becomes U+FFFD.
std::string dump(const ordered_json& document) {
  return document.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

ordered_json to_json(const Finding& finding) {
  ordered_json item;
  item["code"] = finding.code;
  item["severity"] = text_of(finding.severity);
  item["message"] = finding.message;
  item["evidence"] = finding.evidence;
  item["fix"] = finding.fix;
  return item;
}

ordered_json to_json(const std::vector<Finding>& findings) {
  ordered_json items = ordered_json::array();
  for (const Finding& finding : findings) {
    items.push_back(to_json(finding));
  }
  return items;
}

ordered_json to_json(const Plugin& plugin) {
  ordered_json item;
  item["name"] = plugin.name;
  item["path"] = plugin.path;
  item["manifest"] = plugin.manifest;
  item["origin"] = text_of(plugin.origin);
  item["outcome"] = name_of(plugin.outcome);
  item["vendor"] = plugin.vendor;
  item["version"] = plugin.version;
  item["abi_major"] = plugin.abi_major;
  item["abi_minor"] = plugin.abi_minor;
  item["abi_minor_needed"] = plugin.abi_minor_needed;
  item["backends"] = plugin.backends;
  item["blob_formats"] = ordered_json::array();
  for (const BlobFormats& formats : plugin.blob_formats) {
    ordered_json row;
    row["id"] = formats.id;
    row["oldest"] = formats.oldest;
    row["newest"] = formats.newest;
    row["judges"] = formats.judges;
    item["blob_formats"].push_back(std::move(row));
  }
  item["findings"] = to_json(plugin.findings);
  return item;
}

std::string read_texts(const json& list, const std::string& what, std::vector<std::string>* texts) {
  if (!list.is_array()) {
    return what + " is not a list";
  }
  for (const json& item : list) {
    if (!item.is_string()) {
      return what + " holds something other than strings";
    }
    texts->push_back(item.get<std::string>());
  }
  return "";
}

}  // namespace

const char* name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kCandidate:
      return "candidate";
    case Outcome::kRegistered:
      return "registered";
    case Outcome::kAlreadyRegistered:
      return "already_registered";
    case Outcome::kRefused:
      return "refused";
    case Outcome::kDisabled:
      return "disabled";
  }
  return "";
}

std::string plugins_document(const std::vector<Plugin>& plugins,
                             const std::vector<Finding>& findings) {
  ordered_json document;
  document["schema"] = "etbk.plugins/1";
  document["plugins"] = ordered_json::array();
  for (const Plugin& plugin : plugins) {
    document["plugins"].push_back(to_json(plugin));
  }
  document["findings"] = to_json(findings);
  return dump(document);
}

std::string findings_document(const std::vector<Finding>& findings) {
  ordered_json document;
  document["findings"] = to_json(findings);
  return dump(document);
}

std::string names_document(const std::vector<std::string>& names) {
  ordered_json document;
  document["backends"] = names;
  return dump(document);
}

std::string errors_document(const std::vector<ErrorRecord>& errors) {
  ordered_json document;
  document["errors"] = ordered_json::array();
  for (const ErrorRecord& error : errors) {
    ordered_json item;
    item["sequence"] = error.sequence;
    item["backend"] = error.backend;
    item["stage"] = error.stage;
    item["status"] = error.status;
    item["text"] = error.text;
    document["errors"].push_back(item);
  }
  return dump(document);
}

std::string counters_document(const Counters& counters) {
  ordered_json document;
  document["executes"] = counters.executes;
  document["descriptor_refreshes"] = counters.descriptor_refreshes;
  document["heap_allocations"] = counters.heap_allocations;
  return dump(document);
}

std::string option_document(EtbkStatus status, const std::string& text, const EtbkOption* option) {
  ordered_json document;
  document["status"] = status;
  document["text"] = text;
  if (option != nullptr) {
    ordered_json& value = document["value"];
    switch (option->kind) {
      case ETBK_OPTION_BOOL:
        value = option->number != 0;
        break;
      case ETBK_OPTION_INT:
        value = option->number;
        break;
      default:
        value = option->text.data == nullptr ? std::string()
                                             : std::string(option->text.data, option->text.size);
    }
  }
  return dump(document);
}

std::string read_options(const char* text, DiscoveryOptions* options) {
  if (text == nullptr) {
    return "";
  }
  const json document = json::parse(text, nullptr, false);
  if (!document.is_object()) {
    return "the options are not a JSON object";
  }
  for (const auto& item : document.items()) {
    const std::string& key = item.key();
    const json& value = item.value();
    std::string problem;
    if (key == "libraries") {
      problem = read_texts(value, "'libraries'", &options->libraries);
    } else if (key == "manifest_directories") {
      problem = read_texts(value, "'manifest_directories'", &options->manifest_directories);
    } else if (key == "installed") {
      problem = read_texts(value, "'installed'", &options->installed);
    } else if (key == "standard_directories" && value.is_boolean()) {
      options->standard_directories = value.get<bool>();
    } else if (key == "environment" && value.is_boolean()) {
      options->environment = value.get<bool>();
    } else if (key == "standard_directories" || key == "environment") {
      problem = "'" + key + "' is not true or false";
    } else {
      problem = "there is no option '" + key + "'";
    }
    if (!problem.empty()) {
      return problem;
    }
  }
  return "";
}

std::string read_names(const char* text, std::vector<std::string>* names, bool* given) {
  *given = false;
  if (text == nullptr) {
    return "";
  }
  const json document = json::parse(text, nullptr, false);
  if (document.is_null()) {
    return "";
  }
  *given = true;
  return read_texts(document, "the document", names);
}

std::string read_option_value(const char* text, EtbkOption* option, std::string* storage) {
  const json value = json::parse(text == nullptr ? "" : text, nullptr, false);
  if (value.is_boolean()) {
    option->kind = ETBK_OPTION_BOOL;
    option->number = value.get<bool>() ? 1 : 0;
    return "";
  }
  if (value.is_number_integer() &&
      !(value.is_number_unsigned() &&
        value.get<std::uint64_t>() >
            static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))) {
    option->kind = ETBK_OPTION_INT;
    option->number = value.get<std::int64_t>();
    return "";
  }
  if (value.is_string()) {
    *storage = value.get<std::string>();
    option->kind = ETBK_OPTION_STRING;
    option->text = {storage->data(), storage->size()};
    return "";
  }
  return "an option's value is true, false, a whole number or a string";
}

}  // namespace etbk::host
