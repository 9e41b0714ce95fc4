#include "segment/join_launches.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/error.h"
#include "segment/group_order.h"

namespace plait {

namespace {

constexpr int64_t kSmall = 4096;  // elements
constexpr size_t kMostParts = 64;

// Extents that are not 1, by number, sorted.
std::vector<uint64_t> dims_of(const TensorView& t) {
  std::vector<uint64_t> out;
  for (const Axis& a : t.domain.logical)
    if (a.extent.constant() != 1) out.push_back(a.extent.id());
  std::sort(out.begin(), out.end());
  return out;
}

bool has_few_elements(const TensorView& t) {
  int64_t count = 1;
  for (const Axis& a : t.domain.logical) {
    const auto extent = a.extent.constant();
    if (!extent || *extent > kSmall) return false;
    count *= *extent;
    if (count > kSmall) return false;
  }
  return true;
}

class Joiner {
 public:
  Joiner(Fusion& fusion, const JoinOptions& options) : fusion_(fusion), options_(options) {
    runs_.resize(fusion.segments.size());
    for (size_t i = 0; i < fusion.segments.size(); ++i) {
      for (const Op* op : segment(i).ops)
        for (const TensorView* t : op->results) makers_[t] = i;
      run_of_.push_back(segment(i).joins.empty() ? i : run_of_.back());
      runs_[run_of_.back()].push_back(i);
    }
  }

  void by_file() {
    for (const auto& names : options_.together) join_together(names);
    reorder();
  }
  // Launches need only those with lower numbers, before and after each join.
  void by_rule() {
    for (size_t i = 0; i < fusion_.segments.size(); ++i) join_one(i);
    reorder();
  }

 private:
  Segment& segment(size_t i) { return fusion_.segments[i]; }
  const Segment& segment(size_t i) const { return fusion_.segments[i]; }

  // The tensor in memory that the segment reads as `t`.
  const TensorView* root(const TensorView* t) const {
    for (;;) {
      const auto maker = makers_.find(t);
      if (maker == makers_.end() || !options_.is_alias(segment(maker->second))) return t;
      t = segment(maker->second).inputs.front();
    }
  }
  std::vector<const TensorView*> reads(size_t i) const {
    std::vector<const TensorView*> out;
    for (const TensorView* t : segment(i).inputs)
      if (makers_.contains(root(t))) out.push_back(root(t));
    return out;
  }
  // An alias is a step of its own, behind the launch that makes its memory.
  bool reads_alias_of(size_t i, size_t run) const {
    return std::any_of(segment(i).inputs.begin(), segment(i).inputs.end(), [&](const TensorView* t) {
      const auto maker = makers_.find(root(t));
      return root(t) != t && maker != makers_.end() && run_of_[maker->second] == run;
    });
  }

  bool is_small(const TensorView* t) {
    const auto [known, fresh] = small_.try_emplace(t, false);
    if (!fresh) return known->second;
    if (has_few_elements(*t)) return known->second = true;
    const std::vector<uint64_t> own = dims_of(*t);
    const auto reduces = [&](const TensorView* u) {
      const std::vector<uint64_t> all = dims_of(*u);
      return all.size() > own.size() && std::includes(all.begin(), all.end(), own.begin(), own.end());
    };
    const Segment& maker = segment(makers_.at(t));
    bool small = std::any_of(maker.inputs.begin(), maker.inputs.end(), reduces);
    for (const Op* op : maker.ops) small = small || reduces(op->results[0]);
    return known->second = small;
  }

  // Whether it gives nothing large that a later step reads.
  bool is_last(size_t i) {
    const auto& outputs = segment(i).outputs;
    return std::all_of(outputs.begin(), outputs.end(),
                       [&](const TensorView* t) { return fusion_.is_output(t) || is_small(t); });
  }

  // Its kernel sees the operand as another type than others do.
  static bool is_bitcast(const Segment& s) { return s.ops.front()->kind == OpKind::Bitcast; }
  bool may_share(size_t i) const { return !is_bitcast(segment(i)) && options_.may_share(segment(i)); }

  void join_one(size_t i) {
    if (run_of_[i] != i || runs_[i].size() > 1 || !may_share(i) || !is_last(i)) return;
    size_t maker = i;  // the run that makes the last of what it reads
    bool reads_any = false;
    for (const TensorView* t : reads(i)) {
      const size_t run = run_of_[makers_.at(t)];
      maker = reads_any ? std::max(maker, run) : run;
      reads_any = true;
    }
    if (reads_any && try_join(i, maker)) return;
    if (last_ && try_join(i, *last_)) return;
    last_ = i;
  }

  bool try_join(size_t i, size_t run) {
    if (!may_share(runs_[run].front()) || runs_[run].size() == kMostParts || reads_alias_of(i, run)) return false;
    bool reads_it = false;
    for (const TensorView* t : reads(i)) {
      const size_t maker = makers_.at(t);
      if (run_of_[maker] == run && !is_small(t)) return false;
      if (run_of_[maker] != run && run_of_[maker] > run) return false;
      reads_it = reads_it || run_of_[maker] == run;
    }
    if (!reads_it && !std::all_of(runs_[run].begin(), runs_[run].end(), [&](size_t k) { return is_last(k); }))
      return false;
    if (!fits(run, i)) return false;
    const std::string first = segment(runs_[run].front()).outputs.front()->name;
    const std::string own = segment(i).outputs.front()->name;
    if (options_.decide && !options_.decide(fmt::format("join %{} to %{}", own, first))) return false;
    join(i, run);
    if (options_.explain != nullptr)
      *options_.explain +=
          fmt::format("%{} is made in the launch of %{}: {}\n", own, first,
                      reads_it ? "it reads small tensors of it" : "neither is read by a later step, but for the small");
    return true;
  }

  bool fits(size_t run, size_t i) const {
    std::set<const TensorView*> in, out;
    std::vector<size_t> all = runs_[run];
    all.push_back(i);
    for (size_t k : all) {
      in.insert(segment(k).inputs.begin(), segment(k).inputs.end());
      out.insert(segment(k).outputs.begin(), segment(k).outputs.end());
    }
    const auto within = [](size_t count, int64_t limit) { return limit <= 0 || count <= static_cast<size_t>(limit); };
    return within(in.size(), options_.limits.inputs) && within(out.size(), options_.limits.outputs);
  }

  void join(size_t i, size_t run) {
    run_of_[i] = run;
    runs_[run].push_back(i);
    runs_[i].clear();
  }

  // Segments of one launch, as a file says.
  void join_together(const std::vector<std::string>& names) {
    std::set<size_t> parts;
    for (const std::string& name : names)
      if (const TensorView* t = fusion_.find(name))
        if (const auto maker = makers_.find(t); maker != makers_.end()) parts.insert(maker->second);
    if (parts.size() < 2) return;
    for (size_t i : parts) {
      const std::string why = is_bitcast(segment(i)) ? "a bitcast"
                              : options_.refuses     ? options_.refuses(segment(i))
                                                     : "";
      if (!why.empty())
        throw UserError(why + " shares no launch", "segment",
                        fmt::format("leave `joins` out for the segment of %{}", segment(i).outputs.front()->name));
    }
    const size_t first = *parts.begin();
    for (size_t i : parts)
      if (i != first) join(i, first);
    std::set<size_t> behind;  // segments that need one of the launch
    for (size_t i = first; i <= *parts.rbegin(); ++i) {
      const auto needs = [&](const TensorView* t) {
        const auto maker = makers_.find(t);
        return maker != makers_.end() && (behind.contains(maker->second) || parts.contains(maker->second));
      };
      const auto& in = segment(i).inputs;
      if (!parts.contains(i)) {
        if (std::any_of(in.begin(), in.end(), needs)) behind.insert(i);
        continue;
      }
      for (const TensorView* t : in)
        if (const auto maker = makers_.find(t); maker != makers_.end() && behind.contains(maker->second))
          throw UserError(fmt::format("the segments of %{} and %{} cannot share a launch",
                                      segment(first).outputs.front()->name, segment(i).outputs.front()->name),
                          "segment",
                          fmt::format("%{} stands between them: let its segment join too, or none", t->name));
    }
  }

  // Topological, the launch with the first segment first.
  void reorder() {
    std::vector<std::set<size_t>> next(runs_.size());
    for (size_t i = 0; i < runs_.size(); ++i)
      for (const TensorView* t : segment(i).inputs)
        if (const auto maker = makers_.find(t); maker != makers_.end() && run_of_[maker->second] != run_of_[i])
          next[run_of_[maker->second]].insert(run_of_[i]);
    std::vector<Segment> segments;
    std::vector<Op*> order;
    for (size_t run : topological_order(next)) {
      std::sort(runs_[run].begin(), runs_[run].end());
      std::string first;  // the name of the launch's first segment
      for (size_t i : runs_[run]) {
        segments.push_back(std::move(segment(i)));
        Segment& placed = segments.back();
        order.insert(order.end(), placed.ops.begin(), placed.ops.end());
        placed.name = fmt::format("s{}", segments.size());
        placed.joins = first;
        if (first.empty()) first = placed.name;
      }
    }
    PLAIT_CHECK(segments.size() == fusion_.segments.size(), "{} of {} segments are in order", segments.size(),
                fusion_.segments.size());
    fusion_.segments = std::move(segments);
    fusion_.set_order(std::move(order));
  }

  Fusion& fusion_;
  const JoinOptions& options_;
  std::map<const TensorView*, size_t> makers_;  // of a tensor: its segment
  std::map<const TensorView*, bool> small_;
  std::vector<std::vector<size_t>> runs_;  // by the first segment: those of its launch; empty: it joins another
  std::vector<size_t> run_of_;
  std::optional<size_t> last_;  // the latest launch whose segments are all last
};

}  // namespace

void join_launches(Fusion& fusion, const JoinOptions& options) {
  if (!options.together.empty()) Joiner(fusion, options).by_file();
  Joiner(fusion, options).by_rule();
}

}  // namespace plait
