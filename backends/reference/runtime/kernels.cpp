// The device's operations, simple and sequential.
#include "kernels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace reference {
namespace {

using Strides = std::array<int64_t, kMaxRank>;

// True if `source`, aligned to the right, can be repeated to the sizes of `target`; the last
// `ignored` dimensions are not compared.
bool can_broadcast(const View& source, const View& target, uint32_t ignored = 0) {
  if (source.rank > target.rank) {
    return false;
  }
  for (uint32_t i = ignored; i < source.rank; ++i) {
    const int64_t size = source.sizes[source.rank - 1 - i];
    if (size != 1 && size != target.sizes[target.rank - 1 - i]) {
      return false;
    }
  }
  return true;
}

// How far apart the elements of `source` lie along each axis of `target`: 0 where it is repeated.
Strides broadcast_strides(const View& source, const View& target) {
  Strides strides{};
  int64_t stride = 1;
  for (uint32_t i = 0; i < source.rank; ++i) {
    const int64_t size = source.sizes[source.rank - 1 - i];
    strides[target.rank - 1 - i] = size == 1 ? 0 : stride;
    stride *= size;
  }
  return strides;
}

// Calls `body(number, offset_a, offset_b)` for each index into the first `rank` axes of `shape`.
template <class Body>
void for_each_index(const View& shape, uint32_t rank, const Strides& a, const Strides& b,
                    Body body) {
  std::array<int64_t, kMaxRank> index{};
  int64_t offset_a = 0;
  int64_t offset_b = 0;
  for (int64_t number = 0;; ++number) {
    body(number, offset_a, offset_b);
    uint32_t axis = rank;
    for (; axis > 0; --axis) {
      const uint32_t k = axis - 1;
      offset_a += a[k];
      offset_b += b[k];
      if (++index[k] < shape.sizes[k]) {
        break;
      }
      offset_a -= a[k] * shape.sizes[k];
      offset_b -= b[k] * shape.sizes[k];
      index[k] = 0;
    }
    if (axis == 0) {
      return;
    }
  }
}

// out[i] = combine(a[...], b[...]), row by row.
template <class Combine>
void elementwise(const View& output, const float* a, const Strides& strides_a, const float* b,
                 const Strides& strides_b, Combine combine) {
  const uint32_t rows = output.rank == 0 ? 0 : output.rank - 1;
  const int64_t length = output.rank == 0 ? 1 : output.sizes[rows];
  const int64_t step_a = strides_a[rows];
  const int64_t step_b = strides_b[rows];
  for_each_index(output, rows, strides_a, strides_b,
                 [&](int64_t row, int64_t offset_a, int64_t offset_b) {
                   float* const out = output.data + row * length;
                   for (int64_t i = 0; i < length; ++i) {
                     out[i] = combine(a[offset_a + i * step_a], b[offset_b + i * step_b]);
                   }
                 });
}

// Rows of `out` = rows of `a` times `b`, in tiles that stay in the first cache.
void multiply(float* out, const float* a, const float* b, const float* bias, int64_t rows,
              int64_t inner, int64_t columns) {
  constexpr int64_t kRows = 4;
  constexpr int64_t kColumns = 64;
  for (int64_t column = 0; column < columns; column += kColumns) {
    const int64_t width = std::min(kColumns, columns - column);
    for (int64_t row = 0; row < rows; row += kRows) {
      const int64_t height = std::min(kRows, rows - row);
      float sums[kRows][kColumns] = {};
      for (int64_t r = 0; bias != nullptr && r < height; ++r) {
        std::copy_n(bias + column, width, sums[r]);
      }
      for (int64_t k = 0; k < inner; ++k) {
        const float* const line = b + k * columns + column;
        for (int64_t r = 0; r < height; ++r) {
          const float factor = a[(row + r) * inner + k];
          for (int64_t c = 0; c < width; ++c) {
            sums[r][c] += factor * line[c];
          }
        }
      }
      for (int64_t r = 0; r < height; ++r) {
        std::copy_n(sums[r], width, out + (row + r) * columns + column);
      }
    }
  }
}

void matmul(const Command& command) {
  const View& a = command.inputs[0];
  const View& b = command.inputs[1];
  const View& out = command.output;
  const float* const bias = command.operation.input_count == 3 ? command.inputs[2].data : nullptr;
  const int64_t rows = out.sizes[out.rank - 2];
  const int64_t columns = out.sizes[out.rank - 1];
  for_each_index(out, out.rank - 2, broadcast_strides(a, out), broadcast_strides(b, out),
                 [&](int64_t batch, int64_t offset_a, int64_t offset_b) {
                   multiply(out.data + batch * rows * columns, a.data + offset_a, b.data + offset_b,
                            bias, rows, a.sizes[a.rank - 1], columns);
                 });
}

void softmax(const Command& command) {
  const View& in = command.inputs[0];
  constexpr float kMasked = -std::numeric_limits<float>::infinity();
  const int64_t length = in.sizes[command.operation.axis];
  int64_t step = 1;
  for (uint32_t axis = command.operation.axis + 1U; axis < in.rank; ++axis) {
    step *= in.sizes[axis];
  }
  for (int64_t line = 0; line < in.elements() / length; ++line) {
    const int64_t start = line / step * step * length + line % step;
    const float* const x = in.data + start;
    float* const y = command.output.data + start;
    float largest = kMasked;
    for (int64_t i = 0; i < length; ++i) {
      largest = std::max(largest, x[i * step]);
    }
    float sum = 0.0F;
    for (int64_t i = 0; i < length; ++i) {
      y[i * step] = std::exp(x[i * step] - largest);
      sum += y[i * step];
    }
    const bool gives_zero = largest == kMasked && command.operation.zero_if_masked != 0;
    for (int64_t i = 0; i < length; ++i) {
      y[i * step] = gives_zero ? 0.0F : y[i * step] / sum;
    }
  }
}

void permute(const Command& command) {
  const View& in = command.inputs[0];
  const Strides of_input = broadcast_strides(in, in);
  Strides strides{};
  for (uint32_t axis = 0; axis < in.rank; ++axis) {
    strides[axis] = of_input[command.operation.order[axis]];
  }
  elementwise(command.output, in.data, strides, in.data, strides, [](float x, float) { return x; });
}

bool fits_matmul(const Command& command) {
  const View& a = command.inputs[0];
  const View& b = command.inputs[1];
  const View& out = command.output;
  const bool has_bias = command.operation.input_count == 3;
  return a.rank >= 2 && b.rank >= 2 && can_broadcast(a, out, 2) && can_broadcast(b, out, 2) &&
         a.sizes[a.rank - 2] == out.sizes[out.rank - 2] &&
         b.sizes[b.rank - 1] == out.sizes[out.rank - 1] &&
         a.sizes[a.rank - 1] == b.sizes[b.rank - 2] &&
         (!has_bias || command.inputs[2].elements() == out.sizes[out.rank - 1]);
}

bool fits_permute(const Command& command) {
  const View& in = command.inputs[0];
  uint32_t seen = 0;
  for (uint32_t axis = 0; axis < in.rank; ++axis) {
    const uint8_t from = command.operation.order[axis];
    if (from >= in.rank || command.output.sizes[axis] != in.sizes[from]) {
      return false;
    }
    seen |= 1U << from;
  }
  return in.rank == command.output.rank && seen == (1U << in.rank) - 1;
}

}  // namespace

bool fits(const Command& command) {
  const View* const in = command.inputs;
  const View& out = command.output;
  const bool same_sizes = in[0].rank == out.rank && in[0].sizes == out.sizes;
  switch (command.operation.opcode) {
    case Opcode::kMatmul:
      return fits_matmul(command);
    case Opcode::kAdd:
    case Opcode::kMul:
      return can_broadcast(in[0], out) && can_broadcast(in[1], out);
    case Opcode::kRelu:
      return same_sizes;
    case Opcode::kSoftmax:
      return same_sizes && command.operation.axis < out.rank;
    case Opcode::kPermute:
      return fits_permute(command);
  }
  return false;
}

void run(const Command& command) {
  const View* const in = command.inputs;
  const View& out = command.output;
  const Strides a = broadcast_strides(in[0], out);
  switch (command.operation.opcode) {
    case Opcode::kMatmul:
      return matmul(command);
    case Opcode::kAdd:
      return elementwise(out, in[0].data, a, in[1].data, broadcast_strides(in[1], out),
                         [](float x, float y) { return x + y; });
    case Opcode::kMul:
      return elementwise(out, in[0].data, a, in[1].data, broadcast_strides(in[1], out),
                         [](float x, float y) { return x * y; });
    case Opcode::kRelu:  // as in torch, NaN stays NaN
      return elementwise(out, in[0].data, a, in[0].data, a,
                         [](float x, float) { return x < 0.0F ? 0.0F : x; });
    case Opcode::kSoftmax:
      return softmax(command);
    case Opcode::kPermute:
      return permute(command);
  }
}

}  // namespace reference
