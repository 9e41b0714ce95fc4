#pragma once
// Graphs of other formats as plait's: import/onnx/import_onnx.h, import/stablehlo/import_stablehlo.h.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "device/tensor.h"
#include "ir/fusion.h"

namespace plait {

// What an import is told.
struct ImportOptions {
  std::string file = "<model>";          // named in errors
  std::string name;                      // of the fusion; empty: as the model has it
  std::string folder;                    // where files of weights beside the model may lie; empty: nowhere
  std::map<std::string, int64_t> sizes;  // of dims that the model leaves open, by their names in the fusion
  // Values that hold for ever, of inputs by their names in the model: a tensor of the input's dtype.
  std::map<std::string, std::function<Tensor(DType)>> constants;
};

// One reason for which nodes cannot be imported.
struct ImportProblem {
  std::string reason;              // "op NonZero", "attribute mode=cubic of Resize", or a sentence
  std::string op;                  // the nodes' op, or empty
  std::string remedy;              // may be empty
  std::vector<std::string> nodes;  // their names, or those of what they give; at most kMostNamed
  int64_t count = 0;               // of all of them
};
inline constexpr size_t kMostNamed = 8;

// The model cannot be imported; the message lists all of problems().
class ImportError : public UserError {
 public:
  ImportError(std::vector<ImportProblem> problems, const std::string& file);
  const std::vector<ImportProblem>& problems() const { return problems_; }

 private:
  std::vector<ImportProblem> problems_;
};

// The graph, with a parameter for each weight, which `weights` has by the parameter's name.
struct Imported {
  std::unique_ptr<Fusion> fusion;
  std::map<std::string, Tensor> weights;
  std::map<std::string, std::string> renamed;  // inputs, outputs and weights: name in the fusion -> name in the model
  std::string format;                          // "ONNX, opset 17, of pytorch 2.1"
  std::vector<std::string> notes;              // what the model says and the fusion does not
};

}  // namespace plait
