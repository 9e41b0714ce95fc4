#pragma once
// The part of the Fusion parser that reads values of attributes other than tensors. Private to csrc/ir.
#include "ir/type_parser.h"

namespace plait {

class ValueParser : protected TypeParser {
 protected:
  using TypeParser::TypeParser;

  Pointwise read_approx() {
    const size_t at = in_.here();
    std::string text = in_.word("an approximation");
    if (text == "tanh") return Pointwise::gelu_tanh;
    if (text == "none") return Pointwise::gelu_erf;
    in_.fail_at(at, fmt::format("`{}` is no approximation of gelu", text), "known: none, tanh");
  }

  void read_value(bool& v) {
    if (in_.accept("true"))
      v = true;
    else
      in_.expect("false", "or `true`"), v = false;
  }
  void read_value(double& v) {
    const size_t at = in_.here();
    std::string text = in_.number_text("a number");
    auto constant = parse_constant(DType::f64, text);
    if (!constant) in_.fail_at(at, fmt::format("`{}` is no number", text), "write e.g. 0.1");
    v = constant->to_double();
  }
  void read_value(Team& team) {
    const size_t begin = in_.here();
    const auto read_axis = [&] {
      const size_t at = in_.here();
      const std::string text = in_.word("a mesh axis");
      team.axes.push_back(guarded(at, [&] { return mesh_axis(text); }));
    };
    if (!in_.accept("[")) return read_axis();
    do read_axis();
    while (in_.accept(","));
    in_.expect("]", "after the axes of a team");
    guarded(begin, [&] { check_team(team, fusion_->mesh()); });
  }
  void read_value(int64_t& v) { v = read_signed(); }
  void read_value(std::vector<int64_t>& v) {
    in_.expect("[", "before a list, e.g. [0, 1]");
    if (in_.accept("]")) return;
    do {
      if (v.size() == kMaxExtents)
        in_.fail(fmt::format("more than {} numbers", kMaxExtents), "one for a dim is enough");
      v.push_back(read_signed());
    } while (in_.accept(","));
    in_.expect("]", "or `,` after a number");
  }
  void read_value(std::optional<double>& v) {
    v.emplace();
    read_value(*v);
  }
  void read_value(std::optional<ReshardKind>& v) {
    const size_t at = in_.here();
    const std::string text = in_.word("a step");
    for (size_t kind = 0; kind <= std::size(kCollectives); ++kind)
      if (text == word_of(static_cast<ReshardKind>(kind))) v = static_cast<ReshardKind>(kind);
    if (!v) in_.fail_at(at, fmt::format("`{}` is no step of a reshard", text), "write a collective, or slice");
  }
  void read_value(DType& v) { v = read_dtype(); }
  void read_value(std::string& v) { v = in_.quoted("a text in quotes"); }
  void read_value(Reduction&) {}
  void read_value(LossReduction& v) {
    const size_t at = in_.here();
    const std::string text = in_.word("a reduction");
    for (LossReduction r : {LossReduction::mean, LossReduction::sum, LossReduction::none})
      if (text == plait::name(r)) return void(v = r);
    in_.fail_at(at, fmt::format("`{}` is no reduction", text), "known: mean, sum, none");
  }
  void read_value(Bounds& v) {
    const size_t at = in_.here();
    const std::string text = in_.word("what to do about indices outside");
    for (Bounds b : {Bounds::check, Bounds::assume})
      if (text == plait::name(b)) return void(v = b);
    in_.fail_at(at, fmt::format("`{}` says nothing about bounds", text), "known: check, assume");
  }
  void read_value(ScatterUpdate& v) {
    const size_t at = in_.here();
    const std::string text = in_.word("what a scatter does");
    using enum ScatterUpdate;
    for (ScatterUpdate u : {set, add, max, min, mul})
      if (text == plait::name(u)) return void(v = u);
    in_.fail_at(at, fmt::format("`{}` is no update of a scatter", text), "known: set, add, max, min, mul");
  }
  int64_t read_signed() {
    const size_t at = in_.here();
    const std::string text = in_.number_text("a whole number");
    const auto constant = parse_constant(DType::i64, text);
    if (!constant) in_.fail_at(at, fmt::format("`{}` is no whole number", text), "write e.g. 1 or -1");
    return constant->to_int64();
  }
  void read_value(std::optional<DType>& v) { v = read_dtype(); }
  void read_value(ReduceOp& v) { v = read_reduce(); }
  void read_value(sym::Expr& v) { v = read_expression("attribute"); }

  // `value` and `dtype` of a constant, in either order.
  struct Literal {
    size_t at = 0;
    std::string text;
    DType dtype = DType::f32;
  };

  Constant read_literal() {
    auto constant = parse_constant(literal_.dtype, literal_.text);
    const char* remedy = is_float(literal_.dtype)           ? "write a number in its range, e.g. value = 0.5, or inf"
                         : literal_.dtype == DType::boolean ? "write value = true or value = false"
                                                            : "write a whole number in its range, e.g. value = 3";
    if (!constant)
      in_.fail_at(literal_.at, fmt::format("`{}` is no {} constant", literal_.text, name(literal_.dtype)), remedy);
    return *constant;
  }

  // Whether a number stands here, and not an attribute or a call.
  bool next_is_number() {
    const char c = in_.peek();
    if ((c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.') return true;
    const size_t at = in_.here();
    for (const char* word : {"inf", "nan", "true", "false"})
      if (in_.accept(word)) {
        const bool value = in_.peek() == ',' || in_.peek() == ')';
        in_.rewind(at);
        return value;
      }
    return false;
  }

  // The dtype that a number has beside tensors of a promoted type.
  static DType number_type(const std::string& text, std::optional<DType> beside) {
    if (text == "true" || text == "false") return DType::boolean;
    const bool whole = text.find_first_not_of("+-0123456789") == text.npos;
    if (beside && (is_float(*beside) || (whole && *beside != DType::boolean))) return *beside;
    return whole ? DType::i64 : DType::f32;
  }

  // A layout that is read when its tensor is known.
  void skip_layout() {
    while (!in_.at_end() && !in_.accept("}")) {
      if (in_.next_is_word())
        in_.word("a layout");
      else if (in_.peek() >= '0' && in_.peek() <= '9')
        in_.number_text("a layout");
      else if (!in_.accept("{") && !in_.accept(":") && !in_.accept(",") && !in_.accept("[") && !in_.accept("]"))
        in_.fail("a character that no layout has", "write {0: tp}");
    }
    if (!in_.accept("partial")) return;
    in_.expect("(", "after `partial`");
    do {
      in_.word("a mesh axis");
      in_.expect(":", "after the mesh axis");
      in_.word("a reduction");
    } while (in_.accept(","));
    in_.expect(")", "after `partial(`");
  }

  // The value that a setting gives a size.
  static int64_t setting(const std::string& text, const std::string& place) {
    auto value = parse_constant(DType::i64, text);
    if (!value || value->to_int64() < 0)
      throw UserError(fmt::format("`{}` is no size", text), place, "sizes are whole numbers, at least 0");
    return value->to_int64();
  }

  Literal literal_;
};

}  // namespace plait
