#pragma once
// Contractions with what is elementwise of them, in every way that operands lie, as texts of any dtype and extents, and
// what each of them is run for.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "support/run_case.h"
#include "support/tensor_bits.h"

namespace plait::testing {

struct ContractionCase {
  const char *name, *inputs, *body;
};

inline constexpr ContractionCase kContractions[] = {
    {"matmul", "%a: T[m, k], %b: T[k, n]", "%y = matmul(%a, %b)"},
    {"linear", "%a: T[m, k], %w: T[n, k]", "%y = linear(%a, %w)"},
    {"bias_gelu", "%a: T[m, k], %w: T[n, k], %c: T[n]", "%y = gelu(linear(%a, %w, %c))"},
    {"residual", "%a: T[m, k], %b: T[k, n], %r: T[m, n]", "%y = add(mul(matmul(%a, %b), 0.5), %r)"},
    {"stack", "%a: T[2, 3, m, k], %b: T[2, 3, k, n]", "%y = neg(matmul(%a, %b))"},
    {"one_matrix_for_all", "%a: T[3, m, k], %b: T[k, n], %c: T[3, 1, n]", "%y = add(matmul(%a, %b), %c)"},
    {"stacks_that_broadcast", "%a: T[3, 1, m, k], %b: T[1, 2, k, n]", "%y = matmul(%a, %b)"},
    {"linear_of_a_stack", "%a: T[2, 2, m, k], %w: T[n, k]", "%y = relu(linear(%a, %w))"},
    {"transposed_left", "%a: T[k, m], %b: T[k, n]", "%y = matmul(permute(%a, dims = [1, 0]), %b)"},
    {"transposed_right", "%a: T[2, m, k], %b: T[2, n, k]", "%y = matmul(%a, permute(%b, dims = [0, 2, 1]))"},
    {"narrow_result", "%a: T[m, k], %b: T[k, n]", "%y = cast(tanh(matmul(%a, %b)), to = bf16)"},
    {"condition", "%a: T[m, k], %b: T[k, n], %r: bool[m, 1]", "%y = where(%r, matmul(%a, %b), 0.5)"},
    {"gated", "%a: T[m, k], %w: T[n, k], %u: T[m, n]", "%y = mul(silu(linear(%a, %w)), %u)"},
};

struct Extents {
  int m, n, k;
};

inline std::string contraction_text(const ContractionCase& c, const char* dtype, const Extents& z) {
  return fmt::format("let T = {}, m = {}, n = {}, k = {}\ngiven k: 1 in 1..2048\nfusion @f ({}) -> (%y) {{\n{}\n}}\n",
                     dtype, z.m, z.n, z.k, c.inputs, c.body);
}

// Own kernels of a CPU on so many threads.
inline CaseOptions own_contractions(int64_t threads = 2) {
  CaseOptions how;
  how.options.contractions = "own";
  how.options.cpu_threads = threads;
  return how;
}

// That it agrees with the reference, in one kernel and without a library.
inline void expect_one_kernel(const ContractionCase& c, const char* dtype, const Extents& z, const CaseOptions& how) {
  const CaseResult result = run_case(contraction_text(c, dtype, z), how);
  const std::string what = fmt::format("{} {} {}, {}, {}: {}", c.name, dtype, z.m, z.n, z.k, result.message);
  EXPECT_TRUE(result.ok) << what;
  EXPECT_EQ(result.report.launches, 1) << what;
  EXPECT_EQ(result.report.library_calls, 0) << what;
}

inline void expect_same_bits_on_threads(const std::string& text) {
  const auto one = bits_of(run_case(text, own_contractions(1)).outputs);
  for (const int threads : {2, 5})
    EXPECT_TRUE(bits_of(run_case(text, own_contractions(threads)).outputs) == one) << threads;
}

// The text of a stage, with the sizes that the fusion's text has.
inline std::string stage_text(const char* stage, const std::string& text, const CaseOptions& how) {
  const auto fusion = parse_fusion(text);
  CompileOptions options;
  options.device = how.device;
  options.options = how.options;
  options.until = stage;
  try {
    compile(*fusion, options).prepare(metadata_of(*fusion));
  } catch (const StoppedAt& stop) {
    return stop.text;
  }
  return "";
}

}  // namespace plait::testing
