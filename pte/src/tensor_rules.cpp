// Rules about a tensor: shape, layout, and where its bytes are.
// Licence: BSD-3-Clause.
#include <string>

#include "dtype.hpp"
#include "semantics.hpp"

namespace etbk::pte {
namespace {

constexpr uint32_t kMaximumRank = 16;

bool times(uint64_t a, uint64_t b, uint64_t* product) {
  *product = a * b;
  return b == 0 || a <= INT64_MAX / b;
}

bool check_shape(const Scope& scope, const ps::Tensor& tensor, const std::string& place) {
  if (tensor.sizes() == nullptr) {
    scope.findings.add(401, place + ".sizes", "absent");
    return false;
  }
  const uint32_t rank = tensor.sizes()->size();
  if (rank > kMaximumRank) {
    scope.findings.add(405, place + ".sizes", std::to_string(rank) + " dimensions");
    return false;
  }
  bool good = true;
  for (uint32_t i = 0; i < rank; ++i) {
    if (tensor.sizes()->Get(i) < 0) {
      scope.findings.add(402, place + ".sizes[" + std::to_string(i) + "]",
                         std::to_string(tensor.sizes()->Get(i)));
      good = false;
    }
  }
  if (element_size(static_cast<int>(tensor.scalar_type())) == 0) {
    scope.findings.add(404, place + ".scalar_type",
                       std::to_string(static_cast<int>(tensor.scalar_type())));
    good = false;
  }
  if (tensor.shape_dynamism() != ps::TensorShapeDynamism::STATIC &&
      tensor.shape_dynamism() != ps::TensorShapeDynamism::DYNAMIC_BOUND) {
    scope.findings.add(410, place + ".shape_dynamism",
                       std::to_string(static_cast<int>(tensor.shape_dynamism())));
  }
  return good;
}

// Strides as the runtime computes them, in 32 bits.
void check_dim_order(const Scope& scope, const ps::Tensor& tensor, const std::string& place) {
  const auto* const order = tensor.dim_order();
  const uint32_t rank = tensor.sizes()->size();
  if (order == nullptr || order->size() != rank) {
    scope.findings.add(406, place + ".dim_order",
                       order == nullptr ? "absent"
                                        : std::to_string(order->size()) + " entries for " +
                                              std::to_string(rank) + " dimensions");
    return;
  }
  uint32_t seen = 0;
  for (uint32_t i = 0; i < rank; ++i) {
    if (order->Get(i) >= rank || (seen & 1u << order->Get(i)) != 0) {
      scope.findings.add(407, place + ".dim_order[" + std::to_string(i) + "]",
                         std::to_string(order->Get(i)));
      return;
    }
    seen |= 1u << order->Get(i);
  }
  uint64_t stride = 1;
  for (uint32_t i = rank; i-- > 1;) {
    const auto size = static_cast<uint64_t>(tensor.sizes()->Get(order->Get(i)));
    stride *= size == 0 ? 1 : size;
    if (stride > INT32_MAX) {
      scope.findings.add(408, place + ".sizes", "stride " + std::to_string(stride));
      return;
    }
  }
}

void check_planned(const Scope& scope, const MethodScope& method, const ps::Tensor& tensor,
                   uint64_t bytes, const std::string& place) {
  const ps::AllocationDetails& where = *tensor.allocation_info();
  const auto* const sizes = method.plan->non_const_buffer_sizes();
  const uint64_t offset =
      where.memory_offset_low() | static_cast<uint64_t>(where.memory_offset_high()) << 32;
  if (where.memory_id() == 0 || where.memory_id() >= sizes->size()) {
    scope.findings.add(413, place + ".allocation_info.memory_id",
                       std::to_string(where.memory_id()) + "; there are " +
                           std::to_string(sizes->size()) + ", the first reserved");
    return;
  }
  const int64_t size = sizes->Get(where.memory_id());
  if (size < 0 || offset > static_cast<uint64_t>(size) ||
      bytes > static_cast<uint64_t>(size) - offset) {
    scope.findings.add(414, place + ".allocation_info",
                       std::to_string(bytes) + " bytes at " + std::to_string(offset) + " of " +
                           std::to_string(size));
  }
  if (offset % element_size(static_cast<int>(tensor.scalar_type())) != 0) {
    scope.findings.add(415, place + ".allocation_info", "offset " + std::to_string(offset));
  }
}

// Offset number `index` in one of the program's lists of offsets into a segment.
void check_subsegment(const Scope& scope, const ps::SubsegmentOffsets* list, uint64_t index,
                      uint64_t bytes, uint32_t element, const std::string& place, uint16_t absent,
                      bool in_place) {
  const auto* const segments = scope.file.program()->segments();
  if (list == nullptr || list->offsets() == nullptr || index >= list->offsets()->size()) {
    scope.findings.add(absent, place,
                       std::to_string(index) + " of " +
                           std::to_string(list == nullptr || list->offsets() == nullptr
                                              ? 0
                                              : list->offsets()->size()));
    return;
  }
  if (segments == nullptr || list->segment_index() >= segments->size()) {
    return;  // said once, by the rules about segments
  }
  const ps::DataSegment& segment = *segments->Get(list->segment_index());
  const uint64_t offset = list->offsets()->Get(static_cast<uint32_t>(index));
  if (offset > segment.size() || bytes > segment.size() - offset) {
    scope.findings.add(412, place,
                       std::to_string(bytes) + " bytes at " + std::to_string(offset) +
                           " of a segment with " + std::to_string(segment.size()));
  } else if (in_place && offset % element != 0) {
    scope.findings.add(416, place, "offset " + std::to_string(offset));
  }
}

void check_constant(const Scope& scope, const ps::Tensor& tensor, uint64_t bytes,
                    const std::string& place) {
  const ps::Program& program = *scope.file.program();
  const uint32_t element = element_size(static_cast<int>(tensor.scalar_type()));
  const auto* const segment = program.constant_segment();
  if (segment != nullptr && segment->offsets() != nullptr && segment->offsets()->size() > 0) {
    check_subsegment(scope, segment, tensor.data_buffer_idx(), bytes, element,
                     place + ".data_buffer_idx", 411, true);
    return;
  }
  const auto* const buffers = program.constant_buffer();
  if (buffers == nullptr || tensor.data_buffer_idx() >= buffers->size()) {
    scope.findings.add(411, place + ".data_buffer_idx",
                       std::to_string(tensor.data_buffer_idx()) + " of " +
                           std::to_string(buffers == nullptr ? 0 : buffers->size()));
    return;
  }
  const auto* const storage = buffers->Get(tensor.data_buffer_idx())->storage();
  if (storage == nullptr || storage->size() < bytes) {
    scope.findings.add(412, place + ".data_buffer_idx",
                       std::to_string(bytes) + " bytes, " +
                           std::to_string(storage == nullptr ? 0 : storage->size()) + " stored");
  } else if (scope.file.inside(storage->data(), bytes).offset % element != 0) {
    scope.findings.add(416, place + ".data_buffer_idx", "stored inline");
  }
}

void check_initial(const Scope& scope, const ps::Tensor& tensor, uint64_t bytes,
                   const std::string& place) {
  const auto* const lists = scope.file.program()->mutable_data_segments();
  // The runtime takes the first list whatever the tensor says.
  check_subsegment(scope, lists == nullptr || lists->size() == 0 ? nullptr : lists->Get(0),
                   tensor.data_buffer_idx(), bytes, 1, place + ".data_buffer_idx", 418, false);
}

}  // namespace

bool tensor_bytes(const fb::Vector<int32_t>* sizes, uint32_t element, uint64_t* bytes) {
  *bytes = element;
  bool fits = true;
  for (uint32_t i = 0; i < sizes->size(); ++i) {
    if (sizes->Get(i) < 0) {
      return false;
    }
    fits = times(*bytes, static_cast<uint64_t>(sizes->Get(i)), bytes) && fits;
  }
  return fits;
}

void check_tensor(const Scope& scope, MethodScope& method, uint32_t value) {
  const ps::Tensor& tensor = *method.plan->values()->Get(value)->val_as_Tensor();
  const std::string place = method.value_place(value) + ".val";
  if (tensor.storage_offset() != 0) {
    scope.findings.add(409, place + ".storage_offset", std::to_string(tensor.storage_offset()));
  }
  if (!check_shape(scope, tensor, place)) {
    return;
  }
  check_dim_order(scope, tensor, place);
  uint64_t bytes = 0;
  if (!tensor_bytes(tensor.sizes(), element_size(static_cast<int>(tensor.scalar_type())), &bytes)) {
    scope.findings.add(403, place + ".sizes", "more than 2^63 bytes");
    return;
  }
  const ps::ExtraTensorInfo* const extra = tensor.extra_tensor_info();
  const bool planned = tensor.allocation_info() != nullptr;
  const bool external = extra != nullptr && extra->location() == ps::TensorDataLocation::EXTERNAL;
  if (extra != nullptr) {
    if (extra->device_type() < ps::DeviceType::MIN || extra->device_type() > ps::DeviceType::MAX) {
      scope.findings.add(419, place + ".extra_tensor_info.device_type",
                         std::to_string(static_cast<int>(extra->device_type())));
    }
    check_text(scope, extra->fully_qualified_name(),
               place + ".extra_tensor_info.fully_qualified_name");
  }
  if (planned) {
    check_planned(scope, method, tensor, bytes, place);
  }
  if (external) {
    if (extra->fully_qualified_name() == nullptr || extra->fully_qualified_name()->size() == 0) {
      scope.findings.add(417, place + ".extra_tensor_info.fully_qualified_name", "absent");
    }
  } else if (tensor.data_buffer_idx() > 0) {
    if (planned) {
      check_initial(scope, tensor, bytes, place);
    } else {
      check_constant(scope, tensor, bytes, place);
    }
  }
  const bool constant = !planned && (external || tensor.data_buffer_idx() > 0);
  method.is_constant[value] = constant ? 1 : 0;
  method.has_memory[value] = planned || constant || bytes == 0 ? 1 : 0;
  method.owns_no_block[value] = planned || constant ? 0 : 1;
}

}  // namespace etbk::pte
