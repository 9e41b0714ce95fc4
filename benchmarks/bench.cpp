#include "bench.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "program/program.h"
#include "reference/draw_inputs.h"
#include "run/binding.h"

namespace plait::bench {

std::unique_ptr<Fusion> example(const std::string& name, const std::map<std::string, std::string, std::less<>>& set) {
  const std::string path = fmt::format("{}/docs/examples/{}.plait", PLAIT_SOURCE_DIR, name);
  std::ifstream in(path, std::ios::binary);
  PLAIT_CHECK(in.good(), "{} cannot be read", path);
  std::ostringstream text;
  text << in.rdbuf();
  ParseOptions parse;
  parse.set = set;
  return parse_fusion(text.str(), parse);
}

Tensors inputs_of(const Fusion& fusion) {
  Tensors out;
  for (auto& [name, tensor] : reference::draw_inputs(fusion, {})) out[name] = tensor;
  return out;
}

Metadata metadata_of(const Tensors& inputs) {
  Metadata out;
  for (const auto& [name, tensor] : inputs) out[name] = {tensor.dtype, tensor.shape};
  return out;
}

Launch::Launch(const Fusion& fusion, const Options& options) {
  CompileOptions how;
  how.device = "cpu";
  how.options = options;
  Compiled compiled = compile(fusion, how);
  const Tensors inputs = inputs_of(fusion);
  compiled.prepare(metadata_of(inputs));
  const Program& program = compiled.program();
  const RankBinding bound = bind(program, {})[0];
  std::vector<View> views;
  for (size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = *program.steps[i];
    if (const auto* launch = as<LaunchStep>(step)) {
      const KernelSlot& slot = program.kernels[launch->kernel.index];
      executable_ = slot.executable;
      schedule_ = slot.schedule;
    } else if (const auto* contraction = as<LibraryStep>(step)) {
      executable_ = program.libraries[contraction->library.index].executable;
      schedule_ = "library";
    } else {
      continue;
    }
    views = operands(step);
    for (const View& view : results(step)) views.push_back(view);
    PLAIT_CHECK(bound.steps[i].offsets.empty(), "@{} reads from within a buffer", fusion.name());
    integers_ = bound.steps[i].integers;
    extents_ = bound.steps[i].threads;
    arguments_.thread_extent = extents_.empty() ? 1 : extents_.front();
    if (extents_.size() > 1) arguments_.later_extents = std::span(extents_).subspan(1);
  }
  PLAIT_CHECK(executable_ != nullptr, "@{} has neither kernel nor product", fusion.name());
  for (const View& view : views) {
    const ProgramValue& value = program.value(view.value);
    if (value.kind == ProgramValueKind::input) {
      tensors_.push_back(inputs.find(value.name)->second);
    } else {
      tensors_.push_back(Tensor::empty(value.dtype, bound.shapes[view.value.index]));
    }
    buffers_.push_back(tensors_.back().data());
  }
  arguments_.buffers = buffers_;
  arguments_.integers = integers_;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return n == 0 ? 0 : n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

}  // namespace plait::bench
