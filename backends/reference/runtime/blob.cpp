// Reads blobs.
#include "blob.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace reference {
namespace {

constexpr char kMagic[8] = {'R', 'E', 'F', 'B', 'L', 'O', 'B', '\0'};

// Takes `count` records off the blob at `position`.
template <class T>
std::vector<T> take(etbk::Bytes blob, size_t& position, uint32_t count, const char* what) {
  require((blob.size() - position) / sizeof(T) >= count, "it ends within its %u %s", count, what);
  std::vector<T> records(count);
  if (count != 0) {
    std::memcpy(records.data(), blob.data() + position, count * sizeof(T));
  }
  position += count * sizeof(T);
  return records;
}

void check_value(const Program& program, size_t index) {
  const Value& value = program.values[index];
  require(value.rank <= kMaxRank, "value %zu has %u dimensions", index, value.rank);
  require(value.is_weight != 0 ? value.place % sizeof(float) == 0
                               : value.place < program.header.register_count,
          "value %zu is nowhere", index);
  for (uint32_t axis = 0; axis < value.rank; ++axis) {
    require(value.sizes[axis].coefficient > 0, "value %zu has a size of 0", index);
    for (const uint8_t symbol : value.sizes[axis].symbols) {
      require(symbol == 0xFF || (value.is_weight == 0 && symbol < program.symbols.size()),
              "value %zu has the unknown symbol %u", index, symbol);
    }
  }
}

void check_symbol(const Program& program, size_t index) {
  const Symbol& symbol = program.symbols[index];
  require(symbol.input < program.inputs.size(), "symbol %zu has no input", index);
  const uint32_t value = program.inputs[symbol.input];
  require(value == kNone ? symbol.axis == kNone : symbol.axis < program.values[value].rank,
          "symbol %zu is no size of its input", index);
  require(symbol.divisor > 0 && symbol.minimum > 0 && symbol.maximum >= symbol.minimum,
          "symbol %zu has no range", index);
}

void check_operation(const Program& program, size_t index) {
  const Operation& operation = program.operations[index];
  require(operation.opcode <= Opcode::kPermute, "operation %zu is unknown", index);
  const uint32_t inputs = operation.opcode <= Opcode::kMul ? 2 : 1;
  const bool has_bias = operation.opcode == Opcode::kMatmul && operation.input_count == 3;
  require(operation.input_count == inputs || has_bias, "operation %zu has %u inputs", index,
          operation.input_count);
  require(
      operation.output < program.values.size() && program.values[operation.output].is_weight == 0,
      "operation %zu has no output", index);
  for (uint32_t i = 0; i < operation.input_count; ++i) {
    require(operation.inputs[i] < program.values.size(), "operation %zu lacks an input", index);
    const Value& input = program.values[operation.inputs[i]];
    require(input.is_weight != 0 || input.place != program.values[operation.output].place,
            "operation %zu writes what it reads", index);
  }
  require(operation.name[sizeof(operation.name) - 1] == '\0', "operation %zu has no name", index);
}

}  // namespace

void require(bool condition, const char* reason, ...) {
  if (condition) {
    return;
  }
  char text[256];
  va_list arguments;
  va_start(arguments, reason);
  std::vsnprintf(text, sizeof(text), reason, arguments);
  va_end(arguments);
  throw etbk::Error::format(ETBK_STATUS_INCOMPATIBLE_BLOB,
                            "REFERENCE-BLOB: the blob is damaged: %s. Export the model again.",
                            text);
}

etbk::BlobGrade judge_blob(etbk::Bytes head, uint64_t size) {
  using etbk::BlobGrade;
  Header header{};
  if (head.size() >= sizeof(Header)) {
    std::memcpy(&header, head.data(), sizeof(Header));
  }
  if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0) {
    return BlobGrade::unusable(
        "REFERENCE-BLOB: the blob is none of this backend's: it lacks the header REFBLOB. Export "
        "the model again.");
  }
  if (header.oldest_reader > kNewestFormat) {
    return BlobGrade::unusable("REFERENCE-FORMAT: the blob has format " +
                               std::to_string(header.format) + ", readable from format " +
                               std::to_string(header.oldest_reader) +
                               " on; this backend reads up to " + std::to_string(kNewestFormat) +
                               ". Install a newer reference-executorch-backend.");
  }
  if (header.format < kOldestFormat) {
    return BlobGrade::needs_rebuild(
        "REFERENCE-FORMAT: the blob has a format that is no longer read. Export the model again.");
  }
  if (header.blob_size != size) {
    return BlobGrade::unusable("REFERENCE-BLOB: the blob has " + std::to_string(size) +
                               " bytes and was written with " + std::to_string(header.blob_size) +
                               ". Copy the file again or export the model again.");
  }
  if (header.weights_alignment == 0 || header.weights_alignment % kDeviceAlignment != 0) {
    return BlobGrade::usable(
        "REFERENCE-ALIGNMENT: the weights are not aligned for the device and will be copied. "
        "Export the model again.");
  }
  return BlobGrade::optimal();
}

Program parse_blob(etbk::Bytes blob) {
  const etbk::BlobGrade grade = judge_blob(blob, blob.size());
  if (grade.grade() > ETBK_BLOB_USABLE) {
    throw etbk::Error(ETBK_STATUS_INCOMPATIBLE_BLOB, grade.reason());
  }
  Program program{};
  Header& header = program.header;
  std::memcpy(&header, blob.data(), sizeof(Header));
  size_t position = sizeof(Header);
  program.symbols = take<Symbol>(blob, position, header.symbol_count, "symbols");
  program.values = take<Value>(blob, position, header.value_count, "values");
  program.inputs = take<uint32_t>(blob, position, header.input_count, "inputs");
  program.outputs = take<uint32_t>(blob, position, header.output_count, "outputs");
  program.operations = take<Operation>(blob, position, header.operation_count, "operations");
  const std::vector<char> key = take<char>(blob, position, header.key_size, "bytes of a key");
  program.key.assign(key.begin(), key.end());
  require(!key.empty() || (header.weights_offset <= blob.size() &&
                           header.weights_size <= blob.size() - header.weights_offset),
          "its weights lie outside");
  require(header.register_count <= header.value_count, "it has %u registers",
          header.register_count);
  for (const uint32_t input : program.inputs) {
    require(
        input == kNone || (input < program.values.size() && program.values[input].is_weight == 0),
        "an input is value %u", input);
  }
  for (const uint32_t output : program.outputs) {
    require(output < program.values.size(), "an output is value %u", output);
  }
  for (size_t i = 0; i < program.values.size(); ++i) {
    check_value(program, i);
  }
  for (size_t i = 0; i < program.symbols.size(); ++i) {
    check_symbol(program, i);
  }
  for (size_t i = 0; i < program.operations.size(); ++i) {
    check_operation(program, i);
  }
  return program;
}

}  // namespace reference
