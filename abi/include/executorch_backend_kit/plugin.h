/* ExecuTorch Backend Kit: the plugin ABI, version 0.9.
 *
 * A backend (delegate) that is built against this header alone can be loaded by every host that
 * speaks the same ABI major, whatever ExecuTorch release the host was compiled for.
 *
 * This file is C99 and C++17, freestanding, and needs nothing but <stdint.h> and <stddef.h>.
 * The rules that bind both sides are numbered ABI-001 ... in abi/RULES.md; a rule that governs a
 * declaration is named beside it. Unless a declaration says otherwise:
 *   - a host may call from any thread; a handle is used by one thread at a time, a backend's
 *     table by several at once (ABI-020); host services that take an EtbkInit or EtbkExecution
 *     are for the thread that the backend was called on, with the very pointer it got  (ABI-023)
 *   - memory belongs to the side that made it and is only lent across the boundary      (ABI-030)
 *   - text is UTF-8, given as pointer and length, not zero-terminated                   (ABI-031)
 *   - no exception, no longjmp and no C++ type crosses the boundary                     (ABI-032)
 *   - `reserved` is 0 when written and ignored when read                                (ABI-005)
 * Byte order is the machine's; float and double are IEEE 754. Rules about the process as a whole,
 * which no declaration shows: ABI-013, ABI-014, ABI-025, ABI-060 to ABI-063.
 *
 * Licence: BSD-3-Clause.
 */
#ifndef EXECUTORCH_BACKEND_KIT_PLUGIN_H
#define EXECUTORCH_BACKEND_KIT_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------
 * Versions
 *
 * Within one major, fields are only ever appended to structs and existing meanings never change.
 * A side states the minor it was compiled with and the minor it needs at least; minors are never
 * compared for equality (ABI-001). Every struct that may grow begins with `struct_size`, set by
 * the side that owns the memory; use ETBK_HAS to ask whether a field is there (ABI-002). What is
 * the same in every major: the entry's symbol and signature, the first three fields of
 * EtbkHostApi, the first four of EtbkPluginApi, and the note's header (ABI-003). Major 0 is a
 * draft: an incompatible change raises the minor, and ETBK_ABI_MINOR_OLDEST is the oldest minor
 * a host of this header accepts; from 1.0 on it is 0 for ever (ABI-004).
 */
#define ETBK_ABI_MAJOR 0u
#define ETBK_ABI_MINOR 9u
#define ETBK_ABI_MINOR_OLDEST 9u

/* True if the struct behind `p`, possibly made by an older side, reaches as far as `field`. */
#define ETBK_HAS(p, type, field) ((p)->struct_size >= offsetof(type, field) + sizeof((p)->field))

/* ---------------------------------------------------------------------------------------------
 * Linkage
 */
#if defined(_WIN32)
#define ETBK_CALL __cdecl
#define ETBK_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define ETBK_CALL
#define ETBK_EXPORT __attribute__((visibility("default")))
#else
#define ETBK_CALL
#define ETBK_EXPORT
#endif

/* ---------------------------------------------------------------------------------------------
 * Status codes: one list gives names, values and texts. X(name, value, text)
 *
 * Values up to 0x3f are those of ExecuTorch's `Error` and reach the application unchanged; those
 * from 0x1000 on are the kit's own and reach it as the code in the comment. An unknown value
 * reaches the application as Internal, with its text kept (ABI-041).
 */
#define ETBK_RUNTIME_STATUS_LIST(X)                                                   \
  X(OK, 0x00, "success")                                                              \
  X(INTERNAL, 0x01, "internal error")                                                 \
  X(INVALID_STATE, 0x02, "the object is not in a state that allows the call")         \
  X(NOT_SUPPORTED, 0x10, "not supported")                                             \
  X(NOT_IMPLEMENTED, 0x11, "not implemented")                                         \
  X(INVALID_ARGUMENT, 0x12, "invalid argument")                                       \
  X(INVALID_TYPE, 0x13, "invalid type")                                               \
  X(NOT_FOUND, 0x20, "not found")                                                     \
  X(OUT_OF_MEMORY, 0x21, "memory allocation failed")                                  \
  X(ACCESS_FAILED, 0x22, "access to a resource failed")                               \
  X(INVALID_PROGRAM, 0x23, "the program is invalid")                                  \
  X(INVALID_EXTERNAL_DATA, 0x24, "external data is invalid")                          \
  X(OUT_OF_RESOURCES, 0x25, "a resource is exhausted")                                \
  X(INCOMPATIBLE_BLOB, 0x30, "the blob does not fit this backend, version or device") \
  X(BACKEND_OUT_OF_MEMORY, 0x31, "the backend could not allocate memory")             \
  X(INVALID_HANDLE, 0x32, "the delegate handle is invalid")

#define ETBK_KIT_STATUS_LIST(X)                                                           \
  X(HOST_TOO_OLD, 0x1000, "the host is older than the plugin needs")   /* NotSupported */ \
  X(HOST_TOO_NEW, 0x1001, "the host is newer than the plugin can use") /* NotSupported */ \
  X(UNAVAILABLE, 0x1002, "the device or its driver is not available")  /* NotFound */

#define ETBK_STATUS_LIST(X) ETBK_RUNTIME_STATUS_LIST(X) ETBK_KIT_STATUS_LIST(X)

typedef int32_t EtbkStatus;
enum {
#define ETBK_STATUS_ENUMERATOR(name, value, text) ETBK_STATUS_##name = value,
  ETBK_STATUS_LIST(ETBK_STATUS_ENUMERATOR)
#undef ETBK_STATUS_ENUMERATOR
};

/* ---------------------------------------------------------------------------------------------
 * Small values. These are passed by value or in arrays: their layout is frozen, they never grow.
 */
typedef struct EtbkString {
  const char* data; /* may be NULL when size is 0 */
  size_t size;      /* bytes */
} EtbkString;

typedef struct EtbkBytes {
  const void* data; /* may be NULL when size is 0 */
  size_t size;      /* bytes */
} EtbkBytes;

/* One ahead-of-time compile specification. A damaged file may lack either part: then its data is
 * NULL and its size 0. */
typedef struct EtbkCompileSpec {
  EtbkString key;
  EtbkBytes value;
} EtbkCompileSpec;

/* Kind of an option value. */
enum { ETBK_OPTION_BOOL = 0, ETBK_OPTION_INT = 1, ETBK_OPTION_STRING = 2 };

/* A load-time or process-wide option. ExecuTorch limits keys to 63 bytes, strings to 255 bytes
 * and integers to 32 bits. */
typedef struct EtbkOption {
  EtbkString key;
  uint32_t kind; /* ETBK_OPTION_... */
  uint32_t reserved;
  int64_t number;  /* INT; BOOL as 0 or 1 */
  EtbkString text; /* STRING */
} EtbkOption;

/* Element types, numbered as ExecuTorch's ScalarType. Numbers outside the list may appear: answer
 * NOT_SUPPORTED (ABI-053). */
#define ETBK_DTYPE_LIST(X) \
  X(UINT8, 0)              \
  X(INT8, 1)               \
  X(INT16, 2)              \
  X(INT32, 3)              \
  X(INT64, 4)              \
  X(FLOAT16, 5)            \
  X(FLOAT32, 6)            \
  X(FLOAT64, 7)            \
  X(BOOL, 11)              \
  X(BFLOAT16, 15)          \
  X(UINT16, 27)            \
  X(UINT32, 28)            \
  X(UINT64, 29)

enum {
#define ETBK_DTYPE_ENUMERATOR(name, value) ETBK_DTYPE_##name = value,
  ETBK_DTYPE_LIST(ETBK_DTYPE_ENUMERATOR)
#undef ETBK_DTYPE_ENUMERATOR
};

/* ---------------------------------------------------------------------------------------------
 * Arguments of execute
 */

/* Kind of an argument, and what its entry in `EtbkExecution.data` points to. */
enum {
  ETBK_ARGUMENT_NONE = 0,        /* NULL */
  ETBK_ARGUMENT_TENSOR = 1,      /* the first element; NULL for a tensor without memory */
  ETBK_ARGUMENT_INT = 2,         /* one int64_t, which a backend may write if it is an output */
  ETBK_ARGUMENT_DOUBLE = 3,      /* one double, likewise */
  ETBK_ARGUMENT_BOOL = 4,        /* one byte, 0 or 1, likewise */
  ETBK_ARGUMENT_STRING = 5,      /* `count` bytes */
  ETBK_ARGUMENT_INT_LIST = 6,    /* `count` int64_t */
  ETBK_ARGUMENT_DOUBLE_LIST = 7, /* `count` double */
  ETBK_ARGUMENT_BOOL_LIST = 8,   /* `count` bytes */
  ETBK_ARGUMENT_TENSOR_LIST = 9, /* NULL; ask for the elements with `tensor_list_item` */
  ETBK_ARGUMENT_OTHER = 10       /* NULL: a kind this host does not know */
};

/* How far a tensor's sizes may change between executes. */
enum {
  ETBK_DYNAMISM_STATIC = 0,  /* never */
  ETBK_DYNAMISM_BOUNDED = 1, /* up to a bound, told by capacity_bytes where it is known */
  ETBK_DYNAMISM_UNBOUND = 2  /* without a known bound */
};

enum { ETBK_DEVICE_CPU = 0, ETBK_DEVICE_CUDA = 1 };

/* Descriptor of one argument, kept by the host for the life of the delegate handle. Pointers are
 * valid during the execute that shows them; `sizes`, `strides` and `dim_order` have `rank`
 * entries. Sizes are the caller's word: ExecuTorch enforces bounds by element count only, so a
 * backend checks each dimension itself or asks `check_argument` to do so (ABI-051). */
typedef struct EtbkArgument {
  uint32_t struct_size;
  uint32_t kind; /* ETBK_ARGUMENT_...; the fields up to `device_index` are for tensors only */
  uint32_t dtype;
  uint32_t rank;
  const int32_t* sizes;
  const int32_t* strides; /* in elements */
  const uint8_t* dim_order;
  size_t size_bytes;     /* of the current sizes */
  size_t capacity_bytes; /* of the memory behind the data pointer; 0 = unknown */
  uint32_t dynamism;
  uint32_t device_type;
  int32_t device_index;
  uint32_t reserved;
  size_t count; /* strings and lists: number of elements */
} EtbkArgument;

/* One execute. The host keeps it with the handle; only `data`, and on a change the descriptors,
 * are written for a call. Inputs come first, then outputs, in the order of the delegate's graph;
 * ExecuTorch does not tell the two apart. Data pointers may differ at every call and cannot be
 * replaced. A backend writes outputs only: inputs may lie in read-only memory (ABI-052). */
typedef struct EtbkExecution {
  uint32_t struct_size;
  uint32_t changed; /* zero only if every descriptor is what it was when the previous execute of
                       this handle returned OK: shapes, formats, kinds, list lengths (ABI-050);
                       values of scalars and list elements are not compared */
  size_t count;     /* number of arguments */
  void* const* data;
  const EtbkArgument* const* arguments;
  void* profiler; /* for the profile functions; NULL = nobody listens */
} EtbkExecution;

/* What a backend expects of a tensor argument; see `check_argument`. */
typedef struct EtbkExpectation {
  uint32_t struct_size;
  uint32_t dtype;
  uint32_t rank;
  uint32_t reserved;
  const int32_t* minimum_sizes; /* `rank` entries; NULL = 0 for each */
  const int32_t* maximum_sizes; /* `rank` entries; NULL = no upper bound */
  const uint8_t* dim_order;     /* `rank` entries; NULL = contiguous */
} EtbkExpectation;

/* ---------------------------------------------------------------------------------------------
 * Initialization
 */

/* Everything `init` may know of the delegate call it prepares. Valid during `init` only, except
 * the blob, which execute may read too unless `release_blob` was called: it stays as long as the
 * caller keeps the program's memory, which may end before `destroy` (ABI-033). */
typedef struct EtbkInit {
  uint32_t struct_size;
  uint32_t reserved;
  EtbkString method_name;
  EtbkBytes blob;               /* at least 16-byte aligned in practice; not promised (ABI-034) */
  const EtbkCompileSpec* specs; /* `spec_count` entries, in the order of the file */
  size_t spec_count;
  const EtbkOption* options; /* load-time options, `option_count` entries */
  size_t option_count;
  size_t program_scope; /* equal for all methods of one loaded program and different for two
                             programs; 0 = unknown: keep state per handle (ABI-035) */
  void* profiler;       /* for the profile functions; NULL = nobody listens */
} EtbkInit;

/* A view of one named-data entry. The caller sets struct_size; give it back with
 * `release_named_data`, in `destroy` at the latest. */
typedef struct EtbkNamedData {
  uint32_t struct_size;
  uint32_t reserved;
  EtbkBytes bytes;
  void* owner; /* the host's; do not touch */
} EtbkNamedData;

/* Layout of a named-data entry that is a tensor. */
typedef struct EtbkNamedLayout {
  uint32_t struct_size;
  uint32_t dtype;
  uint32_t rank;
  uint32_t reserved;
  const int32_t* sizes; /* `rank` entries, valid during `init` */
  const uint8_t* dim_order;
  size_t size_bytes;
} EtbkNamedLayout;

/* How well a blob fits this backend on this device. */
enum {
  ETBK_BLOB_OPTIMAL = 0,
  ETBK_BLOB_USABLE = 1,        /* runs, but a rebuild would run better */
  ETBK_BLOB_NEEDS_REBUILD = 2, /* the model is fine, its blob is not: export again */
  ETBK_BLOB_UNUSABLE = 3
};

/* The memory of one profiling event, on the backend's stack. */
typedef struct EtbkProfileEvent {
  uint64_t host_words[8];
} EtbkProfileEvent;

enum { ETBK_LOG_DEBUG = 0, ETBK_LOG_INFO = 1, ETBK_LOG_ERROR = 2, ETBK_LOG_FATAL = 3 };

/* ---------------------------------------------------------------------------------------------
 * Host services
 *
 * One constant table per host, valid for the life of the process. Two hosts may live in one
 * process: a backend uses the table it is given with each call and keeps one only in what it made
 * for a handle of that host (ABI-010).
 * Structs that a caller passes to be filled carry the caller's struct_size.
 */
typedef struct EtbkHostApi EtbkHostApi;
struct EtbkHostApi {
  uint32_t struct_size;
  uint32_t abi_major;
  uint32_t abi_minor;
  uint32_t reserved;
  EtbkString name;            /* who hosts, for logs: "ExecuTorch" */
  EtbkString runtime_version; /* of the ExecuTorch release the host was compiled for, "1.5.1" */

  /* Stores the text that goes with the status, or the blob's grade, that the current call is about
   * to return; not for a call that succeeds. The text is copied, at most 1023 bytes of it; a later
   * call replaces it. Thread: the one that the host called the backend on; from another thread the
   * text is lost (ABI-042). */
  void(ETBK_CALL* set_error)(const EtbkHostApi* host, EtbkString text);

  /* Writes one line to ExecuTorch's log. `level` is ETBK_LOG_...; `file` may be empty. Any thread.
   */
  void(ETBK_CALL* log)(const EtbkHostApi* host, uint32_t level, EtbkString file, uint32_t line,
                       EtbkString text);

  /* --- during init ----------------------------------------------------------------------- */

  /* Memory that outlives `destroy` and is freed with the method; not zeroed. NULL when the
   * method's allocator is exhausted or `alignment` is not a power of two. */
  void*(ETBK_CALL* allocate_persistent)(const EtbkHostApi* host, const EtbkInit* init, size_t size,
                                        size_t alignment);

  /* Frees the blob early; it must not be read afterwards. */
  void(ETBK_CALL* release_blob)(const EtbkHostApi* host, const EtbkInit* init);

  /* Named data: entries stored once for several delegates or methods. The map is valid during
   * init; an entry that was got stays valid, also after init, until it is released or the caller's
   * program memory ends (ABI-036). Absent keys give NOT_FOUND. `load_named_data_into` copies,
   * `size` bytes at most the entry's; the layout may be NOT_SUPPORTED for data inside the .pte:
   * put layouts into the blob. */
  size_t(ETBK_CALL* named_data_count)(const EtbkHostApi* host, const EtbkInit* init);
  EtbkStatus(ETBK_CALL* named_data_key)(const EtbkHostApi* host, const EtbkInit* init, size_t index,
                                        EtbkString* key);
  EtbkStatus(ETBK_CALL* get_named_data)(const EtbkHostApi* host, const EtbkInit* init,
                                        EtbkString key, EtbkNamedData* data);
  void(ETBK_CALL* release_named_data)(const EtbkHostApi* host, EtbkNamedData* data);
  EtbkStatus(ETBK_CALL* load_named_data_into)(const EtbkHostApi* host, const EtbkInit* init,
                                              EtbkString key, void* buffer, size_t size);
  EtbkStatus(ETBK_CALL* named_data_layout)(const EtbkHostApi* host, const EtbkInit* init,
                                           EtbkString key, EtbkNamedLayout* layout);

  /* --- during execute -------------------------------------------------------------------- */

  /* Memory that lives until this execute returns. NULL when none is left or `alignment` is not a
   * power of two. When ExecuTorch's own temporary arena is missing or exhausted the host takes the
   * memory from the heap, where there is one, and logs that once. */
  void*(ETBK_CALL* allocate_temporary)(const EtbkHostApi* host, const EtbkExecution* execution,
                                       size_t size, size_t alignment);

  /* Gives an output tensor its sizes. Fails, changing nothing, when the tensor is static and the
   * sizes differ, when the rank differs or when the bound is exceeded. The argument's descriptor
   * is up to date when the call returns; its data pointer does not move. */
  EtbkStatus(ETBK_CALL* resize)(const EtbkHostApi* host, const EtbkExecution* execution,
                                size_t argument, const int32_t* sizes, uint32_t rank);

  /* Compares a tensor argument with what the backend was compiled for: type, rank, each
   * dimension, memory format. INVALID_ARGUMENT with a sentence naming the first difference. */
  EtbkStatus(ETBK_CALL* check_argument)(const EtbkHostApi* host, const EtbkExecution* execution,
                                        size_t argument, const EtbkExpectation* expectation);

  /* Element `item` of a tensor list; `data` receives its pointer, `tensor` is filled as far as
   * its struct_size reaches. An absent optional element has the kind NONE. Not resizable. */
  EtbkStatus(ETBK_CALL* tensor_list_item)(const EtbkHostApi* host, const EtbkExecution* execution,
                                          size_t argument, size_t item, EtbkArgument* tensor,
                                          void** data);

  /* --- during init and execute ------------------------------------------------------------ */

  /* Profiling, in ExecuTorch's ETDump. `profiler` is that of the EtbkInit or EtbkExecution; with
   * NULL these do nothing. Names the event by `name`, cut to 127 bytes, or by `id` when the name is
   * empty. Times are in the runtime's ticks as told by `profile_now`. `metadata` may be empty. */
  uint64_t(ETBK_CALL* profile_now)(const EtbkHostApi* host);
  void(ETBK_CALL* profile_begin)(const EtbkHostApi* host, void* profiler, EtbkString name,
                                 uint32_t id, EtbkProfileEvent* event);
  void(ETBK_CALL* profile_end)(const EtbkHostApi* host, void* profiler, EtbkProfileEvent* event,
                               EtbkBytes metadata);
  void(ETBK_CALL* profile_span)(const EtbkHostApi* host, void* profiler, EtbkString name,
                                uint32_t id, uint64_t begin, uint64_t end, EtbkBytes metadata);

  /* The host's side of an extension, by name and exact revision; NULL when it has none. */
  const void*(ETBK_CALL* get_extension)(const EtbkHostApi* host, EtbkString name,
                                        uint32_t revision);
};

/* ---------------------------------------------------------------------------------------------
 * Backend
 */

/* Declared concurrency. Calls come from different threads in both cases. */
enum {
  ETBK_CONCURRENCY_HANDLES = 0, /* different handles may run at the same time (ABI-021) */
  ETBK_CONCURRENCY_NONE = 1     /* the host lets one call at a time into this backend */
};

/* Constant facts about a backend; static storage. */
typedef struct EtbkBackendInfo {
  uint32_t struct_size;
  uint32_t concurrency; /* ETBK_CONCURRENCY_... */
  EtbkString id;        /* stored in .pte files: a Python identifier, at most 63 bytes */
  EtbkString vendor;
  EtbkString version;          /* of the backend, "MAJOR.MINOR.PATCH" */
  uint32_t blob_format_oldest; /* blob formats this backend reads */
  uint32_t blob_format_newest;
  uint32_t blob_alignment; /* wished for, in bytes; 0 = none */
  uint32_t device_types;   /* bit n set: accepts tensors on device type n; 0 = CPU only */
  uint64_t capabilities;   /* ETBK_CAPABILITY_... */
} EtbkBackendInfo;

/* Declared capabilities: what the conformance kit then demands. */
#define ETBK_CAPABILITY_DYNAMIC_SHAPES (UINT64_C(1) << 0)
#define ETBK_CAPABILITY_NAMED_DATA (UINT64_C(1) << 1)
#define ETBK_CAPABILITY_PROFILING (UINT64_C(1) << 2)
#define ETBK_CAPABILITY_SHARED_STATE (UINT64_C(1) << 3)

/* A backend: static storage, constant after the entry returned. `self` is the table itself. Only
 * info, init, execute and destroy are required; the others may be NULL. */
typedef struct EtbkBackendApi EtbkBackendApi;
struct EtbkBackendApi {
  uint32_t struct_size;
  uint32_t reserved;
  const EtbkBackendInfo* info;
  void* user_data; /* the plugin's own */

  /* OK if the device can be used now; otherwise UNAVAILABLE, or another status, with the reason by
   * `set_error`. Called at each method load: cheap, does not block. NULL = always available. */
  EtbkStatus(ETBK_CALL* is_available)(const EtbkHostApi* host, const EtbkBackendApi* self);

  /* Grades a blob from its first bytes alone: at least min(256, blob_size) of them. Writes
   * ETBK_BLOB_...; for anything but OPTIMAL the reason goes to `set_error`. Returns OK when a
   * grade was given. NULL = init decides. */
  EtbkStatus(ETBK_CALL* check_blob)(const EtbkHostApi* host, const EtbkBackendApi* self,
                                    EtbkBytes head, uint64_t blob_size, uint32_t* grade);

  /* Prepares one delegate call. On OK `handle` has been written (NULL is allowed); on any other
   * status nothing is left behind and destroy is not called (ABI-037). Execute and destroy are not
   * given `self`: a handle that needs it keeps it. */
  EtbkStatus(ETBK_CALL* init)(const EtbkHostApi* host, const EtbkBackendApi* self,
                              const EtbkInit* init, void** handle);

  /* Runs it. Synchronous: CPU outputs are visible to the caller at return (ABI-022). */
  EtbkStatus(ETBK_CALL* execute)(const EtbkHostApi* host, const EtbkExecution* execution,
                                 void* handle);

  /* Frees a handle; `host` is the one that made it. Reads neither blob nor named data: they may be
   * gone (ABI-038). Entries still held are released here. */
  void(ETBK_CALL* destroy)(const EtbkHostApi* host, void* handle);

  /* Process-wide options; texts are valid during the call. `get_option` is given the key and writes
   * kind and value; a text it returns must stay valid until the next call on the same thread.
   * Unknown key: NOT_FOUND. */
  EtbkStatus(ETBK_CALL* set_option)(const EtbkHostApi* host, const EtbkBackendApi* self,
                                    const EtbkOption* option);
  EtbkStatus(ETBK_CALL* get_option)(const EtbkHostApi* host, const EtbkBackendApi* self,
                                    EtbkOption* option);

  /* The backend's side of an extension, by name and exact revision; NULL when it has none. */
  const void*(ETBK_CALL* get_extension)(const EtbkBackendApi* self, EtbkString name,
                                        uint32_t revision);
};

/* ---------------------------------------------------------------------------------------------
 * Entry
 */

/* What a plugin offers. The host zeroes it and sets struct_size; the plugin fills the rest. */
typedef struct EtbkPluginApi {
  uint32_t struct_size;
  uint32_t abi_major; /* what the plugin was compiled with; written also when the entry refuses */
  uint32_t abi_minor;
  uint32_t abi_minor_needed; /* of the host, at least */
  uint32_t backend_count;
  uint32_t reserved;
  const EtbkBackendApi* const* backends; /* `backend_count` entries, static storage */
  EtbkString name;                       /* [a-z][a-z0-9_]*, at most 63 bytes */
} EtbkPluginApi;

/* The one symbol of a plugin. Called before anything else, at least once per host, and gives the
 * same tables each time; does not touch the device, start threads or take long. A plugin that
 * cannot work with the host's ABI writes its own versions and returns HOST_TOO_OLD or
 * HOST_TOO_NEW. Plugins are never unloaded (ABI-011). */
typedef EtbkStatus(ETBK_CALL* EtbkPluginEntry)(const EtbkHostApi* host, EtbkPluginApi* plugin);

/* Name of the entry in a shared plugin. A static one is named etbk_plugin_entry_<name>. */
#define ETBK_PLUGIN_ENTRY_SYMBOL "etbk_plugin_entry"

#ifdef __cplusplus
#define ETBK_EXTERN_C_ extern "C"
#else
#define ETBK_EXTERN_C_ extern
#endif

/* Head of the entry's definition, with its declaration; `name` is the plugin's. Compile with
 * ETBK_STATIC_PLUGIN defined for a static plugin:
 *   ETBK_PLUGIN_ENTRY(acme) { ... uses host and plugin ... }
 */
#ifdef ETBK_STATIC_PLUGIN
#define ETBK_PLUGIN_ENTRY(name) ETBK_PLUGIN_ENTRY_(etbk_plugin_entry_##name)
#else
#define ETBK_PLUGIN_ENTRY(name) ETBK_PLUGIN_ENTRY_(etbk_plugin_entry)
#endif
#define ETBK_PLUGIN_ENTRY_(symbol)                                                            \
  ETBK_EXTERN_C_ ETBK_EXPORT EtbkStatus ETBK_CALL symbol(const EtbkHostApi*, EtbkPluginApi*); \
  ETBK_EXPORT EtbkStatus ETBK_CALL symbol(const EtbkHostApi* host, EtbkPluginApi* plugin)

/* ---------------------------------------------------------------------------------------------
 * Note: the plugin's identity, readable from the file without loading it
 *
 * Text of lines "key=value", each ended by a newline, 4096 bytes at most: first `name`, `vendor`,
 * `version`, then one `id` per backend. Readers ignore keys they do not know; new ones come after
 * the ids. Values hold no control bytes. A plugin file has exactly one note. The host compares it
 * with what the entry says: name, ids, and each backend's vendor and version (ABI-012). The layout
 * is that of an ELF note with the name "ETBK".
 */
#define ETBK_NOTE_TYPE 0x45544201u
#define ETBK_NOTE_FORMAT 1u

typedef struct EtbkNoteHeader {
  uint32_t name_size; /* 5 */
  uint32_t desc_size; /* bytes from `format` to the end of the text */
  uint32_t type;      /* ETBK_NOTE_TYPE */
  char name[8];       /* "ETBK" */
  uint32_t format;    /* ETBK_NOTE_FORMAT */
  uint32_t abi_major;
  uint32_t abi_minor;
  uint32_t abi_minor_needed;
  /* then the text, zero-padded to a multiple of 4 bytes */
} EtbkNoteHeader;

/* Puts the note into an object file. `text` is one string literal; use it once per plugin:
 *   ETBK_PLUGIN_NOTE(9, "name=acme\nvendor=Acme\nversion=1.2.0\nid=AcmeBackend\n")
 */
#define ETBK_NOTE_TEXT_BYTES_(text) ((sizeof(text) + 3u) / 4u * 4u)
#if defined(__ELF__)
#define ETBK_NOTE_PLACE_ __attribute__((section(".note.etbk"), used, aligned(4)))
#elif defined(__APPLE__)
#define ETBK_NOTE_PLACE_ __attribute__((section("__TEXT,__etbk_note"), used, aligned(4)))
#elif defined(__GNUC__)
#define ETBK_NOTE_PLACE_ __attribute__((used, aligned(4)))
#else
#define ETBK_NOTE_PLACE_
#endif
#define ETBK_PLUGIN_NOTE(minor_needed, text)                                            \
  static const struct {                                                                 \
    EtbkNoteHeader header;                                                              \
    char body[ETBK_NOTE_TEXT_BYTES_(text)];                                             \
  } etbk_plugin_note ETBK_NOTE_PLACE_ = {                                               \
      {5u, 16u + ETBK_NOTE_TEXT_BYTES_(text), ETBK_NOTE_TYPE, "ETBK", ETBK_NOTE_FORMAT, \
       ETBK_ABI_MAJOR, ETBK_ABI_MINOR, (minor_needed)},                                 \
      text}

/* ---------------------------------------------------------------------------------------------
 * Static plugins
 *
 * A table that names each entry by symbol, so that no linker can drop it:
 *   ETBK_STATIC_PLUGINS(acme, other);      at file scope, up to 16 names
 *   etbk_host_register_static(etbk_static_plugins);
 */
typedef struct EtbkStaticPlugin {
  const char* name; /* NULL ends the table */
  EtbkPluginEntry entry;
} EtbkStaticPlugin;

#define ETBK_STATIC_DECLARE_(n) \
  ETBK_EXTERN_C_ EtbkStatus ETBK_CALL etbk_plugin_entry_##n(const EtbkHostApi*, EtbkPluginApi*);
#define ETBK_STATIC_ROW_(n) {#n, etbk_plugin_entry_##n},
#define ETBK_EACH_1_(M, a) M(a)
#define ETBK_EACH_2_(M, a, ...) M(a) ETBK_EACH_1_(M, __VA_ARGS__)
#define ETBK_EACH_3_(M, a, ...) M(a) ETBK_EACH_2_(M, __VA_ARGS__)
#define ETBK_EACH_4_(M, a, ...) M(a) ETBK_EACH_3_(M, __VA_ARGS__)
#define ETBK_EACH_5_(M, a, ...) M(a) ETBK_EACH_4_(M, __VA_ARGS__)
#define ETBK_EACH_6_(M, a, ...) M(a) ETBK_EACH_5_(M, __VA_ARGS__)
#define ETBK_EACH_7_(M, a, ...) M(a) ETBK_EACH_6_(M, __VA_ARGS__)
#define ETBK_EACH_8_(M, a, ...) M(a) ETBK_EACH_7_(M, __VA_ARGS__)
#define ETBK_EACH_9_(M, a, ...) M(a) ETBK_EACH_8_(M, __VA_ARGS__)
#define ETBK_EACH_10_(M, a, ...) M(a) ETBK_EACH_9_(M, __VA_ARGS__)
#define ETBK_EACH_11_(M, a, ...) M(a) ETBK_EACH_10_(M, __VA_ARGS__)
#define ETBK_EACH_12_(M, a, ...) M(a) ETBK_EACH_11_(M, __VA_ARGS__)
#define ETBK_EACH_13_(M, a, ...) M(a) ETBK_EACH_12_(M, __VA_ARGS__)
#define ETBK_EACH_14_(M, a, ...) M(a) ETBK_EACH_13_(M, __VA_ARGS__)
#define ETBK_EACH_15_(M, a, ...) M(a) ETBK_EACH_14_(M, __VA_ARGS__)
#define ETBK_EACH_16_(M, a, ...) M(a) ETBK_EACH_15_(M, __VA_ARGS__)
#define ETBK_PICK_(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, N, ...) N
#define ETBK_EXPAND_(x) x
#define ETBK_EACH_(M, ...)                                                                         \
  ETBK_EXPAND_(ETBK_PICK_(__VA_ARGS__, ETBK_EACH_16_, ETBK_EACH_15_, ETBK_EACH_14_, ETBK_EACH_13_, \
                          ETBK_EACH_12_, ETBK_EACH_11_, ETBK_EACH_10_, ETBK_EACH_9_, ETBK_EACH_8_, \
                          ETBK_EACH_7_, ETBK_EACH_6_, ETBK_EACH_5_, ETBK_EACH_4_, ETBK_EACH_3_,    \
                          ETBK_EACH_2_, ETBK_EACH_1_, 0)(M, __VA_ARGS__))
#define ETBK_STATIC_PLUGINS(...)                          \
  ETBK_EACH_(ETBK_STATIC_DECLARE_, __VA_ARGS__)           \
  static const EtbkStaticPlugin etbk_static_plugins[] = { \
      ETBK_EACH_(ETBK_STATIC_ROW_, __VA_ARGS__){NULL, NULL}}

/* ---------------------------------------------------------------------------------------------
 * Extensions: experimental, matched by exact revision, outside the freeze of 1.0
 */

/* Host: runs `task(argument, 0 .. tasks-1)` on the runtime's thread pool and returns when all are
 * done; the caller takes part. In init and execute; not nested, not from a thread of the plugin's
 * own (ABI-024). A task must not wait for another. Serial where the runtime has no pool. */
#define ETBK_EXTENSION_PARALLEL_FOR "etbk.parallel_for"
#define ETBK_EXTENSION_PARALLEL_FOR_REVISION 1u
typedef struct EtbkParallelForExtension {
  uint32_t struct_size;
  uint32_t revision;
  uint32_t(ETBK_CALL* thread_count)(const EtbkHostApi* host);
  EtbkStatus(ETBK_CALL* parallel_for)(const EtbkHostApi* host,
                                      void(ETBK_CALL* task)(void* argument, size_t index),
                                      void* argument, size_t tasks);
} EtbkParallelForExtension;

/* Host: the file that the blob was mapped from, so that a driver can map it itself. NOT_FOUND when
 * the blob does not come from a file mapping. The descriptor is the backend's to close. */
#define ETBK_EXTENSION_BLOB_FILE "etbk.blob_file"
#define ETBK_EXTENSION_BLOB_FILE_REVISION 1u
typedef struct EtbkBlobFileExtension {
  uint32_t struct_size;
  uint32_t revision;
  EtbkStatus(ETBK_CALL* open_blob_file)(const EtbkHostApi* host, const EtbkInit* init,
                                        int64_t* descriptor, uint64_t* offset);
} EtbkBlobFileExtension;

/* Host: stores an intermediate tensor in the ETDump under the event's name or id. */
#define ETBK_EXTENSION_INTERMEDIATE "etbk.intermediate"
#define ETBK_EXTENSION_INTERMEDIATE_REVISION 1u
typedef struct EtbkIntermediateExtension {
  uint32_t struct_size;
  uint32_t revision;
  EtbkStatus(ETBK_CALL* log_tensor)(const EtbkHostApi* host, void* profiler, EtbkString name,
                                    uint32_t id, uint32_t dtype, uint32_t rank,
                                    const int32_t* sizes, const void* data);
} EtbkIntermediateExtension;

/* Backend: memory of the device, and import of host memory without a copy. */
#define ETBK_EXTENSION_DEVICE_MEMORY "etbk.device_memory"
#define ETBK_EXTENSION_DEVICE_MEMORY_REVISION 1u
typedef struct EtbkDeviceMemoryExtension {
  uint32_t struct_size;
  uint32_t revision;
  EtbkStatus(ETBK_CALL* allocate)(const EtbkHostApi* host, const EtbkBackendApi* self, size_t size,
                                  size_t alignment, void** buffer);
  EtbkStatus(ETBK_CALL* import_host)(const EtbkHostApi* host, const EtbkBackendApi* self,
                                     void* data, size_t size, void** buffer);
  EtbkStatus(ETBK_CALL* copy_in)(const EtbkHostApi* host, void* buffer, size_t offset,
                                 const void* source, size_t size);
  EtbkStatus(ETBK_CALL* copy_out)(const EtbkHostApi* host, void* destination, const void* buffer,
                                  size_t offset, size_t size);
  void(ETBK_CALL* release)(const EtbkHostApi* host, void* buffer);
} EtbkDeviceMemoryExtension;

/* Backend: text for the inspector, one "key=value" line each. Calls `write` any number of times. */
#define ETBK_EXTENSION_DESCRIBE_BLOB "etbk.describe_blob"
#define ETBK_EXTENSION_DESCRIBE_BLOB_REVISION 1u
typedef struct EtbkDescribeBlobExtension {
  uint32_t struct_size;
  uint32_t revision;
  EtbkStatus(ETBK_CALL* describe_blob)(const EtbkHostApi* host, const EtbkBackendApi* self,
                                       EtbkBytes blob,
                                       void(ETBK_CALL* write)(void* argument, EtbkString text),
                                       void* argument);
} EtbkDescribeBlobExtension;

/* Reserved: asynchronous execution and cancellation. */
#define ETBK_EXTENSION_ASYNC "etbk.async"

#ifdef __cplusplus
}
#endif
#endif /* EXECUTORCH_BACKEND_KIT_PLUGIN_H */
