#include "kir/passes/expand_reductions.h"

#include "base/error.h"
#include "kir/passes/edit.h"
#include "scalar/reduction_formulas.h"

namespace plait::kir {
namespace {

class ExpandReductions {
 public:
  explicit ExpandReductions(Kernel& kernel) : editor_(kernel), pool_(*kernel.pool) {}

  void block(Block& in) {
    Block out;
    for (auto& stmt : in) {
      if (Block* body = body_of(*stmt)) block(*body);
      edit_operands(*stmt, [&](const Value& v) { return now(v); });
      out_ = &out;
      if (const auto* start = as<Start>(*stmt))
        expand(*start);
      else if (const auto* accumulate = as<Accumulate>(*stmt))
        expand(*accumulate);
      else if (const auto* merge = as<Merge>(*stmt))
        expand(*merge);
      else if (const auto* fold = as<Fold>(*stmt))
        expand(*fold);
      else
        out.push_back(std::move(stmt));
    }
    in = std::move(out);
  }

  // For the formulas.
  using Value = kir::Value;
  Value apply(Pointwise function, std::vector<Value> in) {
    std::vector<DType> types;
    for (const Value& v : in) types.push_back(v.dtype);
    auto& s = put<Compute>();
    s.out = editor_.value(result_type(function, types), in.front().lanes);
    s.function = function;
    s.in = std::move(in);
    return s.out;
  }
  Value literal(Constant constant, const Value& like) {
    auto& s = put<Literal>();
    s.out = editor_.value(constant.dtype, like.lanes);
    s.constant = constant;
    return s.out;
  }
  static DType dtype_of(const Value& v) { return v.dtype; }

 private:
  using Formulas = ReductionFormulas<ExpandReductions>;

  template <class S>
  S& put() {
    auto stmt = std::make_unique<S>();
    S& reference = *stmt;
    out_->push_back(std::move(stmt));
    return reference;
  }
  // Results of folds are those of their last computation.
  Value now(const Value& v) const {
    const auto found = folded_.find(v.id);
    return found == folded_.end() ? v : found->second;
  }

  void assign(const std::vector<Value>& variables, const std::vector<Value>& values) {
    for (size_t i = 0; i < variables.size(); ++i) {
      auto& s = put<Assign>();
      s.variable = variables[i];
      s.in = values[i];
    }
  }

  void expand(const Start& s) {
    std::vector<DType> types;
    for (const Value& v : s.state) types.push_back(v.dtype);
    const std::vector<Constant> none = identity(s.combine, types, s.element);
    for (size_t i = 0; i < types.size(); ++i) {
      auto& variable = put<Variable>();
      variable.out = s.state[i];
      variable.initial = none[i];
    }
  }

  Value coordinate(sym::Expr index, int lanes) {
    auto& s = put<Coordinate>();
    s.out = editor_.value(DType::i64, lanes);
    s.index = index;
    return s.out;
  }

  void expand(const Accumulate& s) {
    std::vector<Value> after = Formulas(*this).accumulate(s.combine, s.state, s.in);
    if (s.active) {
      const int lanes = s.state[0].lanes;
      const Value lane = coordinate(pool_.symbol(kLane, {.lo = 0}), lanes), end = coordinate(s.active, lanes);
      const Value there = apply(Pointwise::lt, {lane, end});
      for (size_t i = 0; i < after.size(); ++i) after[i] = apply(Pointwise::where, {there, after[i], s.state[i]});
    }
    assign(s.state, after);
  }

  void expand(const Merge& s) { assign(s.state, Formulas(*this).merge(s.combine, s.state, s.in)); }

  void expand(const Fold& s) {
    std::vector<Value> part = s.state;
    const auto half = [&](const Value& v, bool upper) {
      auto& h = put<Half>();
      h.out = editor_.value(v.dtype, v.lanes / 2);
      h.in = v;
      h.upper = upper;
      return h.out;
    };
    while (part[0].lanes > 1) {
      std::vector<Value> lower, upper;
      for (const Value& v : part) {
        lower.push_back(half(v, false));
        upper.push_back(half(v, true));
      }
      part = Formulas(*this).merge(s.combine, lower, upper);
    }
    for (size_t i = 0; i < part.size(); ++i) {
      if (s.state[0].lanes > 1) {
        folded_[s.out[i].id] = part[i];
        continue;
      }
      auto& copy = put<Convert>();
      copy.out = s.out[i];
      copy.in = part[i];
    }
  }

  Editor editor_;
  sym::Pool& pool_;
  Block* out_ = nullptr;
  std::map<uint32_t, Value> folded_;
};

}  // namespace

void expand_reductions(Kernel& kernel) {
  ExpandReductions pass(kernel);
  for (Phase& phase : kernel.phases) pass.block(phase.body);
}

}  // namespace plait::kir
