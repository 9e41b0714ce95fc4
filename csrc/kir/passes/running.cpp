#include "kir/passes/running.h"

#include <algorithm>
#include <bit>
#include <set>

#include "kir/passes/edit.h"

namespace plait::kir {
namespace {

// variable = function(variable, in), whose result is `sum`.
struct Carried {
  Value variable, sum, in;
  Pointwise function;
  const Stmt *compute, *assign;
};

// A loop that can be taken apart.
class Scan {
 public:
  // Nothing where it cannot.
  static std::optional<Scan> of(For& loop) {
    Scan out(loop);
    if (out.has_shape() && out.find_carried() && out.is_free()) return out;
    return std::nullopt;
  }

  For& loop;
  const If* condition = nullptr;  // around all of `statements`
  const Block* statements;
  std::vector<Carried> carried;

  bool depends(const Value& v) const { return dependent_.contains(v.id); }

 private:
  explicit Scan(For& of) : loop(of), statements(&of.body) {
    if (of.body.size() == 1) condition = as<If>(*of.body[0]);
    if (condition != nullptr) statements = &condition->body;
  }

  bool has_shape() const {
    const auto extent = static_cast<uint64_t>(loop.extent.constant().value_or(0));
    return loop.loop == LoopKind::serial && !loop.unroll && extent >= kRunningGroup && extent <= kMostRunning &&
           std::has_single_bit(extent);
  }

  bool find_carried() {
    std::set<uint32_t> own;
    for (const auto& stmt : *statements)
      for (const Value& v : results(*stmt)) own.insert(v.id);
    const Compute* last = nullptr;
    for (const auto& stmt : *statements) {
      const auto* assign = as<Assign>(*stmt);
      if (assign != nullptr && own.contains(assign->variable.id)) return false;
      if (assign != nullptr && (last == nullptr || !add(*last, *assign))) return false;
      last = as<Compute>(*stmt);
    }
    return !carried.empty();
  }

  bool add(const Compute& compute, const Assign& assign) {
    if (assign.in != compute.out || !combine_of(compute.function) || compute.out.lanes != 1) return false;
    if (std::any_of(carried.begin(), carried.end(), [&](const Carried& c) { return c.variable == assign.variable; }))
      return false;
    const bool first = compute.in[0] == assign.variable;
    if (first == (compute.in[1] == assign.variable)) return false;
    const Value& in = compute.in[first ? 1 : 0];
    if (!in_any_order(compute.function, in)) return false;
    carried.push_back({assign.variable, compute.out, in, compute.function, &compute, &assign});
    return true;
  }

  // Whether neighbours may be combined first: integers wrap, extremes are elements, and in f64 sums of f32 have room.
  // Other sums and products would overflow, or become 0, where one element after another does not.
  bool in_any_order(Pointwise function, const Value& in) const {
    if (is_integer(in.dtype) || function == Pointwise::max || function == Pointwise::min) return true;
    if (function != Pointwise::add || in.dtype != DType::f64) return false;
    return std::any_of(statements->begin(), statements->end(), [&](const auto& stmt) {
      const auto* convert = as<Convert>(*stmt);
      return convert != nullptr && convert->out == in && convert->in.dtype != DType::f64;
    });
  }

  // Whether iterations meet in nothing but what is carried.
  bool is_free() {
    std::set<uint32_t> loaded, stored, assigned, read;
    for (const Carried& c : carried) dependent_.insert({c.variable.id, c.sum.id});
    for (const auto& stmt : *statements) {
      const auto part = std::find_if(carried.begin(), carried.end(), [&](const Carried& c) {
        return c.compute == stmt.get() || c.assign == stmt.get();
      });
      if (part != carried.end()) {
        if (depends(part->in)) return false;
        if (part->assign == stmt.get()) assigned.insert(part->variable.id);
        continue;
      }
      if (!is_plain(*stmt)) return false;
      for (const Value& v : operands(*stmt)) {
        if (v.lanes != 1) return false;
        read.insert(v.id);
        for (const Carried& c : carried)
          if (v == c.variable && !assigned.contains(v.id)) return false;
        if (depends(v))
          for (const Value& result : results(*stmt)) dependent_.insert(result.id);
      }
      if (const uint32_t* buffer = buffer_of(*stmt)) (stmt->kind == StmtKind::Load ? loaded : stored).insert(*buffer);
    }
    return std::none_of(stored.begin(), stored.end(), [&](uint32_t b) { return loaded.contains(b); }) &&
           std::all_of(carried.begin(), carried.end(),
                       [&](const Carried& c) { return read.contains(c.variable.id) || read.contains(c.sum.id); });
  }

  bool is_plain(const Stmt& stmt) const {
    switch (stmt.kind) {
      case StmtKind::Store:
        return slope_in(as<Store>(stmt)->index, loop.var).value_or(Slope{}).step != 0;
      case StmtKind::Load:
      case StmtKind::Literal:
      case StmtKind::Coordinate:
      case StmtKind::Compute:
      case StmtKind::Convert:
      case StmtKind::Round:
        return results(stmt)[0].lanes == 1;
      default:
        return false;
    }
  }

  std::set<uint32_t> dependent_;  // on what is carried
};

class Apart {
 public:
  explicit Apart(Kernel& kernel) : editor_(kernel), kernel_(kernel) {}

  void block(Block& body) {
    Block out;
    for (auto& stmt : body) {
      For* loop = stmt->kind == StmtKind::For ? static_cast<For*>(stmt.get()) : nullptr;
      const bool lanes = loop != nullptr && loop->loop == LoopKind::lanes;
      if (auto scan = loop != nullptr ? Scan::of(*loop) : std::nullopt; scan && part(*scan, stmt, out)) continue;
      const If* branch = as<If>(*stmt);
      if (branch != nullptr) around_.push_back(branch->condition);
      if (Block* inner = body_of(*stmt); inner != nullptr && !lanes) block(*inner);
      if (branch != nullptr) around_.pop_back();
      out.push_back(std::move(stmt));
    }
    body = std::move(out);
  }

 private:
  // The condition of the last iteration, where it holds in all if it holds there; otherwise null.
  static sym::Expr of_last(const Scan& scan) {
    const sym::Expr var = scan.loop.var;
    for (sym::Expr c : conjuncts(scan.condition->condition)) {
      const auto negative = depends_on(c, var) ? negative_where(c) : std::nullopt;
      const auto slope = negative ? slope_in(*negative, var) : std::nullopt;
      if (depends_on(c, var) && (!slope || slope->step < 1)) return {};
    }
    return sym::substitute(scan.condition->condition, {{var.symbol_name(), scan.loop.extent - 1}});
  }

  // Vectors where all elements are there, the loop where they are fewer: a short row takes as long as its elements do.
  // Whether anything was done.
  bool part(Scan& scan, std::unique_ptr<Stmt>& loop, Block& out) {
    const sym::Expr all = scan.condition != nullptr ? of_last(scan) : sym::Expr();
    const sym::Expr few = all ? sym::logical_not(all) : all;
    if (all && std::find(around_.begin(), around_.end(), few) != around_.end()) return false;
    if (all) scan.condition = nullptr;
    take_apart(scan, all ? under(all, out) : out);
    if (all) under(few, out).push_back(std::move(loop));
    return true;
  }

  // What stands where the condition holds, at the end of `out`.
  static Block& under(sym::Expr condition, Block& out) {
    auto branch = std::make_unique<If>();
    branch->condition = condition;
    Block& body = branch->body;
    out.push_back(std::move(branch));
    return body;
  }

  void take_apart(const Scan& scan, Block& out) {
    const int lanes = static_cast<int>(scan.loop.extent.value());
    std::vector<uint32_t> terms, sums;
    for (const Carried& c : scan.carried) {
      terms.push_back(buffer(scan, c.variable.dtype, "terms", out));
      sums.push_back(buffer(scan, c.variable.dtype, "sums", out));
      if (scan.condition == nullptr) continue;
      auto none = std::make_unique<Literal>();
      none->out = editor_.value(c.variable.dtype, lanes);
      none->constant = identity(*combine_of(c.function), {c.variable.dtype})[0];
      const Value value = none->out;
      out.push_back(std::move(none));
      out.push_back(store(terms.back(), lane(), value, Access::aligned));
    }
    out.push_back(front(scan, terms));
    for (size_t i = 0; i < terms.size(); ++i) combine(scan.carried[i], lanes, terms[i], sums[i], out);
    out.push_back(back(scan, sums));
  }

  uint32_t buffer(const Scan& scan, DType dtype, const char* name, Block& out) {
    auto alloc = std::make_unique<Alloc>();
    const uint32_t made = editor_.buffer(name, dtype, scan.loop.extent);
    alloc->buffer = made;
    out.push_back(std::move(alloc));
    return made;
  }

  sym::Expr lane() { return kernel_.pool->symbol(kLane, {.lo = 0, .hi = kMostRunning - 1}); }

  static std::unique_ptr<Store> store(uint32_t to, sym::Expr index, const Value& in, Access access) {
    auto out = std::make_unique<Store>();
    out->buffer = to;
    out->index = index;
    out->in = in;
    out->access = access;
    return out;
  }
  static std::unique_ptr<Load> load(const Value& value, uint32_t from, sym::Expr index, Access access) {
    auto out = std::make_unique<Load>();
    out->out = value;
    out->buffer = from;
    out->index = index;
    out->access = access;
    return out;
  }

  // The loop on lanes of the same iterations, and where its statements go.
  struct Lanes {
    std::unique_ptr<For> loop;
    Block* body;
  };
  Lanes lanes_like(const Scan& scan, Copier& copier) {
    Lanes out{editor_.loop_like(scan.loop), nullptr};
    out.loop->loop = LoopKind::lanes;
    copier.symbols[scan.loop.var.symbol_name()] = out.loop->var;
    out.body = &out.loop->body;
    if (scan.condition == nullptr) return out;
    auto guarded = std::make_unique<If>();
    guarded->condition = copier(scan.condition->condition);
    Block& inner = guarded->body;
    out.loop->body.push_back(std::move(guarded));
    out.body = &inner;
    return out;
  }

  // What does not depend on what is carried. What nobody reads goes later.
  std::unique_ptr<Stmt> front(const Scan& scan, const std::vector<uint32_t>& terms) {
    Copier copier(editor_);
    Lanes made = lanes_like(scan, copier);
    for (const auto& stmt : *scan.statements) {
      const std::vector<Value> read = operands(*stmt);
      const bool free = std::none_of(read.begin(), read.end(), [&](const Value& v) { return scan.depends(v); });
      if (is_pure(stmt->kind) && free) copier.copy(*stmt, *made.body);
    }
    for (size_t i = 0; i < terms.size(); ++i) {
      const Value& in = scan.carried[i].in;
      const auto copied = copier.values.find(in.id);
      const Value value = copied == copier.values.end() ? in : copied->second;
      made.body->push_back(store(terms[i], made.loop->var, value, Access::contiguous));
    }
    return std::move(made.loop);
  }

  void combine(const Carried& carried, int lanes, uint32_t terms, uint32_t sums, Block& out) {
    const Value in = editor_.value(carried.variable.dtype, lanes);
    out.push_back(load(in, terms, lane(), Access::aligned));
    auto running = std::make_unique<Running>();
    running->out = editor_.value(in.dtype, lanes);
    running->function = carried.function;
    running->in = in;
    running->before = carried.variable;
    Value last = running->out;
    out.push_back(std::move(running));
    out.push_back(store(sums, lane(), last, Access::aligned));
    while (last.lanes > 1) {
      auto half = std::make_unique<Half>();
      half->in = last;
      half->out = last = editor_.value(in.dtype, last.lanes / 2);
      half->upper = true;
      out.push_back(std::move(half));
    }
    auto assign = std::make_unique<Assign>();
    assign->variable = carried.variable;
    assign->in = last;
    out.push_back(std::move(assign));
  }

  // What the loop did with what it carried, and all else.
  std::unique_ptr<Stmt> back(const Scan& scan, const std::vector<uint32_t>& sums) {
    Copier copier(editor_);
    Lanes made = lanes_like(scan, copier);
    for (size_t i = 0; i < sums.size(); ++i) {
      const Value value = editor_.value(scan.carried[i].variable.dtype, 1);
      made.body->push_back(load(value, sums[i], made.loop->var, Access::contiguous));
      copier.values[scan.carried[i].variable.id] = copier.values[scan.carried[i].sum.id] = value;
    }
    for (const auto& stmt : *scan.statements)
      if (std::none_of(scan.carried.begin(), scan.carried.end(),
                       [&](const Carried& c) { return c.compute == stmt.get() || c.assign == stmt.get(); }))
        copier.copy(*stmt, *made.body);
    return std::move(made.loop);
  }

  Editor editor_;
  Kernel& kernel_;
  std::vector<sym::Expr> around_;  // conditions
};

}  // namespace

void running(Kernel& kernel) {
  if (kernel.target != TargetKind::cpu) return;
  Apart pass(kernel);
  for (Phase& phase : kernel.phases) pass.block(phase.body);
}

}  // namespace plait::kir
