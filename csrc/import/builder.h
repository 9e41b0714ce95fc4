#pragma once
// A fusion in the making by an importer: names of other formats, weights, numbers that are known at import, sizes as
// expressions.
#include <optional>
#include <set>

#include "import/imported.h"

namespace plait {

// Refuses what is imported: a node, or the model where none is at work.
class ImportRefusal : public UserError {
 public:
  ImportRefusal(std::string what, std::string remedy = "") : UserError(std::move(what), "", std::move(remedy)) {}
};

// Letters, digits and _: a name that the text form takes. "/layer.1/Add" -> "layer_1_Add".
std::string identifier(const std::string& name);

class ImportBuilder {
 public:
  explicit ImportBuilder(const ImportOptions& options);

  Fusion& fusion() { return *out_.fusion; }
  // An input of the run, of a name in the model.
  TensorView* input(const std::string& name, const std::vector<Fusion::Extent>& shape, DType dtype);
  // Numbers as a tensor of the graph: a constant where all are equal, else a weight, by a name in the model, or "".
  TensorView* tensor_of(const Tensor& numbers, const std::string& name);
  // An output; a copy where it is one already or an input.
  void output(const std::string& name, TensorView* tensor);
  // A size of the model by name; a number where the options give one. Another name where the text form takes it not.
  Fusion::Extent size_named(const std::string& name);

  // The numbers of a tensor that depends on constants and weights alone. ImportRefusal: it does not, and names the
  // input that is asked for; or over a million elements would be computed.
  Tensor known(TensorView* tensor);
  // Elements of a tensor of at most 64 integers, as expressions over sizes. Nothing: they are no such expressions.
  std::optional<std::vector<sym::Expr>> sizes_in(TensorView* tensor);

  // ImportRefusal where the graph has become too large.
  void check_growth();
  // The graph without what no output needs.
  Imported finish(std::string format);

 private:
  std::vector<Op*> needed_for(const std::vector<TensorView*>& outputs, std::set<const TensorView*>& leaves);
  std::string fresh(const std::string& name);

  const ImportOptions& options_;
  Imported out_;
  std::set<std::string> given_sizes_;  // of options_, that a dim has
  std::map<std::string, std::string> size_names_;
};

// Extents as numbers. ImportRefusal naming the sizes that have none.
int64_t static_extent(const TensorView* t, int64_t dim);
std::vector<int64_t> static_shape(const TensorView* t);
int64_t static_number(sym::Expr expr);
std::vector<Fusion::Extent> extents_of(const std::vector<int64_t>& shape);
std::vector<Fusion::Extent> extents_of(const std::vector<sym::Expr>& shape);

}  // namespace plait
