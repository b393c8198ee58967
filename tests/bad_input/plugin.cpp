// A plugin whose macros say what is wrong with it. Without any it is a good one.
//
//   NAME, NOTE           its name, and the text of its note
//   ID, COUNT            the id of its backend; with COUNT n, n backends named ID0, ID1, ...
//   NO_NOTE, NO_ENTRY, UNDEFINED               what the library lacks
//   ENTRY_STATUS, ENTRY_THROWS, ENTRY_CRASHES, CONSTRUCTOR_CRASHES
//   TABLES, WITHOUT_EXECUTE                    what is wrong with the tables it gives
//   AVAILABLE, INIT, EXECUTE   status of that call; a text goes with it unless it is OK
#include <executorch_backend_kit/plugin.h>

#include <csignal>
#include <stdexcept>
#include <utility>

#ifndef NAME
#define NAME bad
#endif
#define QUOTE_(token) #token
#define QUOTE(token) QUOTE_(token)
#ifndef ID
#define ID "BadBackend"
#endif
#ifndef COUNT
#define COUNT 1
#endif
#ifndef NOTE
#define NOTE "name=bad\nvendor=Bad\nversion=1.0.0\nid=BadBackend\n"
#endif
#ifndef MINOR_NEEDED
#define MINOR_NEEDED 9
#endif
#ifndef ENTRY_STATUS
#define ENTRY_STATUS ETBK_STATUS_OK
#endif
#ifndef AVAILABLE
#define AVAILABLE ETBK_STATUS_OK
#endif
#ifndef INIT
#define INIT ETBK_STATUS_OK
#endif
#ifndef EXECUTE
#define EXECUTE ETBK_STATUS_OK
#endif

namespace {

template <std::size_t N>
constexpr EtbkString text(const char (&literal)[N]) {
  return {literal, N - 1};
}

EtbkStatus say(const EtbkHostApi* host, EtbkStatus status, EtbkString reason) {
  if (status != ETBK_STATUS_OK) {
    host->set_error(host, reason);
  }
  return status;
}

EtbkStatus is_available(const EtbkHostApi* host, const EtbkBackendApi*) {
  return say(host, AVAILABLE, text("the Bad device is unplugged: plug it in"));
}
EtbkStatus init(const EtbkHostApi* host, const EtbkBackendApi*, const EtbkInit*, void**) {
  return say(host, INIT, text("the Bad driver is older than 3.1: update it"));
}
EtbkStatus execute(const EtbkHostApi* host, const EtbkExecution*, void*) {
  return say(host, EXECUTE, text("the Bad device ran out of credit: top it up"));
}
void destroy(const EtbkHostApi*, void*) {}

// The id of backend I: ID, and a digit behind it if there are several.
struct Id {
  char data[sizeof(ID) + 1];
};
constexpr Id make_id(std::size_t index) {
  Id id{};
  for (std::size_t i = 0; i + 1 < sizeof(ID); ++i) {
    id.data[i] = ID[i];
  }
  id.data[sizeof(ID) - 1] = COUNT > 1 ? "0123456789abcdefghijklmnopqrstuv"[index] : '\0';
  return id;
}

template <std::size_t I>
struct Backend {
  static constexpr std::size_t kIdSize = sizeof(ID) - 1 + (COUNT > 1 ? 1 : 0);
  static constexpr Id id = make_id(I);
  static constexpr EtbkBackendInfo info = {sizeof(EtbkBackendInfo),
                                           ETBK_CONCURRENCY_HANDLES,
                                           {id.data, kIdSize},
                                           text("Bad"),
                                           text("1.0.0"),
                                           0,
                                           0,
                                           0,
                                           0,
                                           0};
#ifdef WITHOUT_EXECUTE
  static constexpr EtbkBackendApi api = {sizeof(EtbkBackendApi),
                                         0,
                                         &info,
                                         nullptr,
                                         is_available,
                                         nullptr,
                                         init,
                                         nullptr,
                                         destroy,
                                         nullptr,
                                         nullptr,
                                         nullptr};
#else
  static constexpr EtbkBackendApi api = {sizeof(EtbkBackendApi),
                                         0,
                                         &info,
                                         nullptr,
                                         is_available,
                                         nullptr,
                                         init,
                                         execute,
                                         destroy,
                                         nullptr,
                                         nullptr,
                                         nullptr};
#endif
};

template <std::size_t... I>
const EtbkBackendApi* const* tables(std::index_sequence<I...>) {
  static constexpr const EtbkBackendApi* all[] = {&Backend<I>::api...};
  return all;
}

}  // namespace

#ifndef NO_NOTE
ETBK_PLUGIN_NOTE(MINOR_NEEDED, NOTE);
#endif

#ifdef NO_ENTRY
#undef ETBK_PLUGIN_ENTRY
#define ETBK_PLUGIN_ENTRY(name) \
  extern "C" ETBK_EXPORT EtbkStatus other_entry(const EtbkHostApi* host, EtbkPluginApi* plugin)
#endif

#ifdef UNDEFINED
extern "C" int bad_driver_open();
#endif

#ifdef CONSTRUCTOR_CRASHES
__attribute__((constructor)) void crash() { std::raise(SIGSEGV); }
#endif

ETBK_PLUGIN_ENTRY(NAME) {
#ifdef UNDEFINED
  bad_driver_open();
#endif
#ifdef ENTRY_THROWS
  throw std::runtime_error("the Bad driver is not installed");
#endif
#ifdef ENTRY_CRASHES
  std::raise(SIGSEGV);
#endif
  (void)host;
  plugin->abi_major = ETBK_ABI_MAJOR;
  plugin->abi_minor = ETBK_ABI_MINOR;
  plugin->abi_minor_needed = MINOR_NEEDED;
  plugin->backend_count = COUNT;
  plugin->name = text(QUOTE(NAME));
  plugin->backends = tables(std::make_index_sequence<COUNT>());
#ifdef TABLES
  TABLES;
#endif
  return ENTRY_STATUS;
}
