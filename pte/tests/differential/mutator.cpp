// Sites and their mutations.
// Licence: BSD-3-Clause.
#include "mutator.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace etbk::pte::differential {
namespace {

uint64_t get(const Bytes& bytes, size_t at, size_t width) {
  uint64_t value = 0;
  for (size_t i = 0; i < width; ++i) {
    value |= static_cast<uint64_t>(bytes[at + i]) << (8 * i);
  }
  return value;
}

void put(Bytes& bytes, size_t at, size_t width, uint64_t value) {
  for (size_t i = 0; i < width; ++i) {
    bytes[at + i] = static_cast<uint8_t>(value >> (8 * i));
  }
}

size_t width_of(unsigned base_type) {
  switch (static_cast<fb::ElementaryType>(base_type)) {
    case fb::ET_UTYPE:
    case fb::ET_BOOL:
    case fb::ET_CHAR:
    case fb::ET_UCHAR:
      return 1;
    case fb::ET_LONG:
    case fb::ET_ULONG:
    case fb::ET_DOUBLE:
      return 8;
    default:
      return 4;
  }
}

uint64_t pick(Random& random, uint64_t count) { return random() % count; }

uint64_t another(uint64_t value, size_t width, Random& random) {
  const uint64_t top = uint64_t{1} << (8 * width - 1);
  const uint64_t choices[] = {0,
                              1,
                              2,
                              3,
                              pick(random, 16),
                              pick(random, 16),
                              value + 1,
                              value - 1,
                              value * 2,
                              value ^ uint64_t{1} << pick(random, 8 * width),
                              ~uint64_t{0},
                              top,
                              top - 1,
                              uint64_t{1} << 20,
                              uint64_t{1} << 40,
                              random()};
  return choices[pick(random, std::size(choices))];
}

}  // namespace

Mutator::Mutator(Bytes base) : base_(std::move(base)) {
  is_program_ = std::memcmp(base_.data() + 4, "ET12", 4) == 0;
  has_header_ = !is_program_ || std::memcmp(base_.data() + 8, "eh00", 4) == 0;
  const size_t sizes = is_program_ ? 16 : 24;
  metadata_ = !has_header_ ? base_.size()
                           : static_cast<size_t>(get(base_, sizes, 8)) +
                                 (is_program_ ? 0 : static_cast<size_t>(get(base_, 16, 8)));
  add("header.root", {What::kScalar, 0, 4});
  add("header.identifier", {What::kScalar, 4, 4});
  if (has_header_) {
    add("header.magic", {What::kScalar, 8, 4});
    add("header.length", {What::kScalar, 12, 4});
  }
  for (size_t at = 16; has_header_ && at < (is_program_ ? 40u : 48u); at += 8) {
    add("header.field" + std::to_string((at - 16) / 8), {What::kScalar, at, 8});
  }
  walk_table(static_cast<size_t>(get(base_, 0, 4)),
             is_program_ ? ps::ProgramTypeTable() : ds::FlatTensorTypeTable(), "");
}

std::vector<std::string> Mutator::kinds() const {
  std::vector<std::string> names;
  for (const auto& [name, sites] : sites_) {
    names.push_back(name);
  }
  return names;
}

void Mutator::walk_table(size_t at, const fb::TypeTable* type, const std::string& path) {
  tables_.push_back(at);
  const auto vtable =
      static_cast<size_t>(static_cast<int64_t>(at) - static_cast<int32_t>(get(base_, at, 4)));
  const size_t slots = static_cast<size_t>(get(base_, vtable, 2));
  unsigned union_type = 0;
  for (size_t i = 0; i < type->num_elems; ++i) {
    const size_t slot = 4 + 2 * i;
    const size_t relative =
        slot + 2 <= slots ? static_cast<size_t>(get(base_, vtable + slot, 2)) : 0;
    const std::string name = path + (path.empty() ? "" : ".") + type->names[i];
    if (relative != 0) {
      add(name, {What::kField, at, slot});
      walk_field(at + relative, type->type_codes[i], type, union_type, name);
    }
    union_type =
        type->type_codes[i].base_type == fb::ET_UTYPE && relative != 0 ? base_[at + relative] : 0;
  }
}

void Mutator::walk_field(size_t at, fb::TypeCode code, const fb::TypeTable* type,
                         unsigned union_type, const std::string& path) {
  const bool table = code.base_type == fb::ET_SEQUENCE;
  if (code.is_repeating == 0 && !table && code.base_type != fb::ET_STRING) {
    add(path, {What::kScalar, at, width_of(code.base_type)});
    return;
  }
  add(path, {What::kOffset, at, 4});
  const size_t to = at + static_cast<size_t>(get(base_, at, 4));
  if (code.is_repeating == 0 && table) {
    const fb::TypeTable* inner = type->type_refs[code.sequence_ref]();
    std::string name = path;
    if (inner->st == fb::ST_UNION) {
      name += std::string("<") + inner->names[union_type] + ">";
      inner = inner->type_refs[inner->type_codes[union_type].sequence_ref]();
    }
    walk_table(to, inner, name);
    return;
  }
  const auto count = static_cast<size_t>(get(base_, to, 4));
  add(path, {What::kLength, to, 4});
  if (path == "backend_delegate_data.data" || path == "constant_buffer.storage") {
    payloads_.emplace_back(to + 4, to + 4 + count);
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    if (code.is_repeating != 0 && table) {
      add(path + "[]", {What::kOffset, to + 4 + 4 * i, 4});
      const size_t element = to + 4 + 4 * i;
      walk_table(element + static_cast<size_t>(get(base_, element, 4)),
                 type->type_refs[code.sequence_ref](), path);
    } else if (code.is_repeating != 0) {
      const size_t width = width_of(code.base_type);
      add(path + "[]", {What::kScalar, to + 4 + width * i, width});
    } else {
      add(path, {What::kText, to + 4 + i, 1});
    }
  }
}

void Mutator::drop_field(Bytes& bytes, const Site& site) const {
  // A vtable of the table's own, put behind the FlatBuffer; equal ones are shared in the file.
  const auto vtable = static_cast<size_t>(static_cast<int64_t>(site.at) -
                                          static_cast<int32_t>(get(bytes, site.at, 4)));
  const auto size = static_cast<size_t>(get(bytes, vtable, 2));
  constexpr size_t kRoom = 128;
  Bytes own(bytes.begin() + static_cast<std::ptrdiff_t>(vtable),
            bytes.begin() + static_cast<std::ptrdiff_t>(vtable + size));
  put(own, site.width, 2, 0);
  own.resize(kRoom, 0);
  const size_t place = (metadata_ + 7) / 8 * 8;
  if (place > bytes.size() || size > kRoom) {
    put(bytes, vtable + site.width, 2, 0);
    return;
  }
  bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(place), own.begin(), own.end());
  put(bytes, site.at, 4, site.at - place);
  if (!has_header_) {
    return;
  }
  const size_t length = is_program_ ? 16 : 24;
  const size_t base = is_program_ ? 24 : 32;
  const uint64_t start = is_program_ ? 0 : get(bytes, 16, 8);
  put(bytes, length, 8, place + size - start);
  if (get(bytes, base, 8) != 0) {
    put(bytes, base, 8, get(bytes, base, 8) + kRoom);
  }
}

void Mutator::change(Bytes& bytes, const Site& site, Random& random, std::string& what) const {
  const auto from_to = [&](uint64_t from, uint64_t to) {
    what += " at " + std::to_string(site.at) + ": " + std::to_string(from) + " -> " +
            std::to_string(to);
  };
  switch (site.what) {
    case What::kField:
      drop_field(bytes, site);
      what += " of the table at " + std::to_string(site.at) + " dropped";
      break;
    case What::kText:
    case What::kScalar: {
      const uint64_t old = get(bytes, site.at, site.width);
      const uint64_t now = another(old, site.width, random);
      put(bytes, site.at, site.width, now);
      from_to(old, now);
      break;
    }
    case What::kLength: {
      const uint64_t old = get(bytes, site.at, 4);
      const uint64_t choices[] = {0,          1,          old - 1,    old + 1,         old * 2,
                                  0x7fffffff, 0xffffffff, 0x40000000, pick(random, 64)};
      const uint64_t now = choices[pick(random, std::size(choices))];
      put(bytes, site.at, 4, now);
      from_to(old, now);
      break;
    }
    case What::kOffset: {
      const uint64_t old = get(bytes, site.at, 4);
      const uint64_t elsewhere = tables_[pick(random, tables_.size())] - site.at;
      const uint64_t choices[] = {elsewhere, elsewhere, elsewhere,  elsewhere, 0,
                                  old + 4,   old - 4,   0x7ffffff0, random()};
      const uint64_t now = choices[pick(random, std::size(choices))];
      put(bytes, site.at, 4, now);
      from_to(old, now & 0xffffffff);
      break;
    }
  }
}

Mutant Mutator::structured(const std::string& kind, Random& random) const {
  const std::vector<Site>& sites = sites_.at(kind);
  Mutant mutant{base_, kind, kind, false};
  change(mutant.bytes, sites[pick(random, sites.size())], random, mutant.description);
  return mutant;
}

bool Mutator::is_payload(size_t at) const {
  return at >= metadata_ || std::any_of(payloads_.begin(), payloads_.end(), [&](const auto& range) {
           return at >= range.first && at < range.second;
         });
}

Mutant Mutator::random(Random& random) const {
  Mutant mutant{base_, "random", "random", false};
  const uint64_t way = pick(random, 8);
  if (way == 0) {
    mutant.bytes.resize(pick(random, base_.size()));
    mutant.description += ": cut to " + std::to_string(mutant.bytes.size());
  } else if (way == 1) {
    const size_t at = pick(random, metadata_);
    const size_t count = std::min<size_t>(1 + pick(random, 8), base_.size() - at);
    mutant.bytes.erase(mutant.bytes.begin() + static_cast<std::ptrdiff_t>(at),
                       mutant.bytes.begin() + static_cast<std::ptrdiff_t>(at + count));
    mutant.description += ": " + std::to_string(count) + " bytes removed at " + std::to_string(at);
  } else {
    for (uint64_t i = 0; i < way; ++i) {
      const size_t at = pick(random, metadata_);
      mutant.bytes[at] = static_cast<uint8_t>(random());
      mutant.payload = mutant.payload || is_payload(at);
      mutant.description += " " + std::to_string(at) + "=" + std::to_string(mutant.bytes[at]);
    }
  }
  return mutant;
}

Mutant Mutator::payload(Random& random) const {
  Mutant mutant{base_, "payload", "payload", true};
  if (metadata_ < base_.size()) {
    for (uint64_t i = 0; i < 1 + pick(random, 4); ++i) {
      const size_t at = metadata_ + pick(random, base_.size() - metadata_);
      mutant.bytes[at] = static_cast<uint8_t>(random());
      mutant.description += " " + std::to_string(at) + "=" + std::to_string(mutant.bytes[at]);
    }
  }
  return mutant;
}

}  // namespace etbk::pte::differential
