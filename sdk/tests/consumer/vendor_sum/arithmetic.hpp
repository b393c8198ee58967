// Names that vendor_product defines too, otherwise: shared between the plugins, the numbers are
// wrong. Licence: BSD-3-Clause.
#pragma once

// Out of line, in this vendor's static library.
float combine(float a, float b);

// Inline, with linkage: an ordinary linker keeps one definition for the whole program.
inline float weight() { return 1.0f; }

// Data of inline functions and inline variables are unique symbols with GCC, unless told not to.
inline int& calls() {
  static int count = 0;
  return count;
}
inline const char* const owner = "sum";
