/* ExecuTorch Backend Kit: the host, as a C API.
 *
 * The same operations as host.hpp for languages that cannot call C++ (Python uses it by ctypes,
 * so one library serves every Python). Reports are JSON text, in the fields of `etbk.plugins/1`.
 *
 * Threads: any. Ownership: a returned string is the caller's; free it with etbk_host_free.
 * Licence: BSD-3-Clause.
 */
#ifndef EXECUTORCH_BACKEND_KIT_HOST_H
#define EXECUTORCH_BACKEND_KIT_HOST_H

#include <executorch_backend_kit/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Each returns a zero-terminated JSON document; NULL only when memory is exhausted.
 *
 *   discover, load_plugins, load_plugin, plugins
 *                       {"schema": "etbk.plugins/1", "plugins": [...], "findings": [...]}
 *   registered_backends {"backends": [name]}
 *   audit               {"findings": [...]}; names_json is a list of names, or "null" to look for
 *                       second runtimes only
 *   recent_errors       {"errors": [{sequence, backend, stage, status, text}]}
 *   counters            {"executes", "descriptor_refreshes", "heap_allocations"}
 *   set_option          {"status": number, "text"}; value_json is a bool, a number or a string
 *   get_option          {"status": number, "text", "value"}; kind is "bool", "int" or "string"
 *
 * options_json has the fields of DiscoveryOptions, each optional; NULL means the defaults. What
 * cannot be understood is the finding HOST-REQUEST-INVALID in "findings". */
ETBK_EXPORT char* ETBK_CALL etbk_host_discover(const char* options_json);
ETBK_EXPORT char* ETBK_CALL etbk_host_load_plugins(const char* options_json);
ETBK_EXPORT char* ETBK_CALL etbk_host_load_plugin(const char* path);
ETBK_EXPORT char* ETBK_CALL etbk_host_plugins(void);
ETBK_EXPORT char* ETBK_CALL etbk_host_registered_backends(void);
ETBK_EXPORT char* ETBK_CALL etbk_host_audit(const char* names_json);
ETBK_EXPORT char* ETBK_CALL etbk_host_recent_errors(void);
ETBK_EXPORT char* ETBK_CALL etbk_host_counters(void);
ETBK_EXPORT char* ETBK_CALL etbk_host_set_option(const char* backend, const char* key,
                                                 const char* value_json);
ETBK_EXPORT char* ETBK_CALL etbk_host_get_option(const char* backend, const char* key,
                                                 const char* kind);
/* Plain text. */
ETBK_EXPORT char* ETBK_CALL etbk_host_last_error(void);
ETBK_EXPORT char* ETBK_CALL etbk_host_runtime_version(void);
ETBK_EXPORT char* ETBK_CALL etbk_host_runtime_library(void);
ETBK_EXPORT void ETBK_CALL etbk_host_free(char* text);

/* Registers a table made by ETBK_STATIC_PLUGINS. Returns the number of plugins refused. In a
 * bare-metal build this is the whole host: no heap, no constructor, no other file. */
ETBK_EXPORT int32_t ETBK_CALL etbk_host_register_static(const EtbkStaticPlugin* table);

#ifdef __cplusplus
}
#endif
#endif /* EXECUTORCH_BACKEND_KIT_HOST_H */
