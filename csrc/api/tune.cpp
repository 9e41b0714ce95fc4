#include "api/tune.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <map>
#include <random>
#include <set>

#include "api/step_facts.h"
#include "base/error.h"
#include "base/memory_error.h"
#include "compile/pipeline.h"
#include "session/boundary.h"
#include "session/devices.h"

namespace plait {

namespace {

constexpr size_t kMostPrograms = 16;  // of a generation, beside the best one so far

using Clock = std::chrono::steady_clock;

// What others who use the machine add, they add to some rounds.
double least(const std::vector<double>& values) { return values.empty() ? 0 : std::ranges::min(values); }

// `2026-11-28`.
std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm date{};
  gmtime_r(&now, &date);
  return fmt::format("{:04}-{:02}-{:02}", date.tm_year + 1900, date.tm_mon + 1, date.tm_mday);
}

// A program of a generation: schedules by key, and what its runs took.
struct Candidate {
  std::map<std::string, Schedule> asked;  // others than the best ones so far; open: what the scheduler chooses
  std::optional<Compiled> program = {};
  std::map<std::string, Schedule> schedules = {};      // that it has, by key
  std::vector<std::set<std::string>> steps = {};       // keys of what each step launches
  std::map<std::string, std::vector<double>> ms = {};  // of all launches of a key, by run
  std::vector<double> run_ms = {};
};

// What a program asks while it is compiled for the first time.
struct Notes {
  std::map<std::string, std::string> keys;  // by segment
  std::set<std::string> known;              // keys for which others know a schedule
  std::atomic<bool> closed = false;
};

class Tuner {
 public:
  Tuner(const Fusion& fusion, const CompileOptions& options, const Tensors& inputs, const TuneOptions& how)
      : fusion_(fusion), options_(options), inputs_(inputs), how_(how) {
    others_ = given_or_kept(options.measured, options.options.disk_cache);
    options_.options.measured_schedules = true;
    options_.whole_on_disk = false;  // who asks for which schedule is heard from compilations
  }

  TuneResult run() {
    {
      Candidate first{};
      compile_it(first);
      if (first.program->job() != nullptr && first.program->job()->size() > 1)
        throw UserError("schedules are measured by one process", "tune", "run all ranks in this one, with comm local");
      target_ = first.program->device().target();
      if (target_.kind == TargetKind::reference)
        throw UserError("the reference device has no kernels", "tune", "choose another device");
      original_ = best_ = first.schedules;
      look_at_launches(first);
    }
    while (!stops() && generation()) ++progress_.generation;
    return finish();
  }

 private:
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }
  bool stops() const { return elapsed() > how_.seconds || (how_.stop && how_.stop()); }
  void tell(int64_t program, int64_t programs, bool compiles) {
    if (!how_.progress) return;
    progress_.program = program, progress_.programs = programs, progress_.compiles = compiles;
    progress_.seconds = elapsed();
    how_.progress(progress_);
  }

  // With the best schedules so far and those that it asks for. What errors there are it throws.
  void compile_it(Candidate& candidate) {
    CompileOptions options = options_;
    std::map<std::string, MeasuredSchedule> wanted;
    for (const auto& [key, schedule] : best_)
      if (schedule != original_.at(key)) wanted[key] = {sizes_.at(key), schedule, ""};
    for (const auto& [key, schedule] : candidate.asked) wanted[key] = {sizes_.at(key), schedule, ""};
    const auto notes = std::make_shared<Notes>();
    // The program outlives this, and may compile other sizes from several threads.
    options.measured = [wanted, notes, others = others_](const std::string& key, const std::string& segment) {
      std::vector<MeasuredSchedule> out;
      if (others) out = others(key, segment);
      if (!notes->closed) {
        notes->keys[segment] = key;
        if (!out.empty()) notes->known.insert(key);
      }
      const auto found = wanted.find(key);
      if (found == wanted.end()) return out;
      std::erase_if(out, [&](const MeasuredSchedule& m) { return m.sizes == found->second.sizes; });
      if (!is_open(found->second.schedule)) out.insert(out.begin(), found->second);
      return out;
    };
    Compiled program = compile(fusion_, options);
    program.set_step_timing(true);
    program.run(with_own_copies(fusion_, inputs_));  // compiles, and its memory is new
    notes->closed = true;
    known_.insert(notes->known.begin(), notes->known.end());
    const sym::Environment sizes = program.sizes();
    const std::vector<Segment>& segments = program.localized().segments;
    for (const Segment& s : segments) {
      const auto key = notes->keys.find(s.name);
      if (key == notes->keys.end()) continue;
      candidate.schedules[key->second] = s.schedule;
      sym::Environment& own = sizes_[key->second];
      for (const std::string& name : schedule_sizes(s))
        if (const auto size = sizes.find(name); size != sizes.end()) own[name] = size->second;
    }
    for (const StepFacts& step : step_facts(program)) {
      std::set<std::string>& keys = candidate.steps.emplace_back();
      for (const size_t i : step.segments)
        if (const auto key = notes->keys.find(segments[i].name); key != notes->keys.end()) keys.insert(key->second);
    }
    candidate.program = std::move(program);
    ++programs_;
  }

  // Order, labels, and which keys share launches.
  void look_at_launches(const Candidate& first) {
    const std::vector<StepFacts> steps = step_facts(*first.program);
    for (size_t s = 0; s < steps.size(); ++s)
      for (const std::string& key : first.steps[s]) {
        auto& shown = shown_[key];
        if (shown.launches++ == 0) {
          order_.push_back(key);
          shown.label = steps[s].label;
        }
        beside_[key].insert(first.steps[s].begin(), first.steps[s].end());
      }
  }

  void measure(Candidate& candidate) {
    candidate.program->run(with_own_copies(fusion_, inputs_));
    const Report& report = candidate.program->report();
    candidate.run_ms.push_back(report.run_ms);
    std::map<std::string, double> ms;
    for (const StepTrace& span : report.trace)
      for (const std::string& key : candidate.steps[span.step])
        ms[key] += static_cast<double>(span.end - span.begin) * 1e-6;
    for (const auto& [key, one] : ms) candidate.ms[key].push_back(one);
  }

  // All of them in turn, each round in another order. Whether there were as many rounds as are wanted.
  bool measure_in_turn(std::vector<Candidate*> candidates, bool to_the_end) {
    for (Candidate* c : candidates) measure(*c);  // memory and caches as they will be
    for (Candidate* c : candidates) c->ms.clear(), c->run_ms.clear();
    std::mt19937 random(1);
    for (int64_t round = 0; round < how_.rounds; ++round) {
      std::shuffle(candidates.begin(), candidates.end(), random);
      for (size_t i = 0; i < candidates.size(); ++i) {
        if (!to_the_end && how_.stop && how_.stop()) return false;
        tell(static_cast<int64_t>(i), static_cast<int64_t>(candidates.size()), false);
        measure(*candidates[i]);
      }
    }
    return true;
  }

  // Of keys that share launches one after another, of the others side by side. Sets more_ where some are left out.
  std::vector<Candidate> candidates() {
    std::map<std::string, size_t> end;
    std::vector<Candidate> out;
    more_ = false;
    for (const std::string& key : order_) {
      size_t at = 0;
      for (const std::string& other : beside_[key])
        if (const auto found = end.find(other); found != end.end()) at = std::max(at, found->second);
      std::vector<Schedule> around = neighbours(best_.at(key), target_);
      if (known_.contains(key)) around.insert(around.begin(), Schedule());  // what the scheduler chooses
      for (const Schedule& schedule : around) {
        if (tried_[key].contains(print(schedule))) continue;
        more_ = more_ || at >= kMostPrograms;
        if (at >= kMostPrograms) break;
        tried_[key].insert(print(schedule));
        if (out.size() <= at) out.resize(at + 1);
        out[at++].asked[key] = schedule;
      }
      end[key] = at;
    }
    return out;
  }

  // Whether another one is worth it.
  bool generation() {
    Candidate best{};
    compile_it(best);
    for (const auto& [key, schedule] : best.schedules) tried_[key].insert(print(schedule));
    std::vector<Candidate> others = candidates();
    finished_ = others.empty();
    if (finished_) return false;
    std::vector<Candidate*> running = {&best};
    size_t compiled = 0;
    for (; compiled < others.size() && !stops(); ++compiled) {
      Candidate& other = others[compiled];
      tell(static_cast<int64_t>(compiled), static_cast<int64_t>(others.size()), true);
      try {
        compile_it(other);
        if (count_tries(other)) running.push_back(&other);
      } catch (const MemoryError&) {  // as many as there is memory for
        break;
      } catch (const Error&) {  // one of its kernels cannot be made
        for (const auto& [key, schedule] : other.asked) ++shown_[key].tried, ++shown_[key].refused;
      }
    }
    for (size_t i = compiled; i < others.size(); ++i)  // not tried yet
      for (const auto& [key, schedule] : others[i].asked) more_ = tried_[key].erase(print(schedule)) > 0;
    if (running.size() == 1) return more_ && compiled > 0;
    if (!measure_in_turn(running, false)) return false;
    const bool better = take_best(best, running);
    finished_ = !better && !more_ && !stops();
    return better || more_;
  }

  // Drops what the program was asked and has not, or what has been measured. Whether something is left.
  bool count_tries(Candidate& candidate) {
    const std::string& reasons = candidate.program->compiled_specialization().segment_reasons;
    std::erase_if(candidate.asked, [&](const auto& asked) {
      const auto has = candidate.schedules.find(asked.first);
      const std::string text = has == candidate.schedules.end() ? "" : print(has->second);
      const bool refused = reasons.find(fmt::format("not {}, which was measured", print(asked.second))) != reasons.npos;
      shown_[asked.first].tried += refused || !text.empty();
      shown_[asked.first].refused += refused;
      return refused || text.empty() || (text != print(asked.second) && !tried_[asked.first].insert(text).second);
    });
    return !candidate.asked.empty();
  }

  // Of keys that share launches one in a generation: they have one time.
  bool take_best(const Candidate& best, const std::vector<Candidate*>& running) {
    std::set<std::string> taken;
    for (const std::string& key : order_)
      for (const Candidate* c : running)
        if (c->asked.contains(key) && c->ms.contains(key))
          shown_[key].candidates.push_back({print(c->schedules.at(key)), least(c->ms.at(key)), least(best.ms.at(key))});
    for (const std::string& key : order_) {
      if (!best.ms.contains(key) || std::ranges::any_of(beside_[key], [&](const auto& k) { return taken.contains(k); }))
        continue;
      double most = least(best.ms.at(key)) * (1 - how_.least_gain);
      for (const Candidate* c : running) {
        if (!c->asked.contains(key) || !c->ms.contains(key)) continue;
        if (const double ms = least(c->ms.at(key)); ms < most) {
          most = ms;
          best_[key] = c->schedules.at(key);
          taken.insert(key);
        }
      }
    }
    return !taken.empty();
  }

  // Whether a kernel is faster by as much as is wanted, in all rounds but a few.
  bool is_faster(const std::vector<double>& after, const std::vector<double>& before) const {
    size_t wins = 0;
    for (size_t i = 0; i < std::min(after.size(), before.size()); ++i) wins += after[i] < before[i];
    return wins > 0 && wins * 4 >= after.size() * 3 && least(after) < least(before) * (1 - how_.least_gain);
  }

  // The schedules of before and the best ones in turn; of these the ones stay that are better again.
  TuneResult finish() {
    const bool changed = best_ != original_;
    Candidate before{.asked = original_}, after{};
    compile_it(before);
    if (changed) compile_it(after);
    measure_in_turn(changed ? std::vector{&before, &after} : std::vector{&before}, true);
    TuneResult out;
    bool reverted = false;
    for (const std::string& key : order_) {
      TunedSchedule& shown = shown_[key];
      shown.before = print(original_.at(key));
      shown.before_ms = shown.after_ms = least(before.ms[key]);
      if (best_.at(key) != original_.at(key) && !is_faster(after.ms[key], before.ms[key])) {
        best_[key] = original_.at(key);
        reverted = true;
      }
      if (best_.at(key) != original_.at(key))
        shown.after_ms = least(after.ms[key]);
      else if (changed)  // twice as many rounds of one kernel
        shown.before_ms = shown.after_ms = std::min(shown.before_ms, least(after.ms[key]));
      shown.after = print(best_.at(key));
      out.schedules.push_back(shown);
    }
    if (how_.keep) keep();
    out.before_ms = out.after_ms = least(before.run_ms);
    if (best_ != original_) out.after_ms = least(after.run_ms);
    if (reverted) {
      after = {};
      compile_it(after);
    }
    out.program = std::move(changed ? after.program : before.program);
    out.program->set_step_timing(false);
    out.programs = programs_;
    out.finished = finished_;
    return out;
  }

  void keep() const {
    for (const std::string& key : order_) {
      if (best_.at(key) == original_.at(key)) continue;
      const TunedSchedule& shown = shown_.at(key);
      keep_schedule(key, {sizes_.at(key), best_.at(key),
                          fmt::format("{:.3f} ms, with {} {:.3f}, {}, plait {}", shown.after_ms, shown.before,
                                      shown.before_ms, today(), version())});
    }
  }

  const Fusion& fusion_;
  CompileOptions options_;
  const Tensors& inputs_;
  const TuneOptions& how_;
  MeasuredSchedules others_;  // what is known already
  const Clock::time_point begin_ = Clock::now();
  Target target_;
  TuneProgress progress_;
  std::map<std::string, Schedule> original_, best_;  // by key
  std::map<std::string, sym::Environment> sizes_;
  std::set<std::string> known_;  // keys with a schedule that somebody measured
  std::vector<std::string> order_;
  std::map<std::string, TunedSchedule> shown_;
  std::map<std::string, std::set<std::string>> beside_, tried_;
  int64_t programs_ = 0;
  bool finished_ = false, more_ = false;
};

// Numbers that say how many terms a sum adds in its own type.
bool makes_less_exact(std::string_view schedule, std::string_view number, const Target& target) {
  return !target.cuda() && schedule == schedules::Norm::kName && number == "parts";
}

// Each number of a schedule that is chosen, doubled or halved.
template <class S>
void add_neighbours(const S& schedule, const Target& target, std::vector<Schedule>& out) {
  size_t count = 0;
  S::fields(schedule, [&](auto&&...) { ++count; });
  const auto change = [](S& of, size_t wanted, const auto& how) {
    size_t at = 0;
    S::fields(of, [&](std::string_view name, Choice& choice, const ChoiceRange& range) {
      if (at++ == wanted) how(name, choice, range);
    });
  };
  for (size_t i = 0; i < count; ++i)
    for (const bool up : {true, false}) {
      S changed = schedule, alone;
      Choice value;
      change(changed, i, [&](std::string_view name, Choice& choice, const ChoiceRange& range) {
        if (!choice || (up && makes_less_exact(S::kName, name, target))) return;
        const int64_t other = up ? (*choice == 0 ? 64 : *choice * 2) : *choice / 2;
        if (other >= range.least && other <= range.most && other != *choice) choice = value = other;
      });
      if (!value) continue;
      change(alone, i, [&](std::string_view, Choice& choice, const ChoiceRange&) { choice = value; });
      out.emplace_back(changed);
      out.emplace_back(alone);
    }
}

}  // namespace

std::vector<Schedule> neighbours(const Schedule& schedule, const Target& target) {
  std::vector<Schedule> out;
  std::visit(
      [&]<class S>(const S& own) {
        if constexpr (!std::is_same_v<S, schedules::Manual>) add_neighbours(own, target, out);
      },
      schedule);
  return out;
}

std::string text_of(const TuneProgress& p, double seconds) {
  return fmt::format("generation {}: {} {} of {}, {:.0f} of {:.0f} s", p.generation,
                     p.compiles ? "compiling" : "measuring", p.program + 1, p.programs, p.seconds, seconds);
}

TuneResult tune(const Fusion& fusion, const CompileOptions& options, const Tensors& inputs, const TuneOptions& how) {
  if (is_simulated(options.device))
    throw UserError("times on a simulated GPU are those of the simulator", "tune",
                    "pin schedules in the text and compare what plait run --stats counts");
  if (how.rounds < 1) throw UserError(fmt::format("{} rounds", how.rounds), "tune", "give a number from 1");
  if (const std::string why = how.keep ? why_no_schedules_are_kept() : ""; !why.empty())
    throw UserError("nothing is kept on disk: " + why, "tune",
                    "set PLAIT_CACHE_DIR to a folder that only you write to, or keep nothing (--no-keep, keep=False)");
  return Tuner(fusion, options, inputs, how).run();
}

}  // namespace plait
