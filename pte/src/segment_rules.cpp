// Rules about segments, named data and data files.
// Licence: BSD-3-Clause.
#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "dtype.hpp"
#include "semantics.hpp"
#include "text.hpp"

namespace etbk::pte {
namespace {

struct Placed {
  uint64_t begin;
  uint64_t end;
  uint32_t index;
};

template <typename Segments>
void check_ranges(const Scope& scope, const Segments& segments) {
  std::vector<Placed> placed;
  for (uint32_t i = 0; i < segments.size() && scope.work.spend(1); ++i) {
    const auto& segment = *segments.Get(i);
    const Range range = scope.file.segment(segment.offset(), segment.size());
    if (!range.valid) {
      scope.findings.add(701, "segments[" + std::to_string(i) + "]",
                         std::to_string(segment.size()) + " bytes at " +
                             std::to_string(segment.offset()) + " after " +
                             std::to_string(scope.file.header().segment_base) + "; the file has " +
                             std::to_string(scope.file.file().size()));
    } else if (range.size > 0) {
      placed.push_back({range.offset, range.offset + range.size, i});
    }
  }
  std::sort(placed.begin(), placed.end(),
            [](const Placed& a, const Placed& b) { return a.begin < b.begin; });
  for (size_t i = 1; i < placed.size(); ++i) {
    if (placed[i].begin < placed[i - 1].end) {
      scope.findings.add(702, "segments[" + std::to_string(placed[i].index) + "]",
                         "begins inside segments[" + std::to_string(placed[i - 1].index) + "]");
    }
  }
}

template <typename Entries>
void check_keys(const Scope& scope, const Entries& entries, size_t segments) {
  std::unordered_set<std::string_view> keys;
  for (uint32_t i = 0; i < entries.size() && scope.work.spend(1); ++i) {
    const std::string place = "named_data[" + std::to_string(i) + "]";
    const auto& entry = *entries.Get(i);
    if (entry.key() == nullptr) {
      scope.findings.add(706, place + ".key", "absent");
    } else if (!keys.insert(view(entry.key())).second) {
      scope.findings.add(707, place + ".key", in_quotes(view(entry.key())));
    }
    check_text(scope, entry.key(), place + ".key");
    if (entry.segment_index() >= segments) {
      scope.findings.add(
          708, place + ".segment_index",
          std::to_string(entry.segment_index()) + " of " + std::to_string(segments) + " segments");
    }
  }
}

void check_layout(const Scope& scope, const ds::TensorLayout& layout, uint64_t stored,
                  const std::string& place) {
  const auto* const sizes = layout.sizes();
  const auto* const order = layout.dim_order();
  const uint32_t element = element_size(static_cast<int>(layout.scalar_type()));
  if (sizes == nullptr || order == nullptr || order->size() != sizes->size() ||
      sizes->size() > 16 || element == 0) {
    scope.findings.add(803, place, "sizes, dim order or element type");
    return;
  }
  uint32_t seen = 0;
  for (uint32_t i = 0; i < order->size(); ++i) {
    if (order->Get(i) >= order->size() || (seen & 1u << order->Get(i)) != 0) {
      scope.findings.add(803, place + ".dim_order", "no permutation");
      return;
    }
    seen |= 1u << order->Get(i);
  }
  uint64_t bytes = 0;
  if (!tensor_bytes(sizes, element, &bytes) || bytes > stored) {
    scope.findings.add(804, place,
                       std::to_string(bytes) + " bytes, the segment has " + std::to_string(stored));
  }
}

using DataEntries = std::unordered_map<std::string_view, const ds::NamedData*>;

void check_external_tensor(const Scope& scope, const ps::Tensor& tensor, const DataEntries& entries,
                           const std::string& place) {
  const std::string_view key = view(tensor.extra_tensor_info()->fully_qualified_name());
  const auto found = entries.find(key);
  if (found == entries.end()) {
    scope.findings.add(805, place, in_quotes(key));
    return;
  }
  const ds::TensorLayout* const layout = found->second->tensor_layout();
  const auto equal = [](const auto* a, const auto* b) {
    return a != nullptr && b != nullptr && a->size() == b->size() &&
           std::equal(a->begin(), a->end(), b->begin());
  };
  if (layout == nullptr ||
      static_cast<int>(layout->scalar_type()) != static_cast<int>(tensor.scalar_type()) ||
      !equal(layout->sizes(), tensor.sizes()) || !equal(layout->dim_order(), tensor.dim_order())) {
    scope.findings.add(806, place, in_quotes(key));
  }
}

}  // namespace

void check_segments(const Scope& scope) {
  const ps::Program& program = *scope.file.program();
  const auto* const segments = program.segments();
  const size_t count = segments == nullptr ? 0 : segments->size();
  if (segments != nullptr) {
    check_ranges(scope, *segments);
    const bool any =
        std::any_of(segments->begin(), segments->end(),
                    [](const ps::DataSegment* segment) { return segment->size() > 0; });
    if (any && scope.file.header().segment_base == 0) {
      scope.findings.add(703, "header", std::to_string(count) + " segments, but no place for them");
    }
  }
  const ps::SubsegmentOffsets* const constants = program.constant_segment();
  if (constants != nullptr && constants->offsets() != nullptr && constants->offsets()->size() > 0) {
    if (program.constant_buffer() != nullptr && program.constant_buffer()->size() > 0) {
      scope.findings.add(205, "constant_buffer",
                         std::to_string(program.constant_buffer()->size()) + " entries");
    }
    if (constants->offsets()->size() > 1 && constants->segment_index() >= count) {
      scope.findings.add(704, "constant_segment.segment_index",
                         std::to_string(constants->segment_index()) + " of " +
                             std::to_string(count) + " segments");
    }
  }
  const auto* const lists = program.mutable_data_segments();
  for (uint32_t i = 0; lists != nullptr && i < lists->size() && scope.work.spend(1); ++i) {
    if (lists->Get(i)->segment_index() >= count) {
      scope.findings.add(705, "mutable_data_segments[" + std::to_string(i) + "].segment_index",
                         std::to_string(lists->Get(i)->segment_index()) + " of " +
                             std::to_string(count) + " segments");
    }
  }
}

void check_named_data(const Scope& scope) {
  const ps::Program& program = *scope.file.program();
  if (program.named_data() != nullptr) {
    if (program.segments() == nullptr) {
      scope.findings.add(703, "segments", "absent, but there is named data");
    }
    check_keys(scope, *program.named_data(),
               program.segments() == nullptr ? 0 : program.segments()->size());
  }
}

void check_data_file(const Scope& scope) {
  const ds::FlatTensor& data = *scope.file.data();
  if (data.segments() == nullptr || data.named_data() == nullptr) {
    scope.findings.add(802, data.segments() == nullptr ? "segments" : "named_data", "absent");
    return;
  }
  check_ranges(scope, *data.segments());
  check_keys(scope, *data.named_data(), data.segments()->size());
  for (uint32_t i = 0; i < data.named_data()->size() && scope.work.spend(1); ++i) {
    const ds::NamedData& entry = *data.named_data()->Get(i);
    if (entry.tensor_layout() != nullptr && entry.segment_index() < data.segments()->size()) {
      check_layout(scope, *entry.tensor_layout(),
                   data.segments()->Get(entry.segment_index())->size(),
                   "named_data[" + std::to_string(i) + "].tensor_layout");
    }
  }
}

void check_external_tensors(const Scope& scope, const Container& external) {
  if (external.kind() != Container::Kind::kData || external.data()->named_data() == nullptr ||
      scope.file.program()->execution_plan() == nullptr) {
    return;
  }
  DataEntries entries;
  for (const ds::NamedData* entry : *external.data()->named_data()) {
    entries.emplace(view(entry->key()), entry);
  }
  const auto* const named = scope.file.program()->named_data();
  for (uint32_t i = 0; named != nullptr && i < named->size() && scope.work.spend(1); ++i) {
    if (entries.count(view(named->Get(i)->key())) != 0) {
      scope.findings.add(807, "named_data[" + std::to_string(i) + "].key",
                         in_quotes(view(named->Get(i)->key())));
    }
  }
  const auto& plans = *scope.file.program()->execution_plan();
  for (uint32_t p = 0; p < plans.size(); ++p) {
    const auto* const values = plans.Get(p)->values();
    for (uint32_t i = 0; values != nullptr && i < values->size() && scope.work.spend(1); ++i) {
      const ps::Tensor* const tensor = values->Get(i)->val_as_Tensor();
      if (tensor != nullptr && tensor->extra_tensor_info() != nullptr &&
          tensor->extra_tensor_info()->location() == ps::TensorDataLocation::EXTERNAL) {
        check_external_tensor(
            scope, *tensor, entries,
            "execution_plan[" + std::to_string(p) + "].values[" + std::to_string(i) + "]");
      }
    }
  }
}

}  // namespace etbk::pte
