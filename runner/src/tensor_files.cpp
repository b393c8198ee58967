// Reading and writing folders of values.
// Licence: BSD-3-Clause.
#include "tensor_files.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <numeric>

#include "dtype.hpp"

namespace etbk::runner {
namespace {

constexpr int kTypes = 64;  // numbers of element types are below this
constexpr uint64_t kMostBytes = uint64_t{1} << 40;

int dtype_of(const std::string& name) {
  for (int dtype = 0; dtype < kTypes; ++dtype) {
    if (name == pte::dtype_name(dtype)) {
      return dtype;
    }
  }
  return -1;
}

Finding unreadable(const std::string& path, const std::string& why) {
  return {"RUN-INPUTS-UNREADABLE", "The inputs cannot be read.", path + ": " + why,
          "Give a folder with index.json as tests and `etbk run --save-inputs` write it."};
}

Finding unwritable(const std::string& path) {
  return {"FILE-ACCESS-FAILED", "An output file could not be written.",
          path + ": " + std::strerror(errno), "Free disk space, or name another folder."};
}

bool read_file(const std::string& path, std::vector<uint8_t>* bytes) {
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) {
    return false;
  }
  struct stat status {};
  bool good = fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode);
  if (good) {
    bytes->resize(static_cast<size_t>(status.st_size));
    good = std::fread(bytes->data(), 1, bytes->size(), file) == bytes->size();
  } else {
    errno = EINVAL;
  }
  std::fclose(file);
  return good;
}

bool write_file(const std::string& path, const void* data, size_t size) {
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) {
    return false;
  }
  const bool written = std::fwrite(data, 1, size, file) == size;
  return std::fclose(file) == 0 && written;
}

std::string text_of(const Json& entry, const char* key) {
  const auto found = entry.find(key);
  return found != entry.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// Empty, or what is wrong.
std::string read_tensor(const std::string& folder, const Json& entry, Value* value) {
  value->kind = Value::Kind::kTensor;
  value->dtype = dtype_of(text_of(entry, "dtype"));
  if (value->dtype < 0) {
    return "unknown dtype " + text_of(entry, "dtype");
  }
  uint64_t bytes = pte::element_size(value->dtype);
  const Json sizes = entry.value("sizes", Json::array());
  const Json order = entry.value("dim_order", Json::array());
  if (!sizes.is_array() || !order.is_array() || sizes.size() > 16 || order.size() != sizes.size()) {
    return "sizes and dim_order do not fit";
  }
  std::vector<bool> seen(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (!sizes[i].is_number_unsigned() || !order[i].is_number_unsigned()) {
      return "sizes and dim_order must be numbers";
    }
    const auto size = sizes[i].get<uint64_t>();
    const auto dimension = order[i].get<uint64_t>();
    if (size > static_cast<uint64_t>(std::numeric_limits<int32_t>::max()) ||
        dimension >= sizes.size() || seen[dimension]) {
      return "sizes and dim_order do not fit";
    }
    seen[dimension] = true;
    value->sizes.push_back(static_cast<int32_t>(size));
    value->dim_order.push_back(static_cast<uint8_t>(dimension));
    bytes = size != 0 && bytes > kMostBytes / size ? kMostBytes + 1 : bytes * size;
  }
  const std::string name = text_of(entry, "file");
  if (name.empty() || name.find('/') != std::string::npos) {
    return "a file name is wrong";
  }
  if (!read_file(folder + "/" + name, &value->bytes)) {
    return name + ": " + std::strerror(errno);
  }
  if (value->bytes.size() != bytes) {
    return name + " has " + std::to_string(value->bytes.size()) + " bytes, its sizes need " +
           std::to_string(bytes);
  }
  return "";
}

std::string read_value(const std::string& folder, const Json& entry, Value* value) {
  if (!entry.is_object()) {
    return "an entry is not an object";
  }
  const std::string kind = text_of(entry, "kind");
  const Json content = entry.value("value", Json());
  if (kind == "tensor") {
    return read_tensor(folder, entry, value);
  }
  if (kind == "NoneType") {
    value->kind = Value::Kind::kNone;
  } else if (kind == "bool" && content.is_boolean()) {
    value->kind = Value::Kind::kBool;
    value->integer = content.get<bool>() ? 1 : 0;
  } else if (kind == "int" && content.is_number_integer()) {
    value->kind = Value::Kind::kInt;
    value->integer = content.get<int64_t>();
  } else if (kind == "float" && content.is_number()) {
    value->kind = Value::Kind::kDouble;
    value->number = content.get<double>();
  } else if (kind == "str" && content.is_string()) {
    value->kind = Value::Kind::kString;
    value->text = content.get<std::string>();
  } else {
    return "unknown kind " + kind;
  }
  return "";
}

const char* kind_name(Value::Kind kind) {
  switch (kind) {
    case Value::Kind::kTensor:
      return "tensor";
    case Value::Kind::kNone:
      return "NoneType";
    case Value::Kind::kBool:
      return "bool";
    case Value::Kind::kInt:
      return "int";
    case Value::Kind::kDouble:
      return "float";
    case Value::Kind::kString:
      return "str";
  }
  return "";
}

Json tensor_json(const Value& value) {
  return {{"kind", "tensor"}, {"dtype", pte::dtype_name(value.dtype)}, {"sizes", value.sizes}};
}

Json entry_of(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kBool:
      return {{"kind", "bool"}, {"value", value.integer != 0}};
    case Value::Kind::kInt:
      return {{"kind", "int"}, {"value", value.integer}};
    case Value::Kind::kDouble:
      return {{"kind", "float"}, {"value", value.number}};
    case Value::Kind::kString:
      return {{"kind", "str"}, {"value", value.text}};
    default:
      return {{"kind", kind_name(value.kind)}, {"value", nullptr}};
  }
}

template <typename Float>
uint64_t count_not_finite(const std::vector<uint8_t>& bytes) {
  uint64_t count = 0;
  for (size_t i = 0; i + sizeof(Float) <= bytes.size(); i += sizeof(Float)) {
    Float element;
    std::memcpy(&element, bytes.data() + i, sizeof element);
    count += std::isfinite(element) ? 0 : 1;
  }
  return count;
}

}  // namespace

std::optional<Finding> read_values(const std::string& folder, std::vector<Value>* values) {
  const std::string index = folder + "/index.json";
  std::vector<uint8_t> text;
  if (!read_file(index, &text)) {
    return unreadable(index, std::strerror(errno));
  }
  const Json entries = Json::parse(text.begin(), text.end(), nullptr, false);
  if (!entries.is_array()) {
    return unreadable(index, "not a JSON list");
  }
  for (const Json& entry : entries) {
    Value value;
    if (const std::string wrong = read_value(folder, entry, &value); !wrong.empty()) {
      return unreadable(index, "entry " + std::to_string(values->size()) + ": " + wrong);
    }
    values->push_back(std::move(value));
  }
  return std::nullopt;
}

std::optional<Finding> write_values(const std::string& folder, const std::vector<Value>& values) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    errno = error.value();
    return unwritable(folder);
  }
  Json entries = Json::array();
  for (size_t i = 0; i < values.size(); ++i) {
    const Value& value = values[i];
    if (value.kind != Value::Kind::kTensor) {
      entries.push_back(entry_of(value));
      continue;
    }
    const std::string name = std::to_string(i) + ".bin";
    const std::string path = std::string(folder).append("/").append(name);
    if (!write_file(path, value.bytes.data(), value.bytes.size())) {
      return unwritable(path);
    }
    Json entry = tensor_json(value);
    entry["dim_order"] = value.dim_order;
    entry["file"] = name;
    entries.push_back(std::move(entry));
  }
  const std::string index = folder + "/index.json";
  const std::string part = folder + "/index.json.part";
  const std::string text = dump(entries);
  if (!write_file(part, text.data(), text.size()) ||
      std::rename(part.c_str(), index.c_str()) != 0) {
    return unwritable(index);
  }
  return std::nullopt;
}

Json describe(const std::vector<Value>& values) {
  Json rows = Json::array();
  for (const Value& value : values) {
    Json row = value.kind == Value::Kind::kTensor ? tensor_json(value)
                                                  : Json{{"kind", kind_name(value.kind)}};
    if (value.kind == Value::Kind::kTensor) {
      const std::string dtype = pte::dtype_name(value.dtype);
      if (dtype == "float32") {
        row["not_finite"] = count_not_finite<float>(value.bytes);
      } else if (dtype == "float64") {
        row["not_finite"] = count_not_finite<double>(value.bytes);
      }
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace etbk::runner
