// Changes one field of a .pte or .ptd, everything else staying what it was.
//
// Sites are found by walking the FlatBuffer with its type description, so every field of the
// schema that the file has is a site, under the path that leads to it.
// Licence: BSD-3-Clause.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "schema.hpp"

namespace etbk::pte::differential {

using Bytes = std::vector<uint8_t>;
using Random = std::mt19937_64;

struct Mutant {
  Bytes bytes;
  std::string kind;         // the field, without indices
  std::string description;  // with position and values
  bool payload = false;     // a byte outside of the metadata
};

class Mutator {
 public:
  explicit Mutator(Bytes base);

  // Names of all kinds of fields in this file.
  std::vector<std::string> kinds() const;
  // One field of that kind, changed.
  Mutant structured(const std::string& kind, Random& random) const;
  // A few random bytes changed, or the file cut or lengthened.
  Mutant random(Random& random) const;
  // Only bytes of segments.
  Mutant payload(Random& random) const;

 private:
  enum class What { kScalar, kOffset, kLength, kText, kField };
  struct Site {
    What what;
    size_t at;     // of the bytes; of the table for kField
    size_t width;  // of a scalar; slot in the vtable for kField
  };

  void walk_table(size_t at, const fb::TypeTable* type, const std::string& path);
  void walk_field(size_t at, fb::TypeCode code, const fb::TypeTable* type, unsigned union_type,
                  const std::string& path);
  void add(const std::string& kind, Site site) { sites_[kind].push_back(site); }
  void change(Bytes& bytes, const Site& site, Random& random, std::string& what) const;
  bool is_payload(size_t at) const;
  void drop_field(Bytes& bytes, const Site& site) const;

  Bytes base_;
  size_t metadata_ = 0;  // end of the FlatBuffer
  bool is_program_ = true;
  bool has_header_ = true;
  std::map<std::string, std::vector<Site>> sites_;
  std::vector<std::pair<size_t, size_t>> payloads_;  // inside the FlatBuffer: blobs, constants
  std::vector<size_t> tables_;  // where tables are, for offsets that lead elsewhere
};

}  // namespace etbk::pte::differential
