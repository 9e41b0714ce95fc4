// Reader of the text form of Fusion; the grammar is docs/ir.md.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <type_traits>
#include <utility>

#include "base/suggest.h"
#include "ir/factors.h"
#include "ir/head_parser.h"
#include "ir/infer_parts.h"
#include "ir/make_op.h"
#include "ir/manual_schedule.h"
#include "ir/op_fields.h"
#include "ir/op_help.h"
#include "ir/parse_help.h"
#include "ir/segment_rules.h"
#include "ir/text_limits.h"

namespace plait {

namespace {

constexpr int kMaxNesting = 100;  // of calls

class Parser : HeadParser {
 public:
  using HeadParser::HeadParser;

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

  // One statement, added to a fusion; results without names are named after their op.
  std::vector<TensorView*> run_statement(Fusion& fusion) {
    return added_to(fusion, [&] {
      const bool named = in_.peek() == '%' || in_.peek() == '_';
      return (named ? read_definition() : read_unnamed())->results;
    });
  }

  // `%x: f32[b, 4] {0: dp}`, `param %w: f32[4, 4]`: one input, added to a fusion.
  TensorView* run_input(Fusion& fusion) {
    return added_to(fusion, [&] { return std::vector{read_input()}; })[0];
  }

 private:
  // Runs fn, which adds a tensor, and sees that the text ends there; if not, or where fn throws, nothing stays.
  template <class Fn>
  std::vector<TensorView*> added_to(Fusion& fusion, Fn&& fn) {
    adopt(fusion);
    const size_t count = fusion.tensor_count();
    try {
      std::vector<TensorView*> added = fn();
      if (!in_.at_end()) in_.fail(fmt::format("text after %{}", added.back()->name), "add one line at a time");
      return added;
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
    read_range(*t);
    read_annotation(*t);
    at = in_.here();
    if (in_.accept("stored")) {
      t->stored = read_layout(*t);
      if (!t->stored->partial.empty()) in_.fail_at(at, "a stored layout has no partial", "drop it");
    }
    read_allocation(*t);
    return t;
  }

  struct PendingOutput {
    std::string name;
    size_t at, layout_at;  // layout_at: 0 where there is none
    std::string aliases;   // an input, or empty
    size_t aliases_at = 0;
  };

  void read_output_list() {
    in_.expect("->", "before the outputs");
    in_.expect("(", "before the outputs");
    const size_t at = in_.here();
    if (in_.accept(")")) in_.fail_at(at, "the fusion has no outputs", "list them: -> (%y)");
    do {
      PendingOutput out{"", in_.here(), 0, "", 0};
      out.name = in_.tensor_name();
      if (in_.accept("aliases")) {
        out.aliases_at = in_.here();
        out.aliases = in_.tensor_name();
      }
      if (in_.peek() == '{') {  // read again when the tensor is known
        out.layout_at = in_.offset();
        skip_layout();
      }
      pending_.push_back(out);
    } while (in_.accept(","));
    in_.expect(")", "or `,` after an output");
  }

  void resolve_outputs() {
    for (const auto& out : pending_) {
      TensorView* t = fusion_->find(out.name);
      if (!t)
        in_.fail_at(out.at, fmt::format("output %{} is not defined", out.name), suggestion(out.name, tensor_names()));
      guarded(out.at, [&] { return fusion_->output(out.name, t); });
      if (!out.aliases.empty()) guarded(out.aliases_at, [&] { return fusion_->alias(out.name, out.aliases), t; });
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
    if (std::ranges::count(defining_, name) > 0)
      in_.fail_at(at, fmt::format("%{} is used in its own definition", name), "a graph has no cycles");
    std::string later = in_.defined_later(name);
    if (!later.empty())
      in_.fail_at(at, fmt::format("%{} is used before it is defined at {}", name, later),
                  "order the statements; a graph has no cycles");
    if (const std::string now = fusion_->now_called(name); !now.empty())
      in_.fail_at(at, fmt::format("%{} is now called %{}", name, now), "an output has one name: write that");
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
    read_placement(in_, t.inline_position, t.kept);
  }

  void read_statement(Segment* segment) {
    if (in_.at_end()) in_.fail(segment ? "the segment is never closed" : "the body is never closed", "expected `}`");
    const size_t at = in_.here();
    if (in_.accept("segment")) {
      if (segment) in_.fail_at(at, "a segment within a segment", "close the outer one first");
      return read_segment();
    }
    const size_t before = fusion_->ops().size();
    read_definition();
    if (segment) segment->ops.insert(segment->ops.end(), fusion_->ops().begin() + before, fusion_->ops().end());
  }

  // `gelu(%x)`: the results get the names that the op has for them.
  Op* read_unnamed() {
    const size_t at = in_.here();
    std::vector<Stated> stated(1);
    stated[0].tensor.name = fusion_->unique_name(in_.word("an op"));
    stated[0].tensor.fusion = fusion_;
    in_.rewind(at);
    return read_op(at, stated, false);
  }

  // `%y: f32[4] {0: tp} = gelu(%x)`; `%mean, _ = var_mean(%x)`: `_` has no reader.
  Op* read_definition() {
    const size_t at = in_.here();
    std::vector<Stated> stated;
    do {
      if (stated.size() == kMaxExtents)
        in_.fail(fmt::format("more than {} results", kMaxExtents), "no op gives so many");
      Stated& result = stated.emplace_back();
      const size_t name_at = in_.here();
      if (in_.accept("_")) {
        result.tensor.fusion = fusion_;
        continue;
      }
      const std::string name = in_.tensor_name();
      const bool twice =
          std::any_of(stated.begin(), stated.end() - 1, [&](const Stated& s) { return s.tensor.name == name; });
      if (twice || fusion_->find(name))
        in_.fail_at(name_at, fmt::format("%{} is defined twice", name), "give every result its own name");
      read_stated(name, result);
    } while (in_.accept(","));
    in_.expect("=", stated.back().tensor.name.empty() ? "after _" : "after %" + stated.back().tensor.name);
    Op* op = read_op(at, stated, true);
    for (size_t i = 0; i < stated.size(); ++i) take_stated(at, *op, stated[i], *op->results[i]);
    return op;
  }

  void take_stated(size_t at, const Op& op, const Stated& stated, TensorView& out) {
    if (stated.tensor.layout_source == LayoutSource::annotated) {
      out.layout = stated.tensor.layout;
      out.layout_source = LayoutSource::annotated;
      out.reason = "annotated";
    }
    if (stated.type) {
      out.domain.allocation = stated.tensor.domain.allocation;
      out.domain.strided = stated.tensor.domain.strided;
    }
    out.inline_position = stated.tensor.inline_position;
    out.kept = stated.tensor.kept;
    if (!stated.tensor.domain.transforms.empty()) {
      if (&out == op.results[0]) out.domain.reduction = reduction_axes(op);
      out.domain.transforms = stated.tensor.domain.transforms;
      guarded(at, [&] { return loop_axes(out.domain); });
    }
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
    const size_t at = in_.here();
    schedules::Manual by_hand;
    if (in_.accept("schedule")) {
      const std::string text = in_.balanced("a schedule");
      segment.schedule = guarded(at, [&] { return parse_schedule(text); });
      if (auto* manual = std::get_if<schedules::Manual>(&segment.schedule)) std::swap(by_hand, *manual);
    }
    if (in_.accept("joins")) in_.expect("@", "before the segment that it joins"), segment.joins = in_.word("a segment");
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
    guarded(at, [&] { set_manual_schedule(segment, by_hand); });
    fusion_->segments.push_back(std::move(segment));
  }

  void check_segments() {
    std::vector<TensorView*> outputs;  // so that the rules see them; the list is made again with its errors
    for (const auto& out : pending_)
      if (TensorView* t = fusion_->find(out.name)) outputs.push_back(t);
    fusion_->set_outputs(std::move(outputs));
    auto problem = segment_problem(*fusion_);
    if (problem) in_.fail_at(segment_at_[problem->segment], problem->what, problem->remedy);
    fusion_->set_outputs({});
  }

  Op* read_op(size_t at, std::vector<Stated>& stated, bool named) {
    const size_t op_at = in_.here();
    if (in_.peek() == '%') in_.fail_at(op_at, "found a tensor where an op is written", "write e.g. add(%a, %b)");
    std::string text = in_.word("an op");
    std::unique_ptr<Op> op = make_op(text);
    if (!op) in_.fail_at(op_at, fmt::format("there is no op `{}`", text), op_help(text));
    in_.expect("(", fmt::format("after `{}`", text));
    for (const Stated& s : stated)
      if (depth_ == 0) defining_.push_back(s.tensor.name);
    read_arguments(*op, text);
    if (depth_ == 0) defining_.clear();
    const std::vector<std::string> names = result_names(*op);
    if (named && !names.empty() && names.size() != stated.size())
      in_.fail_at(at,
                  fmt::format("{} has {} result{}, named are {}", text, names.size(), names.size() == 1 ? "" : "s",
                              stated.size()),
                  "name each result, `_` where nothing reads it");
    // Errors name the results; moves that view their operand as [outer, middle, inner] take the type from it.
    const bool needs_type = property(op->kind) >= OpProperty::communication && !as<Reshard>(*op) && !as<AllReduce>(*op);
    for (Stated& s : stated)
      if (s.type || !needs_type) op->results.push_back(&s.tensor);
    const std::vector<Inferred> types = guarded(op_at, [&] {
      std::vector<Inferred> found = infer_results(*op, *fusion_);
      for (const Inferred& type : found) check_text_limits(*op, type, describe(*op));
      return found;
    });
    op->results.clear();
    std::vector<TensorView*> results;
    for (size_t i = 0; i < types.size(); ++i) {
      if (named) check_stated(at, stated[i], types[i]);
      std::string given = named ? stated[i].tensor.name : names[i];
      if (given.empty()) given = unread_name();
      results.push_back(guarded(op_at, [&] { return fusion_->add_tensor(given, types[i].shape, types[i].dtype); }));
      results.back()->dtype_alias = named && stated[i].type ? stated[i].type->alias : types[i].dtype_alias;
    }
    return fusion_->add_op(std::move(op), std::move(results));
  }

  void check_stated(size_t at, const Stated& stated, const Inferred& found) {
    const auto& type = stated.type;
    if (!type || (type->dtype == found.dtype && std::ranges::equal(type->shape, found.shape, rules::same_extent)))
      return;
    TensorView inferred;
    for (auto e : found.shape) inferred.domain.logical.push_back({e});
    inferred.dtype = found.dtype;
    in_.fail_at(at, fmt::format("%{} is {}, not {}", stated.tensor.name, type_text(inferred), type_text(stated.tensor)),
                "drop the type or correct it");
  }

  // A tensor, or the text of a number that stands where one may.
  struct Operand {
    TensorView* tensor = nullptr;
    size_t at = 0;
    std::string number = {};
  };

  // A name for a tensor of the statement that has none, which no tensor of the text has.
  std::string part_name(const std::string& op) {
    if (!written_) written_ = in_.tensor_words();
    const std::string first = defining_.empty() ? "" : defining_[0];
    const std::string base = !first.empty() && first.size() < 500 ? first + "_" + op : op;
    for (int& k = next_part_[base];;) {
      std::string out = k == 0 ? base : fmt::format("{}_{}", base, k);
      ++k;
      if (!fusion_->find(out) && !written_->contains(out)) return out;
    }
  }

  // A name for a result that nothing reads, likewise.
  std::string unread_name() {
    if (!written_) written_ = in_.tensor_words();
    for (int k = 0;; ++k) {
      std::string out = k == 0 ? "_" : fmt::format("__{}", k);
      if (!fusion_->find(out) && !written_->contains(out)) return out;
    }
  }

  // `mul(%x, %w)` where an operand stands.
  TensorView* read_call() {
    const size_t at = in_.here();
    if (++depth_ > kMaxNesting)
      in_.fail(fmt::format("more than {} calls within each other", kMaxNesting), "name the inner ones: %t = ...");
    const Literal outer = std::exchange(literal_, Literal());
    std::vector<Stated> stated(1);
    stated[0].tensor.name = part_name(in_.word("an op"));
    stated[0].tensor.fusion = fusion_;
    in_.rewind(at);
    TensorView* out = read_op(at, stated, true)->out();
    out->named_by_op = true;
    literal_ = outer;
    --depth_;
    return out;
  }

  TensorView* make_number(const Operand& number, DType dtype) {
    auto op = std::make_unique<Full>();
    const auto value = parse_constant(dtype, number.number);
    if (!value)
      in_.fail_at(number.at, fmt::format("`{}` is no {} constant", number.number.substr(0, 40), name(dtype)),
                  is_float(dtype) ? "write a number in its range" : "write a whole number in its range");
    op->value = *value;
    TensorView* out = fusion_->add_tensor(part_name("full"), {}, dtype);
    out->named_by_op = true;
    fusion_->add_op(std::move(op), out);
    return out;
  }

  // Numbers become tensors without dims.
  std::vector<TensorView*> place_numbers(const Op& node, const std::vector<Operand>& operands, const std::string& op) {
    std::optional<DType> beside;
    size_t skip = 0;
    bool takes = false;
    if (const auto* pointwise = as<PointwiseOp>(node)) {
      takes = pointwise->function != Pointwise::cast;
      skip = pointwise->function == Pointwise::where;  // its condition
    }
    for (size_t i = skip; i < operands.size(); ++i) {
      if (!operands[i].tensor) continue;
      const DType dtype = operands[i].tensor->dtype;
      beside = beside ? try_promote(*beside, dtype).value_or(*beside) : dtype;
    }
    std::vector<TensorView*> out;
    for (const Operand& o : operands) {
      if (!o.tensor && !takes)
        in_.fail_at(o.at, fmt::format("{} takes tensors, found the number `{}`", op, o.number.substr(0, 40)),
                    number_help(node, o.number));
      out.push_back(o.tensor ? o.tensor : make_number(o, number_type(o.number, beside)));
    }
    return out;
  }

  void read_arguments(Op& node, const std::string& op) {
    std::vector<Operand> operands;
    std::set<std::string> given;
    const size_t at = in_.here();
    literal_ = {};
    if (!in_.accept(")")) {
      do {
        const size_t here = in_.here();
        if (in_.peek() == '%') {
          operands.push_back({read_operand(), here});
          continue;
        }
        if (next_is_number()) {
          operands.push_back({nullptr, here, in_.number_text("a number")});
          continue;
        }
        std::string attribute = in_.word("an operand or an attribute");
        if (in_.peek() == '(') {
          in_.rewind(here);
          operands.push_back({read_call(), here});
          continue;
        }
        if (!in_.accept("=")) in_.fail_at(here, unnamed(attribute), unnamed_help(op, attribute));
        if (!given.insert(attribute).second)
          in_.fail_at(here, fmt::format("attribute `{}` is given twice", attribute), "give it once");
        if (!read_attribute(node, attribute))
          in_.fail_at(here, fmt::format("{} has no attribute `{}`", op, attribute), attribute_help(op, attribute));
      } while (in_.accept(","));
      in_.expect(")", "or `,` after an argument");
    }
    place_operands(node, place_numbers(node, operands, op), given, op, at);
    // dims = [] says that a squeeze drops none, which is not what is left out.
    const Squeeze* squeeze = as<Squeeze>(node);
    const bool drops_none = squeeze && given.contains("dims") && squeeze->dims.empty();
    if (!drops_none) guarded(at, [&] { complete(node, *fusion_); });
    for_each_field(node, [&](const FieldRef& field, const auto& value) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, sym::Expr>)
        if (!value) in_.fail_at(at, fmt::format("{} lacks `{}`", op, field.name), "give the extent");
    });
  }

  void place_operands(Op& node, const std::vector<TensorView*>& positional, const std::set<std::string>& given,
                      const std::string& op, size_t at) {
    size_t next = 0;
    for_each_field(node, [&](const FieldRef& field, auto& value) {
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

  bool read_attribute(Op& node, const std::string& name) {
    bool done = false;
    for_each_field(node, [&](const FieldRef& field, auto& value) {
      using T = std::remove_cvref_t<decltype(value)>;
      if constexpr (std::is_same_v<T, Pointwise>) {
        if (name == "approx" && (value == Pointwise::gelu_erf || value == Pointwise::gelu_tanh))
          done = true, value = read_approx();
      } else if constexpr (std::is_same_v<T, Constant>) {
        if (name == "value") done = true, literal_.at = in_.here(), literal_.text = in_.number_text("a constant");
        if (name == "dtype") done = true, literal_.dtype = read_dtype();
      } else if constexpr (std::is_same_v<T, std::vector<sym::Expr>>) {
        const bool open = node.kind == OpKind::Reshape || node.kind == OpKind::Expand;
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

  using ValueParser::read_value;
  void read_value(TensorView*& v) {
    const size_t at = in_.here();
    const bool call = in_.next_is_word() && (in_.word("an op"), in_.peek() == '(');
    in_.rewind(at);
    v = call ? read_call() : read_operand();
  }

  std::unique_ptr<Fusion> owned_;
  std::vector<size_t> segment_at_;
  std::vector<PendingOutput> pending_;
  std::vector<std::string> defining_;             // the results of the statement whose arguments are read
  int depth_ = 0;                                 // calls within each other
  std::optional<std::set<std::string>> written_;  // names of tensors in the text
  std::map<std::string, int> next_part_;
};

}  // namespace

std::unique_ptr<Fusion> parse_fusion(std::string_view text, const ParseOptions& options) {
  return Parser(text, options).run();
}

Mesh parse_mesh(std::string_view text, const ParseOptions& options) { return Parser(text, options).run_mesh(); }

std::vector<TensorView*> parse_statement(Fusion& fusion, std::string_view text, const ParseOptions& options) {
  return Parser(text, options).run_statement(fusion);
}

TensorView* parse_input(Fusion& fusion, std::string_view text, const ParseOptions& options) {
  return Parser(text, options).run_input(fusion);
}

}  // namespace plait
