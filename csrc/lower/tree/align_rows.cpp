#include "lower/tree/align_rows.h"

#include <algorithm>

#include "ir/op.h"
#include "kir/passes/edit.h"

namespace plait::lowering {

namespace {

using Names = std::map<std::string, sym::Expr>;

class Aligner {
 public:
  Aligner(LoopTree& tree, int64_t align, bool kept, const TreeOptions& how)
      : tree_(tree), align_(align), kept_(kept), how_(how) {}

  void run() {
    if (!find_row() || !find_loops() || !fits()) return;
    const sym::Expr first = first_element();
    const sym::Expr in_front = first - sym::floordiv(first, align_) * align_;
    for (const TreeLoop& l : tree_.loops)
      if (l.cls == inner_) moved_[l.var.symbol_name()] = l.var - in_front;
    for (auto& [op, placed] : tree_.ops) move(placed);
    if (!kept_ && outer_ >= 0) lengthen();
  }

 private:
  TreeLoop& at(int loop) { return tree_.loops[static_cast<size_t>(loop)]; }

  // The place in the row of the reference, in loops around it.
  bool find_row() {
    reference_ = tree_.reference->definition;
    const PlacedOp& placed = tree_.ops.at(reference_);
    const auto scan = scan_of(*reference_);
    if (!scan && placed.reduced.size() != 1) return false;
    in_ = scan ? scan->in : inputs(*reference_).front();
    dim_ = scan ? static_cast<size_t>(scan->dim) : static_cast<size_t>(reduced_dim());
    place_ = scan ? placed.own[dim_] : placed.reduced[0];
    row_ = how_.extent(in_->extent(dim_));
    return true;
  }
  int64_t reduced_dim() const {
    const PlacedOperand& operand = tree_.ops.at(reference_).operands.front();
    const auto found = std::ranges::find(operand.at, tree_.ops.at(reference_).reduced[0]);
    return found - operand.at.begin();
  }

  // place = the innermost loop's variable + constants times those of the others.
  bool find_loops() {
    const PlacedOp& placed = tree_.ops.at(reference_);
    if (dim_ >= placed.operands.front().at.size()) return false;
    const std::set<std::string> names = sym::symbols(place_);
    int64_t most = 0;
    for (int id : tree_.path(placed.loop)) {
      if (!names.contains(at(id).var.symbol_name())) continue;
      const auto slope = kir::slope_in(place_, at(id).var);
      if (!slope || slope->step < 1) return false;
      classes_.insert(at(id).cls);
      if (slope->step == 1) inner_ = at(id).cls;
      if (slope->step < most) continue;
      most = step_ = slope->step;
      outer_ = at(id).parallel == ParallelType::serial ? at(id).cls : -1;
      reach_ = at(id).extent * slope->step;
    }
    if (inner_ < 0 || outer_ == inner_) return false;
    for (const auto& [op, p] : tree_.ops)
      if (!follows(p)) return false;
    return true;
  }

  bool meets_row(sym::Expr e, bool inner) const {
    if (!e) return false;
    const std::set<std::string> names = sym::symbols(e);
    return std::ranges::any_of(tree_.loops, [&](const TreeLoop& l) {
      return (inner ? l.cls == inner_ : classes_.contains(l.cls)) && names.contains(l.var.symbol_name());
    });
  }
  // Whether the term says that a place is within the row.
  bool is_of_place(const RangeTerm& t) const { return meets_row(t.value, true) && t.bound == row_; }

  // Whether the op is outside of the row, or asks for its place wherever it does anything.
  bool follows(const PlacedOp& p) const {
    const auto reads = [&](sym::Expr e) { return meets_row(e, false); };
    bool any = std::ranges::any_of(p.own, reads) || std::ranges::any_of(p.reduced, reads);
    for (const PlacedOperand& o : p.operands) {
      any = any || std::ranges::any_of(o.at, reads);
      if (o.loaded || std::ranges::any_of(o.read, [&](const RangeTerm& t) { return reads(t.value); })) return false;
    }
    if (!any) return true;
    if (p.home == Home::logical) return false;
    const bool reduces = std::ranges::any_of(p.reduced, reads) && !is_scan(p.op->kind);
    return std::ranges::any_of(reduces ? p.reduce : p.write, [&](const RangeTerm& t) { return is_of_place(t); });
  }

  // Places in front and those of the row are within the loops, or these get longer.
  bool fits() const { return kept_ || outer_ >= 0 || sym::proven(sym::le(row_ + (align_ - 1), reach_)); }

  // Where the row begins, in elements of the reference's operand.
  sym::Expr first_element() const {
    const PlacedOperand& operand = tree_.ops.at(reference_).operands.front();
    sym::Expr out = row_ - row_, stride = out + 1;
    for (size_t place = in_->rank(); place-- > 0;) {
      const auto d = static_cast<size_t>(in_->domain.allocation[place]);
      if (d != dim_) out = out + operand.at[d] * stride;
      stride = stride * how_.extent(in_->extent(d));
    }
    return out;
  }

  void move(PlacedOp& p) {
    const auto one = [&](sym::Expr& e) {
      if (e) e = sym::substitute(e, moved_);
    };
    const auto terms = [&](std::vector<RangeTerm>& list) {  // numbers of vectors and parts follow from the place
      if (std::ranges::none_of(list, [&](const RangeTerm& t) { return is_of_place(t); })) return;
      std::erase_if(list, [&](const RangeTerm& t) { return meets_row(t.value, false) && !meets_row(t.value, true); });
      for (RangeTerm& t : list) one(t.value);
    };
    std::ranges::for_each(p.own, one);
    std::ranges::for_each(p.reduced, one);
    terms(p.write), terms(p.once), terms(p.reduce);
    for (PlacedOperand& o : p.operands) std::ranges::for_each(o.at, one);
  }

  void lengthen() {
    const sym::Expr extent = sym::ceildiv(row_ + (align_ - 1), step_);
    Names longer;
    for (TreeLoop& l : tree_.loops) {
      if (l.cls != outer_) continue;
      const std::string old = l.var.symbol_name();
      if (!longer.contains(old)) longer[old] = how_.variable(sym::index_facts(extent));
      l.var = longer.at(old);
      l.extent = extent;
    }
    const auto one = [&](sym::Expr& e) {
      if (e) e = sym::substitute(e, longer);
    };
    const auto all = [&](std::vector<sym::Expr>& list) { std::ranges::for_each(list, one); };
    const auto terms = [&](std::vector<RangeTerm>& list) {
      for (RangeTerm& t : list) one(t.value), one(t.bound);
    };
    for (TreeLoop& l : tree_.loops) one(l.extent);
    for (auto& [op, p] : tree_.ops) {
      all(p.dims), all(p.index), all(p.own), all(p.reduced);
      terms(p.write), terms(p.once), terms(p.reduce);
      for (PlacedOperand& o : p.operands) all(o.at), all(o.buffer), terms(o.read);
    }
  }

  LoopTree& tree_;
  const int64_t align_;
  const bool kept_;
  const TreeOptions& how_;
  const Op* reference_ = nullptr;
  const TensorView* in_ = nullptr;
  size_t dim_ = 0;
  sym::Expr place_, row_, reach_;
  std::set<int> classes_;        // of loops over the row
  int inner_ = -1, outer_ = -1;  // the innermost, and the outermost where it is serial
  int64_t step_ = 1;             // of the outermost
  Names moved_;
};

}  // namespace

void align_rows(LoopTree& tree, int64_t align, bool kept, const TreeOptions& how) {
  if (align > 1) Aligner(tree, align, kept, how).run();
}

}  // namespace plait::lowering
