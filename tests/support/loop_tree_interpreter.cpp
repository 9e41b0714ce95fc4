#include <algorithm>
#include <set>

#include "base/error.h"
#include "support/loop_tree_case.h"

namespace plait::tree_oracle {

namespace {

// Expressions as arrays of nodes over slots of variables.
class Expressions {
 public:
  explicit Expressions(const sym::Environment& sizes) {
    for (const auto& [name, value] : sizes) values_[slot(name)] = value;
  }

  size_t slot(const std::string& name) {
    const auto [it, fresh] = slots_.try_emplace(name, values_.size());
    if (fresh) values_.push_back(0);
    return it->second;
  }
  int64_t& value(size_t slot) { return values_[slot]; }

  int add(sym::Expr e) {
    const auto [it, fresh] = known_.try_emplace(e.id(), -1);
    if (!fresh) return it->second;
    Node n{e.kind(), 0, {}};
    if (e.is_constant()) {
      n.number = e.value();
    } else if (e.is_symbol()) {
      n.number = static_cast<int64_t>(slot(e.symbol_name()));
    } else {
      for (sym::Expr x : e.operands()) n.operands.push_back(add(x));
    }
    nodes_.push_back(std::move(n));
    return known_[e.id()] = static_cast<int>(nodes_.size()) - 1;
  }

  int64_t evaluate(int id) const {
    const Node& n = nodes_[static_cast<size_t>(id)];
    const auto at = [&](size_t i) { return evaluate(n.operands[i]); };
    switch (n.kind) {
      case sym::Kind::constant:
        return n.number;
      case sym::Kind::symbol:
        return values_[static_cast<size_t>(n.number)];
      case sym::Kind::add:
      case sym::Kind::mul:
      case sym::Kind::min:
      case sym::Kind::max:
      case sym::Kind::logical_and:
        return folded(n);
      case sym::Kind::floordiv:
        return divided(at(0), at(1));
      case sym::Kind::mod: {
        const int64_t a = at(0), b = at(1);
        return a - divided(a, b) * b;
      }
      case sym::Kind::lt:
        return at(0) < at(1);
      case sym::Kind::le:
        return at(0) <= at(1);
      case sym::Kind::eq:
        return at(0) == at(1);
      case sym::Kind::logical_not:
        return at(0) == 0;
      case sym::Kind::select:
        return at(0) != 0 ? at(1) : at(2);
      case sym::Kind::chunk:
      case sym::Kind::chunk_start:
        break;
    }
    PLAIT_CHECK(false, "no such expression in a tree");
  }

 private:
  struct Node {
    sym::Kind kind;
    int64_t number;
    std::vector<int> operands;
  };
  static int64_t divided(int64_t a, int64_t b) {
    PLAIT_CHECK(b > 0, "a division by {}", b);
    const int64_t q = a / b;
    return a % b < 0 ? q - 1 : q;
  }
  int64_t folded(const Node& n) const {
    int64_t out = evaluate(n.operands[0]);
    for (size_t i = 1; i < n.operands.size(); ++i) {
      const int64_t x = evaluate(n.operands[i]);
      if (n.kind == sym::Kind::add) out += x;
      if (n.kind == sym::Kind::mul) out *= x;
      if (n.kind == sym::Kind::min) out = std::min(out, x);
      if (n.kind == sym::Kind::max) out = std::max(out, x);
      if (n.kind == sym::Kind::logical_and) out = out != 0 && x != 0;
    }
    return out;
  }

  std::vector<Node> nodes_;
  std::vector<int64_t> values_;
  std::map<std::string, size_t> slots_;
  std::map<uint64_t, int> known_;
};

struct Storage {
  std::vector<int64_t> dims;
  Array values;
  std::vector<char> written;
  void reset(std::vector<int64_t> shape) {
    dims = std::move(shape);
    int64_t n = 1;
    for (int64_t d : dims) n *= d;
    values.assign(static_cast<size_t>(n), 0);
    written.assign(static_cast<size_t>(n), 0);
  }
};

struct Term {
  int value, bound;
};
using Terms = std::vector<Term>;
using Ids = std::vector<int>;

struct Operand {
  const TensorView* tensor;
  Home home;
  Ids at, buffer;  // -1: a loaded index
  Terms read;
  std::vector<int64_t> shape;
  size_t loaded = 0;
  int indexed = -1;
};

struct Statement {
  const PlacedOp* placed;
  bool sums = false;
  std::optional<ScanOf> scan = {};
  Ids own, index, dims;
  Terms write, once, reduce;
  std::vector<Operand> operands;
  std::vector<Storage*> targets;
  std::vector<Home> homes;
  std::vector<Array> state;
  std::vector<char> started;
};

struct Wrong {
  std::string what;
};
struct Stop {};

constexpr int64_t kMostIterations = 400000;

class Interpreter {
 public:
  Interpreter(const Case& c, const LoopTree& tree, const std::map<const TensorView*, Array>& want, Counts& counts)
      : case_(c),
        tree_(tree),
        want_(want),
        counts_(counts),
        expressions_(c.sizes),
        limit_(counts.loops + kMostIterations) {}

  std::string run() {
    try {
      prepare();
      reset_values(-1);
      for (const TreeItem& i : tree_.items) run(i);
      compare();
    } catch (const Wrong& w) {
      return w.what;
    } catch (const Stop&) {
      ++counts_.stopped;
    }
    return "";
  }

 private:
  Ids add(const std::vector<sym::Expr>& list) {
    Ids out;
    for (sym::Expr e : list) out.push_back(e ? expressions_.add(e) : -1);
    return out;
  }
  Terms add(const std::vector<RangeTerm>& list) {
    Terms out;
    for (const RangeTerm& t : list) out.push_back({expressions_.add(t.value), expressions_.add(t.bound)});
    return out;
  }

  void prepare() {
    for (const TensorView* t : case_.fusion->inputs()) {
      Storage& s = memory_[t];
      s.reset(shape_of(*t, case_.sizes));
      for (size_t i = 0; i < s.values.size(); ++i) s.values[i] = input_value(*t, i);
      s.written.assign(s.written.size(), 1);
    }
    for (const TreeLoop& l : tree_.loops)
      loops_.push_back({expressions_.slot(l.var.symbol_name()), expressions_.add(l.extent)});
    for (const Op* op : case_.fusion->ops()) prepare(tree_.ops.at(op));
  }

  void prepare(const PlacedOp& p) {
    Statement& s = statements_[p.op];
    s.placed = &p;
    s.sums = !p.reduced.empty();
    s.scan = scan_of(*p.op);
    s.own = add(p.own), s.index = add(p.index), s.dims = add(p.dims);
    s.write = add(p.write), s.once = add(p.once), s.reduce = add(p.reduce);
    for (const TensorView* t : p.op->results) {
      s.homes.push_back(tree_.home(*t));
      ++counts_.homes[static_cast<size_t>(s.homes.back())];
      Storage& target = memory_[t];
      if (s.homes.back() == Home::memory || (s.homes.back() == Home::logical && p.home == Home::memory))
        target.reset(shape_of(*t, case_.sizes));
      s.targets.push_back(&target);
    }
    const std::vector<int> path = tree_.path(p.loop);
    if (p.home == Home::value) values_at_[p.shared == 0 ? -1 : path[static_cast<size_t>(p.shared) - 1]].push_back(&s);
    const std::vector<TensorView*> in = inputs(*p.op);
    for (size_t i = 0; i < in.size(); ++i) {
      const PlacedOperand& o = p.operands[i];
      Operand out{in[i], Home::memory, add(o.at), add(o.buffer), add(o.read), shape_of(*in[i], case_.sizes), 0, -1};
      if (in[i]->definition != nullptr) out.home = tree_.home(*in[i]);
      for (size_t d = 0; d < out.at.size(); ++d)
        if (out.at[d] < 0) out.indexed = static_cast<int>(d);
      out.loaded = o.loaded ? expressions_.slot(o.loaded.symbol_name()) : SIZE_MAX;
      s.operands.push_back(std::move(out));
    }
  }

  void reset_values(int loop) {
    const auto it = values_at_.find(loop);
    if (it == values_at_.end()) return;
    for (Statement* s : it->second)
      for (Storage* t : s->targets) t->reset({});
  }

  bool holds(const Terms& terms) const {
    for (const Term& t : terms) {
      const int64_t x = expressions_.evaluate(t.value);
      if (x < 0 || x >= expressions_.evaluate(t.bound)) return false;
    }
    return true;
  }

  size_t place(const Ids& index, const std::vector<int64_t>& dims, const TensorView& t, const char* what,
               int64_t loaded = 0) const {
    int64_t out = 0;
    if (index.size() != dims.size())
      throw Wrong{fmt::format("{} indices of {} dims of %{}", index.size(), dims.size(), t.name)};
    for (size_t d = 0; d < dims.size(); ++d) {
      const int64_t x = index[d] < 0 ? loaded : expressions_.evaluate(index[d]);
      if (x < 0 || x >= dims[d]) throw Wrong{fmt::format("{} of %{} out of bounds", what, t.name)};
      out = out * dims[d] + x;
    }
    return static_cast<size_t>(out);
  }

  void run(const TreeItem& item) {
    switch (item.kind) {
      case TreeItem::Kind::loop: {
        const auto [slot, extent] = loops_[static_cast<size_t>(item.loop)];
        const TreeLoop& l = tree_.loops[static_cast<size_t>(item.loop)];
        const int64_t n = expressions_.evaluate(extent);
        for (int64_t i = 0; i < n; ++i) {
          if (++counts_.loops > limit_) throw Stop{};
          expressions_.value(slot) = l.order == LoopOrder::backward ? n - 1 - i : i;
          reset_values(item.loop);
          for (const TreeItem& inner : l.items) run(inner);
        }
        return;
      }
      case TreeItem::Kind::alloc: {
        Statement& s = statements_.at(item.op);
        std::vector<int64_t> dims;
        for (int e : s.dims) dims.push_back(expressions_.evaluate(e));
        for (Storage* t : s.targets) t->reset(dims);
        return;
      }
      case TreeItem::Kind::init:
        return init(statements_.at(item.op));
      case TreeItem::Kind::op:
        return execute(statements_.at(item.op));
      case TreeItem::Kind::finish:
        return finish(statements_.at(item.op));
      case TreeItem::Kind::save:
      case TreeItem::Kind::merge:
      case TreeItem::Kind::part:
        throw Wrong{"placement makes no phases"};
    }
  }

  size_t state_place(const Statement& s, size_t& count) const {
    size_t out = 0;
    count = 1;
    for (int l : s.placed->state_loops) {
      const auto n = static_cast<size_t>(expressions_.evaluate(loops_[static_cast<size_t>(l)].second));
      out = out * n +
            static_cast<size_t>(const_cast<Expressions&>(expressions_).value(loops_[static_cast<size_t>(l)].first));
      count *= n;
    }
    return out;
  }

  void init(Statement& s) {
    if (!s.scan && !holds(s.write)) return;
    size_t count = 0;
    const size_t at = state_place(s, count);
    if (s.started.size() != count) {
      s.state.assign(s.targets.size(), Array(count, 0));
      s.started.assign(count, 0);
    }
    if (s.started[at] != 0 && !s.scan) throw Wrong{"initial values twice of " + describe(*s.placed->op)};
    s.started[at] = 1;
    for (Array& a : s.state) a[at] = 0;
  }

  void finish(Statement& s) {
    if (!holds(s.write)) return;
    size_t count = 0;
    const size_t at = state_place(s, count);
    if (s.started.size() != count || s.started[at] == 0)
      throw Wrong{"a result without initial values of " + describe(*s.placed->op)};
    s.started[at] = 0;
    std::vector<Word> out;
    for (const Array& a : s.state) out.push_back(a[at]);
    store(s, out);
  }

  void execute(Statement& s) {
    ++counts_.statements;
    const Op& op = *s.placed->op;
    if (!holds(s.write)) return;
    if (s.sums) {
      if (!holds(s.reduce)) return;
      size_t count = 0;
      const size_t at = state_place(s, count);
      if (s.started.size() != count || s.started[at] == 0)
        throw Wrong{"an element without initial values of " + describe(op)};
      const std::vector<Word> in = load(s);
      for (size_t r = 0; r < s.state.size(); ++r) s.state[r][at] += element(op, r, in);
      return;
    }
    if (s.scan) return scan(s);
    if (by_coordinates(s) && !holds(s.once)) return;
    const std::vector<Word> in = load(s);
    std::vector<Word> out;
    for (size_t r = 0; r < op.results.size(); ++r) out.push_back(mix(op, r, in));
    write(s, out);
  }

  void scan(Statement& s) {
    size_t count = 0;
    const size_t at = state_place(s, count);
    if (s.started.size() != count || s.started[at] == 0) throw Wrong{"a scan without initial values"};
    const std::vector<Word> in = load(s);
    std::vector<Word> out;
    for (size_t r = 0; r < s.state.size(); ++r) {
      Word& state = s.state[r][at];
      const Word before = state;
      state = scanned(state, element(*s.placed->op, r, in));
      out.push_back(s.scan->exclusive ? before : state);
    }
    store(s, out);
  }

  static bool by_coordinates(const Statement& s) {
    return s.placed->home == Home::memory || s.placed->home == Home::logical;
  }
  void store(Statement& s, const std::vector<Word>& values) {
    if (!by_coordinates(s) || holds(s.once)) write(s, values);
  }

  void write(Statement& s, const std::vector<Word>& values) {
    for (size_t r = 0; r < values.size(); ++r) {
      const TensorView& t = *s.placed->op->results[r];
      Storage& to = *s.targets[r];
      size_t at = 0;
      if (s.homes[r] == Home::buffer) at = place(s.index, to.dims, t, "a write");
      if (s.homes[r] == Home::memory || s.homes[r] == Home::logical) at = place(s.own, to.dims, t, "a write");
      if (at >= to.written.size()) throw Wrong{fmt::format("a write of %{} before its buffer lives", t.name)};
      if (to.written[at] != 0) throw Wrong{fmt::format("an element of %{} is written twice", t.name)};
      to.written[at] = 1;
      to.values[at] = values[r];
    }
  }

  std::vector<Word> load(Statement& s) {
    const Op& op = *s.placed->op;
    if (op.kind == OpKind::Pad) return {holds(s.operands[0].read) ? load(s, s.operands[0], 0) : fill_of(op)};
    if (op.kind == OpKind::Cat) {
      const Operand* from = nullptr;
      for (const Operand& o : s.operands) {
        if (!holds(o.read)) continue;
        if (from != nullptr) throw Wrong{"two parts of a cat are read at once"};
        from = &o;
      }
      if (from == nullptr) throw Wrong{"no part of a cat is read"};
      return {load(s, *from, 0)};
    }
    std::vector<Word> out(s.operands.size());
    for (size_t i = s.operands.size(); i-- > 0;) {  // indices first
      const Operand& o = s.operands[i];
      int64_t j = 0;
      if (o.indexed >= 0)
        j = static_cast<int64_t>(out[1] %
                                 static_cast<Word>(std::max<int64_t>(o.shape[static_cast<size_t>(o.indexed)], 1)));
      out[i] = load(s, o, j);
    }
    return out;
  }

  Word load(const Statement&, const Operand& o, int64_t j) {
    const Storage& from = memory_.at(o.tensor);
    size_t at = 0;
    if (o.home == Home::memory || o.home == Home::logical) at = place(o.at, from.dims, *o.tensor, "a read", j);
    if (o.home == Home::buffer) {
      if (o.loaded != SIZE_MAX) expressions_.value(o.loaded) = j;
      at = place(o.buffer, from.dims, *o.tensor, "a read");
    }
    if (at >= from.written.size() || from.written[at] == 0)
      throw Wrong{fmt::format("%{} is read before it is written", o.tensor->name)};
    return from.values[at];
  }

  void compare() {
    for (const TensorView* t : tree_.outputs) {
      const Storage& s = memory_.at(t);
      for (size_t i = 0; i < s.values.size(); ++i) {
        if (s.written[i] == 0) throw Wrong{fmt::format("an element of %{} is never written", t->name)};
        if (s.values[i] != want_.at(t)[i]) throw Wrong{fmt::format("a wrong value in %{}", t->name)};
      }
    }
  }

  const Case& case_;
  const LoopTree& tree_;
  const std::map<const TensorView*, Array>& want_;
  Counts& counts_;
  Expressions expressions_;
  const int64_t limit_;
  std::vector<std::pair<size_t, int>> loops_;  // slot, extent
  std::map<const TensorView*, Storage> memory_;
  std::map<const Op*, Statement> statements_;
  std::map<int, std::vector<Statement*>> values_at_;
};

}  // namespace

std::string interpret(const Case& c, const LoopTree& tree, const std::map<const TensorView*, Array>& want,
                      Counts& counts) {
  return Interpreter(c, tree, want, counts).run();
}

}  // namespace plait::tree_oracle
