// Rules about delegates: what the runtime follows without a look.
// Licence: BSD-3-Clause.
#include <algorithm>
#include <string>
#include <string_view>

#include "blob.hpp"
#include "semantics.hpp"
#include "text.hpp"
#include "xnnpack_blob.hpp"

namespace etbk::pte {
namespace {

void check_blob(const Scope& scope, const ps::BackendDelegateDataReference* where,
                const std::string& place) {
  const ps::Program& program = *scope.file.program();
  if (where == nullptr) {
    scope.findings.add(602, place, "absent");
    return;
  }
  if (where->location() == ps::DataLocation::INLINE) {
    const auto* const blobs = program.backend_delegate_data();
    if (blobs == nullptr || where->index() >= blobs->size() ||
        blobs->Get(where->index())->data() == nullptr) {
      scope.findings.add(604, place + ".index",
                         std::to_string(where->index()) + " of " +
                             std::to_string(blobs == nullptr ? 0 : blobs->size()));
    }
  } else if (where->location() == ps::DataLocation::SEGMENT) {
    const size_t count = program.segments() == nullptr ? 0 : program.segments()->size();
    if (where->index() >= count) {
      scope.findings.add(605, place + ".index",
                         std::to_string(where->index()) + " of " + std::to_string(count));
    }
  } else {
    scope.findings.add(603, place + ".location",
                       std::to_string(static_cast<int>(where->location())));
  }
}

// What the envelope says must agree with the delegate around it.
void check_envelope(const Scope& scope, const ps::BackendDelegate& delegate,
                    const std::string& place) {
  scope.work.spend(ETBK_ENVELOPE_FIXED_SIZE);
  const BlobEnvelope envelope(scope.file, blob_range(scope.file, delegate));
  scope.work.spend(envelope.size());
  if (envelope.result() == ETBK_ENVELOPE_ABSENT) {
    return;
  }
  if (envelope.result() != ETBK_ENVELOPE_OK) {
    scope.findings.add(608, place + ".processed", etbk_envelope_result_text(envelope.result()));
  } else if (text_of(envelope.get().backend_id) != view(delegate.id())) {
    scope.findings.add(609, place + ".id",
                       in_quotes(view(delegate.id())) + "; the envelope says " +
                           in_quotes(text_of(envelope.get().backend_id)));
  }
}

// Bytes of an entry of named data, in the program or in the data file; false if there is none.
bool find_named(const Scope& scope, std::string_view key, uint64_t* size) {
  const auto look = [&](const auto* entries, const auto* segments) {
    for (uint32_t i = 0; entries != nullptr && i < entries->size() && scope.work.spend(1); ++i) {
      const auto& entry = *entries->Get(i);
      if (view(entry.key()) == key && segments != nullptr &&
          entry.segment_index() < segments->size()) {
        *size = segments->Get(entry.segment_index())->size();
        return true;
      }
    }
    return false;
  };
  const ps::Program& program = *scope.file.program();
  return look(program.named_data(), program.segments()) ||
         (scope.external != nullptr && scope.external->kind() == Container::Kind::kData &&
          look(scope.external->data()->named_data(), scope.external->data()->segments()));
}

// XNNPACK's delegate follows a map of named data that may be absent, and reads its constants
// without asking how long they are.
void check_xnnpack(const Scope& scope, MethodScope& method, const ps::BackendDelegate& delegate,
                   const std::string& place) {
  method.xnnpack_arguments.push_back(0);
  if (view(delegate.id()) != "XnnpackBackend") {
    return;
  }
  const Range range = blob_range(scope.file, delegate);
  const XnnpackBlob blob = read_xnnpack_blob(scope.file, range);
  scope.work.spend(std::min<uint64_t>(range.size, 65536));
  method.xnnpack_arguments.back() = blob.arguments;
  for (const XnnpackBlob::Named& named : blob.named) {
    uint64_t size = 0;
    if (!find_named(scope, named.key, &size)) {
      scope.findings.add(611, place + ".processed", in_quotes(named.key) + " is absent");
    } else if (size < named.size) {
      scope.findings.add(611, place + ".processed",
                         in_quotes(named.key) + " has " + std::to_string(size) +
                             " bytes, needed are " + std::to_string(named.size));
    }
  }
}

}  // namespace

void check_delegates(const Scope& scope, MethodScope& method) {
  const auto& delegates = *method.plan->delegates();
  for (uint32_t i = 0; i < delegates.size() && scope.work.spend(1); ++i) {
    const ps::BackendDelegate& delegate = *delegates.Get(i);
    const std::string place = method.place + ".delegates[" + std::to_string(i) + "]";
    if (view(delegate.id()).empty()) {
      scope.findings.add(601, place + ".id", "absent or empty");
    }
    check_text(scope, delegate.id(), place + ".id");
    check_blob(scope, delegate.processed(), place + ".processed");
    check_envelope(scope, delegate, place);
    check_xnnpack(scope, method, delegate, place);
    const auto* const specs = delegate.compile_specs();
    for (uint32_t s = 0; specs != nullptr && s < specs->size() && scope.work.spend(1); ++s) {
      const std::string spec = place + ".compile_specs[" + std::to_string(s) + "]";
      if (specs->Get(s)->key() == nullptr) {
        scope.findings.add(606, spec + ".key", "absent");
      }
      check_text(scope, specs->Get(s)->key(), spec + ".key");
      if (specs->Get(s)->value() == nullptr) {
        scope.findings.add(607, spec + ".value", "absent");
      }
    }
  }
}

}  // namespace etbk::pte
