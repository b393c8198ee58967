// The accelerator in software.
#include "device.hpp"

#include <unistd.h>

#include <cstdlib>
#include <new>
#include <string_view>

namespace reference {
namespace {

// The process that opened the device, 0 before. A thread does not survive fork.
std::atomic<pid_t> opened_by{0};

bool is_forked() {
  const pid_t owner = opened_by;
  return owner != 0 && owner != getpid();
}

constexpr char kForked[] =
    "REFERENCE-FORK: the device was opened before this process was forked. Start it anew (spawn), "
    "or load the first model after the fork.";

}  // namespace

Memory Device::allocate(size_t size) {
  const size_t before = memory_used.fetch_add(size);
  const size_t limit = memory_limit;
  void* const data = size <= limit && before <= limit - size
                         ? ::operator new(size, std::align_val_t(kDeviceAlignment), std::nothrow)
                         : nullptr;
  if (data == nullptr) {
    memory_used -= size;
    throw etbk::Error::format(ETBK_STATUS_BACKEND_OUT_OF_MEMORY,
                              "REFERENCE-MEMORY: %zu bytes of device memory are needed, %zu of %zu "
                              "are in use. Raise the option memory_limit_mib or unload a model.",
                              size, before, limit);
  }
  return Memory(static_cast<float*>(data), [size](float* memory) {
    ::operator delete(memory, std::align_val_t(kDeviceAlignment));
    memory_used -= size;
  });
}

Memory Device::import_host(const void* data) {
  const bool is_aligned = reinterpret_cast<uintptr_t>(data) % kDeviceAlignment == 0;
  float* const memory = static_cast<float*>(const_cast<void*>(data));
  return is_aligned ? Memory(memory, [](float*) {}) : nullptr;
}

Device& Device::open() {
  // Never deleted: a model may be destroyed after static objects are. At exit the thread finishes
  // what was submitted, and ends.
  static Device* const device = new Device;
  return *device;
}

Device::Device() : worker_(&Device::work, this) {
  opened_by = getpid();
  static_cast<void>(std::atexit([] { open().stop(); }));
}

std::string Device::why_unavailable() {
  const char* const setting = std::getenv("REFERENCE_DEVICE");
  if (setting != nullptr && std::string_view(setting) == "off") {
    return "REFERENCE-OFF: the environment variable REFERENCE_DEVICE is \"off\". Unset it.";
  }
  return is_forked() ? kForked : "";
}

void Device::run(Job& job) {
  if (is_forked()) {  // before the mutex, which another thread may have held in fork
    throw etbk::Error(ETBK_STATUS_INVALID_STATE, kForked);
  }
  std::unique_lock<std::mutex> lock(mutex_);
  if (is_stopping_) {
    throw etbk::Error(ETBK_STATUS_INVALID_STATE, "REFERENCE-EXIT: the process is ending");
  }
  job.is_done = false;
  queue_.push_back(&job);
  submitted_.notify_one();
  done_.wait(lock, [&] { return job.is_done; });
}

void Device::work() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    submitted_.wait(lock, [&] { return is_stopping_ || !queue_.empty(); });
    if (queue_.empty()) {
      return;
    }
    Job& job = *queue_.front();
    queue_.pop_front();
    lock.unlock();
    const auto now = [&] { return job.clock != nullptr ? job.clock->profile_now(job.clock) : 0; };
    job.times.clear();
    for (const Command& command : job.commands) {
      const uint64_t begin = now();
      reference::run(command);
      job.times.push_back({begin, now()});
    }
    lock.lock();
    job.is_done = true;
    done_.notify_all();
  }
}

void Device::stop() {
  if (is_forked()) {
    return;
  }
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_stopping_ = true;
  }
  submitted_.notify_one();
  worker_.join();
}

}  // namespace reference
