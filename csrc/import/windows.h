#pragma once
// Windows over dims of a tensor, read by index_select: what importers make convolutions and pools of.
#include <vector>

#include "ir/fusion.h"

namespace plait {

// `count` windows of `size` elements along a dim, `stride` apart, their elements `dilation` apart. All lie inside.
struct WindowSteps {
  int64_t size, stride, dilation, count;
};

// The dim becomes two: places in a window, and windows.
TensorView* windows_along(TensorView* x, int64_t dim, const WindowSteps& steps);
// Products of w[o, i, k...] with the windows of x[b, i * groups, s...], whose spatial dims `steps` describe: [b, o,
// n...]. ImportRefusal: the groups do not fit.
TensorView* convolve_windows(TensorView* x, TensorView* w, const std::vector<WindowSteps>& steps, int64_t groups);
// `gap` elements of a number between those of a dim, whose extent is a number.
TensorView* spread_elements(TensorView* x, int64_t dim, int64_t gap, double value = 0);

}  // namespace plait
