// etbk-note: shows what a plugin library says of itself, and writes its manifest from it.
//
// Reads libraries of any architecture, so that a cross build uses the tool of the machine it runs
// on. Nothing of the library is loaded. Licence: BSD-3-Clause.
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "json_report.hpp"
#include "library_inspector.hpp"
#include "manifest_reader.hpp"
#include "whole_file.hpp"

namespace {

using namespace etbk::host;

constexpr int kGood = 0;
constexpr int kBad = 1;    // the library, or writing, failed
constexpr int kUsage = 2;  // the command line

constexpr const char* kHelp =
    "Shows what a plugin library says of itself, without loading it.\n"
    "\n"
    "  etbk-note [--json] LIBRARY                          prints the library's note\n"
    "  etbk-note --manifest LIBRARY [-o FILE] [--library PATH]\n"
    "                                                      writes its manifest\n"
    "\n"
    "  -o FILE         the manifest; default: beside the library, with the suffix .json\n"
    "  --library PATH  where the manifest will find the library, relative to the manifest;\n"
    "                  default: where it is now\n"
    "  --json          one JSON document (etbk.note/1) instead of text\n"
    "\n"
    "Exit status: 0 done; 1 the library is no plugin, or writing failed; 2 bad command line.\n";

struct Command {
  std::string file;
  std::string output;
  std::string library;
  bool manifest = false;
  bool json = false;
  bool help = false;
};

// Returns an empty text on success, else what is wrong.
std::string parse(const std::vector<std::string>& arguments, Command* command) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    const bool takes_value = argument == "-o" || argument == "--library";
    if (takes_value && i + 1 == arguments.size()) {
      return argument + " needs a value";
    }
    if (argument == "--help" || argument == "-h") {
      command->help = true;
    } else if (argument == "--json") {
      command->json = true;
    } else if (argument == "--manifest") {
      command->manifest = true;
    } else if (argument == "-o") {
      command->output = arguments[++i];
    } else if (argument == "--library") {
      command->library = arguments[++i];
    } else if (argument.size() > 1 && argument[0] == '-') {
      return "there is no option " + argument;
    } else if (!command->file.empty()) {
      return "one library at a time";
    } else {
      command->file = argument;
    }
  }
  if (command->help) {
    return "";
  }
  if (command->file.empty()) {
    return "name a library";
  }
  if (!command->manifest && (!command->output.empty() || !command->library.empty())) {
    return "-o and --library belong to --manifest";
  }
  return "";
}

int report(const std::vector<Finding>& findings, bool json) {
  if (json) {
    std::printf("%s\n", findings_document(findings).c_str());
    return kBad;
  }
  for (const Finding& finding : findings) {
    std::fprintf(stderr, "error [%s]: %s\n", finding.code.c_str(), finding.message.c_str());
    if (!finding.fix.empty()) {
      std::fprintf(stderr, "  fix: %s\n", finding.fix.c_str());
    }
  }
  return kBad;
}

void print_json(const Command& command, const Inspection& inspection) {
  const PluginIdentity& identity = inspection.identity;
  nlohmann::ordered_json document;
  document["schema"] = "etbk.note/1";
  document["file"] = command.file;
  document["architecture"] = to_text(inspection.architecture);
  document["name"] = identity.name;
  document["vendor"] = identity.vendor;
  document["version"] = identity.version;
  document["abi"]["major"] = identity.abi_major;
  document["abi"]["minor"] = identity.abi_minor;
  document["abi"]["minor_needed"] = identity.abi_minor_needed;
  document["backends"] = identity.backends;
  constexpr auto kReplace = nlohmann::ordered_json::error_handler_t::replace;
  std::printf("%s\n", document.dump(2, ' ', false, kReplace).c_str());
}

void print_text(const Inspection& inspection) {
  const PluginIdentity& identity = inspection.identity;
  std::printf("name      %s\nvendor    %s\nversion   %s\nbackends ", identity.name.c_str(),
              identity.vendor.c_str(), identity.version.c_str());
  for (const std::string& id : identity.backends) {
    std::printf(" %s", id.c_str());
  }
  std::printf("\nABI       %u.%u, needs %u.%u of the host\nbuilt for %s\n", identity.abi_major,
              identity.abi_minor, identity.abi_major, identity.abi_minor_needed,
              to_text(inspection.architecture).c_str());
}

// Path of the library as seen from the manifest's folder.
std::string relative_library(const Command& command, const std::filesystem::path& output) {
  if (!command.library.empty()) {
    return command.library;
  }
  std::error_code error;
  const std::filesystem::path folder =
      output.has_parent_path() ? output.parent_path() : std::filesystem::path(".");
  const std::filesystem::path relative = std::filesystem::relative(command.file, folder, error);
  return error || relative.empty() ? command.file : relative.generic_string();
}

int write_manifest_file(const Command& command, const Inspection& inspection) {
  std::filesystem::path output = command.output;
  if (output.empty()) {
    output = std::filesystem::path(command.file).replace_extension(".json");
  }
  Manifest manifest;
  manifest.identity = inspection.identity;
  manifest.library = relative_library(command, output);
  const std::string text = write_manifest(manifest);
  Manifest read_back;
  std::string problem = parse_manifest(text, &read_back);
  if (problem.empty()) {
    problem = write_whole_file(output.string(), text);
  }
  if (!problem.empty()) {
    std::fprintf(stderr, "error: the manifest %s was not written: %s\n", output.c_str(),
                 problem.c_str());
    return kBad;
  }
  return kGood;
}

int run(const Command& command) {
  const Inspection inspection = read_library(command.file);
  if (!inspection.findings.empty()) {
    return report(inspection.findings, command.json);
  }
  if (command.manifest) {
    return write_manifest_file(command, inspection);
  }
  if (command.json) {
    print_json(command, inspection);
  } else {
    print_text(inspection);
  }
  return kGood;
}

}  // namespace

// NOLINTNEXTLINE(bugprone-exception-escape): an exhausted heap may end a tool.
int main(int count, char** values) {
  Command command;
  const std::string problem =
      parse(std::vector<std::string>(values + 1, values + (count > 0 ? count : 1)), &command);
  if (!problem.empty()) {
    std::fprintf(stderr, "error: %s\n\n%s", problem.c_str(), kHelp);
    return kUsage;
  }
  if (command.help) {
    std::fputs(kHelp, stdout);
    return kGood;
  }
  return run(command);
}
