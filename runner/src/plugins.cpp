// The host's C API: JSON in, JSON out.
// Licence: BSD-3-Clause.
#include "plugins.hpp"

#include <executorch_backend_kit/host.h>

#include <algorithm>

#include "session.hpp"

namespace etbk::runner {
namespace {

std::string take(char* text) {
  std::string copy = text == nullptr ? "" : text;
  etbk_host_free(text);
  return copy;
}

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

void add_findings(const Json& holder, std::vector<Finding>* findings) {
  for (const Json& row : holder.value("findings", Json::array())) {
    findings->push_back({text_of(row, "code"), text_of(row, "message"), text_of(row, "evidence"),
                         text_of(row, "fix"), text_of(row, "severity")});
  }
}

void load_one(const std::string& path, std::vector<Finding>* findings) {
  const Json report = Json::parse(take(etbk_host_load_plugin(path.c_str())), nullptr, false);
  if (!report.is_object()) {
    return;
  }
  for (const Json& plugin : report.value("plugins", Json::array())) {
    add_findings(plugin, findings);
  }
  add_findings(report, findings);
}

bool is_registered(const std::string& id) {
  const auto names = registered_backends();
  return std::find(names.begin(), names.end(), id) != names.end();
}

}  // namespace

void load_plugins(const std::vector<std::string>& paths, bool discover,
                  const std::vector<std::string>& backends, std::vector<Finding>* findings) {
  for (const std::string& path : paths) {
    load_one(path, findings);
  }
  std::vector<std::string> missing;
  std::copy_if(backends.begin(), backends.end(), std::back_inserter(missing),
               [](const std::string& id) { return !is_registered(id); });
  if (!discover || missing.empty()) {
    return;
  }
  const Json report = Json::parse(take(etbk_host_discover(nullptr)), nullptr, false);
  if (!report.is_object()) {
    return;
  }
  for (const Json& plugin : report.value("plugins", Json::array())) {
    for (const Json& id : plugin.value("backends", Json::array())) {
      if (id.is_string() &&
          std::count(missing.begin(), missing.end(), id.get<std::string>()) != 0) {
        load_one(text_of(plugin, "path"), findings);
        break;
      }
    }
  }
}

std::optional<Finding> unusable_backend(const std::vector<std::string>& backends,
                                        const std::vector<Finding>& of_plugins) {
  std::string names;
  for (const std::string& name : registered_backends()) {
    names += (names.empty() ? "" : ", ") + name;
  }
  for (const std::string& id : backends) {
    if (!is_registered(id)) {
      for (const Finding& finding : of_plugins) {
        if (finding.severity == "error") {  // why the backend is not there
          return finding;
        }
      }
      return Finding{"RUNTIME-BACKEND-MISSING",
                     "The program needs backend " + id + ", which this runtime does not have.",
                     "registered: " + names,
                     "Install the package that brings its runtime library, or export the model "
                     "without this backend."};
    }
    if (!is_available(id)) {
      const std::string text = host_text();
      return Finding{"RUNTIME-BACKEND-UNAVAILABLE",
                     "Backend " + id + " says that it cannot run here" +
                         (text.empty() ? "" : ": " + text) + ".",
                     "it is registered; is_available() is false",
                     "Install what the backend needs: its device, driver or libraries."};
    }
  }
  return std::nullopt;
}

std::string host_text() {
  std::string text = take(etbk_host_last_error());
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ' || text.back() == '.')) {
    text.pop_back();
  }
  return text;
}

}  // namespace etbk::runner
