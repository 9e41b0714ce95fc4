// Scans along rows that the threads of a block have together. In each iteration of the loops around, every thread
// combines the elements that it has, hears what lies in front of it, and goes through them from there.
#include <algorithm>

#include "base/error.h"
#include "lower/scan_steps.h"
#include "lower/tree/emitter.h"

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

void TreeEmitter::start_across(const Op& op, int loop, const Part& total) {
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
  for (size_t k = 0; k < total.size(); ++k) assign(a.carry[k], convert(total[k], a.types[k]));
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

TreeEmitter::Part TreeEmitter::merged(const Across& a, const Part& first, const Part& second) {
  Part out = fresh_state(a);
  for (const Part* part : {&first, &second}) {
    auto stmt = std::make_unique<kir::Merge>();
    stmt->combine = a.combine;
    stmt->state = out;
    stmt->in = *part;
    add(std::move(stmt));
  }
  return out;
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
  const Part end = merged(a, a.carry, all);
  for (size_t k = 0; k < end.size(); ++k) assign(a.carry[k], end[k]);
}

void TreeEmitter::scan_across(const TreeItem& item, const std::vector<const Op*>& scans) {
  for (const Op* op : scans) across_.at(op).own = fresh_state(across_.at(op));
  if (item.kind == TreeItem::Kind::loop) {
    adds_to_own_ = true;
    loop(item.loop);
    adds_to_own_ = false;
    for (const Op* op : scans) join_threads(*op);
    return loop(item.loop);
  }
  const Op& op = *scans.front();
  Terms terms = terms_.at(&op);
  const Value x = variable(Constant::from_int64(scan_start(op)[0].dtype, 0));
  within(terms, [&] {
    assign(x, element_of_scan(op));
    add_to_own(op, x);
  });
  join_threads(op);
  within(terms, [&] { step(op, x); });
}

// What a loop of elements that a scan goes through has, for the sake of what a thread has of them.
void TreeEmitter::item_for_own(const TreeItem& item) {
  if (item.kind != TreeItem::Kind::op) return;
  if (across_.contains(item.op)) return add_to_own(*item.op, element_of_scan(*item.op));
  const auto is_value = [&](const TensorView* t) { return tree_.home(*t) == Home::value; };
  if (kind_of(*item.op).form == Form::sum || !std::all_of(item.op->results.begin(), item.op->results.end(), is_value))
    return;
  deliver(*item.op, *item.op->out(), compute(*item.op));
}

}  // namespace plait::lowering
