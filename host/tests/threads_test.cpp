// Many threads load, list and ask at once. The thread sanitizer watches in its own build.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <executorch_backend_kit/host.hpp>
#include <thread>

#include "temporary_folder.hpp"

namespace etbk::host {
namespace {

using test::plugin;

TEST(Threads, EachPluginIsRegisteredByExactlyOneOfThem) {
  ::setenv("FAKE_COUNT_ENTRIES", "1", 1);
  const std::vector<std::string> paths = {plugin("fake_good"), plugin("fake_other"),
                                          plugin("fake_pair"), plugin("fake_no_entry")};
  std::atomic<int> registered{0};
  std::atomic<int> already{0};
  std::atomic<int> refused{0};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (std::size_t round = 0; round < 12; ++round) {
        switch (load_plugin(paths[(i + round) % paths.size()]).outcome) {
          case Outcome::kRegistered:
            ++registered;
            break;
          case Outcome::kAlreadyRegistered:
            ++already;
            break;
          default:
            ++refused;
        }
        plugins();
        registered_backends();
        last_error();
        recent_errors();
        counters();
        audit();
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(registered, 3);
  EXPECT_EQ(refused, 24);  // the one without an entry
  EXPECT_EQ(already, 8 * 12 - 3 - 24);
  EXPECT_EQ(registered_backends().size(), 4u);
  EXPECT_EQ(plugins().size(), 4u);
}

TEST(Threads, DiscoveryBesideLoading) {
  DiscoveryOptions options;
  options.standard_directories = false;
  options.libraries = {plugin("fake_good"), plugin("fake_other")};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] { EXPECT_EQ(discover(options).size(), 2u); });
    threads.emplace_back([&] { EXPECT_EQ(load_plugins(options).size(), 2u); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(registered_backends(), (std::vector<std::string>{"FakeGood", "FakeOther"}));
}

}  // namespace
}  // namespace etbk::host
