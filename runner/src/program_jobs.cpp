// The jobs, from JSON to Session and back.
// Licence: BSD-3-Clause.
#include "program_jobs.hpp"

#include <algorithm>

#include "backend_watch.hpp"
#include "error_name.hpp"
#include "plugins.hpp"
#include "tensor_files.hpp"

namespace etbk::runner {
namespace {

Json finding_reply(const Finding& finding) {
  return {{"finding", finding.to_json()}, {"error", nullptr}};
}

bool is_failure(const Json& reply) { return reply.contains("finding"); }

std::vector<std::string> texts(const Json& request, const char* key) {
  std::vector<std::string> list;
  for (const Json& text : request.value(key, Json::array())) {
    if (text.is_string()) {
      list.push_back(text.get<std::string>());
    }
  }
  return list;
}

std::string text(const Json& request, const char* key, const char* otherwise) {
  const auto found = request.find(key);
  return found != request.end() && found->is_string() ? found->get<std::string>() : otherwise;
}

uint64_t number(const Json& request, const char* key) {
  const auto found = request.find(key);
  return found != request.end() && found->is_number_unsigned() ? found->get<uint64_t>() : 0;
}

double milliseconds(int64_t ns) { return static_cast<double>(ns) / 1e6; }

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

}  // namespace

Json ProgramJobs::failed(const char* code, const std::string& what, const Failure& failure) const {
  const std::string said = host_text();
  return {{"finding", Finding{code,
                              "The program " + what + " (" + error_text(failure.error) + ")" +
                                  (said.empty() ? "." : ": " + said + "."),
                              failure.evidence,
                              said.empty() ? "See the evidence." : "Do what the backend says."}
                          .to_json()},
          {"error", {{"number", failure.error}, {"name", error_name(failure.error)}}}};
}

Json ProgramJobs::delegates() const {
  Json rows = Json::array();
  for (const DelegateRecord& record : BackendWatch::records()) {
    rows.push_back({{"id", record.backend},
                    {"bytes", record.blob_bytes},
                    {"available", record.available},
                    {"initialized", record.initialized},
                    {"init_ms", milliseconds(record.init_ns)},
                    {"calls", record.calls},
                    {"execute_ms", milliseconds(record.execute_ns)}});
  }
  return rows;
}

Json ProgramJobs::memory_growth() const {
  const Memory now = memory_now();
  return {{"rss_mib", now.resident_mib - start_.resident_mib},
          {"anon_rss_mib", now.anonymous_mib - start_.anonymous_mib},
          {"file_rss_mib", now.file_backed_mib - start_.file_backed_mib}};
}

Json ProgramJobs::hello() { return {{"backends", registered_backends()}}; }

Json ProgramJobs::prepare(const Json& request) {
  progress_->enter(Stage::kPrepare);
  const std::vector<std::string> backends = texts(request, "backends");
  load_plugins(texts(request, "plugins"), request.value("discover", false), backends, &findings_);
  if (const auto missing = unusable_backend(backends, findings_)) {
    return finding_reply(*missing);
  }
  const std::vector<std::string> operators = missing_operators(texts(request, "operators"));
  if (!operators.empty()) {
    return finding_reply(
        {"RUNTIME-OPERATOR-MISSING",
         "The program needs kernels that this runtime does not have: " + joined(operators) + ".",
         "not in the table of registered kernels; nothing was run",
         "Link or load the library that has them, or let a backend take these "
         "operators."});
  }
  for (const std::string& folder : texts(request, "inputs")) {
    inputs_.emplace_back();
    if (const auto wrong = read_values(folder, &inputs_.back())) {
      return finding_reply(*wrong);
    }
  }
  set_threads(static_cast<unsigned>(number(request, "threads")));
  return Json::object();
}

Json ProgramJobs::load_session(const Json& request, bool trace) {
  LoadRequest wanted;
  wanted.program = text(request, "program", "");
  wanted.data = texts(request, "data");
  wanted.method = text(request, "method", "forward");
  wanted.load_mode = text(request, "load_mode", wanted.load_mode.c_str());
  wanted.trace = trace;
  wanted.etdump = text(request, "etdump", "");
  const auto modes = load_modes();
  if (std::count(modes.begin(), modes.end(), wanted.load_mode) == 0) {
    return finding_reply({"RUN-LOAD-MODE-UNKNOWN",
                          "There is no load mode " + wanted.load_mode + ".",
                          "modes: " + joined(modes), "Name one of them."});
  }
  start_ = memory_now();
  const int64_t begin = now_ns();
  if (const auto failure = session_.load(wanted)) {
    return failed("RUNTIME-LOAD-FAILED", "could not be loaded", *failure);
  }
  Json findings = Json::array();
  for (const Finding& finding : findings_) {
    findings.push_back(finding.to_json());
  }
  return {{"load_ms", milliseconds(now_ns() - begin)},
          {"load_mode", wanted.load_mode},
          {"threads", set_threads(0)},
          {"planned_bytes", session_.planned_bytes()},
          {"delegate_init", delegates()},
          {"findings", findings}};
}

Json ProgramJobs::load(const Json& request) {
  Json reply = prepare(request);
  return is_failure(reply) ? reply : load_session(request, false);
}

// Ones if nothing was given.
std::optional<Failure> ProgramJobs::provide_inputs() {
  if (!inputs_.empty()) {
    return std::nullopt;
  }
  inputs_.emplace_back();
  return session_.example_inputs(&inputs_.back());
}

Json ProgramJobs::first(const Json& request) {
  const std::vector<std::string> folders = texts(request, "outputs");
  Json reply;
  if (const auto failure = provide_inputs()) {
    return failed("RUNTIME-EXECUTE-FAILED", "does not tell its inputs", *failure);
  }
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const int64_t begin = now_ns();
    const int64_t cpu = cpu_time_ns();
    auto failure = session_.set_inputs(inputs_[i]);
    if (!failure) {
      failure = session_.execute();
    }
    if (failure) {
      return failed("RUNTIME-EXECUTE-FAILED", "failed in running", *failure);
    }
    const std::vector<Value> outputs = session_.outputs();
    if (i == 0) {
      reply["first_ms"] = milliseconds(now_ns() - begin);
      reply["first_cpu_ms"] = milliseconds(cpu_time_ns() - cpu);
      reply.update(memory_growth());
    }
    if (i >= folders.size()) {
      continue;
    }
    if (const auto wrong = write_values(folders[i], outputs)) {
      return finding_reply(*wrong);
    }
  }
  if (inputs_.size() > 1) {
    session_.set_inputs(inputs_.front());
  }
  return reply;
}

Json ProgramJobs::timed(const Json& request) {
  const uint64_t count = std::max<uint64_t>(1, number(request, "count"));
  std::vector<int64_t> times;
  times.reserve(count);
  const int64_t cpu = cpu_time_ns();
  for (uint64_t i = 0; i < count; ++i) {
    const int64_t begin = now_ns();
    if (const auto failure = session_.execute()) {
      return failed("RUNTIME-EXECUTE-FAILED", "failed in running", *failure);
    }
    times.push_back(now_ns() - begin);
  }
  const int64_t spent = cpu_time_ns() - cpu;
  std::sort(times.begin(), times.end());
  const size_t middle = times.size() / 2;
  const double median = times.size() % 2 == 1
                            ? static_cast<double>(times[middle])
                            : static_cast<double>(times[middle - 1] + times[middle]) / 2;
  return {{"median_ns", median},
          {"minimum_ns", times.front()},
          {"cpu_ns", static_cast<double>(spent) / static_cast<double>(count)}};
}

Json ProgramJobs::shares() {
  BackendWatch::reset_counts();
  BackendWatch::set_timing(true);
  const int64_t begin = now_ns();
  const auto failure = session_.execute();
  const int64_t total = now_ns() - begin;
  BackendWatch::set_timing(false);
  if (failure) {
    return failed("RUNTIME-EXECUTE-FAILED", "failed in running", *failure);
  }
  return {{"total_ms", milliseconds(total)}, {"delegates", delegates()}};
}

Json ProgramJobs::whole(const Json& request) {
  Json reply = prepare(request);
  if (is_failure(reply)) {
    return reply;
  }
  reply = load_session(request, true);
  if (is_failure(reply)) {
    return reply;
  }
  const bool given = !inputs_.empty();
  if (const auto failure = provide_inputs()) {
    return failed("RUNTIME-EXECUTE-FAILED", "does not tell its inputs", *failure);
  }
  reply["inputs"] = {{"source", given ? "given" : "ones"}, {"values", describe(inputs_.front())}};
  BackendWatch::set_timing(true);
  const int64_t begin = now_ns();
  const int64_t cpu = cpu_time_ns();
  auto failure = session_.set_inputs(inputs_.front());
  if (!failure) {
    failure = session_.execute();
  }
  if (failure) {
    return failed("RUNTIME-EXECUTE-FAILED", "failed in running", *failure);
  }
  const std::vector<Value> outputs = session_.outputs();
  reply["first_ms"] = milliseconds(now_ns() - begin);
  reply["first_cpu_ms"] = milliseconds(cpu_time_ns() - cpu);
  reply.update(memory_growth());
  reply["peak_mib"] = memory_now().peak_mib;
  reply["outputs"] = describe(outputs);
  reply["delegates"] = delegates();
  const std::string folder = text(request, "outputs", "");
  if (!folder.empty()) {
    if (const auto wrong = write_values(folder, outputs)) {
      return finding_reply(*wrong);
    }
  }
  if (const auto unwritten = session_.finish()) {
    return failed("RUNTIME-EXECUTE-FAILED", "ran, but its ETDump could not be written", *unwritten);
  }
  progress_->enter(Stage::kDone);
  return reply;
}

}  // namespace etbk::runner
