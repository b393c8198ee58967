/* The work both forms of the benchmark's add backend do: 64 floats, so that the boundary shows. */
#ifndef ETBK_BENCH_ADD_H
#define ETBK_BENCH_ADD_H

#define ADD_COUNT 64

static inline void add(const float* a, const float* b, const float* c, float* out) {
  for (int i = 0; i < ADD_COUNT; ++i) {
    out[i] = a[i] + b[i] + c[i];
  }
}

#endif
