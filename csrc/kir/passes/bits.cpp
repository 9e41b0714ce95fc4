#include "kir/passes/bits.h"

#include <numeric>
#include <optional>
#include <vector>

#include "kir/passes/edit.h"

namespace plait::kir {
namespace {

// Values that hold the same elements, as sets with a representative.
class Bits {
 public:
  explicit Bits(Kernel& kernel) : kernel_(kernel), parent_(next_value_id(kernel)), ways_(parent_.size()) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }

  void run() {
    for (const Phase& phase : kernel_.phases) collect(phase.body);
    for (Phase& phase : kernel_.phases) rewrite(phase.body);
  }

 private:
  // Of a set: the narrow dtype that its elements come from and go to.
  struct Ways {
    std::optional<DType> dtype;
    bool loaded = false, other = false;
  };

  uint32_t find(uint32_t id) {
    while (parent_[id] != id) id = parent_[id] = parent_[parent_[id]];
    return id;
  }
  Ways& ways(const Value& value) { return ways_[find(value.id)]; }

  void join(const Value& a, const Value& b) {
    const uint32_t from = find(a.id), to = find(b.id);
    if (from == to) return;
    const Ways& less = ways_[from];
    Ways& all = ways_[to];
    all.other = all.other || less.other || (less.dtype && all.dtype && less.dtype != all.dtype);
    all.loaded = all.loaded || less.loaded;
    if (!all.dtype) all.dtype = less.dtype;
    parent_[from] = to;
  }

  // The value meets memory of the dtype.
  void meet(const Value& value, uint32_t buffer, bool loaded) {
    const DType dtype = kernel_.buffers[buffer].dtype;
    Ways& set = ways(value);
    set.other = set.other || !is_narrow(dtype) || value.dtype != DType::f32 || (set.dtype && set.dtype != dtype);
    set.dtype = dtype;
    set.loaded = set.loaded || loaded;
  }

  void collect(const Block& block) {
    for (const auto& stmt : block) {
      visit(*stmt, overloaded{
                       [&](const Load& s) { meet(s.out, s.buffer, true); },
                       [&](const Store& s) { meet(s.in, s.buffer, false); },
                       [&](const Assign& s) { join(s.variable, s.in); },
                       [&](const Transpose& s) { join_all(s.out, s.in); },
                       [&](const Compute& s) { compute(s); },
                       [](const Variable&) {},
                       [](const Literal&) {},
                       [&](const Stmt& s) { other(s); },
                   });
      if (const Block* body = body_of(*stmt)) collect(*body);
    }
  }

  void join_all(const std::vector<Value>& out, const std::vector<Value>& in) {
    for (const auto* list : {&out, &in})
      for (const Value& value : *list) join(value, out.front());
  }

  void compute(const Compute& s) {
    if (s.function != Pointwise::where) return other(s);
    ways(s.in[0]).other = true;
    join(s.in[1], s.out);
    join(s.in[2], s.out);
  }

  void other(const Stmt& stmt) {
    for (const Value& value : operands(stmt)) ways(value).other = true;
    for (const Value& value : results(stmt)) ways(value).other = true;
  }

  // The dtype whose bits the value is to be; none: it stays.
  std::optional<DType> moves(const Value& value) {
    const Ways& set = ways(value);
    return set.loaded && !set.other ? set.dtype : std::nullopt;
  }

  void rewrite(Block& block) {
    for (auto& stmt : block) {
      if (auto* s = stmt->kind == StmtKind::Variable ? static_cast<Variable*>(stmt.get()) : nullptr)
        s->initial = bits_of(s->out, s->initial);
      if (auto* s = stmt->kind == StmtKind::Literal ? static_cast<Literal*>(stmt.get()) : nullptr)
        s->constant = bits_of(s->out, s->constant);
      const auto retyped = [&](Value value) {
        if (moves(value)) value.dtype = DType::u32;
        return value;
      };
      edit_operands(*stmt, retyped);
      edit_results(*stmt, retyped);
      if (Block* body = body_of(*stmt)) rewrite(*body);
    }
  }

  Constant bits_of(const Value& out, const Constant& constant) {
    const std::optional<DType> dtype = moves(out);
    return dtype ? Constant{DType::u32, Constant::from_double(*dtype, constant.to_double()).bits} : constant;
  }

  Kernel& kernel_;
  std::vector<uint32_t> parent_;
  std::vector<Ways> ways_;  // of representatives
};

}  // namespace

void bits(Kernel& kernel) {
  if (kernel.target == TargetKind::cpu) Bits(kernel).run();
}

}  // namespace plait::kir
