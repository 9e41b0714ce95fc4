#include "kir/passes/fragments.h"

#include <algorithm>

#include "kir/passes/edit.h"

namespace plait::kir {
namespace {

// The innermost nest: a sum in f32 of products of two narrow loads.
struct Nest {
  const For *term = nullptr, *row = nullptr, *column = nullptr;
  const Load *a = nullptr, *b = nullptr;
  uint32_t sums = 0;
  sym::Expr sums_index;
};

// The one loop that a body is, of so many iterations.
const For* only_loop(const Block& body, int64_t extent) {
  const For* loop = body.size() == 1 ? as<For>(*body[0]) : nullptr;
  return loop != nullptr && loop->extent.constant() == extent ? loop : nullptr;
}

class NestFinder {
 public:
  explicit NestFinder(const Kernel& kernel) : kernel_(kernel) {}

  std::optional<Nest> operator()(const Stmt& stmt) const {
    Nest out;
    out.term = as<For>(stmt);
    if (out.term == nullptr || out.term->loop != LoopKind::serial || out.term->extent.constant() != kMmaTerms)
      return std::nullopt;
    out.row = only_loop(out.term->body, 2);
    out.column = out.row != nullptr ? only_loop(out.row->body, 2) : nullptr;
    if (out.column == nullptr || out.column->loop != LoopKind::lanes || !products(out)) return std::nullopt;
    return out;
  }

 private:
  // sums = fma(a, b, sums)
  bool products(Nest& out) const {
    const Store* store = nullptr;
    const Compute* fma = nullptr;
    std::map<uint32_t, const Load*> loads;
    for (const auto& stmt : out.column->body) {
      if (const Load* s = as<Load>(*stmt))
        loads[s->out.id] = s;
      else if (as<Compute>(*stmt) != nullptr && fma == nullptr)
        fma = as<Compute>(*stmt);
      else if (as<Store>(*stmt) != nullptr && store == nullptr)
        store = as<Store>(*stmt);
      else
        return false;
    }
    if (store == nullptr || fma == nullptr || fma->function != Pointwise::fma || loads.size() != 3) return false;
    if (store->in != fma->out) return false;
    const auto load_of = [&](const Value& v) { return loads.contains(v.id) ? loads.at(v.id) : nullptr; };
    const Load* before = load_of(fma->in[2]);
    out.a = load_of(fma->in[0]);
    out.b = load_of(fma->in[1]);
    if (before == nullptr || out.a == nullptr || out.b == nullptr) return false;
    if (before->buffer != store->buffer || before->index != store->index || store->active) return false;
    out.sums = store->buffer;
    out.sums_index = store->index;
    const Buffer &sums = kernel_.buffers[out.sums], &a = kernel_.buffers[out.a->buffer],
                 &b = kernel_.buffers[out.b->buffer];
    const auto is_panel = [](const Buffer& buffer) {
      return buffer.space == Space::shared && (buffer.dtype == DType::bf16 || buffer.dtype == DType::f16);
    };
    return sums.space == Space::stack && sums.dtype == DType::f32 && is_panel(a) && a.dtype == b.dtype && is_panel(b);
  }

  const Kernel& kernel_;
};

// A matrix of a panel: its first element, from row to row, which of its dims these are.
struct Matrix {
  sym::Expr first;
  int64_t pitch = 0;
  bool transposed = false;
};

class Fragments {
 public:
  explicit Fragments(Kernel& kernel) : kernel_(kernel), editor_(kernel), find_(kernel) {}

  void block(Block& in) {
    for (auto& stmt : in) {
      const For* loop = as<For>(*stmt);
      if (loop != nullptr && loop->loop == LoopKind::thread_x)
        thread_ = loop->extent.constant() == kWarp ? loop->var : sym::Expr();
      std::vector<const For*> tiles;
      if (thread_) {
        if (auto made = replaced(*stmt, tiles)) {
          stmt = std::move(made);
          continue;
        }
      }
      if (loop != nullptr && loop->loop >= LoopKind::thread_x) threads_.push_back(loop->var);
      if (Block* body = body_of(*stmt); body != nullptr && !parts_threads(*stmt)) block(*body);
    }
  }

 private:
  // What stands for unrolled loops around a nest, and the nest; null for what is none.
  std::unique_ptr<Stmt> replaced(const Stmt& stmt, std::vector<const For*>& tiles) {
    if (const auto nest = find_(stmt)) return write(*nest, tiles);
    const For* loop = as<For>(stmt);
    if (loop == nullptr || !loop->unroll || loop->body.size() != 1) return nullptr;
    tiles.push_back(loop);
    return replaced(*loop->body[0], tiles);
  }

  bool same(sym::Expr a, sym::Expr b) const { return a == b || sym::proven(sym::eq(a, b)); }

  // Of the first thread of a warp.
  sym::Expr at_first(sym::Expr e) const { return sym::substitute(e, {{thread_.symbol_name(), editor_.number(0)}}); }

  // first + rows * (l / 4 + 8 * i) + terms * k
  std::optional<Matrix> left(const Nest& n) const {
    const auto term = slope_in(n.a->index, n.term->var);
    const auto row = term ? slope_in(term->at_zero, n.row->var) : std::nullopt;
    if (!row || depends_on(n.a->index, n.column->var) || row->step % 8 != 0) return std::nullopt;
    const int64_t rows = row->step / 8;
    const Matrix out{at_first(row->at_zero), std::max(rows, term->step), rows == 1};
    if ((rows != 1 && term->step != 1) || !same(row->at_zero, out.first + sym::floordiv(thread_, 4) * rows))
      return std::nullopt;
    return is_aligned(out) ? std::optional(out) : std::nullopt;
  }
  // first + columns * (2 * (l % 4) + j) + terms * k; its rows are columns where terms lie side by side
  std::optional<Matrix> right(const Nest& n) const {
    const auto term = slope_in(n.b->index, n.term->var);
    const auto column = term ? slope_in(term->at_zero, n.column->var) : std::nullopt;
    if (!column || depends_on(n.b->index, n.row->var)) return std::nullopt;
    const Matrix out{at_first(column->at_zero), std::max(column->step, term->step), term->step != 1};
    if ((column->step != 1 && term->step != 1) ||
        !same(column->at_zero, out.first + sym::mod(thread_, 4) * (2 * column->step)))
      return std::nullopt;
    return is_aligned(out) ? std::optional(out) : std::nullopt;
  }
  static bool is_aligned(const Matrix& m) { return m.pitch % 8 == 0 && sym::divisor(m.first) % 8 == 0; }

  // The first of the thread's sums of a tile, [row, column] after it.
  std::optional<sym::Expr> sums(const Nest& n) const {
    const auto row = slope_in(n.sums_index, n.row->var);
    const auto column = row ? slope_in(row->at_zero, n.column->var) : std::nullopt;
    if (!column || row->step != 2 || column->step != 1 || depends_on(n.sums_index, n.term->var)) return std::nullopt;
    return depends_on(column->at_zero, thread_) ? std::nullopt : std::optional(column->at_zero);
  }

  // Those of the unrolled loops that an index speaks of.
  struct Tiles {
    std::vector<const For*> loops;
    int64_t count = 1;
  };
  static Tiles tiles_of(const std::vector<const For*>& all, sym::Expr index) {
    Tiles out;
    for (const For* loop : all)
      if (depends_on(index, loop->var)) {
        out.loops.push_back(loop);
        out.count *= loop->extent.value();
      }
    return out;
  }
  sym::Expr number_of(const Tiles& tiles) const {
    sym::Expr out = editor_.number(0);
    for (const For* loop : tiles.loops) out = out * loop->extent + loop->var;
    return out;
  }

  uint32_t fragment(const Load& of, int64_t elements, Block& out) {
    const Buffer like = kernel_.buffers[of.buffer];
    const uint32_t buffer = editor_.buffer(like.name + "_fragments", like.dtype, editor_.number(elements));
    auto alloc = std::make_unique<Alloc>();
    alloc->buffer = buffer;
    out.push_back(std::move(alloc));
    return buffer;
  }

  // The statement in unrolled loops like these.
  static void within(const std::vector<const For*>& loops, std::unique_ptr<Stmt> stmt, Block& out) {
    for (size_t i = loops.size(); i-- > 0;) {
      auto loop = std::make_unique<For>();
      loop->var = loops[i]->var;
      loop->extent = loops[i]->extent;
      loop->unroll = true;
      loop->body.push_back(std::move(stmt));
      stmt = std::move(loop);
    }
    out.push_back(std::move(stmt));
  }

  void load_left(const Matrix& m, const Load& a, const Tiles& tiles, uint32_t to, Block& out) {
    auto load = std::make_unique<LoadMatrix>();
    load->to = to;
    load->to_index = number_of(tiles) * 8;
    load->from = a.buffer;
    load->transposed = m.transposed;
    const sym::Expr eight = sym::mod(thread_, 8), second = sym::mod(sym::floordiv(thread_, 8), 2);
    load->index = m.transposed ? m.first + (eight + sym::floordiv(thread_, 16) * 8) * m.pitch + second * 8
                               : m.first + (eight + second * 8) * m.pitch + sym::floordiv(thread_, 16) * 8;
    within(tiles.loops, std::move(load), out);
  }

  // Two tiles of columns at once where the innermost loop over them has pairs.
  void load_right(const Matrix& m, const Load& b, const Tiles& tiles, uint32_t to, Block& out) {
    const bool pairs = !tiles.loops.empty() && tiles.loops.back()->extent.value() % 2 == 0;
    auto load = std::make_unique<LoadMatrix>();
    load->to = to;
    load->to_index = number_of(tiles) * 4;
    load->from = b.buffer;
    load->transposed = m.transposed;
    load->count = pairs ? 4 : 2;
    const sym::Expr eight = sym::mod(thread_, 8), second = sym::mod(sym::floordiv(thread_, 8), 2);
    load->index = m.transposed ? m.first + (eight + second * 8) * m.pitch : m.first + eight * m.pitch + second * 8;
    if (!pairs) return within(tiles.loops, std::move(load), out);
    const For& inner = *tiles.loops.back();
    auto loop = std::make_unique<For>();
    loop->extent = editor_.number(inner.extent.value() / 2);
    loop->var = editor_.symbol(inner.var, sym::index_facts(loop->extent));
    loop->unroll = true;
    const std::string name = inner.var.symbol_name();
    load->to_index = sym::substitute(load->to_index, {{name, loop->var * 2}});
    load->index = sym::substitute(load->index, {{name, loop->var * 2 + sym::floordiv(thread_, 16)}});
    loop->body.push_back(std::move(load));
    within({tiles.loops.begin(), tiles.loops.end() - 1}, std::move(loop), out);
  }

  std::unique_ptr<Stmt> write(const Nest& nest, const std::vector<const For*>& tiles) {
    const auto a = left(nest), b = right(nest);
    const auto first = sums(nest);
    if (!a || !b || !first) return nullptr;
    const Tiles rows = tiles_of(tiles, a->first), columns = tiles_of(tiles, b->first);
    Block body;
    auto mma = std::make_unique<Mma>();
    mma->sums = nest.sums;
    mma->sums_index = *first;
    mma->a = fragment(*nest.a, rows.count * 8, body);
    mma->a_index = number_of(rows) * 8;
    mma->b = fragment(*nest.b, columns.count * 4, body);
    mma->b_index = number_of(columns) * 4;
    load_left(*a, *nest.a, rows, mma->a, body);
    load_right(*b, *nest.b, columns, mma->b, body);
    within(tiles, std::move(mma), body);
    auto once = std::make_unique<For>();  // a block of its own, until it is unrolled
    once->extent = editor_.number(1);
    once->var = editor_.symbol(nest.term->var, sym::index_facts(once->extent));
    once->unroll = true;
    once->body = std::move(body);
    return once;
  }

  Kernel& kernel_;
  Editor editor_;
  // Whether threads of a block differ in whether they come to what the statement has.
  bool parts_threads(const Stmt& stmt) const {
    const For* loop = as<For>(stmt);
    const If* branch = as<If>(stmt);
    const sym::Expr e = branch != nullptr ? branch->condition : loop != nullptr ? loop->extent : sym::Expr();
    return e && std::ranges::any_of(threads_, [&](sym::Expr thread) { return depends_on(e, thread); });
  }

  const NestFinder find_;
  std::vector<sym::Expr> threads_;  // variables of loops over them
  sym::Expr thread_;                // of a warp; null where threads are in no warps of x
};

}  // namespace

void fragments(Kernel& kernel) {
  if (kernel.target != TargetKind::cuda) return;
  for (Phase& phase : kernel.phases) Fragments(kernel).block(phase.body);
}

}  // namespace plait::kir
