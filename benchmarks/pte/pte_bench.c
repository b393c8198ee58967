/* Times the .pte library: pte_bench inspect FILE, pte_bench hash. Prints JSON. */
#include <executorch_backend_kit/pte.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a;
  const double y = *(const double*)b;
  return (x > y) - (x < y);
}

enum { kRounds = 11 };

static double median(double* values) {
  qsort(values, kRounds, sizeof *values, by_value);
  return values[kRounds / 2];
}

static int bench_inspect(const char* path) {
  double inspect[kRounds];
  double structure[kRounds];
  double semantics[kRounds];
  struct rusage usage;
  int i;
  for (i = 0; i < kRounds; ++i) {
    double begin = now();
    EtbkPte* file = etbk_pte_open(path, NULL);
    if (!etbk_pte_is_sound(file)) {
      return 1;
    }
    structure[i] = now() - begin;
    begin = now();
    etbk_pte_free(etbk_pte_inspect(file, NULL));
    inspect[i] = structure[i] + now() - begin;
    begin = now();
    etbk_pte_free(etbk_pte_verify(file, NULL, NULL));
    semantics[i] = now() - begin;
    etbk_pte_close(file);
  }
  getrusage(RUSAGE_SELF, &usage);
  printf(
      "{\"inspect_ms\": %.3f, \"structure_ms\": %.3f, \"semantics_ms\": %.3f, \"rss_mib\": %.2f}\n",
      1e3 * median(inspect), 1e3 * median(structure), 1e3 * median(semantics),
      (double)usage.ru_maxrss / 1024);
  return 0;
}

/* Reads all of it, eight words at a time, as fast as the compiler can. */
static uint64_t read_all(const uint64_t* words, size_t count) {
  uint64_t a = 0;
  uint64_t b = 0;
  uint64_t c = 0;
  uint64_t d = 0;
  size_t i;
  for (i = 0; i + 4 <= count; i += 4) {
    a ^= words[i];
    b ^= words[i + 1];
    c ^= words[i + 2];
    d ^= words[i + 3];
  }
  return a ^ b ^ c ^ d;
}

static int bench_hash(void) {
  const size_t size = (size_t)256 << 20;
  uint64_t* const memory = malloc(size);
  double hash[kRounds];
  double read[kRounds];
  double ratio[kRounds];
  volatile uint64_t sink = 0;
  int i;
  if (memory == NULL) {
    return 1;
  }
  memset(memory, 7, size);
  for (i = 0; i < kRounds; ++i) {
    double begin = now();
    sink ^= etbk_pte_hash(memory, size);
    hash[i] = now() - begin;
    begin = now();
    sink ^= read_all(memory, size / 8);
    read[i] = now() - begin;
    ratio[i] = read[i] / hash[i];
  }
  printf("{\"hash_gb_s\": %.2f, \"read_gb_s\": %.2f, \"ratio\": %.3f}\n",
         1e-9 * (double)size / median(hash), 1e-9 * (double)size / median(read), median(ratio));
  free(memory);
  return 0;
}

int main(int count, char** arguments) {
  if (count == 3 && strcmp(arguments[1], "inspect") == 0) {
    return bench_inspect(arguments[2]);
  }
  if (count == 2 && strcmp(arguments[1], "hash") == 0) {
    return bench_hash();
  }
  fputs("pte_bench inspect FILE | pte_bench hash\n", stderr);
  return 2;
}
