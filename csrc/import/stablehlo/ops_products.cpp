// Products and convolutions of StableHLO.
#include <algorithm>

#include "import/stablehlo/importer.h"
#include "import/windows.h"

namespace plait::stablehlo {
namespace {

struct DotDims {
  Numbers batch[2], contracted[2];
};

DotDims dot_dims(Call& c) {
  DotDims out;
  if (c.has("dot_dimension_numbers")) {
    const Attributes& d = c.attribute({"dot_dimension_numbers"}).dictionary;
    out.batch[0] = integers_in(d, "lhs_batching_dimensions");
    out.batch[1] = integers_in(d, "rhs_batching_dimensions");
    out.contracted[0] = integers_in(d, "lhs_contracting_dimensions");
    out.contracted[1] = integers_in(d, "rhs_contracting_dimensions");
  } else if (c.has("contracting_dims") || c.has("batching_dims")) {
    for (const auto& [name, to] :
         {std::pair("batching_dims", out.batch), std::pair("contracting_dims", out.contracted)}) {
      if (!c.has(name)) continue;
      const Attribute& both = c.attribute({name});
      require(both.list.size() == 2, "{} of two operands", name);
      to[0] = integers_in(both.list[0]), to[1] = integers_in(both.list[1]);
    }
  } else if (c.op.name == "stablehlo.dot") {
    out.contracted[0] = {static_cast<int64_t>(c.in(0)->rank()) - 1};
    out.contracted[1] = {0};
  }
  require(out.batch[0].size() == out.batch[1].size() && out.contracted[0].size() == out.contracted[1].size(),
          "as many dims of each operand");
  return out;
}

// By a letter for each dim: batch dims and contracted ones have those of the other operand.
void dot_general(Call& c) {
  const DotDims dims = dot_dims(c);
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  size_t next = 0;
  std::string terms[2], batch, free[2];
  const auto letter = [&] {
    require(next < kLetters.size(), "more than {} dims", kLetters.size());
    return kLetters[next++];
  };
  for (size_t side : {0, 1}) terms[side] = std::string(c.in(side)->rank(), ' ');
  const auto place = [&](size_t side, int64_t dim) -> char& {
    require(dim >= 0 && dim < static_cast<int64_t>(terms[side].size()), "dim {} of operand {}", dim, side);
    char& at = terms[side][static_cast<size_t>(dim)];
    require(at == ' ', "dim {} of operand {} twice", dim, side);
    return at;
  };
  for (size_t i = 0; i < dims.batch[0].size(); ++i) {
    batch += letter();
    for (size_t side : {0, 1}) place(side, dims.batch[side][i]) = batch.back();
  }
  for (size_t i = 0; i < dims.contracted[0].size(); ++i) {
    const char shared = letter();
    for (size_t side : {0, 1}) place(side, dims.contracted[side][i]) = shared;
  }
  for (size_t side : {0, 1})
    for (char& at : terms[side])
      if (at == ' ') free[side] += at = letter();
  // Sums are as wide as the result says.
  TensorView* in[2];
  for (size_t side : {0, 1}) {
    in[side] = c.in(side);
    if (size_of(c.dtype()) > size_of(in[side]->dtype)) in[side] = convert_to(in[side], c.dtype());
  }
  const std::string result = batch + free[0] + free[1];
  if (terms[0] == "ba" && terms[1] == "ac") return c.give(matmul(in[0], in[1]));
  c.give(einsum(terms[0] + "," + terms[1] + "->" + result, {in[0], in[1]}));
}

// ---- Convolutions.
// Where batch, features and spatial dims stand; `b`, `f`, `o`, `i` or the number of a spatial dim.
Dims order_of(const Attribute& dims, const char* first, const char* second) {
  require(dims.kind == Attribute::Kind::list && dims.list.size() >= 2, "dims of a convolution");
  Dims out(dims.list.size(), -1);
  for (size_t at = 0; at < dims.list.size(); ++at) {
    const std::string& text = dims.list[at].text;
    int64_t place = text == first ? 0 : text == second ? 1 : integer_in(dims.list[at]) + 2;
    require(place >= 0 && place < static_cast<int64_t>(out.size()) && out[static_cast<size_t>(place)] < 0,
            "dims of a convolution");
    out[static_cast<size_t>(place)] = static_cast<int64_t>(at);
  }
  return out;
}

struct ConvolutionWindow {
  Numbers strides, low, high, lhs_dilation, rhs_dilation;
};

ConvolutionWindow read_window(Call& c, size_t dims) {
  static const std::map<std::string, std::string> generic = {{"stride", "window_strides"},
                                                             {"pad", "padding"},
                                                             {"lhs_dilate", "lhs_dilation"},
                                                             {"rhs_dilate", "rhs_dilation"},
                                                             {"reverse", "window_reversal"}};
  const Attributes none;
  const Attributes& window = c.has("window") ? c.attribute({"window"}).dictionary : none;
  const auto read = [&](const std::string& name, size_t count, int64_t otherwise) {
    Numbers out = integers_in(window, name);
    if (out.empty() && c.has(generic.at(name))) out = integers_in(c.attribute({generic.at(name)}));
    if (out.empty()) out.assign(count, otherwise);
    require(out.size() == count, "{} numbers of {}", out.size(), name);
    for (const int64_t each : out) require(std::abs(each) < (1 << 20), "{} in {}", each, name);
    return out;
  };
  ConvolutionWindow out{read("stride", dims, 1), {}, {}, read("lhs_dilate", dims, 1), read("rhs_dilate", dims, 1)};
  const Numbers pads = read("pad", 2 * dims, 0), reversed = read("reverse", dims, 0);
  for (size_t d = 0; d < dims; ++d) {
    out.low.push_back(pads[2 * d]), out.high.push_back(pads[2 * d + 1]);
    require(reversed[d] == 0, "a window that is reversed");
    require(out.low[d] >= 0 && out.high[d] >= 0, "pads of {} and {}", out.low[d], out.high[d]);
    require(out.strides[d] >= 1 && out.lhs_dilation[d] >= 1 && out.rhs_dilation[d] >= 1, "steps of less than 1");
  }
  return out;
}

// Products of w[o, i, k...] with the windows of x[b, i * groups, s...].
TensorView* convolve_padded(TensorView* x, TensorView* w, const ConvolutionWindow& window, int64_t groups) {
  Numbers low = {0, 0}, high = {0, 0};
  low.insert(low.end(), window.low.begin(), window.low.end());
  high.insert(high.end(), window.high.begin(), window.high.end());
  x = pad(x, extents_of(low), extents_of(high));
  std::vector<WindowSteps> steps;
  for (size_t d = 0; d < window.strides.size(); ++d) {
    const int64_t dim = 2 + static_cast<int64_t>(d), size = static_extent(w, dim);
    const int64_t room = static_extent(x, dim) - (size - 1) * window.rhs_dilation[d] - 1;
    require(size >= 1 && room >= 0, "a window of {} in {} elements", size, static_extent(x, dim));
    steps.push_back({size, window.strides[d], window.rhs_dilation[d], room / window.strides[d] + 1});
  }
  return convolve_windows(x, w, steps, groups);
}

void convolution(Call& c) {
  const Attribute& numbers = c.attribute({"dim_numbers", "dimension_numbers"});
  require(numbers.list.size() == 3, "dims of input, kernel and result");
  require(c.integer("batch_group_count", 1) == 1, "groups of batches");
  const Dims input = order_of(numbers.list[0], "b", "f"), kernel = order_of(numbers.list[1], "o", "i"),
             output = order_of(numbers.list[2], "b", "f");
  TensorView *x = c.in(0), *w = c.in(1);
  require(input.size() == x->rank() && kernel.size() == w->rank() && input.size() == kernel.size() &&
              output.size() == input.size() && input.size() > 2,
          "a convolution of {} and {} dims", x->rank(), w->rank());
  const ConvolutionWindow window = read_window(c, input.size() - 2);
  x = convert_to(permute(x, input), c.dtype());
  w = convert_to(permute(w, kernel), c.dtype());
  for (size_t d = 0; d + 2 < input.size(); ++d)
    x = spread_elements(x, static_cast<int64_t>(d) + 2, window.lhs_dilation[d] - 1);
  TensorView* y = convolve_padded(x, w, window, c.integer("feature_group_count", 1));
  Dims back(output.size());
  for (size_t i = 0; i < output.size(); ++i) back[static_cast<size_t>(output[i])] = static_cast<int64_t>(i);
  c.give(permute(y, back));
}

}  // namespace

std::vector<OpRow> product_rows() {
  return {
      {"convolution", convolution},
      {"dot", dot_general},
      {"dot_general", dot_general},
  };
}

}  // namespace plait::stablehlo
