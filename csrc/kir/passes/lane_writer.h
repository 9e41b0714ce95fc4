#pragma once
// Writes the body of one lanes loop as vectors, and lanes loops of fewer lanes where only those go together. Shared by
// the files of pass `vectorize`.
#include "kir/passes/widths.h"

namespace plait::kir {

// What a vector statement is under: the lanes below `active` (null: all), of so many conditions on lanes.
struct LaneMask {
  sym::Expr active;
  int depth = 0;
};

// Makes statements of a kernel.
class VectorStatements {
 public:
  VectorStatements(Kernel& kernel, Widths& widths) : kernel_(kernel), widths_(widths), editor_(kernel) {
    lane_ = kernel.pool->symbol(kLane, {.lo = 0, .hi = widths.most() - 1});
  }

  Value now(const Value& v) const { return {v.id, v.dtype, std::max(v.lanes, widths_.of(v.id))}; }
  Value fresh(DType dtype, int lanes) { return editor_.value(dtype, lanes); }
  // The value with so many lanes: splat where it has one.
  Value wide(const Value& v, int lanes, Block& out);
  // lane < active
  Value mask(sym::Expr active, int lanes, Block& out);
  Value where(const Value& condition, const Value& yes, const Value& no, Block& out);
  // Of a state that is merged into one started by `start`: its lanes below `active`, the identity in the others.
  std::vector<Value> masked_state(const std::vector<Value>& in, sym::Expr active, const Start& start, Block& out);

 protected:
  template <class S>
  S& put(Block& out) {
    auto stmt = std::make_unique<S>();
    S& reference = *stmt;
    out.push_back(std::move(stmt));
    return reference;
  }

  Kernel& kernel_;
  Widths& widths_;
  Editor editor_;
  sym::Expr lane_;
};

class LaneWriter : public VectorStatements {
 public:
  using VectorStatements::VectorStatements;

  // What the loop does, as vectors, at the end of `out`.
  void write(For& loop, Block& out);
  // Conditions around what is written; forget(count) brings back what held when there were so many.
  size_t assume(sym::Expr condition);
  void forget(size_t count) { assumed_.resize(count); }

 private:
  void block(Block& in, const LaneMask& mask, Block& out);
  void loop(For& stmt, const LaneMask& mask);
  void statement(std::unique_ptr<Stmt> stmt, const LaneMask& mask, Block& out);
  bool pure(Stmt& stmt, Block& out);
  bool fold(Fold& stmt, Block& out);
  void declare(Stmt& stmt, const LaneMask& mask);
  void branch(If& stmt, const LaneMask& mask, Block& out);
  sym::Expr at_most_all(sym::Expr limit) const;
  void guarded(sym::Expr condition, Block& body, const LaneMask& mask, Block& out);
  bool versions(If& stmt, sym::Expr limit, const LaneMask& mask, Block& out);
  void sides(std::unique_ptr<Stmt> stmt, const LaneMask& mask, int part, Block& out);
  void load(std::unique_ptr<Stmt> stmt, const LaneMask& mask, Block& out);

  // An index that divides: where `same` holds, all lanes have the same quotients, and it is affine in the lane.
  struct Piece {
    sym::Expr same;
    Slope index;
  };
  std::optional<Piece> piece_of(sym::Expr index) const;
  std::optional<sym::Expr> within_piece(sym::Expr index, sym::Expr& condition) const;
  template <class Make>
  void by_pieces(const Value& result, const Piece& piece, Make&& make, Block& out);
  bool pieces(const Load& stmt, Block& out);
  bool pieces(const Coordinate& stmt, Block& out);
  bool compares_lanes(const Compute& stmt, Block& out);

  // Parts of so many lanes, aligned in the vector, in each of which every index is affine; 1 where there are none.
  int part_lanes(const Block& in, size_t begin, size_t end);
  bool splits(const Stmt& stmt, std::vector<sym::Expr>& exprs) const;
  bool short_pieces(sym::Expr index, int lanes) const;
  void store(Store& stmt, const LaneMask& mask, Block& out);
  void copy(CopyAsync& stmt, const LaneMask& mask);
  void assign(Assign& stmt, const LaneMask& mask, Block& out);
  void accumulate(Accumulate& stmt, const LaneMask& mask, Block& out);
  void merge(Merge& stmt, const LaneMask& mask, Block& out);
  void copy_state(const Fold& stmt, Block& out);

  struct Place {
    sym::Expr index;
    Access access = Access::contiguous;
    bool backwards = false;  // each lane one element before the last
  };
  Place place(sym::Expr index) const;
  bool depends(sym::Expr e) const { return widths_.depends(e, lanes_); }
  bool is_wide(const Value& v) const { return widths_.of(v.id) > 1; }
  Value operand(const Value& v, Block& out);
  bool masked(const Value& variable, const LaneMask& mask) const;
  bool known(sym::Expr condition) const;

  // Statements that run lane by lane (vectorize_outline.cpp).
  struct Outline;
  // `part`: so many lanes at once, as a lanes loop.
  void outline(const Block& in, size_t begin, size_t end, const LaneMask& mask, int part, Block& out);
  void find_results(const Block& in, size_t begin, size_t end, Outline& o) const;
  void fill_buffers(Outline& o, Block& out);
  void read_buffers(const Outline& o, Block& out);
  void survey(const Stmt& stmt, Outline& o) const;
  uint32_t scratch(DType dtype, Block& out);
  void store_lanes(uint32_t buffer, const Value& v, Block& out);
  Value load_lanes(uint32_t buffer, Value v, Block& out);
  Value load_lane(uint32_t buffer, Block& out);
  void store_lane(uint32_t buffer, const Value& v, Block& out);
  void enter_lane(Outline& o, Block& out);
  void leave_lane(Outline& o, Block& out);

  LaneLoop lanes_;
  sym::Expr at_;  // the lane, in statements that run lane by lane or in parts
  // By lanes of a vector and of a part: which part, lane in it.
  std::map<std::pair<int, int>, std::pair<sym::Expr, sym::Expr>> parts_;
  std::unordered_map<uint32_t, int> depth_;         // of the conditions around definitions of variables and states
  std::vector<sym::Expr> assumed_;                  // conditions around
  std::unordered_map<uint32_t, sym::Expr> counts_;  // of coordinates that count lanes: that of the first one
};

}  // namespace plait::kir
