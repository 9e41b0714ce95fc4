// Lanes that count: indices that divide them, and comparisons with them.
#include <algorithm>

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
  const auto inner = depends(operands[1]) ? std::nullopt : within_piece(operands[0], condition);
  if (!inner) return std::nullopt;
  const bool divides = index.kind() == sym::Kind::floordiv;
  if (!depends(*inner)) return divides ? sym::floordiv(*inner, operands[1]) : sym::mod(*inner, operands[1]);
  const auto slope = slope_in(*inner, lanes_.var);
  if (!slope) return std::nullopt;
  const sym::Expr first = sym::floordiv(slope->at_zero, operands[1]);
  const sym::Expr last = sym::floordiv(slope->at_zero + slope->step * (lanes_.width - 1), operands[1]);
  condition = sym::logical_and(condition, sym::eq(first, last));
  return divides ? first : *inner - operands[1] * first;
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
  if (known(piece.same)) {
    const Value made = make(true, out);
    if (made.lanes == result.lanes) {
      edit_results(*out.back(), [&](const Value&) { return result; });
    } else {
      auto& spread = put<Convert>(out);
      spread.out = result;
      spread.in = made;
    }
    return;
  }
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

// The expressions of a statement and its body that speak of the lane; false where parts of a vector do not help.
bool LaneWriter::splits(const Stmt& stmt, std::vector<sym::Expr>& exprs) const {
  const bool known = is_pure(stmt.kind) || stmt.kind == StmtKind::Assign || stmt.kind == StmtKind::Variable ||
                     stmt.kind == StmtKind::If || stmt.kind == StmtKind::Load;
  if (!known || stmt.kind == StmtKind::Bind || stmt.kind == StmtKind::Random) return false;
  for (sym::Expr e : expressions(stmt))
    if (e && depends(e)) exprs.push_back(e);
  const Block* body = body_of(stmt);
  return body == nullptr || std::all_of(body->begin(), body->end(), [&](const auto& s) { return splits(*s, exprs); });
}

int LaneWriter::part_lanes(const Block& in, size_t begin, size_t end) {
  constexpr int kLeast = 4;
  std::vector<sym::Expr> exprs;
  for (size_t i = begin; i < end; ++i)
    if (!splits(*in[i], exprs)) return 1;
  const auto affine = [](sym::Expr e, sym::Expr lane, int lanes) {
    return !depends_on(e, lane) || slope_in(e, lane) || limits_of(e, {nullptr, lane, lanes});
  };
  if (std::all_of(exprs.begin(), exprs.end(), [&](sym::Expr e) { return slope_in(e, lanes_.var).has_value(); }))
    return 1;
  for (int lanes = lanes_.width; lanes % 2 == 0 && lanes / 2 >= kLeast;) {
    lanes /= 2;
    auto& [part, lane] = parts_[{lanes_.width, lanes}];
    if (!part) {
      part = editor_.symbol(lanes_.var, {.lo = 0, .hi = lanes_.width / lanes - 1});
      lane = editor_.symbol(lanes_.var, {.lo = 0, .hi = lanes - 1});
    }
    const std::map<std::string, sym::Expr> places{{lanes_.var.symbol_name(), part * lanes + lane}};
    const auto fits = [&](sym::Expr e) { return affine(sym::substitute(e, places), lane, lanes); };
    if (std::all_of(exprs.begin(), exprs.end(), fits)) return lanes;
  }
  return 1;
}

// Whether what the lanes of an index divide by is so little that most vectors meet several quotients.
bool LaneWriter::short_pieces(sym::Expr index, int lanes) const {
  if (!depends(index)) return false;
  const bool divides = index.kind() == sym::Kind::floordiv || index.kind() == sym::Kind::mod;
  const auto by = divides ? index.operands()[1].constant() : std::nullopt;
  if (by && *by < int64_t{lanes} * lanes_.width) return true;
  const auto operands = index.operands();
  return std::any_of(operands.begin(), operands.end(), [&](sym::Expr e) { return short_pieces(e, lanes); });
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
  const auto compute = [&](Pointwise function, const Value& a, const Value& b) -> Value& {
    auto& stmt = put<Compute>(out);
    stmt.function = function;
    stmt.in = {a, b};
    return stmt.out;
  };
  const auto of_one = [&](Pointwise function, const Value& a, const Value& b) {
    return compute(function, a, b) = fresh(DType::i64, 1);
  };
  const auto literal = [&](int64_t value) {
    auto& stmt = put<Literal>(out);
    stmt.constant = Constant::from_int64(DType::i64, value);
    return stmt.out = fresh(DType::i64, 1);
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
  const Value behind = of_one(Pointwise::sub, number, coordinate(count->second, 1));
  const Value least = of_one(Pointwise::max, behind, literal(-1));
  const Value lane = convert(of_one(Pointwise::min, least, literal(lanes_.width)));
  const Value lanes = convert(coordinate(lane_, lanes_.width));
  compute(s.function, wide(lane, lanes_.width, out), lanes) = now(s.out);
  return true;
}

}  // namespace plait::kir
