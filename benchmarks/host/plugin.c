/* The two backends of the benchmark behind the plugin ABI: one does nothing, one adds. */
#include <executorch_backend_kit/plugin.h>

#include "add.h"

#define TEXT(literal) \
  { literal, sizeof(literal) - 1 }

static EtbkStatus init(const EtbkHostApi* host, const EtbkBackendApi* self, const EtbkInit* call,
                       void** handle) {
  (void)host, (void)self, (void)call;
  *handle = NULL;
  return ETBK_STATUS_OK;
}

static EtbkStatus execute_noop(const EtbkHostApi* host, const EtbkExecution* call, void* handle) {
  (void)host, (void)call, (void)handle;
  return ETBK_STATUS_OK;
}

/* out = a + b + c; the shape is looked at only when it changed. */
static EtbkStatus execute_add(const EtbkHostApi* host, const EtbkExecution* call, void* handle) {
  (void)host, (void)handle;
  if (call->changed != 0) {
    if (call->count != 4) return ETBK_STATUS_INVALID_ARGUMENT;
    for (size_t i = 0; i < 4; ++i) {
      if (call->arguments[i]->kind != ETBK_ARGUMENT_TENSOR ||
          call->arguments[i]->size_bytes != ADD_COUNT * sizeof(float)) {
        return ETBK_STATUS_INVALID_ARGUMENT;
      }
    }
  }
  add(call->data[0], call->data[1], call->data[2], call->data[3]);
  return ETBK_STATUS_OK;
}

static void destroy(const EtbkHostApi* host, void* handle) { (void)host, (void)handle; }

static const EtbkBackendInfo noop_info = {
    sizeof(EtbkBackendInfo), 0, TEXT("PluginNoop"), TEXT("Bench"), TEXT("1.0.0"), 1, 1, 0, 0, 0};
static const EtbkBackendInfo add_info = {
    sizeof(EtbkBackendInfo), 0, TEXT("PluginAdd"), TEXT("Bench"), TEXT("1.0.0"), 1, 1, 0, 0, 0};

static const EtbkBackendApi noop_backend = {
    sizeof(EtbkBackendApi), 0,       &noop_info, NULL, NULL, NULL, init,
    execute_noop,           destroy, NULL,       NULL, NULL};
static const EtbkBackendApi add_backend = {sizeof(EtbkBackendApi),
                                           0,
                                           &add_info,
                                           NULL,
                                           NULL,
                                           NULL,
                                           init,
                                           execute_add,
                                           destroy,
                                           NULL,
                                           NULL,
                                           NULL};
static const EtbkBackendApi* const backends[] = {&noop_backend, &add_backend};

ETBK_PLUGIN_NOTE(9, "name=bench\nvendor=Bench\nversion=1.0.0\nid=PluginNoop\nid=PluginAdd\n");

ETBK_PLUGIN_ENTRY(bench) {
  (void)host;
  plugin->abi_major = ETBK_ABI_MAJOR;
  plugin->abi_minor = ETBK_ABI_MINOR;
  plugin->abi_minor_needed = 9;
  plugin->backend_count = 2;
  plugin->backends = backends;
  plugin->name.data = "bench";
  plugin->name.size = 5;
  return ETBK_STATUS_OK;
}
