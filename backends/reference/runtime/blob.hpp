// The blob that the ahead-of-time half writes (python/.../blob.py mirrors this), read with every
// index and size checked: what `parse_blob` returns refers to nothing that is not there.
#pragma once

#include <executorch_backend_kit/backend.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace reference {

// Alignment of all memory that the device touches.
constexpr size_t kDeviceAlignment = 64;
constexpr uint32_t kNewestFormat = 1;
constexpr uint32_t kOldestFormat = 1;
constexpr uint32_t kMaxRank = 6;
constexpr uint32_t kNone = 0xFFFFFFFF;

struct Header {
  char magic[8];
  uint32_t format;         // of this blob
  uint32_t oldest_reader;  // the reader must know at least this format
  uint64_t blob_size;
  uint64_t weights_offset;  // 0 if the weights are named data
  uint64_t weights_size;
  uint32_t weights_alignment;
  uint32_t register_count;
  uint32_t symbol_count;
  uint32_t value_count;
  uint32_t input_count;
  uint32_t output_count;
  uint32_t operation_count;
  uint32_t key_size;
};
static_assert(sizeof(Header) == 72);

// A size known at run time: dimension `axis` of an input (kNone: the int `input`) over `divisor`.
struct Symbol {
  uint32_t input;
  uint32_t axis;
  uint32_t divisor;
  int32_t minimum;
  int32_t maximum;
};

// A size: a number times up to four symbols (0xFF: no further one).
struct Size {
  uint32_t coefficient;
  uint8_t symbols[4];
};

// A tensor in a register (place = its number) or among the weights (place = its byte offset).
struct Value {
  uint32_t is_weight;
  uint32_t rank;
  uint64_t place;
  Size sizes[kMaxRank];
};
static_assert(sizeof(Value) == 64);

enum class Opcode : uint32_t { kMatmul, kAdd, kMul, kRelu, kSoftmax, kPermute };

struct Operation {
  Opcode opcode;
  uint32_t input_count;
  uint32_t inputs[3];  // values
  uint32_t output;
  uint8_t order[kMaxRank];  // kPermute
  uint8_t axis;             // kSoftmax
  uint8_t zero_if_masked;   // kSoftmax: a row of -inf gives 0 and not NaN
  char name[32];            // for profiles; ends with a zero
};
static_assert(sizeof(Operation) == 64);

struct Program {
  Header header;
  std::vector<Symbol> symbols;
  std::vector<Value> values;
  std::vector<uint32_t> inputs;  // values; kNone: an int
  std::vector<uint32_t> outputs;
  std::vector<Operation> operations;
  std::string key;  // of the named data; empty if the weights are in the blob
};

// Judges a blob by its header. `head` may be its first bytes only, `size` is that of the whole
// blob.
etbk::BlobGrade judge_blob(etbk::Bytes head, uint64_t size);

// Throws INCOMPATIBLE_BLOB with a sentence.
Program parse_blob(etbk::Bytes blob);

// Throws INCOMPATIBLE_BLOB with the reason, unless `condition` holds.
void require(bool condition, const char* reason, ...) __attribute__((format(printf, 2, 3)));

}  // namespace reference
