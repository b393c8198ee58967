// The host's reports as JSON, and requests to it from JSON.
// Licence: BSD-3-Clause.
#pragma once

#include <executorch_backend_kit/host.hpp>
#include <string>
#include <vector>

namespace etbk::host {

// {"schema": "etbk.plugins/1", "plugins": [...], "findings": [...]}
std::string plugins_document(const std::vector<Plugin>& plugins,
                             const std::vector<Finding>& findings);
std::string findings_document(const std::vector<Finding>& findings);  // {"findings": [...]}
std::string names_document(const std::vector<std::string>& names);    // {"backends": [...]}
std::string errors_document(const std::vector<ErrorRecord>& errors);  // {"errors": [...]}
std::string counters_document(const Counters& counters);
// {"status": number, "text", "value"}; no value without `option`.
std::string option_document(EtbkStatus status, const std::string& text, const EtbkOption* option);

// Each returns an empty text on success, else what is wrong with the request.
std::string read_options(const char* text, DiscoveryOptions* options);
// `given` is false for the document null.
std::string read_names(const char* text, std::vector<std::string>* names, bool* given);
// `storage` keeps the text that `option` may point to.
std::string read_option_value(const char* text, EtbkOption* option, std::string* storage);

}  // namespace etbk::host
