// The C API of the .pte library, with the exit codes of the command line.
// Licence: BSD-3-Clause.
#include "file_commands.hpp"

#include <executorch_backend_kit/pte.h>

#include <memory>

#include "finding.hpp"

namespace etbk::runner {
namespace {

struct Close {
  void operator()(EtbkPte* file) const { etbk_pte_close(file); }
};
using File = std::unique_ptr<EtbkPte, Close>;

std::string take(char* text) {
  std::string copy = text == nullptr ? "{}" : text;
  etbk_pte_free(text);
  return copy;
}

// 2 if the path leads to no program or data file at all, which is told by the first rules.
bool leads_to_no_file(const Json& report) {
  for (const Json& finding : report["findings"]) {
    const auto& code = finding["code"].get_ref<const std::string&>();
    if (code >= "PTE-001" && code <= "PTE-004") {
      return true;
    }
  }
  return false;
}

FileAnswer answer_of(const std::string& path, char* text) {
  const Json report = Json::parse(take(text), nullptr, false);
  if (!report.contains("findings")) {  // memory is exhausted
    return {"{}", 3};
  }
  Json document = {{"schema", report["schema"]}, {"path", path}};
  document.update(report);
  return {dump(document, 2), leads_to_no_file(report) ? 2 : 0};
}

}  // namespace

FileAnswer inspect_file(const std::string& path, bool hash) {
  const File file(etbk_pte_open(path.c_str(), nullptr));
  if (file == nullptr) {
    return {"{}", 3};
  }
  return answer_of(path, etbk_pte_inspect(file.get(), hash ? "{\"hash\": true}" : nullptr));
}

FileAnswer check_file(const std::string& path, const std::string& external,
                      const std::string& profile) {
  const File file(etbk_pte_open(path.c_str(), nullptr));
  const File data(external.empty() ? nullptr : etbk_pte_open(external.c_str(), nullptr));
  if (file == nullptr) {
    return {"{}", 3};
  }
  FileAnswer answer =
      answer_of(path, etbk_pte_check(file.get(), data.get(), profile.c_str(), nullptr));
  if (answer.exit_code == 0) {
    const Json verdict = Json::parse(answer.document, nullptr, false)["verdict"];
    answer.exit_code = verdict == "compatible" ? 0 : verdict == "blocked" ? 1 : 3;
  }
  return answer;
}

}  // namespace etbk::runner
