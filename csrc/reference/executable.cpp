#include "reference/executable.h"

#include <algorithm>
#include <set>
#include <type_traits>

#include "base/error.h"
#include "ir/op_fields.h"
#include "reference/evaluator.h"

namespace plait::reference {
namespace {

void add_symbols(const TensorView& tensor, std::set<std::string>& names) {
  for (const Axis& axis : tensor.domain.logical) sym::symbols(axis.extent, names);
}

class SegmentExecutable : public Executable {
 public:
  SegmentExecutable(std::shared_ptr<const Fusion> fusion, size_t segment)
      : fusion_(std::move(fusion)), segment_(fusion_->segments.at(segment)) {
    for (const Op* op : segment_.ops)
      if (property(op->kind) == OpProperty::communication)
        throw InternalError(fmt::format("segment @{} holds a collective", segment_.name), describe(*op),
                            "collectives are steps of a program");
    symbols_ = segment_symbols(*fusion_, segment_);
  }

  void launch(const LaunchArguments& arguments) const override {
    const bool status = has_status(segment_);
    PLAIT_CHECK(arguments.buffers.size() == segment_.inputs.size() + segment_.outputs.size() + (status ? 1 : 0) &&
                    arguments.integers.size() == symbols_.size(),
                "segment @{}: {} buffers, {} integers", segment_.name, arguments.buffers.size(),
                arguments.integers.size());
    sym::Environment sizes;
    for (size_t i = 0; i < symbols_.size(); ++i) sizes[symbols_[i]] = arguments.integers[i];
    EvaluateOptions options;
    options.radius = false;
    Context context{*fusion_, sizes, options};
    if (status) context.status = static_cast<uint64_t*>(arguments.buffers.back());
    Operands values;
    for (size_t i = 0; i < segment_.inputs.size(); ++i) {
      const TensorView* t = segment_.inputs[i];
      values[t] = from_tensor(Tensor::wrap(t->dtype, context.shape(t->shape()), arguments.buffers[i]));
    }
    for (const Op* op : segment_.ops) evaluate_into(*op, values, context);
    for (size_t i = 0; i < segment_.outputs.size(); ++i)
      store(values.at(segment_.outputs[i]), arguments.buffers[segment_.inputs.size() + i]);
  }

 private:
  std::shared_ptr<const Fusion> fusion_;
  const Segment& segment_;
  std::vector<std::string> symbols_;
};

}  // namespace

std::vector<std::string> segment_symbols(const Fusion&, const Segment& segment) {
  std::set<std::string> names;
  for (const TensorView* t : segment.inputs) add_symbols(*t, names);
  for (const TensorView* t : segment.outputs) add_symbols(*t, names);
  for (const Op* op : segment.ops) {
    for (const TensorView* t : op->results) add_symbols(*t, names);
    for_each_field(*op, [&](const FieldRef&, const auto& value) {
      using T = std::remove_cvref_t<decltype(value)>;
      if constexpr (std::is_same_v<T, sym::Expr>) {
        sym::symbols(value, names);
      } else if constexpr (std::is_same_v<T, std::vector<sym::Expr>>) {
        for (sym::Expr e : value) sym::symbols(e, names);
      }
    });
  }
  return {names.begin(), names.end()};
}

bool has_status(const Segment& segment) {
  return std::any_of(segment.ops.begin(), segment.ops.end(),
                     [](const Op* op) { return checked_lookup(*op).has_value(); });
}

std::shared_ptr<Executable> make_executable(std::shared_ptr<const Fusion> localized, size_t segment) {
  return std::make_shared<SegmentExecutable>(std::move(localized), segment);
}

}  // namespace plait::reference
