// File, ELF, note, architecture, ABI: in this order, no vendor code.
// Licence: BSD-3-Clause.
#include "library_inspector.hpp"

#include <executorch_backend_kit/plugin.h>

#include "elf_reader.hpp"

namespace etbk::host {
namespace {

constexpr const char* kNoteName = "ETBK";
constexpr const char* kNoteSection = ".note.etbk";

void read_note(const std::string& path, const ElfReport& elf, Inspection* inspection) {
  std::vector<const ElfNote*> notes;
  for (const ElfNote& note : elf.notes) {
    if (note.type == ETBK_NOTE_TYPE) {
      notes.push_back(&note);
    }
  }
  if (notes.empty()) {
    inspection->findings.push_back(findings::note_missing(path));
    return;
  }
  if (notes.size() > 1) {
    inspection->findings.push_back(findings::notes_several(path, notes.size()));
    return;
  }
  const std::string problem =
      parse_plugin_note(notes[0]->description, elf.architecture.little_endian,
                        &inspection->identity, &inspection->has_abi);
  inspection->has_identity = problem.empty();
  if (!problem.empty()) {
    inspection->findings.push_back(findings::note_invalid(path, problem));
  }
}

}  // namespace

Inspection read_library(const std::string& path) {
  Inspection inspection;
  const FileSource file(path.c_str());
  switch (file.status()) {
    case FileSource::Status::kMissing:
      inspection.findings.push_back(findings::file_missing(path));
      return inspection;
    case FileSource::Status::kUnreadable:
      inspection.findings.push_back(findings::file_unreadable(path, file.system_error()));
      return inspection;
    case FileSource::Status::kNotAFile:
      inspection.findings.push_back(findings::not_a_file(path));
      return inspection;
    case FileSource::Status::kOpen:
      break;
  }
  inspection.exists = true;
  inspection.file = file.identity();
  const ElfReport elf = read_elf(file, kNoteName, kNoteSection);
  switch (elf.status) {
    case ElfReport::Status::kNotElf:
    case ElfReport::Status::kNotLibrary:
      inspection.findings.push_back(findings::not_a_library(path, elf.problem));
      return inspection;
    case ElfReport::Status::kDamaged:
      inspection.findings.push_back(findings::damaged(path, elf.problem));
      return inspection;
    case ElfReport::Status::kLibrary:
      break;
  }
  inspection.is_library = true;
  inspection.architecture = elf.architecture;
  read_note(path, elf, &inspection);
  return inspection;
}

void judge_abi(const std::string& plugin, const PluginIdentity& identity, const HostAbi& host,
               std::vector<Finding>* findings) {
  if (identity.abi_major > host.major ||
      (identity.abi_major == host.major && identity.abi_minor_needed > host.minor)) {
    findings->push_back(findings::abi_too_new(plugin, identity, host));
  } else if (identity.abi_major < host.major || identity.abi_minor < host.minor_oldest) {
    findings->push_back(findings::abi_too_old(plugin, identity, host));
  }
}

Inspection inspect_library(const std::string& path, const HostAbi& host) {
  Inspection inspection = read_library(path);
  if (!inspection.is_library) {
    return inspection;
  }
  std::vector<Finding> judged;
  if (!(inspection.architecture == own_architecture())) {
    judged.push_back(findings::wrong_architecture(path, inspection.architecture));
  }
  if (inspection.has_abi) {
    const std::size_t before = judged.size();
    judge_abi(inspection.has_identity ? inspection.identity.name : path, inspection.identity, host,
              &judged);
    if (judged.size() != before && !inspection.has_identity) {
      inspection.findings.clear();  // of another ABI: that its text is foreign says nothing
    }
  }
  inspection.findings.insert(inspection.findings.begin(), judged.begin(), judged.end());
  return inspection;
}

}  // namespace etbk::host
