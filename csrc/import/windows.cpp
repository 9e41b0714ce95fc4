#include "import/windows.h"

#include "build/ops.h"
#include "import/builder.h"

namespace plait {

TensorView* windows_along(TensorView* x, int64_t dim, const WindowSteps& steps) {
  const std::vector<Fusion::Extent> shape = {steps.size, steps.count};
  TensorView* inside = mul(iota(*x->fusion, shape, 0), steps.dilation);
  return index_select(x, add(mul(iota(*x->fusion, shape, 1), steps.stride), inside), dim, Bounds::assume);
}

TensorView* convolve_windows(TensorView* x, TensorView* w, const std::vector<WindowSteps>& steps, int64_t groups) {
  const std::vector<int64_t> kernel = static_shape(w);
  const int64_t features = static_extent(x, 1);
  if (kernel.size() != steps.size() + 2 || groups < 1 || kernel[0] % groups != 0 || features != kernel[1] * groups)
    throw ImportRefusal(fmt::format("{} groups of {} features, and a kernel {}", groups, features, type_text(*w)));
  const sym::Expr batch = x->extent(0);
  std::vector<Fusion::Extent> out = {batch, kernel[0]};
  Dims order = {0, 1};
  int64_t depth = kernel[1], places = 1;
  for (size_t d = 0; d < steps.size(); ++d) {
    const int64_t dim = 2 + 2 * static_cast<int64_t>(d);
    x = windows_along(x, dim, steps[d]);
    depth *= steps[d].size, places *= steps[d].count;
    out.emplace_back(steps[d].count);
    order.push_back(dim);
  }
  for (size_t d = 0; d < steps.size(); ++d) order.push_back(3 + 2 * static_cast<int64_t>(d));
  TensorView* columns = reshape(permute(x, order), {batch, groups, depth, places});
  return reshape(matmul(reshape(w, {groups, kernel[0] / groups, depth}), columns), out);
}

TensorView* spread_elements(TensorView* x, int64_t dim, int64_t gap, double value) {
  const int64_t n = static_extent(x, dim);
  if (gap == 0 || n < 2) return x;
  std::vector<sym::Expr> shape = x->shape();
  std::vector<int64_t> low(shape.size() + 1, 0), high = low;
  high[static_cast<size_t>(dim) + 1] = gap;
  shape[static_cast<size_t>(dim)] = x->fusion->pool().constant(n * (gap + 1));
  x = reshape(pad(unsqueeze(x, {dim + 1}), extents_of(low), extents_of(high), value), extents_of(shape));
  return slice(x, dim, 0, (n - 1) * (gap + 1) + 1);
}

}  // namespace plait
