#include "api/trace.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "api/step_facts.h"
#include "api/view_document.h"
#include "base/error.h"
#include "compile/pipeline.h"
#include "run/binding.h"

namespace plait {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr int kClockRounds = 9;

int64_t steady_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Processes whose steady clocks are one have the same. Empty where the system does not tell.
std::string clock_identity() {
  std::string out;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), out);
  return out;
}

struct RankTrace {
  std::string clock;
  std::vector<int64_t> rounds;  // when each exchange had ended
  std::vector<StepTrace> steps;
};

std::string pack(const RankTrace& mine) {
  std::ostringstream out;
  out << (mine.clock.empty() ? "unknown" : mine.clock);
  for (int64_t time : mine.rounds) out << ' ' << time;
  for (const StepTrace& t : mine.steps) out << ' ' << t.rank << ' ' << t.step << ' ' << t.begin << ' ' << t.end;
  return out.str();
}

RankTrace unpack(const std::string& text) {
  std::istringstream in(text);
  RankTrace out;
  in >> out.clock;
  if (out.clock == "unknown") out.clock.clear();
  out.rounds.resize(kClockRounds);
  for (int64_t& time : out.rounds) in >> time;
  for (StepTrace t; in >> t.rank >> t.step >> t.begin >> t.end;) out.steps.push_back(t);
  return out;
}

// What is to be taken off the clock of `other` to have that of `first`.
int64_t clock_offset(const RankTrace& other, const RankTrace& first) {
  if (!other.clock.empty() && other.clock == first.clock) return 0;
  std::vector<int64_t> apart;
  for (size_t i = 0; i < other.rounds.size(); ++i) apart.push_back(other.rounds[i] - first.rounds[i]);
  std::ranges::nth_element(apart, apart.begin() + kClockRounds / 2);
  return apart[kClockRounds / 2];
}

std::vector<StepTrace> gather_from(Bootstrap& job, const std::vector<StepTrace>& mine) {
  RankTrace own{clock_identity(), {}, mine};
  for (int i = 0; i < kClockRounds; ++i) {
    job.barrier();
    own.rounds.push_back(steady_now());
  }
  std::vector<RankTrace> all;
  for (const std::string& text : job.all_gather(pack(own))) all.push_back(unpack(text));
  std::vector<StepTrace> out;
  for (const RankTrace& rank : all) {
    const int64_t offset = clock_offset(rank, all[0]);
    for (const StepTrace& t : rank.steps) out.push_back({t.rank, t.step, t.begin - offset, t.end - offset});
  }
  return out;
}

double microseconds(int64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-3; }

OrderedJson metadata(const char* what, int64_t process, int64_t thread, const OrderedJson& arguments) {
  return {{"ph", "M"}, {"name", what}, {"pid", process}, {"tid", thread}, {"args", arguments}};
}

// The passes one after another from 0 on, as a process of their own; returns when the last one ends.
double add_passes(const Compiled& compiled, int64_t process, OrderedJson& events) {
  std::istringstream lines(compiled.compiled_specialization().timings);
  double at = 0;
  std::string stage, pass;
  double ms = 0;
  for (std::string line; std::getline(lines, line);) {
    if (std::istringstream words(line); !(words >> stage >> pass >> ms) || stage == "total") continue;
    events.push_back(
        {{"ph", "X"}, {"name", pass}, {"cat", stage}, {"ts", at}, {"dur", ms * 1e3}, {"pid", process}, {"tid", 0}});
    at += ms * 1e3;
  }
  if (at == 0) return 0;
  events.push_back(metadata("process_name", process, 0, {{"name", "compile"}}));
  events.push_back(metadata("process_sort_index", process, 0, {{"sort_index", -1}}));
  events.push_back(metadata("thread_name", process, 0, {{"name", "passes"}}));
  return at;
}

// Bytes of temporaries that are alive at each step of a rank.
std::vector<int64_t> alive_bytes(const std::vector<Lifetime>& alive, const RankBinding& rank, size_t steps) {
  std::vector<int64_t> change(steps + 1);
  for (size_t v = 0; v < alive.size(); ++v) {
    if (alive[v].empty()) continue;
    change[static_cast<size_t>(alive[v].first)] += rank.bytes[v];
    change[static_cast<size_t>(alive[v].last) + 1] -= rank.bytes[v];
  }
  for (size_t s = 1; s < change.size(); ++s) change[s] += change[s - 1];
  return change;
}

void name_rank(int64_t rank, OrderedJson& events) {
  events.push_back(metadata("process_name", rank, 0, {{"name", fmt::format("rank {}", rank)}}));
  events.push_back(metadata("process_sort_index", rank, 0, {{"sort_index", rank}}));
  for (size_t stream = 0; stream < kProgramStreams; ++stream)
    events.push_back(metadata("thread_name", rank, static_cast<int64_t>(stream),
                              {{"name", name(static_cast<ProgramStream>(stream))}}));
}

class Events {
 public:
  Events(const Compiled& compiled, int64_t start, double shift, OrderedJson& events)
      : program_(compiled.program()),
        facts_(step_facts(compiled)),
        alive_(lifetimes(program_)),
        values_(program_, compiled.sizes()),
        start_(start),
        shift_(shift),
        events_(events) {}

  void add(const StepTrace& t) {
    const Step& step = *program_.steps[t.step];
    const StepFacts& facts = facts_[t.step];
    const double at = shift_ + microseconds(t.begin - start_), took = microseconds(t.end - t.begin);
    OrderedJson arguments = {{"step", t.step}, {"text", describe(program_, step)}};
    const int64_t bytes = of(t.rank).moved[t.step];
    if (bytes > 0) arguments["bytes"] = bytes;
    if (bytes > 0 && took > 0) arguments["GB/s"] = static_cast<double>(bytes) / took * 1e-3;
    if (facts.kernel) arguments["schedule"] = program_.kernels[*facts.kernel].schedule;
    events_.push_back({{"ph", "X"},
                       {"name", facts.label},
                       {"cat", name(step.kind)},
                       {"ts", at},
                       {"dur", took},
                       {"pid", t.rank},
                       {"tid", static_cast<int>(step.stream)},
                       {"args", arguments}});
    events_.push_back({{"ph", "C"},
                       {"name", "arena"},
                       {"ts", at},
                       {"pid", t.rank},
                       {"args", {{"alive bytes", of(t.rank).alive[t.step]}}}});
  }

 private:
  struct OfRank {
    std::vector<int64_t> alive, moved;  // bytes, by step
  };
  const OfRank& of(int64_t rank) {
    auto [at, fresh] = ranks_.try_emplace(rank);
    if (!fresh) return at->second;
    const RankBinding binding = bind_ranks(program_, values_, {&rank, 1})[0];
    at->second.alive = alive_bytes(alive_, binding, program_.steps.size());
    for (const BoundStep& step : binding.steps) at->second.moved.push_back(step.moved_bytes);
    return at->second;
  }

  const Program& program_;
  std::vector<StepFacts> facts_;
  std::vector<Lifetime> alive_;
  RankValues values_;
  int64_t start_;
  double shift_;
  OrderedJson& events_;
  std::map<int64_t, OfRank> ranks_;
};

}  // namespace

std::vector<StepTrace> gather_trace(const Compiled& compiled) {
  std::vector<StepTrace> out = compiled.report().trace;
  if (Bootstrap* job = compiled.job(); job != nullptr && job->size() > 1) out = gather_from(*job, out);
  if (out.empty())
    throw UserError("no run was timed", "trace", "call set_step_timing(true) (Python: time_steps()) before the run");
  std::ranges::stable_sort(out, {}, [](const StepTrace& t) { return std::pair(t.begin, t.rank); });
  return out;
}

std::string trace_json(const Compiled& compiled, std::span<const StepTrace> trace) {
  OrderedJson events = OrderedJson::array();
  std::set<int64_t> ranks;
  for (const StepTrace& t : trace) ranks.insert(t.rank);
  for (int64_t rank : ranks) name_rank(rank, events);
  const double shift = add_passes(compiled, compiled.mesh().ranks(), events);
  Events steps(compiled, trace.empty() ? 0 : trace.front().begin, shift, events);
  for (const StepTrace& t : trace) steps.add(t);
  OrderedJson out = {{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}};
  out["plait"] = OrderedJson::parse(view_document(compiled, trace));
  return out.dump();
}

}  // namespace plait
