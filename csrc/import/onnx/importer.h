#pragma once
// ONNX graphs as plait's, by the builders of build/build.h and build/ops.h.
//
// What ONNX passes as tensors and plait takes as attributes (shapes, axes, ends, pads, repeats, counts) is read at
// import: from constants of the model, by evaluating the ops that compute it from constants, or as expressions over
// sizes. A loop of known trips is a row of copies.
#include <string_view>

#include "build/ops.h"
#include "import/builder.h"
#include "import/onnx/model.h"
#include "import/problems.h"

namespace plait::onnx {

// A value of an ONNX graph: numbers that are known at import, a tensor of the graph, or both; or `bad`, what a node
// that cannot be imported would give.
struct Value {
  std::optional<Tensor> known;
  TensorView* view = nullptr;
  bool bad = false;
  std::string name = {};  // of an initializer or of what is a constant
};
using ValuePtr = std::shared_ptr<Value>;

// Thrown where a node reads what another one, which is noted, does not give.
struct ReadsBad {};

// Names of a graph and of those around it.
struct Scope {
  std::map<std::string, ValuePtr, std::less<>> values;
  const Scope* outer = nullptr;
  ValuePtr find(const std::string& name) const;  // null where there is none
};

class Call;
// One op of ONNX. `attributes` names those that the handler obeys, apart by blanks; `mode=linear|nearest` obeys only
// these texts or numbers; `seed?` does not obey it, and the handler refuses it where it matters.
struct OpRow {
  const char* name;
  void (*handler)(Call&);
  const char* attributes = "";
};
// The row of an op, or null.
const OpRow* find_op(std::string_view name);
std::vector<std::string> op_names();
// Whether the op obeys the attribute; `value` is its text, or its number where it has none.
bool obeys(const OpRow& row, std::string_view attribute, std::string_view value);

class Importer {
 public:
  Importer(const Model& model, const ImportOptions& options);
  // Builds the graph of the model. What cannot be imported is in problems().
  void import();
  // The nodes of a graph inside of `outer`, its inputs bound to the values; those of its outputs.
  std::vector<ValuePtr> run(const Graph& graph, const std::vector<ValuePtr>& inputs, const Scope* outer);

  ImportBuilder& builder() { return builder_; }
  Fusion& fusion() { return builder_.fusion(); }
  int64_t opset() const { return model_.opset; }
  const Problems& problems() const { return problems_; }
  TensorView* view(Value& value);     // as a tensor of the graph
  const Tensor& known(Value& value);  // its numbers. ImportRefusal: they depend on inputs
  static ValuePtr constant(Tensor tensor, std::string name = "");
  static ValuePtr result(TensorView* view);

 private:
  void check_nodes(const Graph& graph);
  void check_node(const Node& node);
  void check_values(const std::vector<ValueInfo>& values, const char* what);
  ValuePtr input(const ValueInfo& info);
  void run_node(const Node& node, Scope& scope);

  const Model& model_;
  const ImportOptions& options_;
  ImportBuilder builder_;
  Problems problems_;
  std::set<const Node*> refused_;  // by check_nodes()
  int depth_ = 0;
};

// A node in import: its operands, attributes and results.
class Call {
 public:
  Call(Importer& importer, const Node& node, Scope& scope) : importer(importer), node(node), scope(scope) {}
  Importer& importer;
  const Node& node;
  Scope& scope;

  size_t count() const { return node.in.size(); }
  bool has(size_t i) const {
    looked_ = std::max(looked_, i + 1);
    return i < node.in.size() && !node.in[i].empty();
  }
  bool wants(size_t i) const { return i < node.out.size() && !node.out[i].empty(); }
  ValuePtr value(size_t i) const;
  TensorView* in(size_t i = 0) { return importer.view(*value(i)); }
  TensorView* in_or_null(size_t i) { return has(i) ? in(i) : nullptr; }
  std::vector<TensorView*> all();
  // Numbers of an operand.
  const Tensor& known(size_t i) { return importer.known(*value(i)); }
  double number_of(size_t i, int64_t place);  // ImportRefusal: there is no such element
  std::vector<int64_t> integers(size_t i);
  int64_t integer(size_t i);
  double number(size_t i) { return number_of(i, 0); }
  // Integers of an operand as expressions over sizes.
  std::vector<sym::Expr> sizes(size_t i);

  bool has_attribute(std::string_view name) const { return node.attributes.count(name) != 0; }
  const Attribute& attribute(std::string_view name) const;  // ImportRefusal: absent
  int64_t integer(std::string_view name, int64_t otherwise) const;
  double number(std::string_view name, double otherwise) const;
  std::string text(std::string_view name, std::string otherwise) const;
  std::vector<int64_t> integers(std::string_view name) const;  // empty where it is absent
  // Of an attribute up to some opset, of an operand since; empty where both are absent.
  std::vector<int64_t> integers(std::string_view name, size_t operand);
  std::vector<sym::Expr> sizes(std::string_view name, size_t operand);
  // An axis, counted from the front. ImportRefusal: there is no such one (of `rank`, or its end where `end` is set).
  int64_t axis(int64_t otherwise, size_t rank, bool end = false) const;
  DType dtype_attribute(std::string_view name, int64_t otherwise) const;
  const Graph& body(std::string_view name) const;

  void give(TensorView* view, size_t i = 0) { give(Importer::result(view), i); }
  void give(ValuePtr value, size_t i);
  // ImportRefusal naming an operand that the handler did not look at, or a result that it did not give.
  void check_all_seen() const;
  // A tensor of these numbers.
  TensorView* constant(DType dtype, std::vector<int64_t> shape, const std::vector<double>& values);
  Fusion& fusion() { return importer.fusion(); }

 private:
  mutable size_t looked_ = 0;
  std::set<size_t> given_;
};

// Of what no exporter writes.
inline constexpr const char* kValidModel = "give a model that ONNX's checker takes";

// ImportRefusal where the condition is false.
template <class... Args>
void require(bool condition, fmt::format_string<Args...> what, Args&&... args) {
  if (!condition) throw ImportRefusal(fmt::format(what, std::forward<Args>(args)...));
}

using Sizes = std::vector<sym::Expr>;
// Extents as numbers, ImportRefusal where they are none.
inline std::vector<int64_t> shape_of(const TensorView* t) { return static_shape(t); }
inline int64_t extent(const TensorView* t, int64_t dim) { return static_extent(t, dim); }
sym::Expr size_of_dim(const TensorView* t, int64_t dim);
inline std::vector<Fusion::Extent> extents(const std::vector<int64_t>& shape) { return extents_of(shape); }
TensorView* reshape_to(TensorView* t, const std::vector<int64_t>& shape);
TensorView* reshape_to(TensorView* t, const Sizes& shape);
TensorView* expand_to(TensorView* t, const std::vector<int64_t>& shape);
TensorView* expand_to(TensorView* t, const Sizes& shape);
std::vector<int64_t> iota_dims(int64_t begin, int64_t end);
int64_t product(const std::vector<int64_t>& shape, int64_t begin, int64_t end);
sym::Expr product(Fusion& fusion, const Sizes& shape, int64_t begin, int64_t end);
// Rounded, moved by the zero point (or null) and clamped to the type.
TensorView* quantized(TensorView* scaled, TensorView* zero, DType to);

// Rows by kind, one function per file ops_*.cpp.
std::vector<OpRow> pointwise_rows();
std::vector<OpRow> reduction_rows();
std::vector<OpRow> movement_rows();
std::vector<OpRow> creation_rows();
std::vector<OpRow> indexing_rows();
std::vector<OpRow> layer_rows();
std::vector<OpRow> loss_rows();
std::vector<OpRow> window_rows();
std::vector<OpRow> loop_rows();
std::vector<OpRow> optimizer_rows();
std::vector<OpRow> resize_rows();

}  // namespace plait::onnx
