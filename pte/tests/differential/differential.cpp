// Mutants of programs through our verification and through the stock runtime.
//
//   differential [--structured N] [--random N] [--payload N] [--seed N] [--keep DIR] [--json]
//                PROGRAM[,DATA]...
//
// Promises: our verification never crashes; a file that it accepts never crashes the runtime in
// loading a program or a method. Crashes in execute are listed by operator for triage.
// Licence: BSD-3-Clause.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "child.hpp"
#include "mutator.hpp"
#include "report.hpp"
#include "semantics.hpp"
#include "stock_runtime.hpp"

using namespace etbk::pte;
using namespace etbk::pte::differential;

namespace {

struct Base {
  std::string name;
  Bytes program;
  Bytes data;
};

struct Counts {
  uint64_t mutants = 0;
  uint64_t accepted = 0;
  uint64_t payload = 0;
  uint64_t payload_crashes = 0;
  uint64_t our_crashes = 0;
  uint64_t refused_crashers = 0;  // files we refuse that crash the runtime: what the rules are for
  uint64_t load_crashes = 0;      // files we accept that crash it in loading: must stay 0
  uint64_t execute_crashes = 0;   // files we accept that crash it in execute
  uint64_t execute_hangs = 0;     // files we accept that run on to the runtime's own limit
};

Bytes read_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(stream), {});
}

// 0 accepted, 1 refused.
int verify(const Bytes& program, const Bytes& data) {
  Findings findings;
  const auto file =
      Container::open(ByteFile::of_memory(program.data(), program.size()), Limits{}, findings);
  const auto external =
      data.empty()
          ? nullptr
          : Container::open(ByteFile::of_memory(data.data(), data.size()), Limits{}, findings);
  if (file != nullptr) {
    (void)inspect(*file, {true}).dump(-1, ' ', false, nlohmann::detail::error_handler_t::replace);
    check_semantics(*file, external.get(), findings);
  }
  if (std::getenv("ETBK_DIFFERENTIAL_VERBOSE") != nullptr) {
    std::printf("%s\n", findings_json(findings).dump(1).c_str());
  }
  return findings.list().empty() ? 0 : 1;
}

class Run {
 public:
  Run(std::string keep, bool quiet) : keep_(std::move(keep)), quiet_(quiet) {}

  void one(const Base& base, const Mutant& mutant, bool in_data) {
    const Bytes& program = in_data ? base.program : mutant.bytes;
    const Bytes& data = in_data ? mutant.bytes : base.data;
    ++counts.mutants;
    if (!mutant.payload) {
      ++histogram[(in_data ? "data:" : "") + mutant.kind];
    }
    const ChildResult ours = in_child([&](volatile int*) { return verify(program, data); }, 20);
    if (ours.crashed()) {
      ++counts.our_crashes;
      report("our tools crash", base, mutant, ours, in_data);
      return;
    }
    const bool accepted = ours.answer == 0;
    counts.accepted += accepted ? 1 : 0;
    counts.payload += mutant.payload ? 1 : 0;
    for (const bool strict : {false, true}) {
      const ChildResult stock = in_child(
          [&](volatile int* stage) { return run_in_stock_runtime(program, data, strict, stage); },
          20);
      if (!stock.crashed()) {
        continue;
      }
      if (mutant.payload) {
        ++counts.payload_crashes;
      } else if (!accepted) {
        ++counts.refused_crashers;
      } else if (stock.stage < kMethodLoaded) {
        ++counts.load_crashes;
        report("ACCEPTED, crashes in load", base, mutant, stock, in_data);
      } else if (stock.hung) {
        ++counts.execute_hangs;  // the runtime stops after 10 million instructions
      } else {
        ++counts.execute_crashes;
        report("accepted, crashes in execute", base, mutant, stock, in_data);
      }
      return;
    }
  }

  Counts counts;
  std::map<std::string, uint64_t> histogram;

 private:
  void report(const char* what, const Base& base, const Mutant& mutant, const ChildResult& result,
              bool in_data) {
    if (!quiet_) {
      std::printf("%s: %s%s, %s %d after stage %d: %s\n", what, base.name.c_str(),
                  in_data ? " (data)" : "", result.hung ? "hang, signal" : "signal", result.signal,
                  result.stage, mutant.description.c_str());
      std::fflush(stdout);
    }
    if (!keep_.empty()) {
      const std::string path = keep_ + "/" + std::to_string(kept_++) + (in_data ? ".ptd" : ".pte");
      std::ofstream(path, std::ios::binary)
          .write(reinterpret_cast<const char*>(mutant.bytes.data()),
                 static_cast<std::streamsize>(mutant.bytes.size()));
      if (!quiet_) {
        std::printf("  kept as %s\n", path.c_str());
      }
    }
  }

  std::string keep_;
  bool quiet_;
  uint64_t kept_ = 0;
};

}  // namespace

int main(int count, char** arguments) {
  uint64_t structured = 0;
  uint64_t random_ones = 0;
  uint64_t payloads = 0;
  uint64_t seed = 1;
  std::string keep;
  bool json = false;
  std::vector<Base> bases;
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    const auto next = [&] { return i + 1 < count ? arguments[++i] : ""; };
    if (argument == "--structured") {
      structured = std::strtoull(next(), nullptr, 10);
    } else if (argument == "--random") {
      random_ones = std::strtoull(next(), nullptr, 10);
    } else if (argument == "--payload") {
      payloads = std::strtoull(next(), nullptr, 10);
    } else if (argument == "--seed") {
      seed = std::strtoull(next(), nullptr, 10);
    } else if (argument == "--keep") {
      keep = next();
    } else if (argument == "--json") {
      json = true;
    } else {
      const size_t comma = argument.find(',');
      const std::string path = argument.substr(0, comma);
      bases.push_back(
          {path.substr(path.rfind('/') + 1), read_file(path),
           comma == std::string::npos ? Bytes() : read_file(argument.substr(comma + 1))});
    }
  }
  Run run(keep, json);
  Random random(seed);
  struct Source {
    const Base* base;
    Mutator mutator;
    bool in_data;
  };
  std::vector<Source> sources;
  for (const Base& base : bases) {
    // The unchanged program must pass everywhere, or the rest says nothing.
    const ChildResult ours =
        in_child([&](volatile int*) { return verify(base.program, base.data); }, 20);
    const ChildResult stock = in_child(
        [&](volatile int* stage) {
          return run_in_stock_runtime(base.program, base.data, true, stage);
        },
        20);
    if (ours.crashed() || ours.answer != 0 || stock.crashed() || stock.answer != 0) {
      std::fprintf(stderr, "%s itself is refused: ours %d, runtime %d, signal %d, stage %d\n",
                   base.name.c_str(), ours.answer, stock.answer, stock.signal, stock.stage);
      return 2;
    }
    sources.push_back({&base, Mutator(base.program), false});
    if (!base.data.empty()) {
      sources.push_back({&base, Mutator(base.data), true});
    }
  }
  // Kind by kind, so that each gets its share, over the sources that have it.
  std::map<std::string, std::vector<const Source*>> kinds;
  for (const Source& source : sources) {
    for (const std::string& kind : source.mutator.kinds()) {
      kinds[(source.in_data ? "data:" : "") + kind].push_back(&source);
    }
  }
  for (uint64_t i = 0; i < structured;) {
    for (const auto& [kind, having] : kinds) {
      const Source& source = *having[random() % having.size()];
      const std::string name = source.in_data ? kind.substr(5) : kind;
      run.one(*source.base, source.mutator.structured(name, random), source.in_data);
      ++i;
    }
  }
  for (uint64_t i = 0; i < random_ones; ++i) {
    const Source& source = sources[i % sources.size()];
    run.one(*source.base, source.mutator.random(random), source.in_data);
  }
  for (uint64_t i = 0; i < payloads; ++i) {
    const Source& source = sources[i % sources.size()];
    run.one(*source.base, source.mutator.payload(random), source.in_data);
  }
  const Counts& c = run.counts;
  uint64_t least = structured == 0 ? 0 : UINT64_MAX;
  for (const auto& [kind, times] : run.histogram) {
    least = kind.find("random") != std::string::npos ? least : std::min(least, times);
  }
  const Json result = {{"mutants", c.mutants},
                       {"kinds", kinds.size()},
                       {"least_per_kind", least},
                       {"accepted", c.accepted},
                       {"payload_mutants", c.payload},
                       {"payload_crashes", c.payload_crashes},
                       {"our_crashes", c.our_crashes},
                       {"refused_that_crash_the_runtime", c.refused_crashers},
                       {"accepted_that_crash_in_load", c.load_crashes},
                       {"accepted_that_crash_in_execute", c.execute_crashes},
                       {"accepted_that_run_to_the_limit", c.execute_hangs},
                       {"histogram", run.histogram}};
  std::printf("%s\n", result.dump(1).c_str());
  return c.our_crashes + c.load_crashes == 0 ? 0 : 1;
}
