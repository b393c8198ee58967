/* The runtime half of the pretended vendor: backends that add a number to a tensor, each with its
 * own way to go wrong. Arguments: tensor, number, output, all float32. */
#include <executorch_backend_kit/plugin.h>
#include <stdlib.h>
#include <unistd.h>

#define TEXT(literal) ((EtbkString){(literal), sizeof(literal) - 1})

static EtbkStatus init(const EtbkHostApi* host, const EtbkBackendApi* self, const EtbkInit* i,
                       void** handle) {
  (void)host, (void)self, (void)i;
  *handle = NULL;
  return ETBK_STATUS_OK;
}

static EtbkStatus init_fails(const EtbkHostApi* host, const EtbkBackendApi* self, const EtbkInit* i,
                             void** handle) {
  (void)self, (void)i, (void)handle;
  host->set_error(host, TEXT("the toy driver is older than 3.1: update it"));
  return ETBK_STATUS_INCOMPATIBLE_BLOB;
}

static EtbkStatus unavailable(const EtbkHostApi* host, const EtbkBackendApi* self) {
  (void)self;
  host->set_error(host, TEXT("the toy device is unplugged: plug it in"));
  return ETBK_STATUS_UNAVAILABLE;
}

static EtbkStatus add(const EtbkExecution* execution, float factor) {
  const float* tensor = (const float*)execution->data[0];
  const float* number = (const float*)execution->data[1];
  float* output = (float*)execution->data[2];
  size_t count = execution->arguments[2]->size_bytes / sizeof(float);
  for (size_t i = 0; i < count; ++i) {
    output[i] = (tensor[i] + *number) * (i == 0 ? factor : 1.0f);
  }
  return ETBK_STATUS_OK;
}

static EtbkStatus execute(const EtbkHostApi* host, const EtbkExecution* e, void* handle) {
  (void)host, (void)handle;
  while (getenv("TOY_HANGS") != NULL) {
    sleep(1000);
  }
  return add(e, 1.0f);
}

static EtbkStatus execute_wrong(const EtbkHostApi* host, const EtbkExecution* e, void* handle) {
  (void)host, (void)handle;
  return add(e, 1.01f);
}

static EtbkStatus execute_fails(const EtbkHostApi* host, const EtbkExecution* e, void* handle) {
  (void)e, (void)handle;
  host->set_error(host, TEXT("the toy device ran out of credit: top it up"));
  return ETBK_STATUS_OUT_OF_RESOURCES;
}

static EtbkStatus execute_crashes(const EtbkHostApi* host, const EtbkExecution* e, void* handle) {
  (void)host, (void)e, (void)handle;
  abort();
}

static void destroy(const EtbkHostApi* host, void* handle) { (void)host, (void)handle; }

#define BACKEND(name, available, initialize, run)                                     \
  static const EtbkBackendInfo name##_info = {.struct_size = sizeof(EtbkBackendInfo), \
                                              .id = {#name, sizeof(#name) - 1},       \
                                              .vendor = {"Toy", 3},                   \
                                              .version = {"1.0.0", 5},                \
                                              .blob_format_oldest = 1,                \
                                              .blob_format_newest = 1};               \
  static const EtbkBackendApi name##_api = {.struct_size = sizeof(EtbkBackendApi),    \
                                            .info = &name##_info,                     \
                                            .is_available = available,                \
                                            .init = initialize,                       \
                                            .execute = run,                           \
                                            .destroy = destroy};

BACKEND(AdderBackend, NULL, init, execute)
BACKEND(UnavailableBackend, unavailable, init, execute)
BACKEND(InitFailsBackend, NULL, init_fails, execute)
BACKEND(ExecuteFailsBackend, NULL, init, execute_fails)
BACKEND(CrashesBackend, NULL, init, execute_crashes)
BACKEND(WrongBackend, NULL, init, execute_wrong)

static const EtbkBackendApi* const backends[] = {&AdderBackend_api,     &UnavailableBackend_api,
                                                 &InitFailsBackend_api, &ExecuteFailsBackend_api,
                                                 &CrashesBackend_api,   &WrongBackend_api};

ETBK_PLUGIN_ENTRY(toy) {
#ifdef CRASH_AT_ENTRY
  abort();
#endif
  (void)host;
  plugin->abi_major = ETBK_ABI_MAJOR;
  plugin->abi_minor = ETBK_ABI_MINOR;
  plugin->abi_minor_needed = ETBK_ABI_MINOR;
  plugin->backend_count = sizeof(backends) / sizeof(backends[0]);
  plugin->backends = backends;
  plugin->name = TEXT("toy");
  return ETBK_STATUS_OK;
}

ETBK_PLUGIN_NOTE(9,
                 "name=toy\nvendor=Toy\nversion=1.0.0\nid=AdderBackend\nid=UnavailableBackend\n"
                 "id=InitFailsBackend\nid=ExecuteFailsBackend\nid=CrashesBackend\n"
                 "id=WrongBackend\n");
