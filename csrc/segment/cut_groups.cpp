#include "segment/cut_groups.h"

#include <algorithm>

#include "base/error.h"
#include "segment/group_order.h"

namespace plait {

KernelLimits kernel_limits(const Options& options) {
  return {options.kernel_statements, options.kernel_live, options.kernel_outputs, options.kernel_inputs};
}

// What pads opens branches around all that it reads, and again where these part a vector.
int64_t statements_of(const Op& op) { return op.kind == OpKind::Pad ? 12 : 1; }

namespace {

bool exceeds(int64_t value, int64_t limit) { return limit > 0 && value > limit; }

// A run of ops, in order, that may be cut between any two of them.
struct Run {
  std::vector<int> ops;                            // places in Grouping::ops
  std::vector<int> last_read;                      // per op: place in the run of its last reader there, or -1
  std::vector<bool> stored;                        // per op: read outside of the run, an output, or unread
  std::map<const TensorView*, int> last_load;      // what others make: place in the run of its last reader
  std::vector<std::vector<const TensorView*>> in;  // per op: what it reads, also by the free ops that it needs
  std::vector<std::vector<int>> free;              // per op: the free ops that it needs
  std::vector<int> list;                           // per op: the list of `together` that it stands in, or -1
  std::vector<int> list_end;                       // per op: place where the list last occurs
};

// What the kernel of a part of a run holds so far.
struct Part {
  int64_t statements = 0, live = 0, fixed_outputs = 0, crossing = 0, crossing_bytes = 0;
  std::set<int> free;
  std::set<const TensorView*> loaded;
  int64_t outputs() const { return fixed_outputs + crossing; }
};

class Cutter {
 public:
  Cutter(const Fusion& fusion, Grouping& grouping, const KernelLimits& limits,
         const std::vector<std::vector<std::string>>& together, std::string* explain)
      : fusion_(fusion), grouping_(grouping), limits_(limits), explain_(explain) {
    for (size_t i = 0; i < together.size(); ++i)
      for (const std::string& name : together[i]) lists_[name] = static_cast<int>(i);
  }

  void run() {
    const std::vector<std::vector<int>> all = std::move(grouping_.groups);
    grouping_.groups.clear();
    for (const auto& group : all) {
      const bool cuttable = group.size() > 1 && grouping_.is_elementwise(group);
      if (!cuttable || cut(group) == 0) grouping_.groups.push_back(group);
    }
    if (grouping_.groups.size() != all.size()) order_groups();
  }

 private:
  const Op& op(int i) const { return *grouping_.ops[static_cast<size_t>(i)]; }
  bool is_free(int i) const { return grouping_.free[static_cast<size_t>(i)]; }

  // What an op reads from memory or other statements, through the free ops that it needs.
  void find_reads(int i, std::vector<const TensorView*>& in, std::vector<int>& free) const {
    for (const TensorView* t : inputs(op(i))) {
      const int from = grouping_.maker(t);
      if (from < 0 || !is_free(from)) {
        in.push_back(t);
      } else if (std::find(free.begin(), free.end(), from) == free.end()) {
        free.push_back(from);
        find_reads(from, in, free);
      }
    }
  }

  Run make_run(const std::vector<int>& ops) const {
    Run run;
    run.ops = ops;
    const size_t count = ops.size();
    run.last_read.assign(count, -1);
    run.stored.assign(count, false);
    run.in.resize(count);
    run.free.resize(count);
    std::map<const TensorView*, size_t> places;
    std::map<int, int> ends;  // list -> last place
    for (size_t k = 0; k < count; ++k) {
      places[op(ops[k]).results[0]] = k;
      find_reads(ops[k], run.in[k], run.free[k]);
      const auto list = lists_.find(op(ops[k]).results[0]->name);
      run.list.push_back(list == lists_.end() ? -1 : list->second);
      if (run.list.back() >= 0) ends[run.list.back()] = static_cast<int>(k);
      for (const TensorView* t : run.in[k]) {
        const auto own = places.find(t);
        (own != places.end() ? run.last_read[own->second] : run.last_load[t]) = static_cast<int>(k);
      }
    }
    for (size_t k = 0; k < count; ++k) {
      run.list_end.push_back(run.list[k] < 0 ? -1 : ends[run.list[k]]);
      const TensorView* out = op(ops[k]).results[0];
      const auto& readers = fusion_.readers(out);
      run.stored[k] =
          readers.empty() || fusion_.is_output(out) ||
          std::any_of(readers.begin(), readers.end(), [&](const Op* r) { return !places.contains(r->results[0]); });
    }
    return run;
  }

  // Takes the op at place k of the run into the part.
  void add(const Run& run, size_t k, const std::map<const TensorView*, size_t>& own, Part& part) const {
    const int at = static_cast<int>(k);
    part.statements += statements_of(op(run.ops[k]));
    for (int f : run.free[k]) part.statements += part.free.insert(f).second;
    std::set<const TensorView*> seen;
    for (const TensorView* t : run.in[k]) {
      if (!seen.insert(t).second) continue;
      if (const auto it = own.find(t); it != own.end()) {
        if (run.last_read[it->second] != at) continue;
        --part.live;
        if (run.stored[it->second]) continue;
        --part.crossing;
        part.crossing_bytes -= static_cast<int64_t>(size_of(t->dtype));
        continue;
      }
      const auto load = run.last_load.find(t);
      const int last = load != run.last_load.end() ? load->second : run.last_read[places_.at(t)];
      const bool fresh = part.loaded.insert(t).second;
      part.live += fresh ? last > at : -(last == at);
    }
    part.fixed_outputs += run.stored[k];
    if (run.last_read[k] < 0) return;
    ++part.live;
    if (run.stored[k]) return;
    ++part.crossing;
    part.crossing_bytes += static_cast<int64_t>(size_of(op(run.ops[k]).results[0]->dtype));
  }

  // Where the part that begins at `begin` ends: the last place within the limits, or the one of the second half of
  // those that stores least.
  size_t find_end(const Run& run, size_t begin) {
    Part part;
    std::map<const TensorView*, size_t> own;
    std::vector<std::pair<size_t, int64_t>> ends;  // place behind the part, bytes that cross
    int locked = -1, list = -1;                    // the list at hand, and where it goes on to
    for (size_t k = begin; k < run.ops.size(); ++k) {
      const bool other = run.list[k] >= 0 && list >= 0 && run.list[k] != list;
      if (other && static_cast<int>(k) > locked) return static_cast<size_t>(locked) + 1;
      if (run.list[k] >= 0) list = run.list[k];
      add(run, k, own, part);
      own[op(run.ops[k]).results[0]] = k;
      locked = std::max(locked, run.list_end[k]);
      const bool full = is_full(part);
      if (full && !ends.empty()) break;
      if (static_cast<int>(k) < locked) continue;
      if (full) return k + 1;
      if (!exceeds(part.outputs(), limits_.outputs) || ends.empty()) ends.emplace_back(k + 1, part.crossing_bytes);
      if (exceeds(part.fixed_outputs, limits_.outputs)) break;
    }
    if (ends.back().first == run.ops.size()) return run.ops.size();
    const size_t middle = begin + (ends.back().first - begin) / 2;
    auto best = ends.rbegin();
    for (auto it = ends.rbegin(); it != ends.rend() && it->first > middle; ++it)
      if (it->second < best->second) best = it;
    return best->first;
  }

  bool fits(const Run& run) const {
    Part part;
    std::map<const TensorView*, size_t> own;
    for (size_t k = 0; k < run.ops.size(); ++k) {
      add(run, k, own, part);
      own[op(run.ops[k]).results[0]] = k;
      if (is_full(part)) return false;
    }
    return !exceeds(part.outputs(), limits_.outputs);
  }

  bool is_full(const Part& part) const {
    return exceeds(part.statements, limits_.statements) || exceeds(part.live, limits_.live) ||
           exceeds(static_cast<int64_t>(part.loaded.size()), limits_.inputs);
  }

  std::vector<std::vector<int>> parts_of(const std::vector<int>& ops) {
    const Run run = make_run(ops);
    if (fits(run)) return {ops};
    places_.clear();
    for (size_t k = 0; k < ops.size(); ++k) places_[op(ops[k]).results[0]] = k;
    std::vector<std::vector<int>> out;
    for (size_t begin = 0; begin < ops.size();) {
      const size_t end = find_end(run, begin);
      out.emplace_back(ops.begin() + static_cast<int64_t>(begin), ops.begin() + static_cast<int64_t>(end));
      begin = end;
    }
    return out;
  }

  // Adds the parts of a group that exceeds a limit, and tells how many; 0: it is within the limits.
  size_t cut(const std::vector<int>& group) {
    std::vector<std::vector<int>> parts = parts_of(group);
    if (parts.size() == 1) return 0;
    const auto& domain = grouping_.domains[static_cast<size_t>(group.back())];
    const std::set<int> lifted = lift(parts, domain);
    std::map<std::vector<int>, std::vector<int>> by_domain;
    for (int i : lifted) by_domain[grouping_.domains[static_cast<size_t>(i)]].push_back(i);
    for (auto& part : parts) std::erase_if(part, [&](int i) { return lifted.contains(i); });
    std::erase_if(parts, [](const auto& part) { return part.empty(); });
    for (const auto& [own, ops] : by_domain)
      for (auto& part : parts_of(ops)) parts.push_back(std::move(part));
    for (const auto& part : parts) note(part);
    grouping_.groups.insert(grouping_.groups.end(), parts.begin(), parts.end());
    return parts.size();
  }

  // Ops of another domain whose results cross from part to part, and all of the group that they are made of.
  std::set<int> lift(const std::vector<std::vector<int>>& parts, const std::vector<int>& domain) const {
    std::map<const Op*, size_t> part_of;
    for (size_t p = 0; p < parts.size(); ++p)
      for (int i : parts[p]) part_of[&op(i)] = p;
    std::set<int> out;
    std::vector<int> work;
    for (size_t p = 0; p < parts.size(); ++p)
      for (int i : parts[p]) {
        if (grouping_.domains[static_cast<size_t>(i)] == domain) continue;
        const auto& readers = fusion_.readers(op(i).results[0]);
        const bool crosses = std::any_of(readers.begin(), readers.end(), [&](const Op* r) {
          const auto at = part_of.find(r);
          return at != part_of.end() && at->second != p;
        });
        if (crosses && out.insert(i).second) work.push_back(i);
      }
    while (!work.empty()) {
      const int i = work.back();
      work.pop_back();
      for (const TensorView* t : inputs(op(i)))
        if (const int from = grouping_.maker(t); from >= 0 && part_of.contains(&op(from)) && out.insert(from).second)
          work.push_back(from);
    }
    return out;
  }

  void note(const std::vector<int>& part) {
    if (explain_)
      *explain_ += fmt::format("%{} to %{} are a part of a larger group: {} ops within the limits of a kernel\n",
                               op(part.front()).results[0]->name, op(part.back()).results[0]->name, part.size());
  }

  // Topological, the group with the first op first.
  void order_groups() {
    std::vector<std::vector<int>> groups = std::move(grouping_.groups);
    std::sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) { return a.front() < b.front(); });
    std::vector<size_t> group_of(grouping_.ops.size());
    for (size_t g = 0; g < groups.size(); ++g)
      for (int i : groups[g]) group_of[static_cast<size_t>(i)] = g;
    std::vector<std::set<size_t>> next(groups.size());
    for (size_t g = 0; g < groups.size(); ++g)
      for (int i : groups[g])
        for (const TensorView* t : inputs(op(i))) {
          const int from = grouping_.maker(t);
          if (from < 0 || is_free(from)) continue;
          if (const size_t maker = group_of[static_cast<size_t>(from)]; maker != g) next[maker].insert(g);
        }
    grouping_.groups.clear();
    for (size_t g : topological_order(next)) grouping_.groups.push_back(groups[g]);
  }

  const Fusion& fusion_;
  Grouping& grouping_;
  const KernelLimits& limits_;
  std::string* explain_;
  std::map<std::string_view, int> lists_;
  std::map<const TensorView*, size_t> places_;  // of the results of the run at hand
};

}  // namespace

void cut_groups(const Fusion& fusion, Grouping& grouping, const KernelLimits& limits,
                const std::vector<std::vector<std::string>>& together, std::string* explain) {
  Cutter(fusion, grouping, limits, together, explain).run();
}

}  // namespace plait
