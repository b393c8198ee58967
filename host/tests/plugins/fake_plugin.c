/* A plugin with faults. What it is, is chosen when it is compiled; what its entry gets wrong, by
 * the environment variable FAKE_FAULT when it is loaded.
 *
 *   FAKE_NAME, FAKE_ID     name and backend id, without quotes
 *   FAKE_SECOND_ID         a second backend
 *   FAKE_NOTE_ID           the id that the note tells instead
 *   FAKE_NOTE_VERSION      the version that the note tells instead of 1.2.0
 *   FAKE_MINOR             the ABI minor that it claims to be compiled with
 *   FAKE_MINOR_NEEDED      the ABI minor that it claims to need
 *   FAKE_MAJOR             the ABI major
 *   FAKE_NO_NOTE, FAKE_NO_ENTRY
 *   FAKE_CRASHING          its constructor crashes
 *   FAKE_UNDEFINED         needs a symbol that nobody defines
 */
#include <executorch_backend_kit/plugin.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define STRING(literal) \
  { literal, sizeof(literal) - 1 }

#ifndef FAKE_NOTE_ID
#define FAKE_NOTE_ID FAKE_ID
#endif
#ifndef FAKE_NOTE_VERSION
#define FAKE_NOTE_VERSION 1.2.0
#endif
#ifndef FAKE_MINOR_NEEDED
#define FAKE_MINOR_NEEDED 9u
#endif
#ifdef FAKE_MINOR
#undef ETBK_ABI_MINOR
#define ETBK_ABI_MINOR FAKE_MINOR
#endif
#ifdef FAKE_MAJOR
#undef ETBK_ABI_MAJOR
#define ETBK_ABI_MAJOR FAKE_MAJOR
#endif
#ifdef FAKE_SECOND_ID
#define SECOND_ID_LINE "id=" TEXT(FAKE_SECOND_ID) "\n"
#else
#define SECOND_ID_LINE ""
#endif

#ifndef FAKE_NO_NOTE
ETBK_PLUGIN_NOTE(FAKE_MINOR_NEEDED,
                 "name=" TEXT(FAKE_NAME) "\nvendor=Fake Works\nversion=" TEXT(
                     FAKE_NOTE_VERSION) "\nid=" TEXT(FAKE_NOTE_ID) "\n" SECOND_ID_LINE);
#endif

#ifndef FAKE_NO_ENTRY
#ifdef FAKE_UNDEFINED
int etbk_nobody_defines_this(void);
#endif

static EtbkStatus init(const EtbkHostApi* host, const EtbkBackendApi* self, const EtbkInit* with,
                       void** handle) {
  (void)host, (void)self, (void)with;
#ifdef FAKE_UNDEFINED
  if (etbk_nobody_defines_this()) return ETBK_STATUS_INTERNAL;
#endif
  *handle = NULL;
  return ETBK_STATUS_OK;
}

static EtbkStatus execute(const EtbkHostApi* host, const EtbkExecution* execution, void* handle) {
  (void)host, (void)execution, (void)handle;
  return ETBK_STATUS_OK;
}

static void destroy(const EtbkHostApi* host, void* handle) { (void)host, (void)handle; }

#define INFO(backend_id)                                                                 \
  {                                                                                      \
    .struct_size = sizeof(EtbkBackendInfo), .id = STRING(TEXT(backend_id)),              \
    .vendor = STRING("Fake Works"), .version = STRING("1.2.0"), .blob_format_oldest = 2, \
    .blob_format_newest = 5                                                              \
  }
#define BACKEND(backend_info)                                                   \
  {                                                                             \
    .struct_size = sizeof(EtbkBackendApi), .info = &backend_info, .init = init, \
    .execute = execute, .destroy = destroy                                      \
  }

static EtbkBackendInfo info = INFO(FAKE_ID);
static EtbkBackendApi backend = BACKEND(info);
#ifdef FAKE_SECOND_ID
static EtbkBackendInfo second_info = INFO(FAKE_SECOND_ID);
static EtbkBackendApi second_backend = BACKEND(second_info);
static const EtbkBackendApi* backends[] = {&backend, &second_backend};
#else
static const EtbkBackendApi* backends[] = {&backend};
#endif

static int entry_calls = 0;

static EtbkStatus do_wrong(const EtbkHostApi* host, const char* fault, EtbkPluginApi* plugin) {
  static char long_id[] = "A234567890123456789012345678901234567890123456789012345678901234";
  if (strcmp(fault, "fails") == 0) return ETBK_STATUS_INTERNAL;
  if (strcmp(fault, "fails with a text") == 0) {
    host->set_error(host, (EtbkString){"the firmware is too old", 23});
    return ETBK_STATUS_UNAVAILABLE;
  }
  if (strcmp(fault, "unknown status") == 0) return 4711;
  if (strcmp(fault, "host too old") == 0) {
    plugin->abi_minor = plugin->abi_minor_needed = 12;
    return ETBK_STATUS_HOST_TOO_OLD;
  }
  if (strcmp(fault, "host too new") == 0) {
    plugin->abi_minor = plugin->abi_minor_needed = 5;
    return ETBK_STATUS_HOST_TOO_NEW;
  }
  if (strcmp(fault, "quietly newer") == 0) plugin->abi_minor_needed = plugin->abi_minor = 12;
  if (strcmp(fault, "nothing") == 0) memset(plugin, 0, sizeof *plugin);
  if (strcmp(fault, "null backends") == 0) plugin->backends = NULL;
  if (strcmp(fault, "no backends") == 0) plugin->backend_count = 0;
  if (strcmp(fault, "too many backends") == 0) plugin->backend_count = 65;
  if (strcmp(fault, "struct size") == 0) plugin->struct_size = 4096;
  if (strcmp(fault, "writes behind") == 0) ((char*)(plugin + 1))[7] = 1;
  if (strcmp(fault, "null backend") == 0) backends[0] = NULL;
  if (strcmp(fault, "small backend") == 0) backend.struct_size = 16;
  if (strcmp(fault, "huge backend") == 0) backend.struct_size = 0xffffffffu;
  if (strcmp(fault, "null info") == 0) backend.info = NULL;
  if (strcmp(fault, "small info") == 0) info.struct_size = 8;
  if (strcmp(fault, "no init") == 0) backend.init = NULL;
  if (strcmp(fault, "no execute") == 0) backend.execute = NULL;
  if (strcmp(fault, "no destroy") == 0) backend.destroy = NULL;
  if (strcmp(fault, "empty id") == 0) info.id.size = 0;
  if (strcmp(fault, "long id") == 0) info.id = (EtbkString){long_id, 64};
  if (strcmp(fault, "odd id") == 0) info.id = (EtbkString){"Not an id", 9};
  if (strcmp(fault, "digit id") == 0) info.id = (EtbkString){"9Backend", 8};
  if (strcmp(fault, "null vendor") == 0) info.vendor = (EtbkString){NULL, 9};
  if (strcmp(fault, "huge version") == 0) info.version.size = (size_t)-1;
  if (strcmp(fault, "other vendor") == 0) info.vendor = (EtbkString){"Other", 5};
#ifdef FAKE_SECOND_ID
  if (strcmp(fault, "mixed versions") == 0) second_info.version = (EtbkString){"1.3.0", 5};
#endif
  if (strcmp(fault, "null name") == 0) plugin->name = (EtbkString){NULL, 4};
  return ETBK_STATUS_OK;
}

#define ENTRY(name) ETBK_PLUGIN_ENTRY(name)
ENTRY(FAKE_NAME) {
  const char* const fault = getenv("FAKE_FAULT");
  const char* const counting = getenv("FAKE_COUNT_ENTRIES");
  ++entry_calls;
  if (counting != NULL && entry_calls > 1) {
    abort(); /* the host promised to call once */
  }
  plugin->abi_major = ETBK_ABI_MAJOR;
  plugin->abi_minor = ETBK_ABI_MINOR;
  plugin->abi_minor_needed = FAKE_MINOR_NEEDED;
  plugin->backend_count = sizeof backends / sizeof backends[0];
  plugin->backends = backends;
  plugin->name = (EtbkString)STRING(TEXT(FAKE_NAME));
  return fault == NULL ? ETBK_STATUS_OK : do_wrong(host, fault, plugin);
}
#endif

#ifdef FAKE_CRASHING
__attribute__((constructor)) static void crash(void) { abort(); }
#endif
