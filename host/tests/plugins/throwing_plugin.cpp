// A plugin whose entry throws, as a C++ plugin without the author API might.
#include <executorch_backend_kit/plugin.h>

#include <cstdlib>
#include <cstring>
#include <stdexcept>

ETBK_PLUGIN_NOTE(9, "name=fake_throwing\nvendor=Fake Works\nversion=1.2.0\nid=FakeThrowing\n");

ETBK_PLUGIN_ENTRY(fake_throwing) {
  (void)host;
  (void)plugin;
  const char* const fault = std::getenv("FAKE_FAULT");
  if (fault != nullptr && std::strcmp(fault, "throws a number") == 0) {
    throw 42;
  }
  throw std::runtime_error("the driver is on holiday");
}
