// ExecuTorch Backend Kit, author API: loops on the runtime's thread pool.
// Licence: BSD-3-Clause.
#pragma once

#include <executorch_backend_kit/backend/boundary.hpp>
#include <executorch_backend_kit/backend/host_context.hpp>

#include <atomic>
#include <type_traits>

namespace etbk {
inline namespace author_1 {

// The host's thread pool, or a plain loop on the calling thread where the host has none. Make one
// in init and keep it in the delegate; it owns nothing. Neither nested nor called from a thread of
// the plugin's own (ABI-024).
class ParallelFor {
 public:
  explicit ParallelFor(const HostContext& host) noexcept
      : extension_(host.extension<EtbkParallelForExtension>(
            ETBK_EXTENSION_PARALLEL_FOR, ETBK_EXTENSION_PARALLEL_FOR_REVISION)) {}

  bool available() const noexcept { return extension_ != nullptr; }

  // How many threads take part, the caller included. At least 1.
  uint32_t thread_count(const HostContext& host) const noexcept {
    const uint32_t count = extension_ == nullptr ? 1 : extension_->thread_count(host.api());
    return count == 0 ? 1 : count;
  }

  // Runs `task(0)` ... `task(tasks - 1)`, each once, in any order and on any thread, and returns
  // when all are done. `task` returns void or Error, or throws; a task must not wait for another.
  // The result is the first failure; tasks that had not begun by then are left out. Allocates
  // nothing itself.
  template <class Task>
  Error operator()(const HostContext& host, size_t tasks, Task&& task) const noexcept {
    Job<std::remove_reference_t<Task>> job{task};
    if (extension_ == nullptr || tasks < 2) {
      for (size_t index = 0; index < tasks; ++index) {
        job.run(index);
      }
    } else {
      const EtbkStatus status = extension_->parallel_for(
          host.api(), &Job<std::remove_reference_t<Task>>::enter, &job, tasks);
      if (status != ETBK_STATUS_OK) {
        return Error::told_by_host(status);
      }
    }
    return std::move(job.first_failure);
  }

 private:
  template <class Task>
  struct Job {
    explicit Job(Task& to_run) noexcept : task(to_run) {}

    static void ETBK_CALL enter(void* job, size_t index) noexcept {
      static_cast<Job*>(job)->run(index);
    }
    void run(size_t index) noexcept {
      if (failed.load(std::memory_order_relaxed)) {
        return;
      }
#if ETBK_EXCEPTIONS
      try {
        call(index);
      } catch (...) {
        keep(detail::current_exception_as_error());
      }
#else
      call(index);
#endif
    }
    void call(size_t index) {
      if constexpr (std::is_void<decltype(task(index))>::value) {
        task(index);
      } else {
        Error error = task(index);
        if (error.failed()) {
          keep(std::move(error));
        }
      }
    }
    void keep(Error error) noexcept {
      if (!failed.exchange(true)) {
        first_failure = std::move(error);
      }
    }

    Task& task;
    std::atomic<bool> failed{false};
    Error first_failure;  // written by the one task that set `failed`
  };

  const EtbkParallelForExtension* extension_;
};

}  // namespace author_1
}  // namespace etbk
