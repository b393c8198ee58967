// A BackendInterface that forwards everything and keeps records.
// Licence: BSD-3-Clause.
#include "backend_watch.hpp"

#include <executorch/runtime/backend/interface.h>

#include <atomic>
#include <deque>
#include <memory>
#include <new>

namespace etbk::runner {
namespace {

namespace rt = ::executorch::runtime;

struct Record {
  DelegateRecord facts;
  std::atomic<int64_t> calls{0};
  std::atomic<int64_t> execute_ns{0};
};

struct State {
  Progress* progress = nullptr;
  bool watching = false;
  bool timing = false;
  std::deque<Record> records;
  std::deque<std::unique_ptr<rt::BackendInterface>> wrappers;
};

// Never destroyed: delegates may be destroyed after static destructors have run.
State& state() {
  static State* const only = new State;
  return *only;
}

// What ExecuTorch keeps as a delegate's handle.
struct Handle {
  rt::DelegateHandle* inner;
  Record* record;
  int32_t index;
};

class Watched final : public rt::BackendInterface {
 public:
  Watched(rt::BackendInterface* backend, const char* name) : backend_(backend), name_(name) {}

  rt::BackendInterface* backend() const { return backend_; }

  // ExecuTorch asks right before init: a new delegate begins.
  bool is_available() const override {
    State& s = state();
    if (!s.watching) {
      return backend_->is_available();
    }
    s.records.emplace_back();
    s.records.back().facts.backend = name_;
    s.progress->delegate.store(static_cast<int32_t>(s.records.size()) - 1);
    s.progress->enter(Stage::kDelegate);
    s.records.back().facts.available = backend_->is_available();
    return s.records.back().facts.available;
  }

  rt::Result<rt::DelegateHandle*> init(rt::BackendInitContext& context,
                                       rt::FreeableBuffer* processed,
                                       rt::ArrayRef<rt::CompileSpec> specs) const override {
    State& s = state();
    if (!s.watching || s.records.empty()) {
      return backend_->init(context, processed, specs);
    }
    Record& record = s.records.back();
    record.facts.blob_bytes = processed->size();
    const int64_t begin = now_ns();
    auto result = backend_->init(context, processed, specs);
    record.facts.init_ns = now_ns() - begin;
    if (!result.ok()) {
      record.facts.error = static_cast<unsigned>(result.error());
      return result;
    }
    record.facts.initialized = true;
    const auto index = static_cast<int32_t>(s.records.size()) - 1;
    s.progress->delegate.store(-1);
    s.progress->enter(Stage::kMethod);
    return reinterpret_cast<rt::DelegateHandle*>(new Handle{result.get(), &record, index});
  }

  rt::Error execute(rt::BackendExecutionContext& context, rt::DelegateHandle* handle,
                    rt::Span<rt::EValue*> arguments) const override {
    State& s = state();
    const auto& own = *reinterpret_cast<Handle*>(handle);
    own.record->calls.fetch_add(1, std::memory_order_relaxed);
    if (!s.timing) {
      return backend_->execute(context, own.inner, arguments);
    }
    s.progress->delegate.store(own.index);
    s.progress->delegate_calls.fetch_add(1);
    const int64_t begin = now_ns();
    const rt::Error error = backend_->execute(context, own.inner, arguments);
    own.record->execute_ns.fetch_add(now_ns() - begin);
    if (error == rt::Error::Ok) {
      s.progress->delegate.store(-1);
    }
    return error;
  }

  rt::Error set_option(rt::BackendOptionContext& context,
                       const rt::Span<rt::BackendOption>& options) override {
    return backend_->set_option(context, options);
  }

  rt::Error get_option(rt::BackendOptionContext& context,
                       rt::Span<rt::BackendOption>& options) override {
    return backend_->get_option(context, options);
  }

  void destroy(rt::DelegateHandle* handle) const override {
    auto* const own = reinterpret_cast<Handle*>(handle);
    if (own != nullptr) {
      backend_->destroy(own->inner);
      delete own;
    }
  }

 private:
  rt::BackendInterface* backend_;
  std::string name_;
};

}  // namespace

void BackendWatch::begin(Progress* progress) {
  State& s = state();
  s.progress = progress;
  s.records.clear();
  s.watching = true;
}

void BackendWatch::end() { state().watching = false; }

void BackendWatch::set_timing(bool timing) { state().timing = timing; }

void BackendWatch::reset_counts() {
  for (Record& record : state().records) {
    record.calls.store(0);
    record.execute_ns.store(0);
  }
}

std::vector<DelegateRecord> BackendWatch::records() {
  std::vector<DelegateRecord> records;
  for (const Record& record : state().records) {
    DelegateRecord copy = record.facts;
    copy.calls = record.calls.load();
    copy.execute_ns = record.execute_ns.load();
    records.push_back(std::move(copy));
  }
  return records;
}

void* BackendWatch::wrap(void* backend, const char* name) {
  State& s = state();
  if (!s.watching || backend == nullptr) {
    return backend;
  }
  auto* const original = static_cast<rt::BackendInterface*>(backend);
  for (const auto& wrapper : s.wrappers) {
    if (static_cast<Watched*>(wrapper.get())->backend() == original) {
      return wrapper.get();
    }
  }
  s.wrappers.push_back(std::make_unique<Watched>(original, name));
  return s.wrappers.back().get();
}

}  // namespace etbk::runner
