#pragma once
// The programs of docs/examples, compiled for the reference device at small sizes.
#include "base/error.h"
#include "plait.h"
#include "support/examples.h"

namespace plait::test {

struct ExampleProgram {
  std::string name;
  Compiled compiled;
  sym::Environment sizes;
  const Program& program() const { return compiled.program(); }
};

inline ExampleProgram example_program(const std::string& example, int64_t ranks, const std::string& mesh = "") {
  std::string text = testing::example(example);
  if (!mesh.empty()) {  // another mesh than the file's
    const size_t at = text.find("mesh @m ("), end = text.find(')', at);
    text.replace(at, end + 1 - at, "mesh @m (" + mesh + ")");
  }
  ParseOptions small;
  small.set = {{"b", "2"}, {"s", "5"}, {"sb", "6"}, {"h", "4"}, {"h4", "8"}};
  auto fusion = parse_fusion(text, small);
  CompileOptions how;
  how.device = "reference";
  how.ranks = ranks;
  sym::Environment sizes;
  for (const auto& let : fusion->size_lets) sizes[let.name] = let.value;
  Metadata metadata;
  for (const TensorView* t : fusion->inputs()) {
    std::vector<int64_t> shape;
    for (auto extent : t->shape()) shape.push_back(sym::evaluate(extent, sizes));
    metadata[t->name] = {t->dtype, shape};
  }
  ExampleProgram out{fmt::format("{} on {}", example, ranks), compile(*fusion, how), sizes};
  out.compiled.prepare(metadata);
  return out;
}

// All five, with 2 to 4 ranks where they have a mesh.
inline std::vector<ExampleProgram> example_programs() {
  std::vector<ExampleProgram> out;
  out.push_back(example_program("simple_add", 1));
  out.push_back(example_program("mlp_block", 1));
  for (int ranks : {2, 3, 4}) out.push_back(example_program("tp_mlp", ranks));
  for (int ranks : {2, 3, 4}) out.push_back(example_program("sp_toy", ranks, fmt::format("tp = {}", ranks)));
  out.push_back(example_program("mlp_2d", 2, "dp = 1, tp = 2"));
  out.push_back(example_program("mlp_2d", 4));
  return out;
}

}  // namespace plait::test
