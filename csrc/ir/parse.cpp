// Reader of the text form of Fusion; the grammar is docs/ir.md.
#include <algorithm>
#include <set>
#include <type_traits>

#include "base/suggest.h"
#include "ir/type_parser.h"

namespace plait {

namespace {

// An op of the kind that the text names, or null.
std::unique_ptr<Op> make_op(std::string_view text) {
#define PLAIT_OP(Name, op_text, properties) \
  if (OpKind::Name != OpKind::PointwiseOp && text == #op_text) return std::make_unique<Name>();
#include "ir/ops.def"
#undef PLAIT_OP
  auto function = text == "gelu" ? Pointwise::gelu_erf : parse_pointwise(text);
  if (!function || (text != "gelu" && (*function == Pointwise::gelu_erf || *function == Pointwise::gelu_tanh)))
    return nullptr;
  auto op = std::make_unique<PointwiseOp>();
  op->function = *function;
  return op;
}

std::vector<std::string> op_names() {
  std::vector<std::string> out = {"gelu"};
#define PLAIT_OP(Name, op_text, properties) \
  if (OpKind::Name != OpKind::PointwiseOp) out.push_back(#op_text);
#include "ir/ops.def"
#undef PLAIT_OP
  for (int i = 0; i < kPointwiseCount; ++i) {
    std::string n(name(static_cast<Pointwise>(i)));
    if (n.rfind("gelu_", 0) != 0) out.push_back(n);
  }
  return out;
}

class Parser : TypeParser {
 public:
  Parser(std::string_view text, const ParseOptions& options) : TypeParser(text, options.file), options_(options) {}

  std::unique_ptr<Fusion> run() {
    while (in_.accept("let")) read_lets();
    Mesh mesh;
    if (in_.accept("mesh")) mesh = read_mesh();
    in_.expect("fusion", "after lets and mesh");
    in_.expect("@", "before the fusion's name");
    std::string name = in_.word("the fusion's name");
    size_t at = in_.offset();
    bool on = in_.accept("on");
    if (on) {
      in_.expect("@", "before the mesh's name");
      at = in_.offset();
      std::string used = in_.word("the mesh's name");
      if (mesh.axes().empty() || used != mesh.name())
        in_.fail_at(at, fmt::format("there is no mesh @{}", used), "declare it above: mesh @m (tp = 2)");
    } else if (!mesh.axes().empty()) {
      in_.fail_at(at, fmt::format("fusion @{} does not use mesh @{}", name, mesh.name()),
                  fmt::format("write `fusion @{} on @{}`", name, mesh.name()));
    }
    fusion_ = std::make_unique<Fusion>(std::move(mesh), std::move(name));
    for (const auto& l : sizes_) fusion_->let(l.name, l.value);
    fusion_->dtype_lets = dtypes_;
    read_inputs();
    read_output_list();
    in_.expect("{", "before the body");
    while (!in_.accept("}")) read_statement(nullptr);
    if (!in_.at_end()) in_.fail("text after the fusion", "a file holds one fusion");
    resolve_outputs();
    return std::move(fusion_);
  }

 private:
  void read_lets() {
    do {
      size_t at = in_.offset();
      std::string name = in_.word("a name");
      if (!lets_.insert(name).second) in_.fail_at(at, fmt::format("`{}` is defined twice", name), "let a name once");
      in_.expect("=", fmt::format("after `{}`", name));
      auto set = options_.set.find(name);
      if (in_.next_is_word()) {
        size_t value_at = in_.offset();
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
      }
    } while (in_.accept(","));
  }

  static int64_t setting(const std::string& name, const std::string& text) {
    TextReader reader(text, "--set " + name);
    int64_t value = reader.integer("a size");
    if (value < 0 || !reader.at_end())
      throw UserError(fmt::format("`{}` is no size", text), "--set " + name, "sizes are whole numbers, at least 0");
    return value;
  }

  void read_inputs() {
    in_.expect("(", "before the inputs");
    if (in_.accept(")")) return;
    do {
      bool parameter = in_.accept("param");
      in_.skip();
      size_t at = in_.offset();
      std::string name = in_.tensor_name();
      in_.expect(":", fmt::format("and a type after %{}", name));
      Type type = read_type();
      std::vector<Fusion::Extent> shape(type.shape.begin(), type.shape.end());
      TensorView* t = guarded(at, [&] {
        return parameter ? fusion_->parameter(name, shape, type.dtype) : fusion_->input(name, shape, type.dtype);
      });
      t->dtype_alias = type.alias;
      read_annotation(*t);
      at = in_.offset();
      if (in_.accept("stored")) {
        if (!parameter) in_.fail_at(at, fmt::format("%{} is not a parameter", name), "write `param` before it");
        t->stored = read_layout(*t);
        if (!t->stored->partial.empty()) in_.fail_at(at, "a stored layout has no partial", "drop it");
      }
    } while (in_.accept(","));
    in_.expect(")", "or `,` after an input");
  }

  struct PendingOutput {
    std::string name;
    size_t at, layout_at;  // layout_at: 0 where there is none
  };

  void read_output_list() {
    in_.expect("->", "before the outputs");
    in_.expect("(", "before the outputs");
    if (in_.accept(")")) return;
    do {
      in_.skip();
      PendingOutput out{"", in_.offset(), 0};
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
    if (pending_.empty()) in_.fail_at(0, "the fusion has no outputs", "list them: -> (%y)");
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
    in_.skip();
    size_t at = in_.offset();
    std::string name = in_.tensor_name();
    if (TensorView* t = fusion_->find(name)) return t;
    std::string later = in_.defined_later(name);
    if (!later.empty())
      in_.fail_at(at, fmt::format("%{} is used before it is defined at {}", name, later),
                  "order the statements; a graph has no cycles");
    in_.fail_at(at, fmt::format("%{} is not defined", name), suggestion(name, tensor_names()));
  }

  void read_statement(Segment* segment) {
    if (in_.at_end()) in_.fail("the body is never closed", "expected `}`");
    in_.skip();
    size_t at = in_.offset();
    if (in_.accept("segment")) {
      if (segment) in_.fail_at(at, "a segment within a segment", "close the outer one first");
      return read_segment();
    }
    std::string name = in_.tensor_name();
    if (fusion_->find(name))
      in_.fail_at(at, fmt::format("%{} is defined twice", name), "give every result its own name");
    std::optional<Type> type;
    TensorView annotation;  // holds what stands between name and `=`
    if (in_.accept(":")) {
      type = read_type();
      annotation.name = name;
      annotation.fusion = fusion_.get();
      for (auto e : type->shape) annotation.domain.logical.push_back({e});
      annotation.dtype = type->dtype;
      read_annotation(annotation);
      if (in_.accept("loops")) read_loops(annotation.domain);
    }
    in_.expect("=", fmt::format("after %{}", name));
    Op* op = read_op(at, name, type);
    if (annotation.layout_source == LayoutSource::annotated) {
      op->out->layout = annotation.layout;
      op->out->layout_source = LayoutSource::annotated;
      op->out->reason = "annotated";
    }
    op->out->domain.transforms = annotation.domain.transforms;
    guarded(at, [&] { return loop_axes(op->out->domain); });
    if (segment) segment->ops.push_back(op);
  }

  void read_segment() {
    Segment segment;
    in_.expect("@", "before the segment's name");
    segment.name = in_.word("the segment's name");
    auto read_list = [&](std::vector<std::pair<std::string, size_t>>& out) {
      in_.expect("(", "before the segment's tensors");
      if (in_.accept(")")) return;
      do {
        in_.skip();
        size_t at = in_.offset();
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

  Op* read_op(size_t at, const std::string& name, const std::optional<Type>& type) {
    in_.skip();
    size_t op_at = in_.offset();
    std::string text = in_.word("an op");
    std::unique_ptr<Op> op = make_op(text);
    if (!op) in_.fail_at(op_at, fmt::format("there is no op `{}`", text), suggestion(text, op_names()));
    in_.expect("(", fmt::format("after `{}`", text));
    visit(*op, [&](auto& node) { read_arguments(node, text); });
    TensorView stated;  // so that ops whose shape the text states can be inferred
    if (type) {
      stated.name = name;
      stated.fusion = fusion_.get();
      for (auto e : type->shape) stated.domain.logical.push_back({e});
      stated.dtype = type->dtype;
      op->out = &stated;
    }
    Inferred result = guarded(op_at, [&] { return infer(*op, *fusion_); });
    op->out = nullptr;
    if (type && (type->dtype != result.dtype || type->shape != result.shape)) {
      TensorView inferred = stated;
      inferred.domain.logical.clear();
      for (auto e : result.shape) inferred.domain.logical.push_back({e});
      inferred.dtype = result.dtype;
      in_.fail_at(at, fmt::format("%{} is {}, not {}", name, type_text(inferred), type_text(stated)),
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
    in_.skip();
    size_t at = in_.offset();
    if (!in_.accept(")")) {
      do {
        in_.skip();
        size_t here = in_.offset();
        if (in_.peek() == '%') {
          positional.push_back(read_operand());
          continue;
        }
        std::string attribute = in_.word("an operand or an attribute");
        in_.expect("=", fmt::format("after attribute `{}`", attribute));
        if (!given.insert(attribute).second)
          in_.fail_at(here, fmt::format("attribute `{}` is given twice", attribute), "give it once");
        if (!read_attribute(node, attribute)) {
          in_.fail_at(here, fmt::format("{} has no attribute `{}`", op, attribute),
                      suggestion(attribute, attributes(node)));
        }
      } while (in_.accept(","));
      in_.expect(")", "or `,` after an argument");
    }
    place_operands(node, positional, given, op, at);
  }

  template <class Node>
  static std::vector<std::string> attributes(const Node& node) {
    std::vector<std::string> out;
    for_each_field(node, [&](auto field, const auto& value) {
      using T = std::remove_cvref_t<decltype(value)>;
      if constexpr (std::is_same_v<T, Pointwise>) {
        if (value == Pointwise::gelu_erf) out.push_back("approx");
      } else if (field.role == Role::attribute || field.name == "seed") {
        out.emplace_back(field.name);
        if constexpr (std::is_same_v<T, Constant>) out.push_back("dtype");
      }
    });
    return out;
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
        bool optional = std::is_same_v<Node, Linear> && field.name == "b";
        if (value) return;  // seed = %s
        if (field.name != "seed" && next < positional.size())
          value = positional[next++];
        else if (!optional)
          in_.fail_at(at, fmt::format("{} lacks its operand `{}`", op, field.name),
                      field.name == "seed" ? "write seed = %seed" : "give the tensor");
      } else if constexpr (std::is_same_v<T, double>) {
        if (!given.count(std::string(field.name)))
          in_.fail_at(at, fmt::format("{} lacks `{}`", op, field.name), fmt::format("write {} = 0.1", field.name));
      } else if constexpr (std::is_same_v<T, Constant>) {
        if (!given.count("value")) in_.fail_at(at, fmt::format("{} lacks `value`", op), "write value = 0, dtype = f32");
      } else if constexpr (std::is_same_v<T, sym::Expr>) {
        if (!value) in_.fail_at(at, fmt::format("{} lacks `{}`", op, field.name), "give the extent");
      }
    });
    if (next < positional.size())
      in_.fail_at(at, fmt::format("{} takes {} tensors, found {}", op, next, positional.size()), "drop the others");
  }

  template <class Node>
  bool read_attribute(Node& node, const std::string& name) {
    bool done = false;
    for_each_field(node, [&](auto field, auto& value) {
      using T = std::remove_cvref_t<decltype(value)>;
      if constexpr (std::is_same_v<T, Pointwise>) {
        if (name == "approx" && (value == Pointwise::gelu_erf || value == Pointwise::gelu_tanh))
          done = true, value = read_approx();
      } else if constexpr (!std::is_same_v<T, std::vector<TensorView*>>) {
        if (field.name == name && (field.role == Role::attribute || name == "seed")) done = true, read_value(value);
      }
    });
    return done;
  }

  Pointwise read_approx() {
    in_.skip();
    size_t at = in_.offset();
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
  void read_value(double& v) { v = read_constant(DType::f64).to_double(); }
  void read_value(int& axis) {
    in_.skip();
    size_t at = in_.offset();
    std::string text = in_.word("a mesh axis");
    axis = guarded(at, [&] { return fusion_->mesh().index(text); });
  }
  void read_value(std::optional<int64_t>& v) {
    size_t at = in_.offset();
    v = in_.integer("a number");
    if (*v < 0) in_.fail_at(at, "an offset is at least 0", "give a number from 0");
  }
  void read_value(std::optional<DType>& v) { v = read_dtype(); }
  void read_value(ReduceOp& v) { v = read_reduce(); }
  void read_value(sym::Expr& v) { v = in_.expression(fusion_->pool(), "attribute"); }
  void read_value(std::vector<sym::Expr>& v) { v = read_extents(); }
  void read_value(Constant& v) {
    in_.skip();
    size_t at = in_.offset();
    std::string text = in_.number_text("a constant");
    in_.expect(",", "and dtype after the value");
    in_.expect("dtype", "after the value");
    in_.expect("=", "after `dtype`");
    DType dtype = read_dtype();
    auto constant = parse_constant(dtype, text);
    if (!constant) in_.fail_at(at, fmt::format("`{}` is no {} constant", text, name(dtype)), "write e.g. value = 0.5");
    v = *constant;
  }

  Constant read_constant(DType dtype) {
    in_.skip();
    size_t at = in_.offset();
    std::string text = in_.number_text("a number");
    auto constant = parse_constant(dtype, text);
    if (!constant) in_.fail_at(at, fmt::format("`{}` is no number", text), "write e.g. 0.1");
    return *constant;
  }

  const ParseOptions& options_;
  std::set<std::string> lets_;
  std::vector<PendingOutput> pending_;
};

}  // namespace

std::unique_ptr<Fusion> parse_fusion(std::string_view text, const ParseOptions& options) {
  return Parser(text, options).run();
}

}  // namespace plait
