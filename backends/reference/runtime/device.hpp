// The accelerator: memory of its own and a queue that one thread works off. Everything that a real
// device would need a driver for is here.
#pragma once

#include "kernels.hpp"

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

namespace reference {

// Device memory, or host memory lent to the device; freed or given back with the last copy.
using Memory = std::shared_ptr<float>;

// Work for the queue. Belongs to who submits it, and stays until `run` returns.
struct Job {
  struct Times {
    uint64_t begin;
    uint64_t end;
  };

  std::vector<Command> commands;
  const EtbkHostApi* clock = nullptr;  // if set, `times` receives the ticks of each command
  std::vector<Times> times;
  bool is_done = false;
};

// Thread: all members may be called from any thread.
class Device {
 public:
  // The one device of the process; the first call starts its thread.
  static Device& open();
  // Why the device cannot be used; an empty text if it can. Starts nothing and does not wait.
  static std::string why_unavailable();

  // Bytes that may be given out at a time, and those that are.
  static inline std::atomic<size_t> memory_limit{size_t{2} << 30};
  static inline std::atomic<size_t> memory_used{0};

  // Throws BACKEND_OUT_OF_MEMORY.
  static Memory allocate(size_t size);
  // Lends host memory, which is only read and must outlive the result. Null if it is not aligned.
  static Memory import_host(const void* data);
  static void copy_in(float* to, const void* host, size_t size) { std::memcpy(to, host, size); }
  static void copy_out(void* host, const float* from, size_t size) {
    std::memcpy(host, from, size);
  }

  // Runs a job and returns when it is done; jobs run one after another. Throws INVALID_STATE once
  // the process ends, and in a child made by fork, where the thread does not exist.
  void run(Job& job);

 private:
  Device();
  void work();
  void stop();

  std::mutex mutex_;
  std::condition_variable submitted_;
  std::condition_variable done_;
  std::deque<Job*> queue_;
  bool is_stopping_ = false;
  std::thread worker_;
};

}  // namespace reference
