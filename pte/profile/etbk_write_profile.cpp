// ExecuTorch Backend Kit: records what an ExecuTorch application can run.
//
// Drop this one file into the application's build and call, once everything is registered,
//
//     extern "C" int etbk_write_profile(const char* path);   // 0 = written
//
// then give the file to `etbk check MODEL.pte --runtime FILE` on any machine. It needs nothing but
// ExecuTorch's own headers, from 1.3 on, and works with and without plugins.
// Licence: BSD-3-Clause.
#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/kernel/operator_registry.h>

#include <cstdio>
#include <cstring>

namespace {

void write_text(std::FILE* file, const char* text) {
  std::fputc('"', file);
  for (const char* c = text; *c != '\0'; ++c) {
    if (*c == '"' || *c == '\\') {
      std::fputc('\\', file);
    }
    std::fputc(static_cast<unsigned char>(*c) < ' ' ? '?' : *c, file);
  }
  std::fputc('"', file);
}

const char* processor() {
#if defined(__x86_64__) || defined(_M_X64)
  return "x86_64";
#elif defined(__aarch64__) || defined(_M_ARM64)
  return "aarch64";
#elif defined(__riscv) && __riscv_xlen == 64
  return "riscv64";
#elif defined(__arm__) || defined(_M_ARM)
  return "arm";
#else
  return "";
#endif
}

void write_backends(std::FILE* file) {
  namespace rt = ::executorch::runtime;
  const size_t count = rt::get_num_registered_backends();
  bool first = true;
  for (size_t i = 0; i < count; ++i) {
    const auto name = rt::get_backend_name(i);
    if (!name.ok()) {
      continue;
    }
    const rt::BackendInterface* const backend = rt::get_backend_class(name.get());
    std::fputs(first ? "\n    {\"id\": " : ",\n    {\"id\": ", file);
    write_text(file, name.get());
    std::fprintf(file, ", \"available\": %s}",
                 backend != nullptr && backend->is_available() ? "true" : "false");
    first = false;
  }
}

void write_kernels(std::FILE* file) {
  const auto kernels = ::executorch::runtime::get_registered_kernels();
  bool first = true;
  for (size_t i = 0; i < kernels.size(); ++i) {
    bool seen = false;
    for (size_t j = 0; j < i && !seen; ++j) {
      seen = std::strcmp(kernels[i].name_, kernels[j].name_) == 0;
    }
    if (seen) {
      continue;
    }
    std::fputs(first ? "\n    {\"name\": " : ",\n    {\"name\": ", file);
    write_text(file, kernels[i].name_);
    std::fputs(", \"keys\": [", file);
    bool first_key = true;
    for (size_t j = i; j < kernels.size(); ++j) {
      if (std::strcmp(kernels[i].name_, kernels[j].name_) == 0) {
        std::fputs(first_key ? "" : ", ", file);
        // An empty key: the kernel takes every type.
        write_text(file, kernels[j].kernel_key_.is_fallback() ? "" : kernels[j].kernel_key_.data());
        first_key = false;
      }
    }
    std::fputs("]}", file);
    first = false;
  }
}

}  // namespace

extern "C" int etbk_write_profile(const char* path) {
  std::FILE* const file = std::fopen(path, "w");
  if (file == nullptr) {
    return 1;
  }
  std::fprintf(file, "{\n  \"schema\": \"etbk.profile/1\",\n  \"kind\": \"runtime\",\n");
  std::fprintf(file, "  \"arch\": \"%s\",\n  \"versions\": {", processor());
#ifdef ET_VERSION
  std::fputs("\"executorch\": ", file);
  write_text(file, ET_VERSION);
#endif
  std::fputs("},\n  \"backends\": [", file);
  write_backends(file);
  std::fputs("\n  ],\n  \"kernels\": [", file);
  write_kernels(file);
  std::fputs("\n  ]\n}\n", file);
  const bool failed = std::ferror(file) != 0;
  return std::fclose(file) != 0 || failed ? 1 : 0;
}
