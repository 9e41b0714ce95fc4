#include "base/error.h"
#include "support/loop_tree_case.h"
#include "support/loop_tree_expressions.h"
#include "support/loop_tree_threads.h"

namespace plait::tree_oracle {

namespace {

struct Storage {
  std::vector<int64_t> dims;
  Array values;
  std::vector<int> written;  // where; -1: not yet
  void reset(std::vector<int64_t> shape) {
    dims = std::move(shape);
    int64_t n = 1;
    for (int64_t d : dims) n *= d;
    values.assign(static_cast<size_t>(n), 0);
    written.assign(static_cast<size_t>(n), -1);
  }
  void die() {
    values.clear();
    written.clear();
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

// Elements of a workspace, a value each for every result; the phase that wrote them, or -1.
struct Saved {
  Ids index;
  std::vector<int64_t> dims;
  std::vector<Array> values;
  std::vector<int> phase;
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
  std::vector<int> started;  // where the state was last met; -1: not yet
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
      run_phase(tree_.items);
      for (const std::vector<TreeItem>& items : tree_.later) run_phase(items);
      counts_.phases += phase_ - 1;
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
      s.written.assign(s.written.size(), threads_.here());
    }
    for (const Op* op : case_.fusion->ops()) prepare(tree_.ops.at(op));
    for (const TreeLoop& l : tree_.loops)
      loops_.push_back({expressions_.slot(l.var.symbol_name()), expressions_.add(l.extent), lives_in(l.items)});
    for (const auto& [op, workspace] : tree_.parts) parts_[op] = prepare(workspace, op->results.size());
    for (const auto& [op, workspace] : tree_.begins) begins_[op] = add(workspace.index);
    for (const auto& [tensor, workspace] : tree_.cross) cross_[tensor] = prepare(workspace, 1);
  }

  Saved prepare(const Workspace& workspace, size_t results) {
    Saved out{add(workspace.index), {}, {}, {}};
    size_t count = 1;
    for (sym::Expr e : workspace.dims) {
      out.dims.push_back(expressions_.evaluate(expressions_.add(e)));
      count *= static_cast<size_t>(out.dims.back());
    }
    out.values.assign(results, Array(count, 0));
    out.phase.assign(count, -1);
    return out;
  }

  // Values and buffers that come to life in a body.
  struct Lives {
    std::vector<Statement*> values, buffers;
  };
  Lives lives_in(const std::vector<TreeItem>& items) {
    Lives out;
    for (const TreeItem& i : items) {
      if (i.op == nullptr) continue;
      Statement& s = statements_.at(i.op);
      const bool makes = i.kind == TreeItem::Kind::finish || (i.kind == TreeItem::Kind::op && !s.sums);
      if (makes && s.placed->home == Home::value) out.values.push_back(&s);
      if (i.kind == TreeItem::Kind::alloc) out.buffers.push_back(&s);
    }
    return out;
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

  void run_phase(const std::vector<TreeItem>& items) {
    run(items, lives_in(items));
    ++phase_;
  }

  void run(const std::vector<TreeItem>& items, const Lives& lives) {
    for (Statement* s : lives.values)
      for (Storage* t : s->targets) t->reset({});
    for (const TreeItem& i : items) run(i);
    for (const auto* list : {&lives.values, &lives.buffers})
      for (Statement* s : *list)
        for (Storage* t : s->targets) t->die();
  }

  void run_loop(int id) {
    const Loop& loop = loops_[static_cast<size_t>(id)];
    const TreeLoop& l = tree_.loops[static_cast<size_t>(id)];
    const int64_t n = expressions_.evaluate(loop.extent);
    const bool at_once = runs_at_once(l.parallel);
    const AnyOrder order(case_.seed * 131 + static_cast<uint64_t>(id) * 7, at_once ? n : 1);
    if (at_once && !is_of_block(l.parallel) && in_turn_ > 0)
      throw Wrong{fmt::format("a loop over {} inside of a serial one", name(l.parallel))};
    if (at_once)
      if (std::string reason = threads_.begin(l.parallel); !reason.empty()) throw Wrong{reason};
    in_turn_ += !at_once;
    for (int64_t i = 0; i < n; ++i) {
      if (++counts_.loops > limit_) throw Stop{};
      if (at_once) threads_.next();
      const int64_t any = at_once ? order.at(i) : i;
      expressions_.value(loop.slot) = l.order == LoopOrder::any ? any : l.order == LoopOrder::backward ? n - 1 - i : i;
      run(l.items, loop.lives);
    }
    in_turn_ -= !at_once;
    if (!at_once) return;
    threads_.end();
    counts_.iterations[l.parallel] += n;
  }

  void run(const TreeItem& item) {
    switch (item.kind) {
      case TreeItem::Kind::loop:
        return run_loop(item.loop);
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
        return save(statements_.at(item.op));
      case TreeItem::Kind::merge:
        return merge(statements_.at(item.op), item.loop);
      case TreeItem::Kind::part:
        throw Wrong{"results of parts are of sums of exponentials, which are not drawn"};
    }
  }

  size_t state_place(const Statement& s, size_t& count) const {
    size_t out = 0;
    count = 1;
    for (int l : s.placed->state_loops) {
      const Loop& loop = loops_[static_cast<size_t>(l)];
      const auto n = static_cast<size_t>(expressions_.evaluate(loop.extent));
      out = out * n + static_cast<size_t>(const_cast<Expressions&>(expressions_).value(loop.slot));
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
      s.started.assign(count, -1);
    }
    if (s.started[at] >= 0 && !s.scan) throw Wrong{"initial values twice of " + describe(*s.placed->op)};
    s.started[at] = threads_.here();
    for (Array& a : s.state) a[at] = 0;
    if (const auto begin = begins_.find(s.placed->op); begin != begins_.end()) begin_part(s, at, begin->second);
  }

  // A scan begins with its total in front of the part; of rows that are none, without. Where no phase has merged totals
  // it merges those in front of it, which are the first ones.
  void begin_part(Statement& s, size_t state, const Ids& index) {
    const Op* op = tree_.totals.at(s.placed->op);
    const Saved& from = parts_.at(op);
    const size_t at = place(index, from.dims, *op->results[0], "a part");
    s.started[state] = from.phase[at] < 0 ? -1 : threads_.here();
    if (from.phase[at] >= 0 && is_merged(op)) s.state[0][state] = read_saved(from, at, 0, *op->results[0]);
    if (from.phase[at] >= 0 && !is_merged(op)) {
      const auto pitch = from.values[0].size() / static_cast<size_t>(from.dims[0]);
      for (size_t part = at % pitch; part < at; part += pitch, ++counts_.merged)
        s.state[0][state] += read_saved(from, part, 0, *op->results[0]);
    }
    ++counts_.begun;
  }

  bool is_merged(const Op* op) const {
    return std::ranges::any_of(tree_.later, [&](const auto& items) { return has_merge(items, op); });
  }
  bool has_merge(const std::vector<TreeItem>& items, const Op* op) const {
    return std::ranges::any_of(items, [&](const TreeItem& i) {
      if (i.kind == TreeItem::Kind::loop) return has_merge(tree_.loops[static_cast<size_t>(i.loop)].items, op);
      return i.kind == TreeItem::Kind::merge && i.op == op;
    });
  }

  Word read_saved(const Saved& from, size_t at, size_t result, const TensorView& t) const {
    if (from.phase[at] < 0) throw Wrong{fmt::format("%{} is read before it is saved", t.name)};
    if (from.phase[at] >= phase_) throw Wrong{fmt::format("%{} is read in the phase that saves it", t.name)};
    return from.values[result][at];
  }

  void write_saved(Saved& to, size_t at, const std::vector<Word>& values, const TensorView& t) {
    if (to.phase[at] >= 0) throw Wrong{fmt::format("an element of %{} is saved twice", t.name)};
    to.phase[at] = phase_;
    for (size_t r = 0; r < values.size(); ++r) to.values[r][at] = values[r];
  }

  // The state of a part goes to its workspace.
  void save(Statement& s) {
    if (!holds(s.write)) return;
    const TensorView& t = *s.placed->op->results[0];
    Saved& to = parts_.at(s.placed->op);
    write_saved(to, place(to.index, to.dims, t, "a part"), take_state(s), t);
  }

  // The states of all parts become one; of a total, each becomes that of the parts in front of it.
  void merge(Statement& s, int loop) {
    if (!holds(s.write)) return;
    const TensorView& t = *s.placed->op->results[0];
    Saved& from = parts_.at(s.placed->op);
    std::vector<Word> sums(s.targets.size(), 0);
    const int64_t n = expressions_.evaluate(loops_[static_cast<size_t>(loop)].extent);
    for (int64_t part = 0; part < n; ++part, ++counts_.merged) {
      expressions_.value(loops_[static_cast<size_t>(loop)].slot) = part;
      const size_t at = place(from.index, from.dims, t, "a part");
      for (size_t r = 0; r < sums.size(); ++r) {
        const Word before = sums[r];
        sums[r] += read_saved(from, at, r, t);
        if (tree_.is_total(s.placed->op)) from.values[r][at] = before;
      }
      if (tree_.is_total(s.placed->op)) from.phase[at] = phase_;
    }
    s.state.clear();
    for (const Word sum : sums) s.state.push_back({sum});
    s.started = {tree_.is_total(s.placed->op) ? -1 : threads_.here()};
  }

  // What is left of a state at its end.
  std::vector<Word> take_state(Statement& s) {
    size_t count = 0;
    const size_t at = state_place(s, count);
    if (s.started.size() != count || s.started[at] < 0)
      throw Wrong{"a result without initial values of " + describe(*s.placed->op)};
    s.started[at] = -1;
    std::vector<Word> out;
    for (const Array& a : s.state) out.push_back(a[at]);
    return out;
  }

  // Threads of a block may add to one state, and scan in order; tasks and blocks have states of their own.
  void meet_state(Statement& s, size_t at, const char* what) {
    if (s.started.size() <= at || s.started[at] < 0)
      throw Wrong{fmt::format("{} without initial values of {}", what, describe(*s.placed->op))};
    int& last = s.started[at];
    if (threads_.has_met(last)) {
      last = threads_.here();
      return;
    }
    const ParallelType kind = threads_.kind_of(threads_.running(last));
    if (s.scan ? kind != ParallelType::thread_x : !is_of_block(kind))
      throw Wrong{
          fmt::format("the state of %{} goes through iterations of {}", s.placed->op->results[0]->name, name(kind))};
    last = threads_.together(last);
  }

  void finish(Statement& s) {
    if (holds(s.write)) store(s, take_state(s));
  }

  void execute(Statement& s) {
    ++counts_.statements;
    const Op& op = *s.placed->op;
    if (!holds(s.write)) return;
    if (s.sums) {
      if (!holds(s.reduce)) return;
      size_t count = 0;
      const size_t at = state_place(s, count);
      meet_state(s, at, "an element");
      const std::vector<Word> in = load(s);
      const Op* scan = tree_.scan_of_total(&op);
      for (size_t r = 0; r < s.state.size(); ++r) s.state[r][at] += element(scan != nullptr ? *scan : op, r, in);
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
    meet_state(s, at, "an element");
    const std::vector<Word> in = load(s);
    std::vector<Word> out;
    for (size_t r = 0; r < s.state.size(); ++r) {
      Word& state = s.state[r][at];
      const Word before = state;
      state = scanned(case_, *s.placed->op, state, element(*s.placed->op, r, in));
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
      if (to.written[at] >= 0) throw Wrong{fmt::format("an element of %{} is written twice", t.name)};
      to.written[at] = threads_.here();
      to.values[at] = values[r];
      if (const auto kept = cross_.find(&t); kept != cross_.end())
        write_saved(kept->second, place(kept->second.index, kept->second.dims, t, "a workspace"), {values[r]}, t);
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
    const auto kept = o.home == Home::value ? cross_.find(o.tensor) : cross_.end();
    const bool is_there = at < from.written.size() && from.written[at] >= 0;
    if (!is_there && kept != cross_.end()) {
      ++counts_.crossed;
      const Saved& saved = kept->second;
      return read_saved(saved, place(saved.index, saved.dims, *o.tensor, "a workspace"), 0, *o.tensor);
    }
    if (!is_there) throw Wrong{fmt::format("%{} is read before it is written", o.tensor->name)};
    const int writer = from.written[at];
    if (writer == threads_.here()) return from.values[at];
    if (!threads_.has_met(writer))
      throw Wrong{fmt::format("%{} is read by another iteration of {} than writes it", o.tensor->name,
                              name(threads_.kind_of(threads_.running(writer))))};
    counts_.met += threads_.running(writer) != writer;
    return from.values[at];
  }

  void compare() {
    for (const TensorView* t : tree_.outputs) {
      const Storage& s = memory_.at(t);
      for (size_t i = 0; i < s.values.size(); ++i) {
        if (s.written[i] < 0) throw Wrong{fmt::format("an element of %{} is never written", t->name)};
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
  struct Loop {
    size_t slot;
    int extent;
    Lives lives;
  };
  std::vector<Loop> loops_;
  std::map<const TensorView*, Storage> memory_;
  std::map<const Op*, Statement> statements_;
  std::map<const Op*, Saved> parts_;
  std::map<const Op*, Ids> begins_;
  std::map<const TensorView*, Saved> cross_;
  Threads threads_;
  int in_turn_ = 0;  // serial loops around
  int phase_ = 0;
};

}  // namespace

std::string interpret(const Case& c, const LoopTree& tree, const std::map<const TensorView*, Array>& want,
                      Counts& counts) {
  return Interpreter(c, tree, want, counts).run();
}

}  // namespace plait::tree_oracle
