#include "segment/groups.h"

#include <algorithm>
#include <array>
#include <set>

#include "axes/build_graph.h"
#include "base/error.h"
#include "ir/factors.h"
#include "schedule/reads.h"
#include "segment/cut_groups.h"
#include "segment/extent_numbers.h"
#include "segment/group_order.h"

namespace plait {

int Grouping::maker(const TensorView* tensor) const {
  const auto it = makers.find(tensor);
  return it == makers.end() ? -1 : it->second;
}

bool Grouping::is_elementwise(const std::vector<int>& group) const {
  return std::all_of(group.begin(), group.end(),
                     [&](int i) { return plait::is_elementwise(*ops[static_cast<size_t>(i)]); });
}

namespace {

constexpr int kPasses = 8;            // of merging along edges; two suffice in most graphs
constexpr size_t kSiblingTrials = 8;  // earlier groups of the same domain that a group is compared with
constexpr int64_t kStored = INT64_MAX;
constexpr int kFreeOps = 16;  // that a reader computes again for one scalar

class Grouper {
 public:
  Grouper(const Fusion& fusion, const GroupOptions& options)
      : fusion_(fusion), options_(options), explain_(options.explain) {
    out_.ops = fusion.ops();
    for (size_t i = 0; i < out_.ops.size(); ++i)
      for (const TensorView* t : out_.ops[i]->results) out_.makers[t] = static_cast<int>(i);
    outputs_.insert(fusion.outputs().begin(), fusion.outputs().end());
  }

  Grouping run() {
    find_readers();
    find_free();
    start_groups();
    find_cuts();
    for (const std::vector<std::string>& names : options_.fixed) fix(names);
    for (const std::vector<Op*>& ops : options_.first) merge_first(ops);
    for (int pass = 0; pass < kPasses && merge_along_edges(); ++pass) continue;
    merge_scatters();  // before rows, which would take what scatters alone read
    merge_rows();      // before siblings, whose merges would put paths around them
    for (int pass = 0; pass < kPasses; ++pass) {
      const bool along = merge_along_edges();
      if (!merge_siblings() && !along) break;
    }
    order_groups();
    if (explain_ != nullptr) explain_apart();
    return std::move(out_);
  }

 private:
  Op& op(int i) const { return *out_.ops[static_cast<size_t>(i)]; }
  bool is_free(int i) const { return out_.free[static_cast<size_t>(i)]; }
  int group(int i) const {
    int g = i;
    while (parent_[static_cast<size_t>(g)] != g) g = parent_[static_cast<size_t>(g)];
    return g;
  }

  void find_readers() {
    readers_.resize(out_.ops.size());
    for (size_t i = 0; i < out_.ops.size(); ++i)
      for (const TensorView* in : inputs(*out_.ops[i]))
        if (const int from = out_.maker(in); from >= 0)
          readers_[static_cast<size_t>(from)].push_back(static_cast<int>(i));
  }

  // A move that a kernel may hold beside elementwise ops.
  bool is_move(const Op& op) const {
    const bool moves = options_.refuse_moved && (reads_elsewhere(op) || keeps_places(op));
    return moves && !(options_.stays_apart && options_.stays_apart(op));
  }
  bool absorbs(const Op& reader) const { return is_elementwise(reader) || is_move(reader); }

  bool costs_nothing(const Op& o) const { return options_.costs_nothing && options_.costs_nothing(o); }

  // An input, or the result of a step of its own, also by way of aliases.
  bool in_memory(int maker) const {
    while (maker >= 0 && costs_nothing(op(maker))) maker = out_.maker(inputs(op(maker))[0]);
    const OpProperty kind = maker < 0 ? OpProperty::none : property(op(maker).kind);
    return maker < 0 || kind == OpProperty::contraction || kind == OpProperty::communication;
  }

  // A view of what is in memory in any case, or of another view.
  bool is_free_view(const Op& o) const {
    if (!is_move(o) || inputs(o).size() != 1) return false;
    const int from = out_.maker(inputs(o)[0]);
    const bool on_view = from >= 0 && is_free(from);
    if (costs_nothing(o) ? !on_view : !on_view && !in_memory(from)) return false;
    return o.kind == OpKind::Slice || keeps_places(o) || (on_view && o.kind == OpKind::Reshape);
  }

  // Moves of what is in memory that scatters alone read, also by way of each other: their kernels read through them.
  std::vector<bool> find_scatter_views() const {
    std::vector<bool> from_memory(out_.ops.size(), false), out(out_.ops.size(), false);
    for (size_t i = 0; i < out_.ops.size(); ++i) {
      if (!is_move(op(static_cast<int>(i))) || !keeps_places(*out_.ops[i])) continue;
      const int from = out_.maker(inputs(*out_.ops[i])[0]);
      from_memory[i] = in_memory(from) || from_memory[static_cast<size_t>(from)];
    }
    for (size_t i = out_.ops.size(); i-- > 0;)
      out[i] =
          from_memory[i] && !readers_[i].empty() && !outputs_.contains(out_.ops[i]->results[0]) &&
          std::ranges::all_of(readers_[i], [&](int r) { return out[static_cast<size_t>(r)] || scatters_alone(r); });
    return out;
  }

  // Free: read by elementwise ops and moves only, no output, and a constant, a view, or a scalar made of inputs and
  // free ones. A view that a stated group reads, which is as it is stated, is none.
  void find_free() {
    std::set<int> stated;
    for (const std::vector<std::string>& names : options_.fixed) stated.merge(out_.makers_of(fusion_, names));
    out_.free.assign(out_.ops.size(), false);
    const std::vector<bool> scatter_views = find_scatter_views();
    std::vector<int> again(out_.ops.size(), 1);  // ops that a reader computes for it, at most
    for (size_t i = 0; i < out_.ops.size(); ++i) {
      const Op& o = *out_.ops[i];
      const bool constant = o.kind == OpKind::Full || o.kind == OpKind::Size;
      bool scalar = o.kind == OpKind::PointwiseOp && o.out()->rank() == 0;
      for (const TensorView* in : inputs(o)) {
        const int from = out_.maker(in);
        scalar = scalar && (from < 0 || is_free(from));
        if (from >= 0) again[i] = std::min(kFreeOps + 1, again[i] + again[static_cast<size_t>(from)]);
      }
      scalar = scalar && again[i] <= kFreeOps;
      const bool view = scatter_views[i] || is_free_view(o);
      if (view) {
        const int from = out_.maker(inputs(o)[0]);
        again[i] = from >= 0 && is_free(from) ? again[static_cast<size_t>(from)] + 1 : 1;
      }
      const auto& readers = readers_[i];
      const bool inside = (constant || scalar || (view && again[i] <= kFreeOps)) && !readers.empty() &&
                          !outputs_.contains(o.out()) && std::all_of(readers.begin(), readers.end(), [&](int r) {
                            if (view && stated.contains(r) && !stated.contains(static_cast<int>(i))) return false;
                            return absorbs(op(r)) || ((!view || scatter_views[i]) && scatters_alone(r));
                          });
      out_.free[i] = inside && !seeds_random(readers, o.out());
    }
  }

  // Whether a kernel of scatters computes the op, and so the constants that it reads.
  bool scatters_alone(int i) const {
    Op* scatter = &op(i);
    return scatter->kind == OpKind::Scatter && !is_move(*scatter) && options_.refuse_scatters &&
           !options_.refuse_scatters(std::span(&scatter, 1), scatter->results);
  }

  // Random ops read their seed from memory.
  bool seeds_random(const std::vector<int>& readers, const TensorView* tensor) const {
    return std::any_of(readers.begin(), readers.end(), [&](int r) {
      const auto* u = as<Uniform>(op(r));
      const auto* n = as<Normal>(op(r));
      return (u != nullptr && u->seed == tensor) || (n != nullptr && n->seed == tensor);
    });
  }

  std::vector<int> domain(const TensorView& tensor) {
    std::vector<int> out;
    for (const Axis& a : tensor.domain.logical)
      if (a.extent.constant() != 1) out.push_back(extents_.number(a.extent));
    return out;
  }

  // A move, or a reader of one that is free: the group's kernel computes it.
  bool moves_with(int i) const {
    bool moves = is_move(op(i));
    for (const TensorView* in : inputs(op(i)))
      if (const int from = out_.maker(in); from >= 0 && is_free(from))
        moves = moves || moves_[static_cast<size_t>(from)];
    return moves;
  }

  void start_groups() {
    const int n = static_cast<int>(out_.ops.size());
    order_.emplace(n);
    for (int i = 0; i < n; ++i) {
      moves_.push_back(moves_with(i));
      const auto is_kept = [&](const TensorView* t) { return fusion_.readers(t).empty() || outputs_.contains(t); };
      const bool stays = std::any_of(op(i).results.begin(), op(i).results.end(), is_kept);
      outside_.push_back(stays ? kStored : static_cast<int64_t>(readers_[static_cast<size_t>(i)].size()));
      parent_.push_back(i);
      members_.push_back({i});
      made_.push_back({i});
      rows_.push_back(false);
      scatters_.push_back(scatters_alone(i));
      domains_.push_back(domain(*op(i).results[0]));
    }
    out_.domains = domains_;
    for (int i = 0; i < n; ++i)
      if (!is_free(i)) add_edges(i, i);
  }

  // From what the op reads, through free ones too.
  void add_edges(int reader, int i) {
    for (const TensorView* in : inputs(op(i))) {
      const int from = out_.maker(in);
      if (from >= 0) is_free(from) ? add_edges(reader, from) : order_->add_edge(from, reader);
    }
  }

  // Edges that the axis graph of all elementwise ops refuses: their reader needs a buffer.
  void find_cuts() {
    cuts_.resize(out_.ops.size());
    std::vector<Op*> ops;
    for (Op* o : out_.ops)
      if (is_elementwise(*o)) ops.push_back(o);
    const AxisGroup axes = build_axis_graph(fusion_.pool(), ops);
    for (const Edge& e : axes.edges)
      if (e.hard && e.cut)
        cuts_[static_cast<size_t>(out_.maker(e.operand))].emplace_back(out_.maker(e.operand), out_.maker(e.op->out()));
  }

  bool mergeable(int g) const {
    const int first = members_[static_cast<size_t>(g)].front();
    return !rows_[static_cast<size_t>(g)] && !scatters_[static_cast<size_t>(g)] && absorbs(op(first)) &&
           !fixed_.contains(first);
  }
  bool has_move(int g) const { return moves_[static_cast<size_t>(g)]; }
  // A result that lies in its operand's memory: only its readers take it in.
  bool is_alias(int g) const {
    const auto& members = members_[static_cast<size_t>(g)];
    if (members.size() != 1 || !costs_nothing(op(members[0]))) return false;
    const int from = out_.maker(inputs(op(members[0]))[0]);
    return from < 0 || !is_free(from);  // a view of a view is none
  }
  // Whether the alias stands between ops that one kernel may hold.
  bool is_between(int g) const {
    int from = members_[static_cast<size_t>(g)][0];
    while (from >= 0 && costs_nothing(op(from))) from = out_.maker(inputs(op(from))[0]);
    return from >= 0 && (absorbs(op(from)) || is_row_reduction(op(from)) || op(from).kind == OpKind::Scatter);
  }

  // One group of the ops that give these results.
  void fix(const std::vector<std::string>& names) {
    std::set<int> ops = out_.makers_of(fusion_, names);
    std::erase_if(ops, [&](int i) { return is_free(i); });
    for (int i : ops) {
      fixed_.insert(i);
      const int p = group(*ops.begin()), c = group(i);
      if (p == c) continue;
      if (order_->path_around(p, c))
        throw UserError(fmt::format("%{} and %{} are no group", op(p).results[0]->name, op(i).results[0]->name),
                        "segment", "a path between them passes through another op: put it in, or write two segments");
      merge(p, c);
    }
  }

  // Why two groups stay apart; empty where they merge. `p` makes what `c` reads, or they have no edge.
  std::string apart(int p, int c) const {
    const size_t sp = static_cast<size_t>(p), sc = static_cast<size_t>(c);
    if (domains_[sp] != domains_[sc]) {
      for (int t : made_[sp]) {
        const auto& readers = readers_[static_cast<size_t>(t)];
        const auto near = [&](int r) { return group(r) == p || group(r) == c; };
        const bool inner = outside_[static_cast<size_t>(t)] < kStored && std::ranges::all_of(readers, near);
        if (!inner)
          return fmt::format("%{}: {} is written to memory, and {} has another domain", op(t).results[0]->name,
                             type_text(*op(t).results[0]), op(*made_[sc].begin()).results[0]->name);
      }
    }
    if (order_->path_around(p, c)) return "a path between them passes through another segment";
    if (has_move(p) || has_move(c)) return apart_with_moves(p, c);
    for (const auto& [from, to] : cuts_[sp])
      if (group(to) == c) return "the axis graph refuses the edge";
    return "";
  }

  std::string apart_with_moves(int p, int c) const {
    if (is_alias(c))
      return fmt::format("{} costs nothing by itself", describe(op(members_[static_cast<size_t>(c)][0])));
    if (is_alias(p) && !is_between(p)) return "its operand is in memory in any case";
    return asked(p, c, options_.refuse_moved);
  }

  // Whether the merge is to be done; once one is not, none is.
  bool decided(int p, int c) {
    if (!limited_ && options_.decide)
      limited_ = !options_.decide(fmt::format("merge %{} into %{}", op(p).results[0]->name, op(c).results[0]->name));
    return !limited_;
  }

  void merge(int p, int c) {
    int keep = p, gone = c;
    const std::vector<int> domain = domains_[static_cast<size_t>(c)];
    const auto degree = [&](int g) { return order_->successors(g).size() + order_->predecessors(g).size(); };
    if (members_[static_cast<size_t>(keep)].size() + degree(keep) <
        members_[static_cast<size_t>(gone)].size() + degree(gone))
      std::swap(keep, gone);
    order_->merge(keep, gone);
    const size_t k = static_cast<size_t>(keep), g = static_cast<size_t>(gone);
    made_[k].merge(made_[g]);
    for (int i : members_[g]) turn_inward(i, keep);
    parent_[g] = keep;
    domains_[k] = domain;
    members_[k].insert(members_[k].end(), members_[g].begin(), members_[g].end());
    cuts_[k].insert(cuts_[k].end(), cuts_[g].begin(), cuts_[g].end());
    members_[g].clear();
    cuts_[g].clear();
    rows_[k] = rows_[k] || rows_[g];
    scatters_[k] = scatters_[k] || scatters_[g];
    moves_[k] = moves_[k] || moves_[g];
  }

  // Edges between an op that is about to join a group and the group's ops are inner ones now.
  void turn_inward(int joining, int keep) {
    for (const TensorView* in : inputs(op(joining)))
      if (const int from = out_.maker(in); from >= 0 && group(from) == keep) lose_reader(from, keep);
    for (int r : readers_[static_cast<size_t>(joining)])
      if (group(r) == keep) lose_reader(joining, keep);
  }
  void lose_reader(int i, int group) {
    int64_t& outside = outside_[static_cast<size_t>(i)];
    outside = outside < kStored ? outside - 1 : kStored;
    if (outside == 0) made_[static_cast<size_t>(group)].erase(i);
  }

  bool merge_along_edges() {
    bool changed = false;
    for (int i = 0; i < static_cast<int>(out_.ops.size()); ++i) {
      if (is_free(i) || !absorbs(op(i))) continue;
      for (const TensorView* in : inputs(op(i))) {
        const int from = out_.maker(in);
        if (from < 0 || is_free(from)) continue;
        const int p = group(from), c = group(i);
        if (p == c || !mergeable(p) || !mergeable(c) || !apart(p, c).empty() || !decided(p, c)) continue;
        merge(p, c);
        changed = true;
      }
    }
    return changed;
  }

  void merge_first(const std::vector<Op*>& ops) {
    const std::set<const Op*> own(ops.begin(), ops.end());
    for (const Op* reader : ops)
      for (const TensorView* in : inputs(*reader)) {
        const int from = own.contains(in->definition) ? out_.maker(in) : -1, to = out_.maker(reader->results[0]);
        if (from < 0 || is_free(from) || is_free(to) || group(from) == group(to)) continue;
        const int p = group(from), c = group(to);
        if (reduces(p) || reduces(c))
          merge_as_rows(p, c);
        else if (mergeable(p) && mergeable(c) && apart(p, c).empty() && decided(p, c))
          merge(p, c);
      }
  }

  // A group that a kernel of rows may hold: elementwise ops, reductions, moves.
  bool may_be_rows(int g) const {
    const Op& first = op(members_[static_cast<size_t>(g)].front());
    if (fixed_.contains(members_[static_cast<size_t>(g)].front()) || scatters_[static_cast<size_t>(g)]) return false;
    return rows_[static_cast<size_t>(g)] || absorbs(first) || is_row_reduction(first);
  }
  static bool is_row_reduction(const Op& op) { return property(op.kind) == OpProperty::reduction; }
  bool reduces(int g) const {
    return rows_[static_cast<size_t>(g)] || is_row_reduction(op(members_[static_cast<size_t>(g)].front()));
  }

  // Results of the ops, in order, that others read or that stay.
  std::vector<TensorView*> results_of(const std::vector<int>& ops, int p, int c) const {
    std::vector<TensorView*> out;
    for (int i : ops) {
      const auto& readers = readers_[static_cast<size_t>(i)];
      const bool outside =
          outside_[static_cast<size_t>(i)] == kStored ||
          std::any_of(readers.begin(), readers.end(), [&](int r) { return group(r) != p && group(r) != c; });
      for (TensorView* t : op(i).results)
        if (outside && (fusion_.is_output(t) || op(i).results.size() == 1 || !fusion_.readers(t).empty()))
          out.push_back(t);
    }
    return out;
  }

  // A group that a kernel around scatters may hold: those, elementwise ops, broadcasts and permutes.
  bool may_be_scatters(int g) const {
    const int i = members_[static_cast<size_t>(g)].front();
    if (fixed_.contains(i) || rows_[static_cast<size_t>(g)]) return false;
    return scatters_[static_cast<size_t>(g)] || absorbs(op(i));
  }

  bool merge_as_scatters(int p, int c) {
    if (p == c || !(scatters_[static_cast<size_t>(p)] || scatters_[static_cast<size_t>(c)])) return false;
    if (!may_be_scatters(p) || !may_be_scatters(c)) return false;
    if (is_alias(c) || (is_alias(p) && !is_between(p))) return false;
    if (!apart_as_scatters(p, c).empty() || !decided(p, c)) return false;
    merge(p, c);
    return true;
  }

  void merge_scatters() {
    if (!options_.refuse_scatters) return;
    std::map<const TensorView*, std::vector<int>> readers;  // of groups with scatters
    for (int pass = 0; pass < kPasses; ++pass) {
      bool changed = false;
      readers.clear();
      for (int i = 0; i < static_cast<int>(out_.ops.size()); ++i) {
        if (is_free(i)) continue;
        for (const TensorView* in : inputs(op(i))) {
          if (const int from = out_.maker(in); from >= 0 && !is_free(from))
            changed = merge_as_scatters(group(from), group(i)) || changed;
          if (!scatters_[static_cast<size_t>(group(i))] || in->rank() == 0) continue;
          auto& list = readers[in];
          for (size_t k = 0; k < list.size() && k < kSiblingTrials; ++k)
            changed = merge_as_scatters(group(list[list.size() - 1 - k]), group(i)) || changed;
          list.push_back(i);
        }
      }
      if (!changed) break;
    }
  }

  // Why the two groups are no kernel of rows together; empty where they are.
  std::string apart_as_rows(int p, int c) const {
    if (order_->path_around(p, c)) return "a path between them passes through another segment";
    return asked(p, c, options_.refuse_rows);
  }

  std::string apart_as_scatters(int p, int c) const {
    if (order_->path_around(p, c)) return "a path between them passes through another segment";
    return asked(p, c, options_.refuse_scatters);
  }

  // What a scheduler says of two groups together.
  template <class Refuse>
  std::string asked(int p, int c, const Refuse& refuse) const {
    const auto& a = members_[static_cast<size_t>(p)];
    const auto& b = members_[static_cast<size_t>(c)];
    int64_t statements = static_cast<int64_t>(a.size() + b.size());  // at least: groups without moves may be long
    for (size_t i = 0; i < a.size() + b.size() && statements <= options_.most_statements; ++i)
      statements += statements_of(op(i < a.size() ? a[i] : b[i - a.size()])) - 1;
    if (statements > options_.most_statements) return "together they exceed the limits of a kernel";
    std::vector<int> both = a;
    both.insert(both.end(), b.begin(), b.end());
    std::sort(both.begin(), both.end());
    std::set<int> all(both.begin(), both.end());  // with what they compute again
    for (int i : both) add_free(i, all);
    std::vector<Op*> ops;
    for (int i : all) ops.push_back(&op(i));
    return refuse(ops, results_of(both, p, c)).value_or("");
  }

  void add_free(int reader, std::set<int>& all) const {
    for (const TensorView* in : inputs(op(reader)))
      if (const int from = out_.maker(in); from >= 0 && is_free(from) && all.insert(from).second) add_free(from, all);
  }

  bool merge_as_rows(int p, int c) {
    if (p == c || !(reduces(p) || reduces(c)) || !may_be_rows(p) || !may_be_rows(c)) return false;
    if (is_alias(c) || (is_alias(p) && !is_between(p))) return false;
    const auto size = [&](int g) { return static_cast<int>(members_[static_cast<size_t>(g)].size()); };
    if (refused_.contains({p, c, size(p), size(c)})) return false;
    if (!apart_as_rows(p, c).empty()) {
      refused_.insert({p, c, size(p), size(c)});
      return false;
    }
    if (!decided(p, c)) return false;
    merge(p, c);
    rows_[static_cast<size_t>(group(p))] = true;
    return true;
  }

  void merge_rows() {
    if (!options_.refuse_rows) return;
    for (int pass = 0; pass < kPasses; ++pass) {
      bool changed = false;
      for (int i = 0; i < static_cast<int>(out_.ops.size()); ++i) {
        if (is_free(i)) continue;
        for (const TensorView* in : inputs(op(i)))
          if (const int from = out_.maker(in); from >= 0 && !is_free(from))
            changed = merge_as_rows(group(from), group(i)) || changed;
      }
      if (!(merge_readers_as_rows() || changed)) break;
    }
  }

  // Groups that read one tensor, each with the few before it.
  bool merge_readers_as_rows() {
    bool changed = false;
    std::map<const TensorView*, std::vector<int>> earlier;
    for (int i = 0; i < static_cast<int>(out_.ops.size()); ++i) {
      if (is_free(i)) continue;
      for (const TensorView* in : inputs(op(i))) {
        if (in->rank() == 0) continue;
        auto& list = earlier[in];
        for (size_t k = 0; k < list.size() && k < kSiblingTrials; ++k)
          changed = merge_as_rows(group(list[list.size() - 1 - k]), group(i)) || changed;
        list.push_back(i);
      }
    }
    return changed;
  }

  // Whether groups of one domain without an edge may share a kernel.
  bool together(int a, int b) const {
    return !is_alias(a) && !is_alias(b) &&
           (!(has_move(a) || has_move(b)) || asked(a, b, options_.refuse_moved).empty());
  }

  bool merge_siblings() {
    bool changed = false;
    std::vector<int> groups;
    for (int g = 0; g < static_cast<int>(out_.ops.size()); ++g)
      if (order_->alive(g) && !is_free(g) && mergeable(g)) groups.push_back(g);
    std::sort(groups.begin(), groups.end(), [&](int a, int b) { return order_->position(a) < order_->position(b); });
    std::map<std::vector<int>, std::vector<int>> earlier;
    for (int g : groups) {
      auto& list = earlier[domains_[static_cast<size_t>(g)]];
      bool merged = false;
      for (size_t k = 0; k < list.size() && k < kSiblingTrials && !merged; ++k) {
        int& other = list[list.size() - 1 - k];
        if (order_->path_around(other, g) || !together(other, g) || !decided(other, g)) continue;
        merge(other, g);
        other = group(g);
        changed = merged = true;
      }
      if (!merged) list.push_back(g);
    }
    return changed;
  }

  // Topological, the group with the first op first.
  void order_groups() {
    std::map<int, size_t> places;  // of a group, by its first op
    std::vector<int> alive;
    for (int i = 0; i < static_cast<int>(out_.ops.size()); ++i)
      if (!is_free(i) && places.try_emplace(group(i), alive.size()).second) alive.push_back(group(i));
    std::vector<std::set<size_t>> next(alive.size());
    for (size_t g = 0; g < alive.size(); ++g)
      for (int reader : order_->successors(alive[g])) next[g].insert(places.at(reader));
    size_t placed = 0;
    for (size_t g : topological_order(next)) {
      out_.groups.push_back(members_[static_cast<size_t>(alive[g])]);
      std::sort(out_.groups.back().begin(), out_.groups.back().end());
      placed += out_.groups.back().size();
    }
    const size_t left = static_cast<size_t>(std::count(out_.free.begin(), out_.free.end(), true));
    PLAIT_CHECK(placed + left == out_.ops.size(), "{} ops of {} are in groups", placed + left, out_.ops.size());
  }

  std::string why_apart(int p, int c) {
    if (mergeable(p) && mergeable(c)) return apart(p, c);
    const bool scatters = scatters_[static_cast<size_t>(p)] || scatters_[static_cast<size_t>(c)];
    if (scatters && may_be_scatters(p) && may_be_scatters(c)) return apart_as_scatters(p, c);
    const bool rows = options_.refuse_rows && (reduces(p) || reduces(c)) && may_be_rows(p) && may_be_rows(c);
    return rows ? apart_as_rows(p, c) : "";
  }

  void explain_apart() {
    for (int i = 0; i < static_cast<int>(out_.ops.size()); ++i) {
      if (is_free(i)) continue;
      for (const TensorView* in : inputs(op(i))) {
        const int from = out_.maker(in);
        if (from < 0 || is_free(from) || group(from) == group(i)) continue;
        const std::string reason = why_apart(group(from), group(i));
        if (!reason.empty()) *explain_ += fmt::format("{} is apart from %{}: {}\n", describe(op(i)), in->name, reason);
      }
    }
  }

  const Fusion& fusion_;
  const GroupOptions& options_;
  std::string* explain_;
  bool limited_ = false;
  Grouping out_;
  std::set<int> fixed_;  // ops of groups that a file states
  std::set<const TensorView*> outputs_;
  std::vector<std::vector<int>> readers_;  // ops that read an op's result
  std::vector<int> parent_;                // groups are named by one of their ops
  std::vector<std::vector<int>> members_;  // ops of a group
  std::vector<std::set<int>> made_;        // ops whose results the group writes to memory
  std::vector<int64_t> outside_;           // reads of an op's result by other groups; kStored: written in any case
  std::vector<std::vector<int>> domains_;  // of what the group writes
  std::vector<bool> rows_;                 // groups that reduce
  std::vector<bool> scatters_;             // groups around scatters, whose scheduler takes them
  std::vector<bool> moves_;                // groups whose kernel computes moves
  std::set<std::array<int, 4>> refused_;   // two groups and their sizes, that the scheduler of rows does not take
  std::vector<std::vector<std::pair<int, int>>> cuts_;  // refused edges from ops of a group
  ExtentNumbers extents_;
  std::optional<GroupOrder> order_;
};

}  // namespace

Grouping group_ops(const Fusion& fusion, const GroupOptions& options) { return Grouper(fusion, options).run(); }

}  // namespace plait
