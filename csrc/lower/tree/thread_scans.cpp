// Scans along rows that the threads of a block have together. In each iteration of the loops around, every thread
// combines the elements that it has, hears what lies in front of it, and goes through them from there.
#include <algorithm>

#include "base/error.h"
#include "lower/scan_steps.h"
#include "lower/tree/emitter.h"
#include "scalar/reduction_formulas.h"

namespace plait::lowering {

namespace {

Combine combine_of(const Op& scan) {
  switch (scan.kind) {
    case OpKind::CumSum:
      return Combine::sum;
    case OpKind::CumProd:
      return Combine::product;
    case OpKind::CumMax:
      return Combine::first_greatest;
    case OpKind::CumMin:
      return Combine::first_least;
    case OpKind::LogCumSumExp:
      return Combine::log_sum_exp;
    default:
      PLAIT_CHECK(false, "{} is no scan", describe(scan));
  }
}

}  // namespace

// The loop over threads that drives the scanned dim; -1 where one thread has the row.
int TreeEmitter::thread_loop(const Op& scan) const {
  const PlacedOp& at = placed(scan);
  const sym::Expr place = at.own[static_cast<size_t>(scan_of(scan)->dim)];
  const std::set<std::string> symbols = sym::symbols(place);
  for (int id : tree_.path(at.loop)) {
    const TreeLoop& l = tree_.loops[static_cast<size_t>(id)];
    if (l.parallel == ParallelType::thread_x && symbols.contains(l.var.symbol_name())) return id;
  }
  return -1;
}

// Scans whose elements of one thread are all that the item goes through.
std::vector<const Op*> TreeEmitter::scans_of_threads(const TreeItem& item) const {
  std::vector<const Op*> out;
  for (const auto& [op, across] : across_) {
    const std::vector<int> path = tree_.path(placed(*op).loop);
    const auto threads = std::find(path.begin(), path.end(), across.loop);
    const bool alone = threads + 1 == path.end();
    if (alone ? item.kind == TreeItem::Kind::op && item.op == op
              : item.kind == TreeItem::Kind::loop && item.loop == *(threads + 1))
      out.push_back(op);
  }
  const auto order = [&](const Op* a, const Op* b) { return a->results[0]->name < b->results[0]->name; };
  std::sort(out.begin(), out.end(), order);
  return out;
}

// All threads are to come to where states of threads meet: conditions that speak of what a thread has are within.
void TreeEmitter::drop_terms_of_threads(const TreeItem& item, Terms& terms) const {
  for (const Op* op : scans_of_threads(item)) {
    const std::vector<int> path = tree_.path(placed(*op).loop);
    for (auto it = std::find(path.begin(), path.end(), across_.at(op).loop); it != path.end(); ++it) {
      const std::string& var = tree_.loops[static_cast<size_t>(*it)].var.symbol_name();
      std::erase_if(terms, [&](const RangeTerm& t) { return sym::symbols(t.value).contains(var); });
    }
  }
}

void TreeEmitter::start_across(const Op& op, int loop) {
  Across& a = across_[&op];
  a.loop = loop;
  a.combine = combine_of(op);
  const DType in = scan_of(op)->in->dtype;
  const bool extremum = has_position(a.combine);
  const DType element = extremum ? in : scan_start(op)[0].dtype;
  a.types = state_types(a.combine, element);
  if (a.types[0] != element) a.element = element;
  a.carry.clear();
  for (const Constant& nothing : identity(a.combine, a.types, a.element)) a.carry.push_back(variable(nothing));
}

TreeEmitter::Part TreeEmitter::fresh_state(const Across& a) {
  auto stmt = std::make_unique<kir::Start>();
  stmt->combine = a.combine;
  stmt->element = a.element;
  for (DType type : a.types) stmt->state.push_back(fresh(type));
  Part out = stmt->state;
  add(std::move(stmt));
  return out;
}

class TreeEmitter::FormulaBuilder {
 public:
  using Value = kir::Value;
  explicit FormulaBuilder(TreeEmitter& emitter) : emitter_(emitter) {}
  Value apply(Pointwise function, std::vector<Value> in) { return emitter_.apply(function, std::move(in)); }
  Value literal(Constant constant, const Value&) { return emitter_.literal(constant); }
  static DType dtype_of(const Value& v) { return v.dtype; }

 private:
  TreeEmitter& emitter_;
};

TreeEmitter::Part TreeEmitter::merged(const Across& a, const Part& first, const Part& second) {
  FormulaBuilder builder(*this);
  return ReductionFormulas<FormulaBuilder>(builder).merge(a.combine, first, second);
}

// An element into what the thread has. Of equals a scan takes the last one, a reduction that of the lowest position.
void TreeEmitter::add_to_own(const Op& op, Value x) {
  const Across& a = across_.at(&op);
  auto stmt = std::make_unique<kir::Accumulate>();
  stmt->combine = a.combine;
  stmt->state = a.own;
  stmt->in = {convert(x, a.types[0])};
  if (has_position(a.combine)) stmt->in.push_back(coordinate(-placed(op).own[static_cast<size_t>(scan_of(op)->dim)]));
  add(std::move(stmt));
}

// What lies in front of the thread becomes what its scan carries.
void TreeEmitter::join_threads(const Op& op) {
  Across& a = across_.at(&op);
  auto stmt = std::make_unique<kir::Prefix>();
  stmt->combine = a.combine;
  stmt->element = a.element;
  stmt->state = a.own;
  stmt->threads = tree_.loops[static_cast<size_t>(a.loop)].extent.value();
  for (DType type : a.types) stmt->before.push_back(fresh(type));
  for (DType type : a.types) stmt->all.push_back(fresh(type));
  const Part before = stmt->before, all = stmt->all;
  add(std::move(stmt));
  Part carried;
  for (const Constant& initial : scan_start(op)) carried.push_back(variable(initial));
  Part begin = merged(a, a.carry, before);
  for (size_t k = 0; k < begin.size(); ++k) begin[k] = convert(begin[k], carried[k].dtype);
  begin = begin_of(op, begin);
  for (size_t k = 0; k < carried.size(); ++k) assign(carried[k], begin[k]);
  whole_.at(&op)[0] = carried;
  a.begin = begin;
  const Part end = merged(a, a.carry, all);
  for (size_t k = 0; k < end.size(); ++k) assign(a.carry[k], end[k]);
}

// In groups, each of scans that wait for none of their own: what a thread has of a scan of a scan is known when that
// one is at hand.
std::vector<std::vector<const Op*>> TreeEmitter::in_turns(const std::vector<const Op*>& scans) const {
  std::map<const Op*, size_t> turns;  // never iterated
  const auto turn = [&](const auto& self, const Op& op, int loop) -> size_t {
    const auto [it, fresh] = turns.try_emplace(&op, 0);
    if (!fresh) return it->second;
    size_t out = 0;
    for (const PlacedOperand& in : placed(op).operands) {
      const Op* made = in.tensor->definition;
      if (made == nullptr || !tree_.ops.contains(made) || placed(*made).loop != loop) continue;
      out = std::max(out, self(self, *made, loop) + (across_.contains(made) ? 1 : 0));
    }
    return turns[&op] = out;
  };
  std::vector<std::vector<const Op*>> out;
  for (const Op* op : scans) {
    const size_t at = turn(turn, *op, placed(*op).loop);
    if (out.size() <= at) out.resize(at + 1);
    out[at].push_back(op);
  }
  return out;
}

void TreeEmitter::scan_across(const TreeItem& item, const std::vector<const Op*>& scans) {
  if (item.kind == TreeItem::Kind::op) return scan_element(*scans.front());
  std::vector<const Op*> known;
  for (const std::vector<const Op*>& now : in_turns(scans)) {
    for (const Op* op : now) across_.at(op).own = fresh_state(across_.at(op));
    adds_to_ = {now.begin(), now.end()};
    loop(item.loop);
    adds_to_.clear();
    for (const Op* op : known)  // they begin anew
      for (size_t k = 0; k < across_.at(op).begin.size(); ++k) assign(whole_.at(op)[0][k], across_.at(op).begin[k]);
    for (const Op* op : now) join_threads(*op);
    known.insert(known.end(), now.begin(), now.end());
  }
  loop(item.loop);
}

// Where a thread has one element.
void TreeEmitter::scan_element(const Op& op) {
  across_.at(&op).own = fresh_state(across_.at(&op));
  const Terms& terms = terms_.at(&op);
  const Value x = variable(Constant::from_int64(scan_start(op)[0].dtype, 0));
  within(terms, [&] {
    assign(x, element_of_scan(op));
    add_to_own(op, x);
  });
  join_threads(op);
  within(terms, [&] { step(op, x); });
}

// What a loop of elements that scans go through has, for the sake of what a thread has of some of them.
void TreeEmitter::item_for_own(const TreeItem& item) {
  if (item.kind != TreeItem::Kind::op) return;
  const Op& op = *item.op;
  if (adds_to_.contains(&op)) return add_to_own(op, element_of_scan(op));
  const auto across = across_.find(&op);
  if (across != across_.end() && whole_.at(&op)[0].empty()) return;  // it waits for these
  if (across != across_.end()) return step(op, element_of_scan(op));
  const auto is_local = [&](const TensorView* t) { return tree_.home(*t) != Home::memory; };
  if (kind_of(op).form == Form::sum || !std::all_of(op.results.begin(), op.results.end(), is_local)) return;
  deliver(op, *op.out(), compute(op));
}

}  // namespace plait::lowering
