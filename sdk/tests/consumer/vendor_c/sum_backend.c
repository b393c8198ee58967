/* Adds two float tensors, in C99 over the C header alone. Licence: BSD-3-Clause. */
#include <executorch_backend_kit/plugin.h>
#include <string.h>

static const EtbkBackendInfo info = {.struct_size = sizeof(EtbkBackendInfo),
                                     .id = {"SumBackend", 10},
                                     .vendor = {"C Works", 7},
                                     .version = {"2.0.0", 5}};

static EtbkStatus ETBK_CALL init(const EtbkHostApi* host, const EtbkBackendApi* self,
                                 const EtbkInit* context, void** handle) {
  static const char text[] = "this is no blob of SumBackend";
  (void)self;
  if (context->blob.size != 4 || memcmp(context->blob.data, "SUM1", 4) != 0) {
    host->set_error(host, (EtbkString){text, sizeof(text) - 1});
    return ETBK_STATUS_INCOMPATIBLE_BLOB;
  }
  *handle = NULL;
  return ETBK_STATUS_OK;
}

static EtbkStatus ETBK_CALL execute(const EtbkHostApi* host, const EtbkExecution* execution,
                                    void* handle) {
  (void)host;
  (void)handle;
  if (execution->count != 3) {
    return ETBK_STATUS_INVALID_ARGUMENT;
  }
  const float* a = execution->data[0];
  const float* b = execution->data[1];
  float* sum = execution->data[2];
  const size_t elements = execution->arguments[2]->size_bytes / sizeof(float);
  for (size_t i = 0; i < elements; ++i) {
    sum[i] = a[i] + b[i];
  }
  return ETBK_STATUS_OK;
}

static void ETBK_CALL destroy(const EtbkHostApi* host, void* handle) {
  (void)host;
  (void)handle;
}

static const EtbkBackendApi backend = {.struct_size = sizeof(EtbkBackendApi),
                                       .info = &info,
                                       .init = init,
                                       .execute = execute,
                                       .destroy = destroy};
static const EtbkBackendApi* const backends[] = {&backend};

ETBK_PLUGIN_NOTE(9, "name=plain_c\nvendor=C Works\nversion=2.0.0\nid=SumBackend\n");

ETBK_PLUGIN_ENTRY(plain_c) {
  plugin->abi_major = ETBK_ABI_MAJOR;
  plugin->abi_minor = ETBK_ABI_MINOR;
  plugin->abi_minor_needed = 9;
  if (host->abi_major != ETBK_ABI_MAJOR || host->abi_minor < 9) {
    return host->abi_major > ETBK_ABI_MAJOR ? ETBK_STATUS_HOST_TOO_NEW : ETBK_STATUS_HOST_TOO_OLD;
  }
  plugin->backend_count = 1;
  plugin->backends = backends;
  plugin->name = (EtbkString){"plain_c", 7};
  return ETBK_STATUS_OK;
}
