// The walk over a damaged FlatBuffer.
// Licence: BSD-3-Clause.
#include "damage.hpp"

#include <utility>
#include <vector>

namespace etbk::pte {
namespace {

size_t width(unsigned base_type) {
  switch (static_cast<fb::ElementaryType>(base_type)) {
    case fb::ET_UTYPE:
    case fb::ET_BOOL:
    case fb::ET_CHAR:
    case fb::ET_UCHAR:
      return 1;
    case fb::ET_SHORT:
    case fb::ET_USHORT:
      return 2;
    case fb::ET_LONG:
    case fb::ET_ULONG:
    case fb::ET_DOUBLE:
      return 8;
    default:
      return 4;
  }
}

class Walk {
 public:
  Walk(const uint8_t* data, size_t size) : data_(data), size_(size) {}

  // True if nothing is wrong from here on.
  bool table(size_t at, const fb::TypeTable* type) {
    if (++depth_ > 64 || ++tables_ > 1000000) {
      return fail("more than 64 levels or 1,000,000 tables");
    }
    if (!aligned(at, 4)) {
      return false;
    }
    const auto vtable =
        static_cast<size_t>(static_cast<int64_t>(at) - fb::ReadScalar<int32_t>(data_ + at));
    if (!aligned(vtable, 2)) {
      return false;
    }
    const size_t vtable_size = fb::ReadScalar<uint16_t>(data_ + vtable);
    if (vtable_size % 2 != 0 || vtable_size < 4 || !inside(vtable, vtable_size)) {
      return fail("its table of fields has " + std::to_string(vtable_size) + " bytes at " +
                  std::to_string(vtable));
    }
    unsigned union_type = 0;
    for (size_t i = 0; i < type->num_elems; ++i) {
      const size_t slot = 4 + 2 * i;
      const size_t relative =
          slot + 2 <= vtable_size ? fb::ReadScalar<uint16_t>(data_ + vtable + slot) : 0;
      const fb::TypeCode code = type->type_codes[i];
      if (relative != 0) {
        path_.emplace_back(std::string(".") + type->names[i]);
        if (!field(at + relative, code, type, union_type)) {
          return false;
        }
        path_.pop_back();
      }
      union_type = code.base_type == fb::ET_UTYPE && relative != 0 ? data_[at + relative] : 0;
    }
    --depth_;
    return true;
  }

  bool root(const fb::TypeTable* type) {
    const size_t at = fb::ReadScalar<uint32_t>(data_);
    return inside(at, 4) ? table(at, type) : fail("the root is at " + std::to_string(at));
  }

  Damage damage() const {
    std::string place;
    for (const std::string& part : path_) {
      place += part;
    }
    return {place.empty() ? "root" : place.substr(place[0] == '.' ? 1 : 0), evidence_};
  }

 private:
  bool field(size_t at, fb::TypeCode code, const fb::TypeTable* type, unsigned union_type) {
    if (code.is_repeating != 0) {
      return list(at, code, type);
    }
    if (code.base_type == fb::ET_STRING) {
      size_t begin = 0;
      size_t count = 0;
      if (!follow(at, 1, &begin, &count)) {
        return false;
      }
      return (inside(begin, count + 1) && data_[begin + count] == 0) ||
             fail("the text does not end with a zero byte");
    }
    if (code.base_type == fb::ET_SEQUENCE) {
      const fb::TypeTable* inner = type->type_refs[code.sequence_ref]();
      if (inner->st == fb::ST_UNION) {
        if (union_type == 0 || union_type >= inner->num_elems) {
          return true;  // unknown kinds are a matter of the rules
        }
        inner = inner->type_refs[inner->type_codes[union_type].sequence_ref]();
      }
      size_t to = 0;
      return offset(at, &to) && table(to, inner);
    }
    return aligned(at, width(code.base_type));
  }

  bool list(size_t at, fb::TypeCode code, const fb::TypeTable* type) {
    const bool tables = code.base_type == fb::ET_SEQUENCE;
    size_t begin = 0;
    size_t count = 0;
    if (!follow(at, width(code.base_type), &begin, &count)) {
      return false;
    }
    for (size_t i = 0; tables && i < count; ++i) {
      path_.emplace_back("[" + std::to_string(i) + "]");
      size_t to = 0;
      if (!offset(begin + 4 * i, &to) || !table(to, type->type_refs[code.sequence_ref]())) {
        return false;
      }
      path_.pop_back();
    }
    return true;
  }

  // Offset, then number of elements, then the elements.
  bool follow(size_t at, size_t element, size_t* begin, size_t* count) {
    size_t to = 0;
    if (!offset(at, &to) || !aligned(to, 4)) {
      return false;
    }
    *count = fb::ReadScalar<uint32_t>(data_ + to);
    *begin = to + 4;
    return (*count <= size_ / element && inside(*begin, *count * element)) ||
           fail(std::to_string(*count) + " elements of " + std::to_string(element) +
                " bytes do not fit into the " + std::to_string(size_) + " bytes of the program");
  }

  bool offset(size_t at, size_t* to) {
    if (!aligned(at, 4)) {
      return false;
    }
    const uint32_t relative = fb::ReadScalar<uint32_t>(data_ + at);
    *to = at + relative;
    return (relative != 0 && relative < 0x80000000u && inside(*to, 1)) ||
           fail("the offset " + std::to_string(relative) + " leads out of the program");
  }

  bool aligned(size_t at, size_t size) {
    return inside(at, size) ? at % size == 0 || fail("misaligned, at " + std::to_string(at))
                            : fail("at " + std::to_string(at) + ", outside of the program");
  }

  bool inside(size_t at, size_t size) const { return at <= size_ && size <= size_ - at; }

  bool fail(std::string evidence) {
    if (evidence_.empty()) {
      evidence_ = std::move(evidence);
    }
    return false;
  }

  const uint8_t* data_;
  size_t size_;
  size_t depth_ = 0;
  size_t tables_ = 0;
  std::vector<std::string> path_;
  std::string evidence_;
};

}  // namespace

Damage find_damage(const uint8_t* data, size_t size, const fb::TypeTable* root) {
  Walk walk(data, size);
  if (walk.root(root)) {
    return {"program", "the FlatBuffers verifier refuses it"};
  }
  return walk.damage();
}

}  // namespace etbk::pte
