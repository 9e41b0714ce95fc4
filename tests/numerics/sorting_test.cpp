// Scans, sorts and slices at positions on every device: nothing, NaN, equals, the ends of integers, positions outside.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "api/check_program.h"
#include "base/error.h"
#include "support/run_case.h"

namespace plait::sorting {
namespace {

using Values = std::vector<double>;

class SortingOnEveryDevice : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (const std::string why = testing::why_no_device(GetParam()); !why.empty()) GTEST_SKIP() << why;
  }
  // Outputs %r and, of calls with two results, %q; what the reference says of them holds too.
  Tensors run(const std::string& inputs, const std::string& body, const Tensors& given) {
    const bool two = body.find("%q") != std::string::npos;
    const auto fusion =
        parse_fusion(fmt::format("fusion @f ({}) -> (%r{}) {{\n{}\n}}\n", inputs, two ? ", %q" : "", body));
    CompileOptions how;
    how.device = GetParam();
    Compiled program = compile(*fusion, how);
    Tensors outputs = program.run(given);
    for (const OutputCheck& output :
         check_program(*fusion, how, program, given, outputs, {.one_rank = false}).outputs) {
      const bool nothing = output.reference.message.find("nothing was compared") != std::string::npos;
      EXPECT_TRUE(output.reference.ok || nothing) << body << ": " << output.reference.message;
    }
    return outputs;
  }
  void expect(const std::string& call, DType dtype, const Values& x, const Values& values, const Values& indices) {
    SCOPED_TRACE(fmt::format("{} of {} on {}", call, name(dtype), GetParam()));
    const auto n = static_cast<int64_t>(x.size());
    const Tensors out = run(fmt::format("%x: {}[{}]", name(dtype), n), "%r, %q = " + call,
                            {{"x", Tensor::from_doubles(dtype, {n}, x)}});
    const Values got = out.at("r").to_doubles();
    ASSERT_EQ(got.size(), values.size());
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_TRUE(std::isnan(values[i]) ? std::isnan(got[i]) : got[i] == values[i]) << i << ": " << got[i];
      EXPECT_TRUE(std::isnan(values[i]) || std::signbit(got[i]) == std::signbit(values[i])) << i << ": " << got[i];
    }
    EXPECT_EQ(out.at("q").to_doubles(), indices);
  }
};
INSTANTIATE_TEST_SUITE_P(All, SortingOnEveryDevice, ::testing::Values("cpu", "sim:sm_80"), [](const auto& info) {
  const std::string device = info.param;
  return device == "cpu" ? device : device.substr(4);
});

constexpr double kNoNumber = NAN, kLargest = INFINITY;

TEST_P(SortingOnEveryDevice, NansAreGreatestAndEqualsKeepTheirOrder) {
  const Values x = {1, kNoNumber, -0.0, 0.0, -kLargest, kNoNumber, 1, kLargest, 0.0};
  for (DType dtype : {DType::f32, DType::f64, DType::bf16, DType::f16}) {
    expect("sort(%x)", dtype, x, {-kLargest, -0.0, 0, 0, 1, 1, kLargest, kNoNumber, kNoNumber},
           {4, 2, 3, 8, 0, 6, 7, 1, 5});
    expect("sort(%x, descending = true)", dtype, x, {kNoNumber, kNoNumber, kLargest, 1, 1, -0.0, 0, 0, -kLargest},
           {1, 5, 7, 0, 6, 2, 3, 8, 4});
    expect("topk(%x, k = 4)", dtype, x, {kNoNumber, kNoNumber, kLargest, 1}, {1, 5, 7, 0});
    expect("topk(%x, k = 3, largest = false)", dtype, x, {-kLargest, -0.0, 0}, {4, 2, 3});
  }
  expect("sort(%x)", DType::f8e5m2, {2, kNoNumber, 1, -kLargest, 1}, {-kLargest, 1, 1, 2, kNoNumber}, {3, 2, 4, 0, 1});
  expect("sort(%x)", DType::f8e4m3, {2, kNoNumber, 1, -448, 1}, {-448, 1, 1, 2, kNoNumber}, {3, 2, 4, 0, 1});
}

TEST(SortingOnSim, TheFirstAloneIsOfAllElements) {
  if (const std::string why = testing::why_no_device("sim:sm_90a"); !why.empty()) GTEST_SKIP() << why;
  for (const int k : {1, 2})
    for (const int n : {1, 33, 50, 52, 100, 101, 130}) {
      if (k > n) continue;
      testing::CaseOptions how;
      how.device = "sim:sm_90a";
      how.compare_one_rank = false;
      const std::string text =
          fmt::format("fusion @f (%x: f32[40, {}]) -> (%y, %z) {{\n  %y, %z = topk(%x, k = {}, dim = 1)\n}}\n", n, k);
      const testing::CaseResult result = testing::run_case(text, how);
      EXPECT_TRUE(result.ok) << text << result.message;
    }
}

TEST_P(SortingOnEveryDevice, IntegersAndBool) {
  expect("sort(%x)", DType::i8, {3, -128, 127, 3, -1}, {-128, -1, 3, 3, 127}, {1, 4, 0, 3, 2});
  expect("sort(%x)", DType::u8, {3, 255, 127, 3, 0}, {0, 3, 3, 127, 255}, {4, 0, 3, 2, 1});
  expect("sort(%x, descending = true)", DType::u32, {3, 4294967295, 0, 3}, {4294967295, 3, 3, 0}, {1, 0, 3, 2});
  expect("sort(%x)", DType::boolean, {1, 0, 1, 0, 0}, {0, 0, 0, 1, 1}, {1, 3, 4, 0, 2});
  expect("topk(%x, k = 2)", DType::boolean, {0, 1, 0, 1, 1}, {1, 1}, {1, 3});
  expect("cummax(%x, dim = 0)", DType::boolean, {0, 0, 1, 0, 1}, {0, 0, 1, 1, 1}, {0, 1, 2, 2, 4});
  expect("cummin(%x, dim = 0)", DType::i16, {3, -32768, 0, -32768}, {3, -32768, -32768, -32768}, {0, 1, 1, 3});
}

// Neighbours that no double tells apart.
TEST_P(SortingOnEveryDevice, EndsOfI64) {
  const auto tensor = [](DType dtype, const std::vector<int64_t>& values) {
    Tensor t = Tensor::empty(dtype, {int64_t(values.size())});
    std::copy(values.begin(), values.end(), static_cast<int64_t*>(t.data()));
    return t;
  };
  const auto read = [](const Tensor& t) {
    const auto* from = static_cast<const int64_t*>(t.data());
    return std::vector<int64_t>(from, from + t.elements());
  };
  const std::vector<int64_t> x = {INT64_MAX - 1, INT64_MIN, INT64_MAX, INT64_MIN + 1, 0, INT64_MAX};
  const Tensors sorted = run("%x: i64[6]", "%r, %q = sort(%x)", {{"x", tensor(DType::i64, x)}});
  EXPECT_EQ(read(sorted.at("r")), (std::vector<int64_t>{x[1], x[3], 0, x[0], x[2], x[5]}));
  EXPECT_EQ(read(sorted.at("q")), (std::vector<int64_t>{1, 3, 4, 0, 2, 5}));
  const Tensors top = run("%x: u64[6]", "%r, %q = topk(%x, k = 3)", {{"x", tensor(DType::u64, x)}});
  EXPECT_EQ(read(top.at("q")), (std::vector<int64_t>{3, 1, 2}));
  const Tensors most = run("%x: i64[6]", "%r, %q = cummax(%x, dim = 0)", {{"x", tensor(DType::i64, x)}});
  EXPECT_EQ(read(most.at("q")), (std::vector<int64_t>{0, 0, 2, 2, 2, 5}));
  const Tensors product = run("%x: i64[3]", "%r = cumprod(%x, dim = 0)", {{"x", tensor(DType::i64, {3, x[0], 2})}});
  EXPECT_EQ(read(product.at("r")), (std::vector<int64_t>{3, INT64_MAX - 5, -12}));  // modulo 2^64
}

TEST_P(SortingOnEveryDevice, NothingAndOne) {
  for (const char* call : {"sort(%x)", "cummax(%x, dim = 0)", "cummin(%x, dim = -1)", "topk(%x, k = 0)"})
    expect(call, DType::f32, {}, {}, {});
  for (const char* call : {"sort(%x, descending = true)", "cummax(%x, dim = 0)", "topk(%x, k = 1)"})
    expect(call, DType::f32, {-3}, {-3}, {0});
  expect("topk(%x, k = 0)", DType::f32, {1, 2}, {}, {});
  const Tensors none = {{"x", Tensor::empty(DType::f32, {3, 0, 2})}};
  for (const char* call : {"sort(%x, dim = 0)", "sort(%x, dim = 1)", "cummin(%x, dim = 2)"})
    EXPECT_EQ(run("%x: f32[3, 0, 2]", fmt::format("%r, %q = {}", call), none).at("q").elements(), 0);
}

TEST_P(SortingOnEveryDevice, RunningExtremaTakeTheLastOfEquals) {
  const Values x = {1, -0.0, 0.0, 1, kNoNumber, 5, kNoNumber, -1};
  for (DType dtype : {DType::f32, DType::f64, DType::bf16}) {
    expect("cummax(%x, dim = 0)", dtype, x, {1, 1, 1, 1, kNoNumber, kNoNumber, kNoNumber, kNoNumber},
           {0, 0, 0, 3, 4, 4, 6, 6});
    expect("cummin(%x, dim = 0)", dtype, x, {1, -0.0, 0, 0, kNoNumber, kNoNumber, kNoNumber, kNoNumber},
           {0, 1, 2, 2, 4, 4, 6, 6});
  }
}

TEST_P(SortingOnEveryDevice, LogsOfSums) {
  const auto given = [](const Values& x) -> Tensors {
    return {{"x", Tensor::from_doubles(DType::f32, {int64_t(x.size())}, x)}};
  };
  const std::string call = "%r = logcumsumexp(%x, dim = 0)";
  EXPECT_EQ(run("%x: f32[3]", call, given({-kLargest, -kLargest, 2})).at("r").to_doubles(),
            (Values{-kLargest, -kLargest, 2}));
  EXPECT_EQ(run("%x: f32[3]", call, given({1, kLargest, 2})).at("r").to_doubles(), (Values{1, kLargest, kLargest}));
  EXPECT_EQ(run("%x: f32[3]", call, given({kLargest, kLargest, -kLargest})).at("r").to_doubles(),
            (Values{kLargest, kLargest, kLargest}));
  const Values far = run("%x: f32[3]", call, given({-3e38f, 3e38f, 3e38f})).at("r").to_doubles();
  EXPECT_EQ(far[1], double(3e38f));
  const Values nan = run("%x: f32[3]", call, given({1, kNoNumber, kLargest})).at("r").to_doubles();
  EXPECT_TRUE(nan[0] == 1 && std::isnan(nan[1]) && std::isnan(nan[2]));
}

TEST_P(SortingOnEveryDevice, LongRows) {
  Values x(3000), order;
  for (size_t i = 0; i < x.size(); ++i) x[i] = double((i * 7919) % 1009);
  std::vector<size_t> places(x.size());
  for (size_t i = 0; i < places.size(); ++i) places[i] = i;
  std::stable_sort(places.begin(), places.end(), [&](size_t a, size_t b) { return x[a] < x[b]; });
  Values sorted;
  for (size_t p : places) sorted.push_back(x[p]), order.push_back(double(p));
  expect("sort(%x)", DType::f32, x, sorted, order);
  sorted.resize(17), order.resize(17);
  expect("topk(%x, k = 17, largest = false)", DType::f32, x, sorted, order);
}

TEST_P(SortingOnEveryDevice, SlicesAtPositions) {
  const std::string x = "%x: f32[2, 5], %p: i32[], %u: f32[2, 2]";
  const auto given = [](int64_t at) -> Tensors {
    return {{"x", Tensor::from_doubles(DType::f32, {2, 5}, Values{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})},
            {"p", Tensor::from_doubles(DType::i32, {}, Values{double(at)})},
            {"u", Tensor::from_doubles(DType::f32, {2, 2}, Values{-1, -2, -3, -4})}};
  };
  const std::string read = "%r = slice_at(%x, %p, dim = 1, size = 2)", write = "%r = slice_update(%x, %u, %p, dim = 1)";
  EXPECT_EQ(run(x, read, given(3)).at("r").to_doubles(), (Values{3, 4, 8, 9}));
  EXPECT_EQ(run(x, write, given(3)).at("r").to_doubles(), (Values{0, 1, 2, -1, -2, 5, 6, 7, -3, -4}));
  EXPECT_EQ(run(x, write, given(0)).at("r").to_doubles(), (Values{-1, -2, 2, 3, 4, -3, -4, 7, 8, 9}));
  EXPECT_EQ(run(x, "%r = slice_update(%x, %u, dim = 1, start = 1)", given(0)).at("r").to_doubles(),
            (Values{0, -1, -2, 3, 4, 5, -3, -4, 8, 9}));
  for (int64_t at : {4, -1})
    for (const std::string& body : {read, write}) {
      try {
        run(x, body, given(at));
        ADD_FAILURE() << body << " at " << at;
      } catch (const UserError& e) {
        EXPECT_NE(std::string(e.what()).find(fmt::format("index {} at [] of %p", at == 4 ? 5 : -1)), std::string::npos)
            << e.what();
      }
    }
  const Values outside =
      run(x, "%r = slice_at(%x, %p, dim = 1, size = 2, bounds = assume)", given(4)).at("r").to_doubles();
  EXPECT_TRUE(outside[0] == 4 && std::isnan(outside[1]) && outside[2] == 9 && std::isnan(outside[3]));
  EXPECT_EQ(run(x, "%r = slice_update(%x, %u, %p, dim = 1, bounds = assume)", given(4)).at("r").to_doubles(),
            (Values{0, 1, 2, 3, -1, 5, 6, 7, 8, -3}));
}

// The dim that is empty is a class of sizes of its own, of which the update is known to be too long.
TEST_P(SortingOnEveryDevice, AnUpdatePastTheEndOfAnUnknownSize) {
  const Tensor update = Tensor::from_doubles(DType::f32, {3}, Values{1, 2, 3});
  for (int64_t n : {3, 2, 0}) try {
      run("%x: f32[n], %u: f32[3]", "%r = slice_update(%x, %u, dim = 0, start = 1)",
          {{"x", Tensor::from_doubles(DType::f32, {n}, Values(size_t(n), 0.0))}, {"u", update}});
      ADD_FAILURE() << n;
    } catch (const UserError& e) {
      const std::string want = n == 0 ? "places 1 to 4 of dim 0 of %x: f32[0]" : "of %u lies outside of the";
      EXPECT_NE(std::string(e.what()).find(want), std::string::npos) << e.what();
    }
}

// Nothing in front of the tensor is read.
TEST_P(SortingOnEveryDevice, ASliceThatSizesPutInFrontOfItsTensor) {
  const Tensors given = {{"x", Tensor::from_doubles(DType::f32, {2}, Values{1, 2})}};
  for (const char* ends : {"start = n - 4, stop = n", "start = 1, stop = n - 4"}) try {
      run("%x: f32[n]", fmt::format("%r = slice(%x, dim = 0, {})", ends), given);
      ADD_FAILURE() << ends;
    } catch (const UserError& e) {
      EXPECT_NE(std::string(e.what()).find("and n - 4 is -2"), std::string::npos) << e.what();
    }
}

// A result that reads a scan at other places of a row of which only a class of sizes is known.
TEST_P(SortingOnEveryDevice, ScansThatResultsReadAtOtherPlaces) {
  const Tensors given = {{"x", Tensor::from_doubles(DType::f32, {2, 3}, Values{1, 2, 3, 4, 5, 6})}};
  const std::string scan = "%s = cumsum(%x, dim = 1)\n";
  EXPECT_EQ(run("%x: f32[m, n]", scan + "%r = flip(%s, dims = [1])", given).at("r").to_doubles(),
            (Values{6, 3, 1, 15, 9, 4}));
  EXPECT_EQ(run("%x: f32[m, n]", scan + "%r = roll(%s, shifts = [1], dims = [1])", given).at("r").to_doubles(),
            (Values{6, 1, 3, 15, 4, 9}));
  // Also in place, by way of a move that changes nothing.
  EXPECT_EQ(run("%x: f32[m, n]",
                scan + "%f = flip(%s, dims = [1])\n%t = reshape(%s, shape = [m, n])\n%r = cat(%f, %t, dim = 0)", given)
                .at("r")
                .to_doubles(),
            (Values{6, 3, 1, 15, 9, 4, 1, 3, 6, 4, 9, 15}));
}

TEST_P(SortingOnEveryDevice, ProductsOfIntegersWrap) {
  for (DType dtype : {DType::i8, DType::u8, DType::i16, DType::i32, DType::i64}) {
    SCOPED_TRACE(name(dtype));
    const Tensors given = {{"a", Tensor::from_doubles(dtype, {2, 3}, Values{1, 2, 3, 100, 50, 7})},
                           {"b", Tensor::from_doubles(dtype, {3, 2}, Values{5, 1, 100, 4, 3, 2})},
                           {"c", Tensor::from_doubles(dtype, {2}, Values{1, 2})}};
    const std::string heads = fmt::format("%a: {0}[2, 3], %b: {0}[3, 2], %c: {0}[2]", name(dtype));
    const int64_t exact[] = {214, 15, 5521, 314};
    const Values got = run(heads, "%r = matmul(%a, %b)", given).at("r").to_doubles();
    const int bits = int(8 * size_of(dtype));
    for (size_t i = 0; i < 4; ++i) {
      int64_t want = exact[i];
      if (bits < 16) want &= (1 << bits) - 1;
      if (dtype == DType::i8 && want > 127) want -= 256;
      EXPECT_EQ(got[i], double(want)) << i;
    }
    const Values linear =
        run(heads, "%w = permute(%b, dims = [1, 0])\n%r = linear(%a, %w, %c)", given).at("r").to_doubles();
    EXPECT_EQ(linear[1], 17);
  }
}

}  // namespace
}  // namespace plait::sorting
