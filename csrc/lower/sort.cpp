// A sort of one row: a heap in the results' memory. The first elements fill it, those behind them come in where they
// stand before its last one, and at the end the last ones leave it from the end of the row on. Elements are ordered by
// value and, of equals, by index, so that the order is the stable one, whatever the heap does.
#include "base/error.h"
#include "lower/statements.h"

namespace plait::lowering {

// A value, as it is ordered, and its index.
struct Statements::Element {
  kir::Value key, index;
};

struct Statements::Heap {
  const Sort* op;
  uint32_t values, indices;  // buffers
  std::vector<sym::Expr> own;
  sym::Expr levels;  // that an element may sink
};

// for var in 0 .. extent: body(var), serial.
template <class Fn>
void Statements::counted(sym::Expr extent, Fn&& body) {
  Loop l;
  l.extent = extent;
  l.var = state_.pool->symbol(fmt::format("s{}", symbols_++), sym::index_facts(extent));
  loop(l, extent, [&] { body(l.var); });
}

kir::Value Statements::stored(uint32_t buffer, sym::Expr index) {
  auto stmt = std::make_unique<kir::Load>();
  stmt->buffer = buffer;
  stmt->out = fresh(compute_type(state_.kernel.buffers[buffer].dtype), 1);
  stmt->index = index;
  return put(std::move(stmt), innermost());
}

void Statements::put_in(uint32_t buffer, sym::Expr index, kir::Value in) {
  auto stmt = std::make_unique<kir::Store>();
  stmt->buffer = buffer;
  stmt->index = index;
  stmt->in = convert(in, compute_type(state_.kernel.buffers[buffer].dtype));
  levels_.back().block->push_back(std::move(stmt));
}

// Whether a stands before b. A NaN is the greatest; of equals the lower index is first.
kir::Value Statements::precedes(const Heap& heap, const Element& a, const Element& b) {
  const bool falls = heap.op->descending, real = is_float(heap.op->in->dtype);
  const auto both = [&](kir::Value x, kir::Value y) { return apply(Pointwise::logical_and, {x, y}); };
  const auto either = [&](kir::Value x, kir::Value y) { return apply(Pointwise::logical_or, {x, y}); };
  kir::Value less = apply(falls ? Pointwise::gt : Pointwise::lt, {a.key, b.key});
  kir::Value equal = apply(Pointwise::eq, {a.key, b.key});
  if (real) {
    const kir::Value nan_a = apply(Pointwise::ne, {a.key, a.key}), nan_b = apply(Pointwise::ne, {b.key, b.key});
    const kir::Value number = apply(Pointwise::logical_not, {falls ? nan_b : nan_a});
    less = either(less, both(falls ? nan_a : nan_b, number));
    equal = either(equal, both(nan_a, nan_b));
  }
  return either(less, both(equal, apply(Pointwise::lt, {a.index, b.index})));
}

// Levels below the root of a heap of as many elements as the row has places.
kir::Value Statements::levels_of(const Heap& heap) {
  const size_t dim = static_cast<size_t>(heap.op->dim);
  const kir::Value places = coordinate(state_.extent(heap.op->results[0]->extent(dim)), 1);
  const kir::Value levels = variable(Constant::from_int64(DType::i64, 0), 1);
  const kir::Value width = variable(Constant::from_int64(DType::i64, 2), 1);
  counted(state_.pool->constant(62), [&](sym::Expr) {
    const kir::Value one = number(1);
    const kir::Value more = apply(Pointwise::le, {width, places});
    assign(levels, apply(Pointwise::where, {more, apply(Pointwise::add, {levels, one}), levels}));
    assign(width, apply(Pointwise::where, {more, apply(Pointwise::add, {width, width}), width}));
  });
  return levels;
}

// The item sinks from a place to where nothing below it stands behind it, in a heap of `size` elements.
void Statements::sift(const Heap& heap, kir::Value from, sym::Expr size, const Element& item) {
  const size_t dim = static_cast<size_t>(heap.op->dim);
  const DType key_type = item.key.dtype;
  const auto offset = [&](sym::Expr place) {
    std::vector<sym::Expr> at = heap.own;
    at[dim] = place;
    return placed(memory_offset(state_, *heap.op->results[0], at), {});
  };
  const auto element = [&](sym::Expr place) {
    const sym::Expr index = offset(place);
    return Element{convert(stored(heap.values, index), key_type), stored(heap.indices, index)};
  };
  const kir::Value hole = variable(Constant::from_int64(DType::i64, 0), 1);  // where the item would be put
  const kir::Value next = variable(Constant::from_int64(DType::i64, 0), 1);  // the same, beyond all where it stays
  assign(hole, from);
  assign(next, from);
  counted(heap.levels, [&](sym::Expr) {
    const sym::Expr child = bind(next) * 2 + 1;
    guard(sym::logical_and(sym::ge(child, 0), sym::lt(child, size)), [&] {
      const kir::Value best = variable(Constant::from_int64(DType::i64, 0), 1);
      const kir::Value key = variable(Constant::from_int64(key_type, 0), 1);
      const kir::Value index = variable(Constant::from_int64(DType::i64, 0), 1);
      const Element first = element(child);
      assign(best, coordinate(child, 1));
      assign(key, first.key);
      assign(index, first.index);
      guard(sym::lt(child + 1, size), [&] {
        const Element second = element(child + 1);
        const kir::Value behind = precedes(heap, {key, index}, second);
        assign(best, apply(Pointwise::where, {behind, coordinate(child + 1, 1), best}));
        assign(index, apply(Pointwise::where, {behind, second.index, index}));
        assign(key, apply(Pointwise::where, {behind, second.key, key}));
      });
      const kir::Value sinks = precedes(heap, item, {key, index});
      const sym::Expr to = bind(hole);
      const kir::Value stop = coordinate(size, 1);
      assign(next, apply(Pointwise::where, {sinks, best, stop}));
      assign(hole, apply(Pointwise::where, {sinks, best, hole}));
      const sym::Expr up = offset(to);
      guard(sym::logical_and(sym::ge(to, 0), sym::lt(to, size)), [&] {
        put_in(heap.values, up, apply(Pointwise::where, {sinks, key, item.key}));
        put_in(heap.indices, up, apply(Pointwise::where, {sinks, index, item.index}));
      });
    });
  });
  const sym::Expr end = bind(hole);
  guard(sym::logical_and(sym::ge(end, 0), sym::lt(end, size)), [&] {
    put_in(heap.values, offset(end), item.key);
    put_in(heap.indices, offset(end), item.index);
  });
}

void Statements::sort(const Leaf& leaf) {
  leaf_ = &leaf;
  for (const Replacements& copy : leaf.copies) sort(copy);
  leaf_ = nullptr;
}

void Statements::sort(const Replacements& copy) {
  const auto& op = *as<Sort>(*state_.group.ops.front());
  const size_t dim = static_cast<size_t>(op.dim);
  const auto first = static_cast<uint32_t>(state_.segment.inputs.size());
  PLAIT_CHECK(state_.segment.outputs.size() == 2, "{} stores {} results", describe(op), state_.segment.outputs.size());
  const bool swapped = state_.segment.outputs[0] != op.results[0];
  Heap heap{&op, first + (swapped ? 1 : 0), first + (swapped ? 0 : 1), own_coordinates(*op.results[0], copy), {}};
  const sym::Expr places = state_.extent(op.results[0]->extent(dim)), count = state_.extent(op.in->extent(dim));
  const DType key_type = ordered_type(op.in->dtype);
  const auto offset = [&](sym::Expr place) {
    std::vector<sym::Expr> at = heap.own;
    at[dim] = place;
    return placed(memory_offset(state_, *op.results[0], at), {});
  };
  const auto given = [&](sym::Expr place) {
    std::vector<sym::Expr> at = heap.own;
    at[dim] = place;
    return Element{convert(load_at(*op.in, at, 1), key_type), coordinate(place, 1)};
  };
  const auto element = [&](sym::Expr place) {
    const sym::Expr index = offset(place);
    return Element{convert(stored(heap.values, index), key_type), stored(heap.indices, index)};
  };
  const auto put = [&](sym::Expr place, const Element& x) {
    put_in(heap.values, offset(place), x.key);
    put_in(heap.indices, offset(place), x.index);
  };
  const bool one = places.constant() == 1;
  if (!one) heap.levels = bind(levels_of(heap));
  counted(places, [&](sym::Expr i) { put(i, given(i)); });
  const sym::Expr half = sym::floordiv(places, 2);
  if (!one)
    counted(half, [&](sym::Expr i) {
      const sym::Expr from = half - 1 - i;
      const Element item = element(from);
      sift(heap, coordinate(from, 1), places, item);
    });
  if (places != count)
    guard(sym::gt(places, 0), [&] {
      counted(count - places, [&](sym::Expr i) {
        const Element x = given(places + i), last = element(state_.pool->constant(0));
        const kir::Value enters = variable(Constant::from_int64(DType::i64, 0), 1);
        assign(enters, convert(precedes(heap, x, last), DType::i64));
        guard(sym::gt(bind(enters), 0), [&] {
          if (one) return put(state_.pool->constant(0), x);
          sift(heap, number(0), places, x);
        });
      });
    });
  if (one) return;
  counted(places - 1, [&](sym::Expr i) {
    const sym::Expr last = places - 1 - i;
    const Element greatest = element(state_.pool->constant(0)), item = element(last);
    put(last, greatest);
    sift(heap, number(0), last, item);
  });
}

}  // namespace plait::lowering
