#include "support/random_kernel.h"

#include <algorithm>

namespace plait::test {
namespace {

using kir::Access;
using kir::LoopKind;
using kir::Value;
using sym::Expr;

constexpr int64_t kMostColumns = 256;

class KernelGenerator {
 public:
  explicit KernelGenerator(uint64_t seed) : rng_(seed), b_("random_kernel") {}

  RandomKernel run() {
    width_ = one_of<int>({4, 8, 16});
    rows_ = b_.integer("rows");
    const bool divides = chance(5);
    columns_ = b_.integer("columns", {.lo = 0, .hi = kMostColumns, .multiple_of = divides ? width_ : 1});
    x_ = b_.reads("x", DType::f32, rows_ * columns_);
    w_ = b_.reads("w", DType::f32, columns_);
    s_ = b_.reads("s", DType::f32, rows_);
    index_ = b_.reads("index", DType::i64, columns_);
    seed_ = b_.reads("seed", DType::u64, b_.number(1));
    narrow_ = b_.reads("narrow", DType::bf16, columns_);
    y_ = b_.writes("y", DType::f32, rows_ * columns_);
    z_ = b_.writes("z", DType::f32, rows_);
    if (chance(4))
      columns_first();
    else
      rows_first();
    return {std::move(b_.kernel), exact_};
  }

 private:
  bool chance(int of) { return rng_() % static_cast<uint64_t>(of) == 0; }
  template <class T>
  T one_of(std::initializer_list<T> all) {
    return all.begin()[rng_() % all.size()];
  }
  std::string name(const char* of) { return of + std::to_string(names_++); }

  Expr loop(const char* of, Expr extent, LoopKind kind = LoopKind::serial, bool unroll = false) {
    const Expr var = b_.loop(name(of), extent, kind);
    open_ += 1;
    if (unroll) mark_unrolled(b_.kernel.phases[0].body, var);
    return var;
  }
  static void mark_unrolled(kir::Block& body, Expr var) {
    for (auto& stmt : body) {
      if (stmt->kind != kir::StmtKind::For) continue;
      auto& loop = static_cast<kir::For&>(*stmt);
      if (loop.var == var) loop.unroll = true;
      mark_unrolled(loop.body, var);
    }
  }
  void branch(Expr condition) {
    b_.branch(condition);
    open_ += 1;
  }
  void close(int down_to) {
    for (; open_ > down_to; --open_) b_.end();
  }

  // Loops over the columns; what body(column) does stands under their condition.
  template <class Body>
  void over_columns(Body&& body) {
    const int before = open_;
    const Expr at = column_loops();
    if (!sym::proven(sym::lt(at, columns_))) branch(sym::lt(at, columns_));
    column_ = at;
    body(at);
    close(before);
  }

  Expr column_loops() {
    const int64_t copies = one_of<int64_t>({1, 1, 2, 4});
    const int64_t tile = one_of<int64_t>({0, 0, 3});
    const int64_t step = width_ * copies;
    Expr at = b_.number(0);
    if (tile > 0) {
      at = loop("a", sym::ceildiv(columns_, step * tile)) * (step * tile);
      at = at + loop("i", b_.number(tile)) * step;
    } else {
      at = loop("i", sym::ceildiv(columns_, step)) * step;
    }
    if (copies > 1) at = at + loop("u", b_.number(copies), LoopKind::serial, !chance(3)) * width_;
    return at + loop("l", b_.number(width_), LoopKind::lanes);
  }

  // A value of the column and row.
  Value element(int depth) {
    if (depth == 0 || chance(5)) return leaf();
    const Value a = element(depth - 1), c = element(depth - 1);
    switch (rng_() % 5) {
      case 0:
        return b_.compute(Pointwise::add, {a, c});
      case 1:
        return b_.compute(Pointwise::sub, {a, c});
      case 2:
        return b_.compute(Pointwise::max, {a, c});
      case 3:
        return b_.compute(Pointwise::where, {b_.compute(Pointwise::lt, {a, c}), a, c});
      default:
        return b_.compute(Pointwise::min, {a, b_.compute(Pointwise::neg, {c})});
    }
  }

  Value leaf() {
    switch (rng_() % 12) {
      case 0:
        return b_.load(w_, column_, 1, Access::contiguous);
      case 1:
        return b_.load(s_, row_, 1, Access::contiguous);
      case 2:
        return b_.literal(DType::f32, 3, 1);
      case 3:
        return part(sym::lt(column_, columns_ - 5), row_ * columns_ + column_ + 5);
      case 4:
        return part(sym::logical_and(sym::ge(column_, 3), sym::lt(column_, columns_ - 2)),
                    row_ * columns_ + column_ - 3);
      case 5:
        return part(sym::eq(sym::mod(column_, 3), 0), row_ * columns_ + column_);
      case 6:
        return gather();
      case 7:
        return b_.convert(b_.coordinate(column_ * 2 + row_, 1), DType::f32, 1);
      case 8:
        return uniform();
      case 9:
        return b_.round(b_.load(narrow_, column_, 1, Access::contiguous), DType::bf16);
      case 10:
        return values_.empty() ? b_.literal(DType::f32, -1, 1) : values_[rng_() % values_.size()];
      default:
        return rows_of_ ? b_.load(*rows_of_, column_, 1, Access::contiguous)
                        : b_.load(x_, row_ * columns_ + column_, 1, Access::contiguous);
    }
  }

  // What is read under a condition, else a number.
  Value part(Expr condition, Expr at) {
    const Value v = b_.variable(DType::f32, 7, 1);
    branch(condition);
    b_.assign(v, b_.load(x_, at, 1, Access::contiguous));
    close(open_ - 1);
    return v;
  }

  // By an index of the column, or of the row's first one.
  Value gather() {
    const Expr at = chance(2) ? column_ : b_.number(0);
    const Expr j = b_.bind(name("j"), b_.load(index_, at, 1, Access::contiguous));
    return part(sym::logical_and(sym::ge(j, 0), sym::lt(j, columns_)), row_ * columns_ + j);
  }

  Value uniform() {
    const Value seed = b_.load(seed_, b_.number(0), 1, Access::contiguous);
    const Value u = b_.random(seed, row_ * columns_ + column_, 5, 1);
    return b_.compute(Pointwise::floor, {b_.compute(Pointwise::mul, {u, b_.literal(DType::f32, 8, 1)})});
  }

  struct Reduction {
    Combine combine;
    std::vector<Value> state;
  };

  Reduction start() {
    const Combine combine = one_of({Combine::sum, Combine::sum, Combine::greatest, Combine::least, Combine::variance,
                                    Combine::first_greatest, Combine::first_least, Combine::any, Combine::log_sum_exp});
    exact_ &= combine != Combine::variance && combine != Combine::log_sum_exp;
    const DType element = combine == Combine::any ? DType::boolean : DType::f32;
    return {combine, b_.start(combine, state_types(combine, element))};
  }
  void accumulate(const Reduction& r, Value v, Expr position) {
    if (r.combine == Combine::any) v = b_.compute(Pointwise::gt, {v, b_.literal(DType::f32, 10, 1)});
    std::vector<Value> in{v};
    if (has_position(r.combine)) in.push_back(b_.coordinate(position, 1));
    b_.accumulate(r.combine, r.state, in);
  }
  Value finish(const Reduction& r) {
    const std::vector<Value> out = b_.fold(r.combine, r.state);
    const Value v = out[chance(2) ? 0 : out.size() - 1];
    return v.dtype == DType::f32 ? v : b_.convert(v, DType::f32, 1);
  }

  void rows_first() {
    row_ = loop("r", rows_, LoopKind::cpu_thread);
    if (chance(2)) {
      rows_of_.reset();
      const uint32_t row = b_.stack("row", DType::f32, columns_);
      over_columns([&](Expr at) { b_.store(row, at, element(2), Access::contiguous); });
      rows_of_ = row;
    }
    const int reductions = static_cast<int>(rng_() % 3);
    for (int i = 0; i < reductions; ++i) {
      const Reduction r = start();
      if (chance(3))
        in_parts(r);
      else
        over_columns([&](Expr at) { accumulate(r, element(2), at); });
      values_.push_back(finish(r));
    }
    over_columns([&](Expr at) { b_.store(y_, row_ * columns_ + at, element(3), Access::contiguous); });
    store_row();
  }

  // Tiles are combined by themselves.
  void in_parts(const Reduction& r) {
    const int before = open_;
    const int64_t tile = 4 * width_;
    const Expr a = loop("a", sym::ceildiv(columns_, tile));
    const Reduction part{r.combine, b_.start(r.combine, types_of(r.state))};
    const int inside = open_;
    const Expr i = loop("i", b_.number(4));
    const Expr at = a * tile + i * width_ + loop("l", b_.number(width_), LoopKind::lanes);
    branch(sym::lt(at, columns_));
    column_ = at;
    accumulate(part, element(2), at);
    close(inside);
    b_.merge(r.combine, r.state, part.state);
    close(before);
  }
  static std::vector<DType> types_of(const std::vector<Value>& values) {
    std::vector<DType> out;
    for (const Value& v : values) out.push_back(v.dtype);
    return out;
  }

  void store_row() {
    Value v = b_.load(s_, row_, 1, Access::contiguous);
    for (const Value& more : values_) v = b_.compute(Pointwise::add, {v, more});
    b_.store(z_, row_, v, Access::contiguous);
  }

  // Lanes run along columns that are kept, and every lane goes down the rows.
  void columns_first() {
    const bool tasks = chance(2);
    const int64_t tile = width_ * 4;
    Expr at;
    if (tasks) {
      at = loop("t", sym::ceildiv(columns_, width_), LoopKind::cpu_thread) * width_;
    } else {
      at = loop("t", sym::ceildiv(columns_, tile), LoopKind::cpu_thread) * tile;
      at = at + loop("i", b_.number(4)) * width_;
    }
    at = at + loop("l", b_.number(width_), LoopKind::lanes);
    branch(sym::lt(at, columns_));
    column_ = at;
    const Reduction r = start();
    const int inside = open_;
    row_ = loop("k", rows_);
    accumulate(r, element(2), row_);
    close(inside);
    values_.push_back(finish(r));
    row_ = loop("k", rows_);
    b_.store(y_, row_ * columns_ + column_, element(2), Access::contiguous);
  }

  std::mt19937_64 rng_;
  KernelBuilder b_;
  int width_ = 8, names_ = 0, open_ = 0;
  bool exact_ = true;
  Expr rows_, columns_, row_, column_;
  uint32_t x_ = 0, w_ = 0, s_ = 0, index_ = 0, seed_ = 0, narrow_ = 0, y_ = 0, z_ = 0;
  std::optional<uint32_t> rows_of_;  // a stack buffer of a row
  std::vector<Value> values_;        // of the row
};

}  // namespace

RandomKernel random_kernel(uint64_t seed) { return KernelGenerator(seed).run(); }

std::vector<Tensor> random_kernel_tensors(int64_t rows, int64_t columns, uint64_t seed) {
  std::mt19937_64 rng(seed);
  const auto numbers = [&](DType dtype, int64_t count, int64_t least, int64_t most) {
    std::vector<double> out;
    for (int64_t i = 0; i < count; ++i)
      out.push_back(static_cast<double>(least + static_cast<int64_t>(rng() % static_cast<uint64_t>(most - least + 1))));
    return Tensor::from_doubles(dtype, {count}, out);
  };
  return {numbers(DType::f32, rows * columns, -9, 9),
          numbers(DType::f32, columns, -4, 4),
          numbers(DType::f32, rows, -4, 4),
          numbers(DType::i64, columns, -1, columns),
          numbers(DType::u64, 1, 1, 1 << 20),
          numbers(DType::bf16, columns, -9, 9),
          numbers(DType::f32, rows * columns, 77, 77),
          numbers(DType::f32, rows, 77, 77)};
}

}  // namespace plait::test
