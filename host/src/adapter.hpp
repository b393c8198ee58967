// The seam between the host, which knows plugins, and adapter.cpp, which knows ExecuTorch.
//
// adapter.cpp is the only source that includes ExecuTorch headers and stands alone: with the ABI
// header and this one it is a complete host for a program without a dynamic loader.
// Licence: BSD-3-Clause.
#pragma once

#include <executorch_backend_kit/plugin.h>

namespace etbk::adapter {

// The services given to plugins. One table per copy of this adapter.
const EtbkHostApi* host_api();

// Result of registering one backend. The texts live in static storage.
enum class Registration {
  kRegistered,
  kAlreadyOurs,   // the same table was registered before through this adapter
  kDuplicateId,   // the id belongs to somebody else
  kTableFull,     // all slots of the runtime, or of this adapter, are taken
  kInvisible,     // the runtime said yes but its list does not show the name
  kInvalid,       // the table lacks a required entry, or its id is unusable
  kRuntimeError,  // any other error code of the runtime
};

// Registers `backend` under its id. `backend` and all it points to live for ever. `runtime_error`
// receives ExecuTorch's error code. Thread: serialized by the caller.
Registration register_backend(const EtbkBackendApi* backend, unsigned* runtime_error);

// True if `backend` lacks nothing that the ABI requires; otherwise `reason` names what is missing.
bool validate(const EtbkBackendApi* backend, const char** reason);

// The list the runtime reads: number of backends, and the name in a slot.
size_t registered_count();
const char* registered_name(size_t slot);

// Address of the runtime's `register_backend` this adapter is bound to, for dladdr.
const void* register_backend_address();

// Text behind the calling thread's last failure; valid until its next failure.
const char* last_error();

// Moves the text that the calling thread's last `set_error` left into `buffer`, zero-terminated and
// cut to `capacity` bytes; returns its length. For calls that the adapter does not make itself: a
// plugin's entry.
size_t take_pending_text(char* buffer, size_t capacity);

// A failure as kept in the process-wide ring.
struct ErrorRecord {
  unsigned long long sequence;
  char backend[64];
  char stage[16];
  EtbkStatus status;
  char text[512];
};

// Copies up to `capacity` records, oldest first; returns how many.
size_t recent_errors(ErrorRecord* records, size_t capacity);

struct Counters {
  unsigned long long executes;
  unsigned long long descriptor_refreshes;
  unsigned long long heap_allocations;
};
Counters counters();

// Process-wide options of a registered backend, through the plugin's own table.
EtbkStatus set_option(const char* backend, const EtbkOption* option);
EtbkStatus get_option(const char* backend, EtbkOption* option);

}  // namespace etbk::adapter
