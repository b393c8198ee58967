/* ExecuTorch Backend Kit: .pte and .ptd files read, verified, compared and checked, as a C API.
 *
 * Needs neither ExecuTorch nor its libraries. Safe on hostile files: metadata is copied and fully
 * verified before it is looked at; a file that becomes shorter meanwhile is a finding.
 *
 * Reports are JSON text; a returned text is the caller's, free it with etbk_pte_free; NULL means
 * that memory is exhausted. Threads: one object is used by one thread at a time. Options are JSON,
 * NULL means the defaults; unknown keys are ignored. Licence: BSD-3-Clause.
 */
#ifndef EXECUTORCH_BACKEND_KIT_PTE_H
#define EXECUTORCH_BACKEND_KIT_PTE_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define ETBK_PTE_API __declspec(dllexport)
#elif defined(__GNUC__)
#define ETBK_PTE_API __attribute__((visibility("default")))
#else
#define ETBK_PTE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* An opened file with what was found in opening it. */
typedef struct EtbkPte EtbkPte;

/* Opens a file and verifies its structure. Never NULL except when memory is exhausted: a file that
 * cannot be read or is damaged is an object with findings. The descriptor is duplicated; the memory
 * is borrowed until close.
 * options: {"program_bytes", "work", "planned_bytes"}: the limits of pte/src/container.hpp. */
ETBK_PTE_API EtbkPte* etbk_pte_open(const char* path, const char* options);
ETBK_PTE_API EtbkPte* etbk_pte_open_descriptor(int descriptor, const char* options);
ETBK_PTE_API EtbkPte* etbk_pte_open_memory(const void* data, size_t size, const char* options);
ETBK_PTE_API void etbk_pte_close(EtbkPte* file);

/* 1 if the structure is sound. */
ETBK_PTE_API int etbk_pte_is_sound(const EtbkPte* file);

/* etbk.inspect/1. options: {"hash": bool}: also hash every blob and segment, which reads them. */
ETBK_PTE_API char* etbk_pte_inspect(EtbkPte* file, const char* options);

/* {"schema": "etbk.verify/1", "level", "accepted", "findings"}. options: {"level": "structure" or
 * "semantics" (the default), "hash": bool: also verify the hashes in envelopes}. `external` is the
 * .ptd of the program, or NULL. */
ETBK_PTE_API char* etbk_pte_verify(EtbkPte* file, EtbkPte* external, const char* options);

/* etbk.check/1: whether a runtime with this profile (etbk.profile/1) can run the file. Nothing is
 * run. options: {"hash": bool}. `external` is the .ptd of the program, or NULL. */
ETBK_PTE_API char* etbk_pte_check(EtbkPte* file, EtbkPte* external, const char* profile,
                                  const char* options);

/* The bytes of a part of the file in place, valid until close; NULL if the file has no such part.
 * Should the file become shorter, they read as zeros and etbk_pte_shrank tells. */
ETBK_PTE_API const void* etbk_pte_bytes(EtbkPte* file, uint64_t offset, uint64_t size);
ETBK_PTE_API int etbk_pte_shrank(const EtbkPte* file);

/* Every rule: {"rules": [{"code", "severity", "meaning"}]}. */
ETBK_PTE_API char* etbk_pte_rules(void);

/* Grades a blob by its envelope; see envelope.h. `size` bytes of it are readable. reader: {"id",
 * "format_oldest", "format_newest", "arch"}. Gives {"grade", "verdict", "sentence", "cure",
 * "envelope"}. */
ETBK_PTE_API char* etbk_pte_grade(const void* blob, size_t size, uint64_t blob_size,
                                  const char* reader);

/* The hash of a payload: XXH3, 64 bits. */
ETBK_PTE_API uint64_t etbk_pte_hash(const void* data, size_t size);
ETBK_PTE_API void etbk_pte_free(char* text);

#ifdef __cplusplus
}
#endif
#endif /* EXECUTORCH_BACKEND_KIT_PTE_H */
