// Rules about delegates: what the runtime follows without a look.
// Licence: BSD-3-Clause.
#include <string>

#include "blob.hpp"
#include "semantics.hpp"
#include "text.hpp"

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

}  // namespace

void check_delegates(const Scope& scope, const MethodScope& method) {
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
