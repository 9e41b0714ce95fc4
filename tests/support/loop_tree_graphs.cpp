#include <algorithm>
#include <numeric>
#include <random>

#include "axes/transforms.h"
#include "base/error.h"
#include "build/ops.h"
#include "support/loop_tree_case.h"

namespace plait::tree_oracle {

namespace {

class Generator {
 public:
  explicit Generator(uint64_t seed)
      : random_(static_cast<uint32_t>(seed * 7919u + 13u)), launch_(static_cast<uint32_t>(seed * 104729u + 7u)) {
    case_.seed = seed;
    case_.fusion = std::make_unique<Fusion>();
  }

  Case make() {
    symbolic_ = draw(3) == 0;
    name_sizes();
    std::vector<sym::Expr> shape;
    for (size_t i = 1 + draw(3); i > 0; --i) shape.push_back(extent());
    if (shape.size() > 1 && draw(4) == 0) shape[1] = shape[0];
    const size_t kind = launch_() % 16;
    const bool rows = kind < 2, promotes = kind == 2;
    if (rows && draw(3) != 0) shape.back() = fusion().pool().constant(static_cast<int64_t>(5 + draw(5)));
    tensors_.push_back(input(shape));
    if (draw(2) == 0) tensors_.push_back(input(shape));
    const size_t length = 2 + draw(8);
    for (size_t i = 0; i < length; ++i) {
      try {
        rows ? step_of_rows() : step();
      } catch (const UserError&) {  // an op that the shapes do not allow
      }
    }
    while (fusion().ops().empty()) add_tensor(neg(tensors_[0]));
    if (promotes) scan_of_rank_three();
    choose_outputs();
    case_.fused = launch_() % 2 == 0;
    if (rows && choose_rows()) return std::move(case_);
    if (!promotes || !merge_left_over()) choose_schedule();
    choose_threads();
    return std::move(case_);
  }

 private:
  Fusion& fusion() { return *case_.fusion; }
  size_t draw(size_t n) { return random_() % n; }
  bool coin(size_t n) { return draw(n) == 0; }

  void name_sizes() {
    const bool positive = draw(4) != 0;
    for (const char* name : {"n", "m"}) {
      if (positive) fusion().given(sym::parse_facts(std::string(name) + ": 1 in 1..40"));
      case_.sizes[name] = static_cast<int64_t>(positive ? 1 + draw(6) : draw(7));
    }
  }

  sym::Expr extent() {
    static constexpr int64_t kExtents[] = {2, 3, 4, 5, 6, 4, 6};
    if (symbolic_ && draw(2) == 0) {
      static const char* const kTexts[] = {"n", "m", "2*n", "n + 1", "3*m", "n"};
      return Fusion::Extent(kTexts[draw(6)]).resolve(fusion());
    }
    return fusion().pool().constant(kExtents[draw(7)]);
  }
  int64_t value(sym::Expr e) const { return sym::evaluate(e, case_.sizes); }
  int64_t elements(const std::vector<sym::Expr>& shape) const {
    int64_t out = 1;
    for (sym::Expr e : shape) out *= std::max<int64_t>(value(e), 1);
    return out;
  }
  bool big(const std::vector<sym::Expr>& shape) const { return shape.size() > 4 || elements(shape) > 600; }

  TensorView* input(const std::vector<sym::Expr>& shape) {
    return fusion().input("x" + std::to_string(inputs_++), {shape.begin(), shape.end()}, i64);
  }

  void add_tensor(TensorView* t) { tensors_.push_back(t); }

  TensorView* latest() {
    const size_t n = tensors_.size();
    return draw(3) != 0 ? tensors_[n - 1 - draw(std::min<size_t>(n, 3))] : tensors_[draw(n)];
  }

  TensorView* unary(TensorView* x) {
    switch (draw(3)) {
      case 0:
        return neg(x);
      case 1:
        return add(x, int64_t{3});
      default:
        return cast(x, i64);
    }
  }
  TensorView* binary(TensorView* a, TensorView* b) {
    switch (draw(3)) {
      case 0:
        return add(a, b);
      case 1:
        return mul(a, b);
      default:
        return sub(a, b);
    }
  }
  TensorView* reduce(TensorView* x, Dims dims, bool keep) {
    switch (draw(4)) {
      case 0:
        return amax(x, dims, keep);
      case 1: {
        const Extremum both = max_with_argmax(x, dims, keep);
        extra_ = both.value;
        return both.position;
      }
      default:
        return sum(x, dims, keep);
    }
  }

  void step() {
    TensorView* x = latest();
    const std::vector<sym::Expr> shape = x->shape();
    const size_t rank = shape.size(), d = rank == 0 ? 0 : draw(rank);
    extra_ = nullptr;
    TensorView* y = nullptr;
    switch (draw(18)) {
      case 0:
        y = unary(x);
        break;
      case 1:
      case 2:
        y = with_another(x);
        break;
      case 3:
        y = outer(x);
        break;
      case 4:
      case 5:
        if (rank > 0) y = summed(x, d);
        break;
      case 6:
        if (rank > 1) y = permute(x, order(rank));
        break;
      case 7:
        if (rank > 1) y = flattened(x, draw(rank - 1));
        break;
      case 8:
        if (rank > 0) y = unflattened(x, d);
        break;
      case 9:
        if (rank > 0) y = resized(x, d);
        break;
      case 10:
        if (rank > 0) y = binary(x, reduce(x, {static_cast<int64_t>(d)}, true));
        break;
      case 11:
        if (rank > 0) y = self_map(x, d);
        break;
      case 12:
        if (rank > 0) y = selected(x, d);
        break;
      case 13:
        if (rank > 0) y = joined(x, d);
        break;
      case 14:
        if (rank > 0) y = moved(x, d);
        break;
      case 15:
        if (rank == 2) y = product(x);
        break;
      case 16:
        if (rank > 0) y = two_sums(x, static_cast<int64_t>(d));
        break;
      default:
        y = made(x);
    }
    for (TensorView* t : {y, extra_})
      if (t != nullptr && !big(t->shape())) add_tensor(t);
  }

  // A pass over rows along the last dim, which reads inputs and what former passes have made of the rows.
  void step_of_rows() {
    TensorView* x = tensors_[draw(tensors_.size())];
    const int64_t last = static_cast<int64_t>(x->rank()) - 1;
    for (size_t i = draw(4); i > 0; --i) {
      const size_t what = draw(3);
      if (what == 0) x = unary(x);
      if (what == 1) x = with_another(x);
      if (what == 2 && !of_rows_.empty()) x = binary(x, of_rows_[draw(of_rows_.size())]);
    }
    const size_t what = draw(6);
    if (what == 0 && x->definition != nullptr) return;  // an output
    if (what == 1) x = scanned_in_parts(x, last);
    if (what == 1 && coin(2)) x = unary(x);
    if (what < 2) return;
    x = reduce(x, {last}, true);
    of_rows_.push_back(coin(3) ? unary(x) : x);
  }

  // Its total is computed in front of it. All scans of a case go one way.
  TensorView* scanned_in_parts(TensorView* x, int64_t dim) {
    const Op* total = sum(x, {dim})->definition;
    TensorView* out = cumsum(x, dim, coin(2), case_.seed / 16 % 2 == 0);
    case_.totals[out->definition] = total;
    return out;
  }
  bool is_total(const Op& op) const {
    return std::any_of(case_.totals.begin(), case_.totals.end(),
                       [&](const auto& entry) { return entry.second == &op; });
  }

  void scan_of_rank_three() {
    TensorView* x = input({extent(), extent(), extent()});
    add_tensor(binary(x, cumsum(coin(2) ? x : unary(x), 2, coin(2), coin(2))));
  }

  TensorView* two_sums(TensorView* x, int64_t d) { return binary(sum(x, {d}, true), amax(x, {d}, true)); }

  static Dims order_of(size_t rank) {
    Dims out(rank);
    std::iota(out.begin(), out.end(), 0);
    return out;
  }
  Dims order(size_t rank) {
    Dims out = order_of(rank);
    std::shuffle(out.begin(), out.end(), random_);
    return out;
  }

  TensorView* with_another(TensorView* x) {
    std::vector<TensorView*> fit;
    for (TensorView* t : tensors_) {
      if (t == x || t->rank() != x->rank()) continue;
      bool fits = true;
      for (size_t i = 0; i < x->rank(); ++i)
        fits = fits && (t->extent(i) == x->extent(i) || t->extent(i).constant() == 1 || x->extent(i).constant() == 1);
      if (fits) fit.push_back(t);
    }
    if (!fit.empty() && draw(5) != 0) return binary(x, fit[draw(fit.size())]);
    std::vector<sym::Expr> shape = x->shape();
    for (sym::Expr& e : shape)
      if (coin(4)) e = fusion().pool().constant(1);
    return binary(x, input(shape));
  }

  TensorView* outer(TensorView* x) {
    if (big(x->shape()) || x->rank() > 3) return nullptr;
    const size_t at = draw(x->rank() + 1);
    TensorView* wide = unsqueeze(x, {static_cast<int64_t>(at)});
    std::vector<sym::Expr> shape = wide->shape();
    shape[at] = extent();
    for (size_t i = 0; i < shape.size(); ++i)
      if (i != at && coin(2)) shape[i] = fusion().pool().constant(1);
    if (coin(4)) return squeeze(wide, {static_cast<int64_t>(at)});
    return binary(wide, input(shape));
  }

  TensorView* summed(TensorView* x, size_t d) {
    Dims dims = {static_cast<int64_t>(d)};
    if (x->rank() > 1 && coin(4)) dims.push_back(static_cast<int64_t>((d + 1) % x->rank()));
    return reduce(x, dims, coin(3));
  }

  TensorView* flattened(TensorView* x, size_t d) {
    std::vector<sym::Expr> shape = x->shape();
    shape[d] = shape[d] * shape[d + 1];
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(d) + 1);
    return reshape(x, {shape.begin(), shape.end()});
  }

  TensorView* unflattened(TensorView* x, size_t d) {
    std::vector<sym::Expr> shape = x->shape();
    std::vector<int64_t> factors;
    const int64_t divisor = sym::divisor(shape[d]);
    for (int64_t k = 2; k < 8; ++k)
      if (divisor % k == 0 && value(shape[d]) > k) factors.push_back(k);
    if (factors.empty() || x->rank() > 3) return nullptr;
    const int64_t k = factors[draw(factors.size())];
    const sym::Expr part = sym::floordiv(shape[d], k);
    const bool inner = coin(2);
    shape[d] = inner ? fusion().pool().constant(k) : part;
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(d) + 1, inner ? part : fusion().pool().constant(k));
    if (coin(3) && x->rank() > 1) {  // together with what stands before
      const size_t before = d == 0 ? 0 : d - 1;
      std::vector<sym::Expr> other = x->shape();
      std::swap(other[before], other[before + 1]);
      return reshape(x, {other.begin(), other.end()});
    }
    return reshape(x, {shape.begin(), shape.end()});
  }

  TensorView* padded(TensorView* x, size_t d, int64_t low, int64_t high) {
    std::vector<Fusion::Extent> l(x->rank(), Fusion::Extent(0)), h = l;
    l[d] = Fusion::Extent(low), h[d] = Fusion::Extent(high);
    return pad(x, l, h);
  }
  TensorView* cut(TensorView* x, size_t d, int64_t low, int64_t high) {
    return slice(x, static_cast<int64_t>(d), Fusion::Extent(low), Fusion::Extent(x->extent(d) - high));
  }

  TensorView* resized(TensorView* x, size_t d) {
    const int64_t n = value(x->extent(d)), low = static_cast<int64_t>(draw(2));
    const int64_t high = static_cast<int64_t>(draw(2)) + (low == 0);
    switch (draw(4)) {
      case 0:
        return n > low + high ? cut(x, d, low, high) : nullptr;
      case 1:
        return padded(x, d, low, high);
      case 2:
        return n > 2 ? padded(cut(x, d, 1, 0), d, 0, 1) : nullptr;
      default: {
        const int64_t at = static_cast<int64_t>(draw(static_cast<size_t>(std::max<int64_t>(n, 1))));
        return n > 1 ? slice(x, static_cast<int64_t>(d), Fusion::Extent(at), Fusion::Extent(at + 1)) : nullptr;
      }
    }
  }

  TensorView* self_map(TensorView* x, size_t d) {
    const int64_t n = value(x->extent(d)), dim = static_cast<int64_t>(d);
    switch (draw(5)) {
      case 0:
        return n > 1 ? binary(x, padded(cut(x, d, 1, 0), d, 0, 1)) : nullptr;
      case 1: {
        if (x->rank() < 2) return nullptr;
        const size_t other = (d + 1) % x->rank();
        return binary(x, transpose(x, dim, static_cast<int64_t>(other)));
      }
      case 2:
        return x->rank() == 2 ? binary(flattened(x, 0), flattened(transpose(x, 0, 1), 0)) : nullptr;
      case 3: {  // rotate-half
        if (!x->extent(d).constant() || n % 2 != 0 || n < 2) return nullptr;
        return binary(x, cat({neg(cut(x, d, n / 2, 0)), cut(x, d, 0, n / 2)}, dim));
      }
      default:
        return x->rank() == 2 ? binary(flattened(reduce(x, {1}, true), 0), sum(x, {1})) : nullptr;
    }
  }

  TensorView* selected(TensorView* x, size_t d) {
    if (value(x->extent(d)) == 0) return nullptr;
    const int64_t dim = static_cast<int64_t>(d);
    if (coin(2)) {
      std::vector<sym::Expr> shape = x->shape();
      shape[d] = fusion().pool().constant(static_cast<int64_t>(1 + draw(6)));
      TensorView* index = input(shape);
      return gather(x, coin(3) ? unary(index) : index, dim);
    }
    std::vector<sym::Expr> shape;
    for (size_t i = draw(3); i > 0; --i) shape.push_back(fusion().pool().constant(static_cast<int64_t>(1 + draw(4))));
    TensorView* index = input(shape);
    return index_select(x, coin(3) ? unary(index) : index, dim);
  }

  TensorView* joined(TensorView* x, size_t d) {
    std::vector<TensorView*> parts = {x};
    for (size_t i = 1 + draw(2); i > 0; --i) {
      std::vector<TensorView*> fit = {x};
      for (TensorView* t : tensors_) {
        bool fits = t->rank() == x->rank();
        for (size_t k = 0; fits && k < x->rank(); ++k) fits = k == d || t->extent(k) == x->extent(k);
        if (fits) fit.push_back(t);
      }
      parts.push_back(fit[draw(fit.size())]);
    }
    TensorView* out = cat(parts, static_cast<int64_t>(d));
    if (coin(3) && value(x->extent(d)) > 1) return cut(out, d, 1, 1);
    return out;
  }

  TensorView* moved(TensorView* x, size_t d) {
    const int64_t dim = static_cast<int64_t>(d);
    switch (draw(6)) {
      case 0:
        return flip(x, {dim});
      case 1:
      case 2:
        return cumsum(x, dim, coin(2), coin(2));
      case 3:
        return roll(x, {static_cast<int64_t>(draw(5)) - 2}, {dim});
      case 4: {
        Dims repeats(x->rank(), 1);
        repeats[d] = 2;
        return repeat(x, repeats);
      }
      default:
        return slice(x, dim, Fusion::Extent(0), Fusion::Extent(x->extent(d)), 2);
    }
  }

  TensorView* product(TensorView* x) {
    if (coin(2)) return linear(x, input({extent(), x->extent(1)}));
    return matmul(x, coin(3) ? transpose(x, 0, 1) : input({x->extent(1), extent()}));
  }

  TensorView* made(TensorView* x) {
    std::vector<sym::Expr> shape = x->shape();
    if (coin(2)) return binary(x, full(fusion(), {}, 7, i64));
    if (shape.empty()) return nullptr;
    return binary(x, full(fusion(), {shape.begin(), shape.end()}, 5, i64));
  }

  void choose_outputs() {
    int count = 0;
    for (Op* op : std::vector<Op*>(fusion().ops())) {
      bool read = is_total(*op);
      if (read) continue;
      for (TensorView* t : op->results) read = read || !fusion().readers(t).empty();
      for (TensorView* t : op->results) {
        if (read && draw(8) != 0) continue;
        fusion().output("y" + std::to_string(count++), t);
        if (coin(3)) {
          std::vector<int> places(t->rank());
          std::iota(places.begin(), places.end(), 0);
          std::shuffle(places.begin(), places.end(), random_);
          t->allocate(places);
        }
      }
    }
  }

  static bool merged(TensorView& t, int at) {
    try {
      merge(t, at);
      return true;
    } catch (const UserError&) {  // a kept axis with a reduced one
      return false;
    }
  }

  // Blocks or tasks have the outermost loop, threads of a block some within.
  void choose_threads() {
    TensorView& r = *case_.reference;
    const size_t loops = loop_axes(r.domain).size();
    const size_t what = launch_() % 4;  // a quarter runs in one task
    if (what == 0 || loops == 0) return;
    if (what == 1) return parallelize(r, 0, ParallelType::cpu_thread);
    case_.on_blocks = true;
    const size_t first = loops > 1 && launch_() % 8 != 0 ? 1 : 0;
    if (first == 1) parallelize(r, 0, ParallelType::block_x);
    const size_t x = first + launch_() % (loops - first), y = first + launch_() % (loops - first);
    parallelize(r, static_cast<int>(x), ParallelType::thread_x);
    if (y != x) parallelize(r, static_cast<int>(y), ParallelType::thread_y);
  }

  // Kept dims as one loop, reduced ones as parts, (steps,) elements. Whether a reduction is there to say so.
  bool choose_rows() {
    TensorView* r = nullptr;
    for (const Op* op : fusion().ops())
      if (!reduction_axes(*op).empty() && !is_total(*op) && (r == nullptr || launch_() % 2 == 0)) r = op->results[0];
    if (r == nullptr) return false;
    case_.reference = r;
    case_.fused = true;
    state_reduction_axes(*r);
    const int kept = static_cast<int>(r->rank());  // the reduced dim is kept as one of extent 1
    for (int d = 1; d < kept; ++d) merge(*r, 0);
    split(*r, 1, static_cast<int64_t>(2 + launch_() % 2));
    case_.parts = 1;
    const bool steps = launch_() % 2 == 0;
    if (steps) split(*r, 2, 2);
    const size_t what = launch_() % 3;
    case_.on_blocks = what == 2;
    if (what > 0) parallelize(*r, 0, what == 1 ? ParallelType::cpu_thread : ParallelType::block_x);
    if (what == 2) parallelize(*r, steps ? 3 : 2, launch_() % 4 == 0 ? ParallelType::thread_y : ParallelType::thread_x);
    return true;
  }

  // A dim in a loop of which a part is left over, and which other tensors of the dim do not know.
  bool merge_left_over() {
    for (const Op* op : fusion().ops())
      if (op->results[0]->rank() == 3 && (case_.reference == nullptr || launch_() % 2 == 0))
        case_.reference = op->results[0];
    if (case_.reference == nullptr) return false;
    TensorView& r = *case_.reference;
    state_reduction_axes(r);
    split(r, 0, value(r.extent(0)) + 1);
    split(r, 0, static_cast<int64_t>(2 + launch_() % 3));
    merge(r, 1);
    return true;
  }

  void choose_schedule() {
    std::vector<TensorView*> computed;
    for (Op* op : fusion().ops()) computed.push_back(op->results[0]);
    TensorView* r = computed[draw(computed.size())];
    if (coin(2))
      for (TensorView* t : computed)
        if (t->rank() > r->rank()) r = t;
    case_.reference = r;
    state_reduction_axes(*r);
    size_t loops = r->rank() + r->domain.reduction.size();
    for (size_t i = draw(9); i > 0 && loops > 0; --i) {
      const int at = static_cast<int>(draw(loops));
      const size_t what = draw(4);
      if (what == 0 && loops < 7) {
        split(*r, at, static_cast<int64_t>(2 + draw(4)));
        ++loops;
      } else if (what < 3 && loops > 1) {
        if (merged(*r, static_cast<int>(draw(loops - 1)))) --loops;
      } else if (what == 3) {
        std::vector<int> next(loops);
        std::iota(next.begin(), next.end(), 0);
        std::swap(next[static_cast<size_t>(at)], next[draw(loops)]);
        reorder(*r, next);
      }
    }
    if (coin(3)) return;
    for (Op* op : fusion().ops())
      for (TensorView* t : op->results)
        if (coin(2)) case_.inline_at[t] = static_cast<int>(draw(draw(2) == 0 ? 9 : 4));
  }

  Case case_;
  std::mt19937 random_, launch_;  // of graphs and loops; of what runs at once, and of kinds of cases
  std::vector<TensorView*> tensors_, of_rows_;
  TensorView* extra_ = nullptr;
  bool symbolic_ = false;
  int inputs_ = 0;
};

}  // namespace

Case make_case(uint64_t seed) { return Generator(seed).make(); }

}  // namespace plait::tree_oracle
