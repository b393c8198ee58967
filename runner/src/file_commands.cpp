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

}  // namespace

FileAnswer inspect_file(const std::string& path, bool hash) {
  const File file(etbk_pte_open(path.c_str(), nullptr));
  if (file == nullptr) {
    return {"{}", 3};
  }
  return {take(etbk_pte_inspect(file.get(), hash ? "{\"hash\": true}" : nullptr)),
          etbk_pte_is_sound(file.get()) == 1 ? 0 : 1};
}

FileAnswer check_file(const std::string& path, const std::string& external,
                      const std::string& profile) {
  const File file(etbk_pte_open(path.c_str(), nullptr));
  const File data(external.empty() ? nullptr : etbk_pte_open(external.c_str(), nullptr));
  if (file == nullptr) {
    return {"{}", 3};
  }
  FileAnswer answer;
  answer.document = take(etbk_pte_check(file.get(), data.get(), profile.c_str(), nullptr));
  const Json verdict = Json::parse(answer.document, nullptr, false).value("verdict", Json());
  answer.exit_code = verdict == "compatible" ? 0 : verdict == "blocked" ? 1 : 3;
  return answer;
}

}  // namespace etbk::runner
