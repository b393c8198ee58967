// Makes a blob ready on the device.
#include "model.hpp"

#include <algorithm>

namespace reference {
namespace {

// No tensor has more elements: products of sizes cannot overflow.
constexpr int64_t kMaxElements = int64_t{1} << 40;

// The view of a value, without its address.
View measure(const Value& value, const std::vector<int64_t>& symbols) {
  View view;
  view.rank = value.rank;
  int64_t elements = 1;
  const auto multiply = [](int64_t& product, int64_t factor) {
    require(factor <= kMaxElements / product, "a tensor is too large");
    product *= factor;
  };
  for (uint32_t axis = 0; axis < value.rank; ++axis) {
    view.sizes[axis] = value.sizes[axis].coefficient;
    for (const uint8_t symbol : value.sizes[axis].symbols) {
      multiply(view.sizes[axis], symbol == 0xFF ? 1 : symbols[symbol]);
    }
    multiply(elements, view.sizes[axis]);
  }
  return view;
}

}  // namespace

Model::Model(Program program, etbk::Bytes weights, bool copy_weights)
    : program_(std::move(program)),
      weights_(copy_weights ? nullptr : Device::import_host(weights.data())),
      has_copied_weights_(weights_ == nullptr),
      registers_(program_.header.register_count),
      views_(program_.values.size()) {
  require(weights.size() == program_.header.weights_size, "it has %zu bytes of weights",
          weights.size());
  if (has_copied_weights_) {
    weights_ = Device::allocate(weights.size());
    Device::copy_in(weights_.get(), weights.data(), weights.size());
  }
  std::vector<int64_t> largest;
  for (const Symbol& symbol : program_.symbols) {
    largest.push_back(symbol.maximum);
  }
  // Sizes grow with the symbols, so registers made for the largest always suffice.
  std::vector<size_t> sizes(registers_.size(), 0);
  for (const Value& value : program_.values) {
    const size_t bytes = measure(value, largest).bytes();
    if (value.is_weight == 0) {
      sizes[value.place] = std::max(sizes[value.place], bytes);
    } else {
      require(value.place <= weights.size() && bytes <= weights.size() - value.place,
              "a weight lies outside");
    }
  }
  std::transform(sizes.begin(), sizes.end(), registers_.begin(), Device::allocate);
  set_symbols(largest);
}

void Model::set_symbols(const std::vector<int64_t>& symbols) {
  for (size_t i = 0; i < views_.size(); ++i) {
    const Value& value = program_.values[i];
    views_[i] = measure(value, symbols);
    views_[i].data = value.is_weight == 0 ? registers_[value.place].get()
                                          : weights_.get() + value.place / sizeof(float);
  }
  job_.commands.clear();
  for (const Operation& operation : program_.operations) {
    Command command{operation, {}, views_[operation.output]};
    for (uint32_t i = 0; i < operation.input_count; ++i) {
      command.inputs[i] = views_[operation.inputs[i]];
    }
    require(fits(command), "the shapes of operation %s do not fit", operation.name);
    job_.commands.push_back(command);
  }
}

}  // namespace reference
