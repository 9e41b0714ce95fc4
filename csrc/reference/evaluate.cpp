#include "reference/evaluate.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "reference/evaluator.h"

namespace plait::reference {
namespace {

void check_input(const TensorView& input, const Tensor& tensor, const sym::Environment& sizes) {
  const std::string where = fmt::format("%{}: {}", input.name, type_text(input));
  if (tensor.dtype != input.dtype)
    throw UserError(fmt::format("the tensor given is {}", name(tensor.dtype)), where,
                    fmt::format("give a tensor of {}", name(input.dtype)));
  for (size_t d = 0; d < input.rank(); ++d) {
    const int64_t wanted = sym::evaluate(input.extent(d), sizes);
    if (tensor.shape[d] != wanted)
      throw UserError(fmt::format("dim {} of the tensor given is {}, not {}", d, tensor.shape[d], wanted), where,
                      "give a tensor of that shape, or set the sizes");
  }
}

// logsumexp of what ranks found of their terms: docs/numerics.md, "Pending logsumexp".
void join_parts(const Partial& partial, Array& out) {
  if (out.radius.empty()) return;
  const double rounding = is_narrow(out.dtype) ? unit_roundoff(out.dtype) : 0;
  const double least = is_narrow(out.dtype) ? smallest_spacing(out.dtype) : 0;
  const double steps = static_cast<double>(partial.roundings), entropy = std::log(static_cast<double>(partial.ranks));
  for (size_t i = 0; i < out.radius.size(); ++i) {
    if (!std::isfinite(out.value[i])) continue;
    const double size = std::abs(out.value[i]) + out.radius[i] + entropy;
    out.radius[i] += steps * (2 * out.radius[i] + rounding * size + least);
  }
}

// Ops in order, each operand dropped behind its last reader unless it is asked for.
class Run {
 public:
  Run(const Fusion& fusion, const sym::Environment& sizes, const EvaluateOptions& options)
      : fusion_(fusion), options_(options), context_{fusion, sizes, options} {
    for (const Op* op : fusion.ops())
      for (const TensorView* t : inputs(*op)) ++readers_[t];
  }

  Results evaluate(const std::map<std::string, Tensor>& given) {
    for (const TensorView* input : fusion_.inputs()) values_[input] = from_tensor(given.at(input->name));
    for (const Op* op : fusion_.ops()) {
      evaluate_into(*op, values_, context_);
      for (const TensorView* t : op->results)
        if (const Partial* partial = context_.partial_of(*t); partial && partial->logsumexp)
          join_parts(*partial, values_.at(t));
      for (const TensorView* t : inputs(*op))
        if (--readers_[t] == 0 && !is_kept(t)) values_.erase(t);
    }
    Results results;
    for (auto& [tensor, array] : values_) {
      if (!is_kept(tensor)) continue;
      if (options_.radius && array.radius.empty()) array.radius.assign(array.value.size(), 0.0);
      results.emplace(tensor->name, std::move(array));
    }
    return results;
  }

 private:
  bool is_kept(const TensorView* t) const {
    return options_.all || fusion_.is_output(t) || options_.keep.contains(t->name);
  }

  const Fusion& fusion_;
  const EvaluateOptions& options_;
  Context context_;
  Operands values_;
  std::map<const TensorView*, int> readers_;
};

}  // namespace

sym::Environment bind_sizes(const Fusion& fusion, const std::map<std::string, Tensor>& inputs,
                            const sym::Environment& given) {
  sym::Environment sizes = given;
  for (const TensorView* input : fusion.inputs()) {
    const auto it = inputs.find(input->name);
    if (it == inputs.end()) continue;
    if (it->second.shape.size() != input->rank())
      throw UserError(fmt::format("expected {} dims, got {}", input->rank(), it->second.shape.size()),
                      fmt::format("%{}: {}", input->name, type_text(*input)), "give a tensor of that shape");
    for (size_t d = 0; d < input->rank(); ++d)
      if (input->extent(d).is_symbol()) sizes.emplace(input->extent(d).symbol_name(), it->second.shape[d]);
  }
  for (const SizeLet& let : fusion.size_lets) sizes.emplace(let.name, let.value);
  for (const TensorView* input : fusion.inputs())
    if (const auto it = inputs.find(input->name); it != inputs.end()) check_input(*input, it->second, sizes);
  sym::check_facts(fusion.pool(), sizes);
  return sizes;
}

Results evaluate(const Fusion& fusion, const std::map<std::string, Tensor>& inputs, const EvaluateOptions& options) {
  const std::string where = fmt::format("fusion @{}", fusion.name());
  for (const TensorView* input : fusion.inputs())
    if (!inputs.contains(input->name))
      throw UserError(fmt::format("input %{} is missing", input->name), where, "give every input");
  for (const auto& [name, tensor] : inputs)
    if (const TensorView* t = fusion.find(name); !t || t->definition)
      throw UserError(fmt::format("no input is named %{}", name), where, "give the inputs of the fusion only");
  const sym::Environment sizes = bind_sizes(fusion, inputs, options.sizes);
  if (!has_composites(fusion)) return Run(fusion, sizes, options).evaluate(inputs);
  EvaluateOptions written = options;  // only what the fusion names is asked for
  if (options.all)
    for (const TensorView* t : fusion.tensors()) written.keep.insert(t->name);
  written.all = false;
  return Run(*open_composites(fusion), sizes, written).evaluate(inputs);
}

}  // namespace plait::reference
