#include "support/op_cases.h"

#include <fmt/core.h>

namespace plait::test {

namespace {

// Every line of the body gives as many outputs as its op has results.
OpCase make(
    const std::string& name, const std::string& inputs, const std::vector<std::string>& calls,
    bool (*takes)(DType) = [](DType) { return true; }, size_t results = 1) {
  std::string outputs, body;
  for (size_t i = 0; i < calls.size(); ++i) {
    std::string names;
    for (size_t r = 0; r < results; ++r) names += fmt::format("{}%o{}", r == 0 ? "" : ", ", i * results + r);
    outputs += (i == 0 ? "" : ", ") + names;
    body += fmt::format("  {} = {}\n", names, calls[i]);
  }
  return {name,
          fmt::format("let a = 2, b = 3, c = 5, d = 4, T = f32, I = i64\nfusion @{} ({}) -> ({}) {{\n{}}}\n", name,
                      inputs, outputs, body),
          takes};
}

// Those whose elements follow from all before them, or from all along a dim.
std::vector<OpCase> ordered_cases(const std::string& x) {
  return {
      make("running", x,
           {"cumsum(%x, dim = 0)", "cumsum(%x, dim = 1, exclusive = true)", "cumsum(%x, dim = 2, reverse = true)",
            "cumsum(%x, dim = 1, exclusive = true, reverse = true)"}),
      make("multiplied", x,
           {"cumprod(%x, dim = 0)", "cumprod(%x, dim = 1, exclusive = true)", "cumprod(%x, dim = 2, reverse = true)",
            "cumprod(%x, dim = 1, exclusive = true, reverse = true)"}),
      make("exponentials", x, {"logcumsumexp(%x, dim = 0)", "logcumsumexp(%x, dim = 2)"}, is_float),
      make(
          "running_extrema", x, {"cummax(%x, dim = 0)", "cummin(%x, dim = 1)", "cummax(%x, dim = 2)"},
          [](DType) { return true; }, 2),
      make(
          "sorted", x,
          {"sort(%x, dim = 0)", "sort(%x, dim = 1, descending = true)", "sort(%x)", "sort(%x, descending = true)",
           "sort(%x, descending = true, count = [min(c, 2)])", "sort(%x, dim = 1, count = [min(b, 2)])",
           "sort(%x, dim = 0, count = [min(a, 1)])"},
          [](DType) { return true; }, 2),
  };
}

}  // namespace

std::vector<OpCase> op_cases() {
  const std::string x = "%x: T[a, b, c]";
  std::vector<OpCase>
      out = ordered_cases(x),
      others = {
          make("sums", x,
               {"sum(%x, dims = [0])", "sum(%x, dims = [1], keepdim = true)", "sum(%x, dims = [2])",
                "sum(%x, dims = [0, 2])", "sum(%x)", "prod(%x, dims = [1])"}),
          make("extrema", x,
               {"amax(%x, dims = [0])", "amin(%x, dims = [2])", "amax(%x)", "amin(%x, dims = [0, 1], keepdim = true)",
                "argmax(%x, dims = [1])", "argmin(%x, dims = [0, 2])", "argmax(%x)"}),
          make("variances", x, {"var(%x, dims = [1])", "var(%x, dims = [0, 2], correction = 0)", "var(%x)"}, is_float),
          make("moments", x,
               {"var_mean(%x, dims = [1])", "var_mean(%x, dims = [0, 2], correction = 0)", "var_mean(%x, dims = [2])",
                "var_mean(%x, keepdim = true)"},
               is_float, 2),
          make(
              "extrema_and_places", x,
              {"max_with_argmax(%x, dims = [1])", "min_with_argmin(%x, dims = [0, 2])", "max_with_argmax(%x)",
               "min_with_argmin(%x, dims = [2], keepdim = true)"},
              [](DType) { return true; }, 2),
          make("relabelled", x + ", %r: T[b, 1], %s: T[]",
               {"permute(%x, dims = [2, 0, 1])", "permute(%x, dims = [1, 0, 2])",
                "broadcast(%x, shape = [2, a, b, c], dims = [1, 2, 3])",
                "broadcast(%r, shape = [a, b, c], dims = [1, 2])", "broadcast(%s, shape = [b, c], dims = [])",
                "squeeze(%r, dims = [1])", "unsqueeze(%x, dims = [0, 4])", "reshape(%x, shape = [a * b, c])",
                "reshape(%x, shape = [c, b, a])", "reshape(%x, shape = [-1])", "reshape(%s, shape = [1, 1])"}),
          make("moved", x + ", %w: T[d, b, c], %v: T[a, d, c], %u: T[a, b, d]",
               {"slice(%x, dim = 2, start = 1, step = 2)", "slice(%x, dim = 2, start = 1, stop = -1)",
                "slice(%x, dim = 0, start = 1)", "pad(%x, low = [1, 0, 0], high = [0, 2, 0], value = 3)",
                "pad(%x, low = [0, 0, 2], high = [0, 0, 1])", "cat(%x, %w, %x, dim = 0)", "cat(%v, %x, dim = 1)",
                "cat(%x, %u, dim = 2)", "flip(%x, dims = [0, 1])", "flip(%x, dims = [2])",
                "roll(%x, shifts = [1], dims = [1])", "roll(%x, shifts = [-2, 7], dims = [0, 2])",
                "repeat(%x, repeats = [2, 3, 1])", "repeat(%x, repeats = [2, 1, 1, 2])"}),
          make("looked_up", x + ", %i: I[a, d, c], %j: I[a, b, d], %n: I[d], %m: I[d, 2], %k: I[]",
               {"gather(%x, %i, dim = 1)", "gather(%x, %j, dim = 2)", "index_select(%x, %n, dim = 0)",
                "index_select(%x, %m, dim = 1)", "index_select(%x, %n, dim = 2)", "index_select(%x, %k, dim = 1)"}),
          make("scattered", x + ", %i: I[a, d, c], %s: T[a, d, c], %j: I[d, b, c], %t: T[d, b, c]",
               {"scatter(%x, %i, %s, dim = 1, update = add)", "scatter(%x, %j, %t, dim = 0, update = add)",
                "scatter(%x, %i, %s, dim = 1, update = mul)"},
               [](DType dtype) { return dtype != DType::boolean; }),
          make("overwritten",
               x + ", %i: I[a, d, c], %s: T[a, d, c], %j: I[d, b, c], %t: T[d, b, c], %k: I[a, b, d], "
                   "%u: T[a, b, d]",
               {"scatter(%x, %i, %s, dim = 1)", "scatter(%x, %j, %t, dim = 0)", "scatter(%x, %k, %u, dim = 2)",
                "scatter(%x, %i, %s, dim = 1, update = max)", "scatter(%x, %j, %t, dim = 0, update = min)"}),
          make(
              "made", "%x: f32[a, b, c], %seed: u64[]",
              {"iota(shape = [a, b, c], dim = 1, dtype = f32)", "iota(shape = [c], dim = 0)",
               "iota(shape = [c, a], dim = 0, dtype = bf16)", "size(value = a * b - c)", "size(value = c, dtype = f32)",
               "uniform(shape = [a, b, c], seed = %seed, offset = 3)",
               "normal(shape = [a, b, c], seed = %seed, offset = 4)", "normal(shape = [c], seed = %seed, offset = 5)"}),
      };
  out.insert(out.end(), others.begin(), others.end());
  return out;
}

}  // namespace plait::test
