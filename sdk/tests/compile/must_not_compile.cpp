// One mistake per value of MISTAKE; with 0 there is none and the file compiles. The comment after
// each #if is what the compiler has to say, GCC or Clang. Licence: BSD-3-Clause.
#include <executorch_backend_kit/backend.hpp>

#include <cstdlib>
#include <string>

#ifndef MISTAKE
#error "MISTAKE is not defined"
#endif

namespace {

struct Good {
  static constexpr auto info = etbk::Info("GoodBackend");
  explicit Good(etbk::InitContext&) {}
  void execute(etbk::ExecuteContext&) {}
};

struct Delegate {
#if MISTAKE == 1    // a delegate class needs `static constexpr auto info
#elif MISTAKE == 2  // a backend's id is not an identifier of at most 63 bytes
  static constexpr auto info = etbk::Info("not an id");
#elif MISTAKE == 3  // two backends of this plugin have the same id
  static constexpr auto info = etbk::Info("GoodBackend");
#elif MISTAKE == 4  // constant expression|non-.constexpr.
  static inline const std::string id = "RunTimeText";
  static constexpr auto info = etbk::Info(id);
#else
  static constexpr auto info = etbk::Info("TheBackend");
#endif

#if MISTAKE == 5  // a delegate class needs a constructor from etbk::InitContext&, or `create`
  explicit Delegate(int) {}
#elif MISTAKE == 6  // create has the wrong shape
  static etbk::Result<Delegate> create(int);
#elif MISTAKE == 7  // create returns etbk::Result<D> or etbk::Result<std::unique_ptr<D>>
  static Delegate* create(etbk::InitContext&);
#else
  explicit Delegate(etbk::InitContext&) {}
#endif

#if MISTAKE == 8     // a delegate class needs a public member `execute
#elif MISTAKE == 9   // execute returns void, etbk::Error or EtbkStatus
  bool execute(etbk::ExecuteContext&) { return true; }
#elif MISTAKE == 10  // ignoring return
  void execute(etbk::ExecuteContext& run) { run.resize(0, {1}); }
#else
  void execute(etbk::ExecuteContext&) {}
#endif

#if MISTAKE == 11  // is_available has the wrong shape
  static bool is_available(const etbk::HostContext&) { return true; }
#elif MISTAKE == 12  // check_blob has the wrong shape
  static etbk::BlobGrade check_blob(etbk::Bytes) { return etbk::BlobGrade::optimal(); }
#elif MISTAKE == 13  // set_option has the wrong shape
  static etbk::Error set_option(const etbk::Option&) { return {}; }
#elif MISTAKE == 14  // get_option has the wrong shape
  static etbk::Result<std::string> get_option(const etbk::HostContext&, std::string_view) {
    return std::string();
  }
#elif MISTAKE == 15  // extension has the wrong shape
  static const void* extension(std::string_view) { return nullptr; }
#endif
};

}  // namespace

#if MISTAKE == 16  // the plugin's name is not .a-z..a-z0-9_.
ETBK_PLUGIN(Upper, "Vendor", "1.0.0", Good, Delegate);
#elif MISTAKE == 17  // the version is not MAJOR.MINOR.PATCH
ETBK_PLUGIN(plugin, "Vendor", "1.0", Good, Delegate);
#elif MISTAKE == 18  // the vendor is empty or holds control bytes
ETBK_PLUGIN(plugin, "Ven\ndor", "1.0.0", Good, Delegate);
#elif MISTAKE == 19  // constant expression
static const char* const run_time_vendor = std::getenv("VENDOR");
ETBK_PLUGIN(plugin, run_time_vendor, "1.0.0", Good, Delegate);
#elif MISTAKE == 20  // redefinition of
ETBK_PLUGIN(plugin, "Vendor", "1.0.0", Good);
ETBK_PLUGIN(other, "Vendor", "1.0.0", Delegate);
#else
ETBK_PLUGIN(plugin, "Vendor", "1.0.0", Good, Delegate);
#endif
