// Lanes that count: indices that divide them, and comparisons with them.
#include "kir/passes/lane_writer.h"

namespace plait::kir {

// The index where quotients are the same for all lanes, of which there is one condition each; nothing where it divides
// in another way.
std::optional<sym::Expr> LaneWriter::within_piece(sym::Expr index, sym::Expr& condition) const {
  if (!depends(index) || index == lanes_.var) return index;
  const auto operands = index.operands();
  if (index.kind() == sym::Kind::add || index.kind() == sym::Kind::mul) {
    std::optional<sym::Expr> out;
    for (sym::Expr operand : operands) {
      const auto part = within_piece(operand, condition);
      if (!part) return std::nullopt;
      out = !out ? *part : index.kind() == sym::Kind::add ? *out + *part : *out * *part;
    }
    return out;
  }
  if (index.kind() != sym::Kind::floordiv && index.kind() != sym::Kind::mod) return std::nullopt;
  const auto slope = depends(operands[1]) ? std::nullopt : slope_in(operands[0], lanes_.var);
  if (!slope) return std::nullopt;
  const sym::Expr first = sym::floordiv(slope->at_zero, operands[1]);
  const sym::Expr last = sym::floordiv(slope->at_zero + slope->step * (lanes_.width - 1), operands[1]);
  condition = sym::logical_and(condition, sym::eq(first, last));
  return index.kind() == sym::Kind::floordiv ? first : operands[0] - operands[1] * first;
}

std::optional<LaneWriter::Piece> LaneWriter::piece_of(sym::Expr index) const {
  if (!depends(index) || slope_in(index, lanes_.var)) return std::nullopt;
  sym::Expr same = kernel_.pool->constant(1);
  const auto within = within_piece(index, same);
  const auto slope = within ? slope_in(*within, lanes_.var) : std::nullopt;
  if (!slope || sym::prove(same) == sym::Truth::no) return std::nullopt;
  return Piece{same, *slope};
}

// The result as make(whether all quotients are the same, block) gives it, of one lane or of all.
template <class Make>
void LaneWriter::by_pieces(const Value& result, const Piece& piece, Make&& make, Block& out) {
  auto& variable = put<Variable>(out);
  variable.out = result;
  variable.initial = Constant::from_int64(result.dtype, 0);
  for (const bool same : {true, false}) {
    auto branch = std::make_unique<If>();
    branch->condition = same ? piece.same : sym::logical_not(piece.same);
    const Value made = wide(make(same, branch->body), lanes_.width, branch->body);
    auto& assign = put<Assign>(branch->body);
    assign.variable = result;
    assign.in = made;
    out.push_back(std::move(branch));
  }
}

// A load whose index divides: one element, or elements side by side, where all lanes have the same quotient.
bool LaneWriter::pieces(const Load& s, Block& out) {
  const auto piece = piece_of(s.index);
  if (!piece || piece->index.step < -1 || piece->index.step > 1) return false;
  const auto load = [&](bool same, Block& body) {
    const bool one = same && piece->index.step == 0;
    const sym::Expr first = piece->index.at_zero;
    const Place at = one    ? Place{first, Access::contiguous}
                     : same ? place(first + lanes_.var * piece->index.step)
                            : place(s.index);
    auto& load = put<Load>(body);
    load.buffer = s.buffer;
    load.out = fresh(s.out.dtype, one ? 1 : lanes_.width);
    load.index = at.index;
    load.access = at.backwards ? Access::reversed : at.access;
    return load.out;
  };
  by_pieces(now(s.out), *piece, load, out);
  return true;
}

// A coordinate that divides is one number, or counts, where all lanes have the same quotient.
bool LaneWriter::pieces(const Coordinate& s, Block& out) {
  const auto piece = piece_of(s.index);
  const auto slope = slope_in(s.index, lanes_.var);
  if (slope && slope->step == 1) counts_[s.out.id] = slope->at_zero;
  if (!piece) return false;
  const auto coordinate = [&](bool same, Block& body) {
    const Slope& index = piece->index;
    auto& stmt = put<Coordinate>(body);
    stmt.out = fresh(s.out.dtype, same && index.step == 0 ? 1 : lanes_.width);
    stmt.index = same ? index.at_zero + lane_ * index.step : place(s.index).index;
    return stmt.out;
  };
  by_pieces(now(s.out), *piece, coordinate, out);
  return true;
}

// Whether a number is the count of a lane: of 32 bits, by how far it is behind the first lane's.
bool LaneWriter::compares_lanes(const Compute& s, Block& out) {
  if ((s.function != Pointwise::eq && s.function != Pointwise::ne) || s.in[0].dtype != DType::i64) return false;
  const bool second = counts_.contains(s.in[1].id);
  const auto count = counts_.find(s.in[second ? 1 : 0].id);
  const Value number = now(s.in[second ? 0 : 1]);
  if (count == counts_.end() || number.lanes != 1 || !widths_.inside(s.in[second ? 1 : 0].id, lanes_)) return false;
  const auto compute = [&](Pointwise function, const Value& a, const Value& b, const Value& to) {
    auto& stmt = put<Compute>(out);
    stmt.function = function;
    stmt.in = {a, b};
    return stmt.out = to;
  };
  const auto one = [&] { return fresh(DType::i64, 1); };
  const auto literal = [&](int64_t value) {
    auto& stmt = put<Literal>(out);
    stmt.constant = Constant::from_int64(DType::i64, value);
    return stmt.out = one();
  };
  const auto convert = [&](const Value& in) {
    auto& stmt = put<Convert>(out);
    stmt.in = in;
    return stmt.out = fresh(DType::i32, in.lanes);
  };
  const auto coordinate = [&](sym::Expr index, int lanes) {
    auto& stmt = put<Coordinate>(out);
    stmt.index = index;
    return stmt.out = fresh(DType::i64, lanes);
  };
  const Value behind = compute(Pointwise::sub, number, coordinate(count->second, 1), one());
  const Value least = compute(Pointwise::max, behind, literal(-1), one());
  const Value lane = convert(compute(Pointwise::min, least, literal(lanes_.width), one()));
  const Value lanes = convert(coordinate(lane_, lanes_.width));
  compute(s.function, wide(lane, lanes_.width, out), lanes, now(s.out));
  return true;
}

}  // namespace plait::kir
