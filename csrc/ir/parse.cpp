// Reader of the text form of Fusion; the grammar is docs/ir.md.
#include <algorithm>
#include <cmath>
#include <set>
#include <type_traits>

#include "base/suggest.h"
#include "ir/factors.h"
#include "ir/make_op.h"
#include "ir/parse_help.h"
#include "ir/segment_rules.h"
#include "ir/type_parser.h"

namespace plait {

namespace {

constexpr size_t kMaxLets = 10000;

class Parser : TypeParser {
 public:
  Parser(std::string_view text, const ParseOptions& options) : TypeParser(text, options.file), options_(options) {}

  std::unique_ptr<Fusion> run() {
    while (in_.accept("let")) read_lets();
    while (in_.accept("given")) read_facts();
    read_head();
    read_inputs();
    read_output_list();
    in_.expect("{", "before the body");
    while (!in_.accept("}")) read_statement(nullptr);
    if (!in_.at_end()) in_.fail("text after the fusion", "a file holds one fusion");
    check_segments();
    resolve_outputs();
    return std::move(owned_);
  }

  // `@m (tp = 2)`.
  Mesh run_mesh() {
    Mesh mesh = read_mesh();
    if (!in_.at_end()) in_.fail("text after the mesh", "write e.g. @m (dp = 2, tp = t)");
    return mesh;
  }

  // One statement, added to a fusion; a result without a name is named after its op.
  TensorView* run_statement(Fusion& fusion) {
    return added_to(fusion, [&] { return (in_.peek() == '%' ? read_definition() : read_unnamed())->out; });
  }

  // `%x: f32[b, 4] {0: dp}`, `param %w: f32[4, 4]`: one input, added to a fusion.
  TensorView* run_input(Fusion& fusion) {
    return added_to(fusion, [&] { return read_input(); });
  }

 private:
  // Runs fn, which adds a tensor, and sees that the text ends there; if not, or where fn throws, nothing stays.
  template <class Fn>
  TensorView* added_to(Fusion& fusion, Fn&& fn) {
    adopt(fusion);
    const size_t count = fusion.tensor_count();
    try {
      TensorView* t = fn();
      if (!in_.at_end()) in_.fail(fmt::format("text after %{}", t->name), "add one line at a time");
      return t;
    } catch (...) {
      fusion.take_back(count);
      throw;
    }
  }

  // `mesh @m (tp = 2)`, `fusion @f on @m`; makes the fusion.
  void read_head() {
    Mesh mesh;
    const size_t mesh_at = in_.here();
    if (in_.accept("mesh")) mesh = read_mesh();
    in_.expect("fusion", "after lets and mesh");
    in_.expect("@", "before the fusion's name");
    size_t at = in_.here();
    std::string name = in_.word("the fusion's name");
    if (in_.accept("on")) {
      in_.expect("@", "before the mesh's name");
      at = in_.here();
      std::string used = in_.word("the mesh's name");
      if (mesh.axes().empty() || used != mesh.name())
        in_.fail_at(at, fmt::format("there is no mesh @{}", used), "declare it above: mesh @m (tp = 2)");
    } else if (!mesh.axes().empty()) {
      in_.fail_at(at, fmt::format("fusion @{} does not use mesh @{}", name, mesh.name()),
                  fmt::format("write `fusion @{} on @{}`", name, mesh.name()));
    }
    owned_ = guarded(mesh_at, [&] { return std::make_unique<Fusion>(std::move(mesh), std::move(name)); });
    fusion_ = owned_.get();
    for (size_t i = 0; i < sizes_.size(); ++i)
      guarded(size_at_[i], [&] { fusion_->let(sizes_[i].name, sizes_[i].value); });
    fusion_->dtype_lets = dtypes_;
    guarded(facts_at_, [&] { fusion_->given(facts_); });
  }

  // To the end of the line.
  void read_facts() {
    std::string_view line = in_.rest();
    line = line.substr(0, line.find_first_of("#\r\n"));
    const size_t blanks = std::min(line.find_first_not_of(" \t"), line.size());
    facts_at_ = in_.offset() + blanks;
    line.remove_prefix(blanks);
    if (line.empty()) in_.fail("no facts", "write e.g. given n: 16 in 16..4096");
    guarded(facts_at_, [&] { facts_.merge(sym::parse_facts(line)); });
    if (facts_.rows().size() > kMaxLets)
      in_.fail(fmt::format("facts about more than {} symbols", kMaxLets), "write numbers instead");
    in_.rewind(facts_at_ + line.size());
  }

  void read_lets() {
    do {
      const size_t at = in_.here();
      std::string name = in_.word("a name");
      if (lets_.size() == kMaxLets)
        in_.fail_at(at, fmt::format("more than {} lets", kMaxLets), "write numbers instead");
      if (!lets_.insert(name).second) in_.fail_at(at, fmt::format("`{}` is defined twice", name), "let a name once");
      if (parse_dtype(name)) in_.fail_at(at, fmt::format("`{}` is a dtype", name), "choose another name");
      in_.expect("=", fmt::format("after `{}`", name));
      auto set = options_.set.find(name);
      if (in_.next_is_word()) {
        const size_t value_at = in_.here();
        std::string text = in_.word("a dtype");
        auto dtype = parse_dtype(text);
        if (!dtype) in_.fail_at(value_at, fmt::format("`{}` is no dtype", text), dtype_help(text));
        if (set != options_.set.end()) {
          dtype = parse_dtype(set->second);
          if (!dtype)
            throw UserError(fmt::format("`{}` is no dtype", set->second), "--set " + name, dtype_help(set->second));
        }
        dtypes_.push_back({name, *dtype});
      } else {
        int64_t value = in_.integer("a size or a dtype");
        if (value < 0) in_.fail_at(at, fmt::format("size {} = {} is negative", name, value), "sizes are at least 0");
        if (set != options_.set.end()) value = setting(name, set->second);
        sizes_.push_back({name, value});
        size_at_.push_back(at);
      }
    } while (in_.accept(","));
  }

  static int64_t setting(const std::string& name, const std::string& text) {
    auto value = parse_constant(DType::i64, text);
    if (!value || value->to_int64() < 0)
      throw UserError(fmt::format("`{}` is no size", text), "--set " + name, "sizes are whole numbers, at least 0");
    return value->to_int64();
  }

  void read_inputs() {
    in_.expect("(", "before the inputs");
    if (in_.accept(")")) return;
    do {
      read_input();
    } while (in_.accept(","));
    in_.expect(")", "or `,` after an input");
  }

  TensorView* read_input() {
    const bool parameter = in_.accept("param");
    size_t at = in_.here();
    std::string name = in_.tensor_name();
    in_.expect(":", fmt::format("and a type after %{}", name));
    Type type = read_type();
    std::vector<Fusion::Extent> shape(type.shape.begin(), type.shape.end());
    TensorView* t = guarded(at, [&] {
      return parameter ? fusion_->parameter(name, shape, type.dtype) : fusion_->input(name, shape, type.dtype);
    });
    t->dtype_alias = type.alias;
    read_annotation(*t);
    at = in_.here();
    if (in_.accept("stored")) {
      if (!parameter) in_.fail_at(at, fmt::format("%{} is not a parameter", name), "write `param` before it");
      t->stored = read_layout(*t);
      if (!t->stored->partial.empty()) in_.fail_at(at, "a stored layout has no partial", "drop it");
    }
    read_allocation(*t);
    return t;
  }

  struct PendingOutput {
    std::string name;
    size_t at, layout_at;  // layout_at: 0 where there is none
  };

  void read_output_list() {
    in_.expect("->", "before the outputs");
    in_.expect("(", "before the outputs");
    const size_t at = in_.here();
    if (in_.accept(")")) in_.fail_at(at, "the fusion has no outputs", "list them: -> (%y)");
    do {
      PendingOutput out{"", in_.here(), 0};
      out.name = in_.tensor_name();
      if (in_.peek() == '{') {  // read again when the tensor is known
        out.layout_at = in_.offset();
        skip_layout();
      }
      pending_.push_back(out);
    } while (in_.accept(","));
    in_.expect(")", "or `,` after an output");
  }

  void skip_layout() {
    while (!in_.at_end() && !in_.accept("}")) {
      if (in_.next_is_word())
        in_.word("a layout");
      else if (in_.peek() >= '0' && in_.peek() <= '9')
        in_.number_text("a layout");
      else if (!in_.accept("{") && !in_.accept(":") && !in_.accept(",") && !in_.accept("[") && !in_.accept("]"))
        in_.fail("a character that no layout has", "write {0: tp}");
    }
    if (in_.accept("partial")) in_.fail("an output with a pending reduction", "outputs are reduced to whole");
  }

  void resolve_outputs() {
    for (const auto& out : pending_) {
      TensorView* t = fusion_->find(out.name);
      if (!t)
        in_.fail_at(out.at, fmt::format("output %{} is not defined", out.name), suggestion(out.name, tensor_names()));
      guarded(out.at, [&] { return fusion_->output(out.name, t); });
      if (!out.layout_at) continue;
      if (t->layout_source == LayoutSource::annotated)
        in_.fail_at(out.layout_at, fmt::format("%{} is annotated twice", out.name), "annotate it once");
      in_.rewind(out.layout_at);
      read_annotation(*t);
    }
  }

  std::vector<std::string> tensor_names() {
    std::vector<std::string> out;
    for (const TensorView* t : fusion_->tensors()) out.push_back(t->name);
    return out;
  }

  TensorView* read_operand() {
    const size_t at = in_.here();
    std::string name = in_.tensor_name();
    if (TensorView* t = fusion_->find(name)) return t;
    if (name == defining_)
      in_.fail_at(at, fmt::format("%{} is used in its own definition", name), "a graph has no cycles");
    std::string later = in_.defined_later(name);
    if (!later.empty())
      in_.fail_at(at, fmt::format("%{} is used before it is defined at {}", name, later),
                  "order the statements; a graph has no cycles");
    in_.fail_at(at, fmt::format("%{} is not defined", name), suggestion(name, tensor_names()));
  }

  // What a statement says of its result before `=`.
  struct Stated {
    std::optional<Type> type;
    TensorView tensor;
  };

  void read_stated(const std::string& name, Stated& stated) {
    TensorView& t = stated.tensor;
    t.name = name;
    t.fusion = fusion_;
    if (!in_.accept(":")) return;
    stated.type = read_type();
    t.dtype = stated.type->dtype;
    for (sym::Expr e : stated.type->shape) {
      t.domain.allocation.push_back(static_cast<int>(t.rank()));
      t.domain.logical.push_back({e});
    }
    read_annotation(t);
    read_allocation(t);
    if (in_.accept("loops")) read_loops(t.domain);
  }

  void read_statement(Segment* segment) {
    if (in_.at_end()) in_.fail(segment ? "the segment is never closed" : "the body is never closed", "expected `}`");
    const size_t at = in_.here();
    if (in_.accept("segment")) {
      if (segment) in_.fail_at(at, "a segment within a segment", "close the outer one first");
      return read_segment();
    }
    Op* op = read_definition();
    if (segment) segment->ops.push_back(op);
  }

  // `gelu(%x)`: the result gets the name of the op.
  Op* read_unnamed() {
    const size_t at = in_.here();
    const std::string name = fusion_->unique_name(in_.word("an op"));
    in_.rewind(at);
    Stated stated;
    stated.tensor.name = name;
    stated.tensor.fusion = fusion_;
    return read_op(at, name, stated);
  }

  // `%y: f32[4] {0: tp} = gelu(%x)`.
  Op* read_definition() {
    const size_t at = in_.here();
    std::string name = in_.tensor_name();
    if (fusion_->find(name))
      in_.fail_at(at, fmt::format("%{} is defined twice", name), "give every result its own name");
    Stated stated;
    read_stated(name, stated);
    in_.expect("=", fmt::format("after %{}", name));
    Op* op = read_op(at, name, stated);
    TensorView& out = *op->out;
    if (stated.tensor.layout_source == LayoutSource::annotated) {
      out.layout = stated.tensor.layout;
      out.layout_source = LayoutSource::annotated;
      out.reason = "annotated";
    }
    if (stated.type) {
      out.domain.allocation = stated.tensor.domain.allocation;
      out.domain.strided = stated.tensor.domain.strided;
    }
    if (!stated.tensor.domain.transforms.empty()) {
      out.domain.reduction = reduction_axes(*op);
      out.domain.transforms = stated.tensor.domain.transforms;
      guarded(at, [&] { return loop_axes(out.domain); });
    }
    return op;
  }

  void read_segment() {
    Segment segment;
    in_.expect("@", "before the segment's name");
    segment_at_.push_back(in_.here());
    segment.name = in_.word("the segment's name");
    auto read_list = [&](std::vector<std::pair<std::string, size_t>>& out) {
      in_.expect("(", "before the segment's tensors");
      if (in_.accept(")")) return;
      do {
        const size_t at = in_.here();
        out.emplace_back(in_.tensor_name(), at);
      } while (in_.accept(","));
      in_.expect(")", "after the segment's tensors");
    };
    std::vector<std::pair<std::string, size_t>> inputs, outputs;
    read_list(inputs);
    in_.expect("->", "before the segment's outputs");
    read_list(outputs);
    if (in_.accept("schedule")) segment.schedule = in_.balanced("a schedule");
    in_.expect("{", "before the segment's ops");
    while (!in_.accept("}")) read_statement(&segment);
    auto find_all = [&](const auto& names, std::vector<TensorView*>& out) {
      for (const auto& [name, at] : names) {
        out.push_back(fusion_->find(name));
        if (!out.back()) in_.fail_at(at, fmt::format("%{} is not defined", name), suggestion(name, tensor_names()));
      }
    };
    find_all(inputs, segment.inputs);
    find_all(outputs, segment.outputs);
    fusion_->segments.push_back(std::move(segment));
  }

  void check_segments() {
    for (const auto& out : pending_)  // so that the rules see them; the list is made again with its errors
      if (TensorView* t = fusion_->find(out.name)) fusion_->mutable_outputs().push_back(t);
    auto problem = segment_problem(*fusion_);
    if (problem) in_.fail_at(segment_at_[problem->segment], problem->what, problem->remedy);
    fusion_->mutable_outputs().clear();
  }

  Op* read_op(size_t at, const std::string& name, Stated& stated) {
    const size_t op_at = in_.here();
    std::string text = in_.word("an op");
    std::unique_ptr<Op> op = make_op(text);
    if (!op) in_.fail_at(op_at, fmt::format("there is no op `{}`", text), suggestion(text, op_names()));
    in_.expect("(", fmt::format("after `{}`", text));
    defining_ = name;
    visit(*op, [&](auto& node) { read_arguments(node, text); });
    defining_.clear();
    // Errors name the result; moves that view their operand as [outer, middle, inner] take the type from it.
    const bool needs_type =
        op->kind == OpKind::AllGather || op->kind == OpKind::ReduceScatter || op->kind == OpKind::LocalSlice;
    if (stated.type || !needs_type) op->out = &stated.tensor;
    Inferred result = guarded(op_at, [&] { return infer(*op, *fusion_); });
    op->out = nullptr;
    const auto& type = stated.type;
    if (type && (type->dtype != result.dtype || type->shape != result.shape)) {
      TensorView inferred;
      for (auto e : result.shape) inferred.domain.logical.push_back({e});
      inferred.dtype = result.dtype;
      in_.fail_at(at, fmt::format("%{} is {}, not {}", name, type_text(inferred), type_text(stated.tensor)),
                  "drop the type or correct it");
    }
    TensorView* out = fusion_->add_tensor(name, result.shape, result.dtype);
    out->dtype_alias = type && !type->alias.empty() ? type->alias : result.dtype_alias;
    Op* raw = op.get();
    visit(*raw,
          [&]<class Node>(Node&) { fusion_->add_op(std::unique_ptr<Node>(static_cast<Node*>(op.release())), out); });
    return raw;
  }

  template <class Node>
  void read_arguments(Node& node, const std::string& op) {
    std::vector<TensorView*> positional;
    std::set<std::string> given;
    const size_t at = in_.here();
    literal_ = {};
    if (!in_.accept(")")) {
      do {
        const size_t here = in_.here();
        if (in_.peek() == '%') {
          positional.push_back(read_operand());
          continue;
        }
        std::string attribute = in_.word("an operand or an attribute");
        in_.expect("=", fmt::format("after attribute `{}`", attribute));
        if (!given.insert(attribute).second)
          in_.fail_at(here, fmt::format("attribute `{}` is given twice", attribute), "give it once");
        if (!read_attribute(node, attribute)) {
          const std::vector<std::string> known = attributes(node);
          in_.fail_at(here, fmt::format("{} has no attribute `{}`", op, attribute),
                      known.empty() ? fmt::format("{} takes none: drop it", op) : suggestion(attribute, known));
        }
      } while (in_.accept(","));
      in_.expect(")", "or `,` after an argument");
    }
    place_operands(node, positional, given, op, at);
    // dims = [] says that a squeeze drops none, which is not what is left out.
    const bool drops_none = given.contains("dims") && empty_dims(node);
    if (!drops_none) guarded(at, [&] { complete(node, *fusion_); });
    for_each_field(node, [&](auto field, const auto& value) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, sym::Expr>)
        if (!value) in_.fail_at(at, fmt::format("{} lacks `{}`", op, field.name), "give the extent");
    });
  }

  template <class Node>
  static bool empty_dims(const Node& node) {
    if constexpr (std::is_same_v<Node, Squeeze>) return node.dims.empty();
    return false;
  }

  template <class Node>
  void place_operands(Node& node, const std::vector<TensorView*>& positional, const std::set<std::string>& given,
                      const std::string& op, size_t at) {
    size_t next = 0;
    for_each_field(node, [&](auto field, auto& value) {
      using T = std::remove_cvref_t<decltype(value)>;
      if constexpr (std::is_same_v<T, std::vector<TensorView*>>) {
        value = positional;
        next = positional.size();
      } else if constexpr (std::is_same_v<T, TensorView*>) {
        if (value) return;  // seed = %s
        if (field.role != Role::named && next < positional.size())
          value = positional[next++];
        else if (!may_be_absent(field))
          in_.fail_at(at, fmt::format("{} lacks its operand `{}`", op, field.name),
                      field.name == "seed" ? "write seed = %seed" : "give the tensor");
      } else if constexpr (std::is_same_v<T, Constant>) {
        for (const char* part : {"value", "dtype"})
          if (!given.count(part)) in_.fail_at(at, fmt::format("{} lacks `{}`", op, part), example<T>(part));
        value = read_literal();
      } else if (field.role == Role::required && !given.count(std::string(field.name))) {
        in_.fail_at(at, fmt::format("{} lacks `{}`", op, field.name), example<T>(field.name));
      }
    });
    if (next < positional.size())
      in_.fail_at(at, fmt::format("{} takes {} tensor{}, found {}", op, next, next == 1 ? "" : "s", positional.size()),
                  "drop the others");
  }

  template <class Node>
  bool read_attribute(Node& node, const std::string& name) {
    bool done = false;
    for_each_field(node, [&](auto field, auto& value) {
      using T = std::remove_cvref_t<decltype(value)>;
      if constexpr (std::is_same_v<T, Pointwise>) {
        if (name == "approx" && (value == Pointwise::gelu_erf || value == Pointwise::gelu_tanh))
          done = true, value = read_approx();
      } else if constexpr (std::is_same_v<T, Constant>) {
        if (name == "value") done = true, literal_.at = in_.here(), literal_.text = in_.number_text("a constant");
        if (name == "dtype") done = true, literal_.dtype = read_dtype();
      } else if constexpr (std::is_same_v<T, std::vector<sym::Expr>>) {
        constexpr bool open = std::is_same_v<Node, Reshape> || std::is_same_v<Node, Expand>;
        if (field.name == name) done = true, value = read_extents(open);
      } else if constexpr (std::is_same_v<T, std::optional<int64_t>>) {
        if (field.name != name) return;
        done = true;
        value = name == "offset" ? in_.integer("an offset", 0, INT64_MAX) : read_signed();
      } else if constexpr (!std::is_same_v<T, std::vector<TensorView*>>) {
        if (field.name == name && (is_attribute(field) || field.role == Role::named)) done = true, read_value(value);
      }
    });
    return done;
  }

  Pointwise read_approx() {
    const size_t at = in_.here();
    std::string text = in_.word("an approximation");
    if (text == "tanh") return Pointwise::gelu_tanh;
    if (text == "none") return Pointwise::gelu_erf;
    in_.fail_at(at, fmt::format("`{}` is no approximation of gelu", text), "known: none, tanh");
  }

  void read_value(TensorView*& v) { v = read_operand(); }
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
  void read_value(int& axis) {
    const size_t at = in_.here();
    std::string text = in_.word("a mesh axis");
    axis = guarded(at, [&] { return mesh_axis(text); });
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
  void read_value(DType& v) { v = read_dtype(); }
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

  const ParseOptions& options_;
  std::unique_ptr<Fusion> owned_;
  std::set<std::string> lets_;
  sym::Facts facts_;
  size_t facts_at_ = 0;
  std::vector<size_t> size_at_, segment_at_;
  std::vector<PendingOutput> pending_;
  std::string defining_;  // the result of the op whose arguments are read
  Literal literal_;
};

}  // namespace

std::unique_ptr<Fusion> parse_fusion(std::string_view text, const ParseOptions& options) {
  return Parser(text, options).run();
}

Mesh parse_mesh(std::string_view text, const ParseOptions& options) { return Parser(text, options).run_mesh(); }

TensorView* parse_statement(Fusion& fusion, std::string_view text, const ParseOptions& options) {
  return Parser(text, options).run_statement(fusion);
}

TensorView* parse_input(Fusion& fusion, std::string_view text, const ParseOptions& options) {
  return Parser(text, options).run_input(fusion);
}

}  // namespace plait
