#pragma once
// ONNX graphs as plait's, with what users have: the builders of build/build.h and build/ops.h.
//
// Shapes are static here, and so is what ONNX passes as tensors and plait takes as attributes (shapes, axes, ends,
// pads, repeats, counts): where an op asks for such numbers they are taken from the constants of the model or the
// tensors of the case's data set, and where nodes compute them, the reference evaluates the graph that is built so far.
// That makes a loop of known trips a row of copies, too.
#include <functional>
#include <string_view>

#include "conformance/model.h"
#include "plait.h"

namespace plait::conformance {

// A value of an ONNX graph: numbers that are known at import, a tensor of the graph, or both.
struct Value {
  std::optional<Tensor> known;
  TensorView* view = nullptr;
};
using ValuePtr = std::shared_ptr<Value>;

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
// Whether the op obeys the attribute; `value` is its text, or its number where it has none.
bool obeys(const OpRow& row, std::string_view attribute, std::string_view value);

class Importer {
 public:
  explicit Importer(const Model& model) : opset_(model.opset), fusion_(std::make_unique<Fusion>()) {}
  // Builds the graph and names its outputs o0, o1, ... Unsupported, and what the builders throw.
  void import(const Graph& graph, const std::vector<Tensor>& inputs);
  // The nodes of a graph inside of `outer`, its inputs bound to the values; those of its outputs.
  std::vector<ValuePtr> run(const Graph& graph, const std::vector<ValuePtr>& inputs, const Scope* outer);

  Fusion& fusion() { return *fusion_; }
  const Tensors& inputs() const { return inputs_; }  // of the fusion, by name
  int64_t opset() const { return opset_; }
  TensorView* view(Value& value);     // as a tensor of the graph; what is only known becomes an input
  const Tensor& known(Value& value);  // its numbers
  static ValuePtr constant(Tensor tensor);
  static ValuePtr result(TensorView* view);

 private:
  int64_t opset_;
  std::unique_ptr<Fusion> fusion_;
  Tensors inputs_;
};

// A node in import: its operands, attributes and results.
class Call {
 public:
  Call(Importer& importer, const Node& node, Scope& scope) : importer(importer), node(node), scope(scope) {}
  Importer& importer;
  const Node& node;
  Scope& scope;

  size_t count() const { return node.in.size(); }
  bool has(size_t i) const { return i < node.in.size() && !node.in[i].empty(); }
  bool wants(size_t i) const { return i < node.out.size() && !node.out[i].empty(); }
  ValuePtr value(size_t i) const;
  TensorView* in(size_t i = 0) { return importer.view(*value(i)); }
  TensorView* in_or_null(size_t i) { return has(i) ? in(i) : nullptr; }
  std::vector<TensorView*> all();
  // Numbers of an operand.
  const Tensor& known(size_t i) { return importer.known(*value(i)); }
  std::vector<int64_t> integers(size_t i);
  int64_t integer(size_t i) { return integers(i).at(0); }
  double number(size_t i) { return known(i).at(0); }

  bool has_attribute(std::string_view name) const { return node.attributes.count(name) != 0; }
  int64_t integer(std::string_view name, int64_t otherwise) const;
  double number(std::string_view name, double otherwise) const;
  std::string text(std::string_view name, std::string otherwise) const;
  std::vector<int64_t> integers(std::string_view name) const;  // empty where it is absent
  // Of an attribute up to some opset, of an operand since; empty where both are absent.
  std::vector<int64_t> integers(std::string_view name, size_t operand);
  // An axis, counted from the front.
  int64_t axis(int64_t otherwise, int64_t rank) const;

  void give(TensorView* view, size_t i = 0) { give(Importer::result(view), i); }
  void give(ValuePtr value, size_t i);
  // A tensor of these numbers.
  TensorView* constant(DType dtype, std::vector<int64_t> shape, const std::vector<double>& values);
};

// Static shapes.
std::vector<int64_t> shape_of(const TensorView* t);
int64_t extent(const TensorView* t, int64_t dim);
std::vector<Fusion::Extent> extents(const std::vector<int64_t>& shape);
TensorView* reshape_to(TensorView* t, const std::vector<int64_t>& shape);
TensorView* expand_to(TensorView* t, const std::vector<int64_t>& shape);
std::vector<int64_t> iota_dims(int64_t begin, int64_t end);
int64_t product(const std::vector<int64_t>& shape, int64_t begin, int64_t end);
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

}  // namespace plait::conformance
