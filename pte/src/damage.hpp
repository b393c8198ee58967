// Names the field at which a FlatBuffer stops making sense.
//
// The generated verifier only says no. This walks the same tables by their type description, with
// bounds of its own, to the first field that does not hold.
// Licence: BSD-3-Clause.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "schema.hpp"

namespace etbk::pte {

struct Damage {
  std::string place;
  std::string evidence;
};

Damage find_damage(const uint8_t* data, size_t size, const fb::TypeTable* root);

}  // namespace etbk::pte
