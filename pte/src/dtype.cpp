// The table of element types, numbered as ExecuTorch's ScalarType.
// Licence: BSD-3-Clause.
#include "dtype.hpp"

namespace etbk::pte {
namespace {

struct Type {
  int number;
  uint32_t size;
  const char* name;
};

constexpr Type kTypes[] = {
    {0, 1, "uint8"},
    {1, 1, "int8"},
    {2, 2, "int16"},
    {3, 4, "int32"},
    {4, 8, "int64"},
    {5, 2, "float16"},
    {6, 4, "float32"},
    {7, 8, "float64"},
    {11, 1, "bool"},
    {12, 1, "qint8"},
    {13, 1, "quint8"},
    {14, 4, "qint32"},
    {15, 2, "bfloat16"},
    {16, 1, "quint4x2"},
    {17, 1, "quint2x4"},
    {22, 2, "bits16"},
    {23, 1, "float8_e5m2"},
    {24, 1, "float8_e4m3fn"},
    {25, 1, "float8_e5m2fnuz"},
    {26, 1, "float8_e4m3fnuz"},
    {27, 2, "uint16"},
    {28, 4, "uint32"},
    {29, 8, "uint64"},
};

}  // namespace

uint32_t element_size(int dtype) {
  for (const Type& type : kTypes) {
    if (type.number == dtype) {
      return type.size;
    }
  }
  return 0;
}

const char* dtype_name(int dtype) {
  for (const Type& type : kTypes) {
    if (type.number == dtype) {
      return type.name;
    }
  }
  return "unknown";
}

}  // namespace etbk::pte
