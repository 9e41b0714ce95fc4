#pragma once
// The cases of Debian's package libonnx-testdata: one folder each, a model with the tensors that go in and come out.
#include "import/imported.h"
#include "import/onnx/model.h"
#include "plait.h"
#include "reference/array.h"

namespace plait::conformance {

inline constexpr const char* kDataFolder = "/usr/share/libonnx-testdata/data";

struct Case {
  std::string name;   // "node/test_abs"
  std::string bytes;  // of the model
  onnx::Model model;
  std::vector<Tensor> inputs, outputs;  // empty where the model has types that plait has not
};

// Names of all cases, in order; empty where the package is not installed.
std::vector<std::string> case_names();
Case read_case(const std::string& name);

// What one case came to on one device.
struct Outcome {
  std::string unsupported;       // the reason
  std::string failure;           // empty: it passed, or is not supported
  int64_t by_discontinuity = 0;  // integers that came out on the other side of a discontinuity
};

// The case as a user would import it: inputs whose numbers an op asks for are given as constants, one after another.
Imported import_case(const Case& c);

// Imports the case and runs it on the device ("reference", "cpu", "sim:sm_90a"), checked against the reference by its
// radius, and against the stored outputs.
Outcome run_case(const Case& c, const std::string& device);

// How `got` differs from the stored tensor; empty where it does not. Integers and bool are equal; floats differ by at
// most ONNX's own tolerance, 1e-7 + 1e-3 |want|, or by the radius of the reference where that is larger and finite. An
// element that the reference excuses, because its operands lie at a discontinuity, may differ, but not over 3 and over
// 1 %.
std::string difference(const reference::Array& computed, const Tensor& got, const Tensor& want, Outcome& counts);

// Whether the reason is true of the model: "op X" that a node of it is, "attribute A of X" or "attribute A=V of X" that
// a node has, "dtype T" of its inputs, outputs or constants, which plait or the importer does not have.
bool holds(const std::string& reason, const onnx::Model& model);

// Case -> reason, from the lines "CASE: REASON" of a file.
std::map<std::string, std::string> read_list(const std::string& file);

}  // namespace plait::conformance
