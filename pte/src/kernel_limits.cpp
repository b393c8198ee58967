// The table of kernels and the arguments they divide by or index with.
// Licence: BSD-3-Clause.
#include "kernel_limits.hpp"

#include <iterator>
#include <string_view>

namespace etbk::pte {
namespace {

struct Limit {
  std::string_view name;
  uint32_t argument;
  int64_t least;
  const char* why;
};

// Read from the sources of the 1.5 kernels; of these, the index of embedding also crashed in a run.
constexpr Limit kLimits[] = {
    {"aten::convolution.out", 3, 1, "stride"},
    {"aten::convolution.out", 5, 1, "dilation"},
    {"aten::convolution.out", 8, 1, "groups"},
    {"aten::avg_pool2d.out", 1, 1, "kernel size"},
    {"aten::avg_pool2d.out", 2, 1, "stride"},
    {"aten::max_pool2d_with_indices.out", 1, 1, "kernel size"},
    {"aten::max_pool2d_with_indices.out", 2, 1, "stride"},
    {"aten::max_pool2d_with_indices.out", 4, 1, "dilation"},
    {"aten::pixel_shuffle.out", 1, 1, "factor"},
    {"aten::pixel_unshuffle.out", 1, 1, "factor"},
    {"aten::split_copy.Tensor_out", 1, 1, "size of a part"},
    {"aten::native_group_norm.out", 6, 1, "groups"},
    {"executorch_prim::floordiv.int", 1, 1, "divisor"},
    {"executorch_prim::mod.int", 1, 1, "divisor"},
    {"executorch_prim::mod.Scalar", 1, 1, "divisor"},
    {"executorch_prim::floordiv.Scalar", 1, 1, "divisor"},
};

// Kernels that end the process over an element type that they do not take.
struct IndexLimit {
  std::string_view name;
  uint32_t argument;
};
constexpr IndexLimit kIndices[] = {{"aten::embedding.out", 1}};

void check_indices(const Scope& scope, const MethodScope& method, const std::string& name,
                   const fb::Vector<int32_t>& arguments, const std::string& place) {
  for (const IndexLimit& limit : kIndices) {
    if (limit.name != name) {
      continue;
    }
    const auto value = static_cast<uint32_t>(arguments.Get(limit.argument));
    const auto type = method.plan->values()->Get(value)->val_as_Tensor()->scalar_type();
    if (type != ps::ScalarType::INT && type != ps::ScalarType::LONG) {
      scope.findings.add(518, place, name + ": indices of type " + ps::EnumNameScalarType(type));
    }
  }
}

void check_number(const Scope& scope, const MethodScope& method, uint32_t value, const Limit& limit,
                  const std::string& place) {
  const auto* const number = method.plan->values()->Get(value)->val_as_Int();
  if (number != nullptr && number->int_val() < limit.least) {
    scope.findings.add(
        518, place,
        std::string(limit.name) + ": " + limit.why + " " + std::to_string(number->int_val()));
  }
}

}  // namespace

void check_kernel_limits(const Scope& scope, const MethodScope& method, const std::string& name,
                         const fb::Vector<int32_t>& arguments, const std::string& place) {
  check_indices(scope, method, name, arguments, place);
  for (const Limit& limit : kLimits) {
    if (limit.name != name) {
      continue;
    }
    const auto value = static_cast<uint32_t>(arguments.Get(limit.argument));
    const auto* const list = method.plan->values()->Get(value)->val_as_IntList();
    if (list == nullptr) {
      check_number(scope, method, value, limit, place);
      continue;
    }
    for (uint32_t i = 0; list->items() != nullptr && i < list->items()->size(); ++i) {
      const int64_t item = list->items()->Get(i);
      if (scope.work.spend(1) && method.is_value(item)) {
        check_number(scope, method, static_cast<uint32_t>(item), limit, place);
      }
    }
  }
}

}  // namespace etbk::pte
