// Scheduling by hand on a fusion: what TensorView offers for it.
#include <algorithm>

#include "base/error.h"
#include "ir/factors.h"
#include "ir/fusion.h"

namespace plait {

namespace {

void check_made(const TensorView& t) {
  if (t.definition == nullptr)
    throw UserError(fmt::format("no op makes %{}, and it has no loops", t.name), "%" + t.name,
                    "schedule a copy of it: cache_after()");
}

TensorView& add(TensorView& t, Transform transform) {
  check_made(t);
  Domain next = t.domain;
  const bool first = t.definition->results[0] == &t;
  if (first && next.reduction.empty()) next.reduction = reduction_axes(*t.definition);
  next.transforms.push_back(std::move(transform));
  try {
    loop_axes(next);
  } catch (const UserError& error) {
    throw UserError(error.message(), fmt::format("%{}, {}", t.name, error.where()), error.remedy());
  }
  t.domain = std::move(next);
  return t;
}

// An op that copies, in front of another or at the end.
void add_copy(Fusion& fusion, TensorView* from, TensorView* to, const Op* at) {
  auto cast = std::make_unique<PointwiseOp>();
  cast->function = Pointwise::cast;
  cast->in = {from};
  cast->to = from->dtype;
  Op* op = fusion.add_op(std::move(cast), to);
  std::vector<Op*> order = fusion.ops();
  order.pop_back();
  order.insert(std::find(order.begin(), order.end(), at), op);
  fusion.set_order(std::move(order));
}

void check_cache(const TensorView& t) {
  if (!t.fusion->segments.empty())
    throw UserError(fmt::format("%{} is of a fusion with segments", t.name), fmt::format("cache of %{}", t.name),
                    "make caches before segments, or write the copy as an op: %c = cast(%x)");
}

}  // namespace

TensorView& TensorView::split(int position, int64_t factor) {
  return add(*this, {Transform::Kind::split, position, fusion->pool().constant(factor), {}, ParallelType::serial});
}
TensorView& TensorView::merge(int position) {
  return add(*this, {Transform::Kind::merge, position, {}, {}, ParallelType::serial});
}
TensorView& TensorView::reorder(std::vector<int> order) {
  return add(*this, {Transform::Kind::reorder, 0, {}, std::move(order), ParallelType::serial});
}
TensorView& TensorView::parallelize(int position, ParallelType type) {
  return add(*this, {Transform::Kind::parallel, position, {}, {}, type});
}

TensorView& TensorView::inline_at(int64_t loops) {
  check_made(*this);
  if (loops < 0 || loops > 64)
    throw UserError(fmt::format("inline position {} is out of range", loops), "%" + name, "it counts loops from 0");
  inline_position = loops;
  return *this;
}
TensorView& TensorView::keep(int64_t elements) {
  check_made(*this);
  if (elements < 1 || elements > int64_t{1} << 20)
    throw UserError(fmt::format("a buffer of {} elements is out of range", elements), "%" + name, "1 to 1048576");
  kept = elements;
  return *this;
}

TensorView* TensorView::cache_after() {
  check_cache(*this);
  const std::vector<Op*> readers = fusion->readers(this);
  if (readers.empty())
    throw UserError(fmt::format("nothing reads %{}", name), "cache behind it", "use cache_before for outputs");
  TensorView* out = fusion->add_tensor(name + "_cache", shape(), dtype);
  out->dtype_alias = dtype_alias;
  out->layout = layout;
  add_copy(*fusion, this, out, readers.front());
  for (Op* reader : readers) replace_input(*reader, this, out);
  return out;
}

TensorView* TensorView::cache_before() {
  check_cache(*this);
  if (definition == nullptr)
    throw UserError(fmt::format("no op makes %{}", name), "cache in front of it", "use cache_after for inputs");
  if (is_by_hand(*this))
    throw UserError(fmt::format("%{} has loops already", name), "cache in front of it", "make caches first");
  Op& op = *definition;
  const std::vector<Op*>& ops = fusion->ops();
  const auto behind = std::find(ops.begin(), ops.end(), &op) + 1;
  const Op* at = behind == ops.end() ? nullptr : *behind;
  const auto index = std::find(op.results.begin(), op.results.end(), this) - op.results.begin();
  TensorView* out = fusion->add_tensor(name + "_cache", shape(), dtype);
  out->dtype_alias = dtype_alias;
  out->layout = layout;
  fusion->define(op, static_cast<size_t>(index), out);
  definition = nullptr;
  add_copy(*fusion, out, this, at);
  return out;
}

}  // namespace plait
