// Every dtype through the whole pipeline, on every device: casts between all pairs, integers that wrap, f8 that rounds
// wherever it is read.
#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>
#include <cstring>
#include <random>
#include <set>

#include "base/error.h"
#include "plait.h"
#include "reference/check.h"
#include "reference/evaluate.h"
#include "scalar/convert.h"
#include "support/host_shim.h"
#include "support/run_case.h"

namespace plait {
namespace {

using Inputs = std::map<std::string, Tensor>;

class DTypes : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string why = device() == "shim" ? "" : testing::why_no_device(device());
    if (!why.empty()) GTEST_SKIP() << why;
  }
  std::string device() const { return GetParam(); }
  bool simulated() const { return device().rfind("sim", 0) == 0; }
  // The dtypes whose graphs run on this device: half of them on each simulated one, where compiling takes the time.
  bool takes(DType dtype) const { return !simulated() || int(dtype) % 2 == (device() == "sim:sm_80"); }

  Tensors run(const Fusion& fusion, const Inputs& inputs, bool strict = false) {
    CompileOptions how;
    static const std::unique_ptr<Device> shim = test::make_shim_device();
    if (device() == "shim")
      how.device_override = shim.get();
    else
      how.device = device();
    how.options.strict_rounding = strict;
    return compile(fusion, how).run({inputs.begin(), inputs.end()});
  }

  // Runs it and compares with the reference, but for outputs that the caller knows exactly; the outputs.
  Tensors check(const std::string& text, const Inputs& inputs, bool strict = false,
                const std::set<std::string>& known = {}) {
    const auto fusion = parse_fusion(text);
    const Tensors got = run(*fusion, inputs, strict);
    const reference::Results want = reference::evaluate(*fusion, inputs);
    for (const auto& [name, array] : want) {
      if (known.count(name)) continue;
      const reference::CheckResult result = reference::compare(name, array, got.at(name));
      EXPECT_TRUE(result.ok) << device() << ": " << result.message << "\n" << text;
    }
    return got;
  }
};

INSTANTIATE_TEST_SUITE_P(All, DTypes, ::testing::Values("cpu", "reference", "shim", "sim:sm_80", "sim:sm_90a"),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name)
                             if (c == ':') c = '_';
                           return name;
                         });

// Every pattern of 8 bits, and where n is 65536 of 16 bits; of wider types ordinary numbers, ends of all types, and
// special ones.
Tensor values(DType dtype, int64_t n, uint64_t seed) {
  Tensor out = Tensor::empty(dtype, {n});
  auto* bytes = static_cast<std::byte*>(out.data());
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  for (int64_t i = 0; i < n; ++i, bytes += size_of(dtype)) {
    if (dtype == DType::boolean) {
      store_int64(dtype, bytes, int64_t(random() % 2));
    } else if (size_of(dtype) == 1) {
      *bytes = std::byte(i + int64_t(seed));
    } else if (size_of(dtype) == 2 && n == 65536) {
      const auto pattern = uint16_t(i);
      std::memcpy(bytes, &pattern, 2);
    } else if (!is_float(dtype)) {
      store_int64(dtype, bytes, int64_t(random()) >> (8 * (random() % 8)));
    } else {
      const DType end = DType(random() % kDTypeCount);
      const double ends[] = {max_finite(end),
                             least_finite(end),
                             max_finite(end) + 0.5,
                             0.0,
                             -0.0,
                             INFINITY,
                             -INFINITY,
                             NAN,
                             464,
                             480,
                             61440,
                             0.5,
                             1.5,
                             smallest_spacing(DType(random() % kDTypeCount)) * 0.5};
      store_double(dtype, bytes, i % 2 ? ends[random() % std::size(ends)] : normal(random) * std::exp2(random() % 16));
    }
  }
  return out;
}

// The numbers past the ends of f16 brought inside: of those past them the reference says nothing, as a backend that
// computes in f32 may go on with the number.
Tensor inside_f16(const Tensor& x) {
  Tensor out = Tensor::empty(x.dtype, x.shape);
  for (int64_t i = 0; i < x.elements(); ++i) {
    const auto* from = static_cast<const std::byte*>(x.data()) + size_t(i) * size_of(x.dtype);
    auto* to = static_cast<std::byte*>(out.data()) + size_t(i) * size_of(x.dtype);
    const double value = x.at(i);
    std::memcpy(to, from, size_of(x.dtype));
    if (!(std::abs(value) > 60000) || std::isinf(value)) continue;
    if (is_float(x.dtype))
      store_double(x.dtype, to, std::fmod(value, 60000));
    else if (is_unsigned(x.dtype))
      store_int64(x.dtype, to, int64_t(uint64_t(load_int64(x.dtype, from)) % 60000));
    else
      store_int64(x.dtype, to, load_int64(x.dtype, from) % 60000);
  }
  return out;
}

// What a cast of x to f16 or bf16 gives past the type's ends.
void expect_infinite_past_the_ends(const Tensor& x, const Tensor& y) {
  const double end = y.dtype == DType::f16 ? 0x1p16 : 0x1p128;
  int64_t past = 0;
  for (int64_t i = 0; i < x.elements(); ++i) {
    if (!(std::abs(x.at(i)) >= end)) continue;
    ++past;
    ASSERT_EQ(y.at(i), std::copysign(INFINITY, x.at(i))) << name(x.dtype) << " " << x.at(i) << " to " << name(y.dtype);
  }
  if (is_float(x.dtype) && max_finite(x.dtype) >= end) {
    EXPECT_GT(past, 3) << name(x.dtype) << " to " << name(y.dtype);
  }
}

TEST_P(DTypes, CastsOfEveryPair) {
  for (int from = 0; from < kDTypeCount; ++from) {
    const auto in = DType(from);
    if (!takes(in)) continue;
    std::string outputs, body;
    std::set<std::string> known;
    for (int to = 0; to < kDTypeCount; ++to) {
      outputs += fmt::format("{}%y{}", to == 0 ? "" : ", ", to);
      body += fmt::format("  %y{} = cast(%x, to = {})\n", to, name(DType(to)));
      if (DType(to) != DType::f16 && DType(to) != DType::bf16) continue;
      known.insert(fmt::format("y{}", to));
      outputs += fmt::format(", %inside{}", to);
      body += fmt::format("  %inside{} = cast(%near, to = {})\n", to, name(DType(to)));
    }
    const int64_t n = size_of(in) == 2 ? 65536 : 1000;
    const Tensor x = values(in, n, 1);
    const Tensors got = check(
        fmt::format("fusion @casts (%x: {0}[{1}], %near: {0}[{1}]) -> ({2}) {{\n{3}}}\n", name(in), n, outputs, body),
        {{"x", x}, {"near", inside_f16(x)}}, false, known);
    for (const std::string& output : known) expect_infinite_past_the_ends(x, got.at(output));
    // Between types of at most 16 bits the result is one number.
    for (int to = 0; to < kDTypeCount && size_of(in) <= 2; ++to) {
      const auto out = DType(to);
      for (int64_t i = 0; i < x.elements() && size_of(out) <= 2; ++i) {
        const auto* source = static_cast<const std::byte*>(x.data()) + size_t(i) * size_of(in);
        uint64_t expected = 0;
        if (is_float(in) || is_float(out))
          store_double(out, &expected, load_double(in, source));
        else
          store_int64(out, &expected, load_int64(in, source));
        const double want = load_double(out, &expected), found = got.at(fmt::format("y{}", to)).at(i);
        ASSERT_TRUE(want == found || (std::isnan(want) && std::isnan(found)))
            << name(in) << " " << load_double(in, source) << " to " << name(out) << " is " << found;
      }
    }
  }
}

// Halfway between each pair of neighbours of a narrow float, the f32 numbers on both sides of it, and both signs.
std::vector<float> boundaries(DType dtype) {
  std::vector<float> out = {INFINITY, NAN, FLT_MAX, FLT_MIN, 1e-45f, 0.0f};
  for (double low = 0; std::isfinite(low) && low <= max_finite(dtype); low += ulp(dtype, low)) {
    const auto half = float(low + ulp(dtype, low) / 2);
    for (float x : {half, std::nextafter(half, 0.0f), std::nextafter(half, INFINITY)}) out.push_back(x);
  }
  for (size_t i = 0, n = out.size(); i < n; ++i) out.push_back(-out[i]);
  return out;
}

TEST_P(DTypes, RoundsAroundEveryBoundary) {
  for (const DType to : {DType::f8e4m3, DType::f8e5m2, DType::f16, DType::bf16}) {
    if (!takes(to)) continue;
    std::vector<float> numbers = boundaries(to);
    const auto n = static_cast<int64_t>(numbers.size());
    const auto fusion =
        parse_fusion(fmt::format("fusion @rounds (%x: f32[n]) -> (%y) {{\n  %y = cast(%x, to = {})\n}}\n", name(to)));
    const Tensor y = run(*fusion, {{"x", Tensor::wrap(DType::f32, {n}, numbers.data())}}).at("y");
    for (int64_t i = 0; i < n; ++i) {
      const double want = round_to(to, numbers[size_t(i)]), found = y.at(i);
      ASSERT_TRUE((want == found && std::signbit(want) == std::signbit(found)) ||
                  (std::isnan(want) && std::isnan(found)))
          << numbers[size_t(i)] << " to " << name(to) << " is " << found << ", not " << want;
    }
  }
}

// Results past the ends of a type wrap before anything reads them.
TEST_P(DTypes, IntegersWrapWhereverTheyAreRead) {
  for (const DType dtype : {DType::i8, DType::i16, DType::i32, DType::i64, DType::u8, DType::u16, DType::u32}) {
    if (!takes(dtype)) continue;
    const std::string text = fmt::format(
        "fusion @wraps (%a: {0}[1000], %b: {0}[1000]) -> (%d, %e, %f, %g, %h, %k) {{\n"
        "  %s = add(%a, %b)\n  %p = mul(%s, %a)\n  %d = sub(%p, %b)\n"
        "  %less = lt(%s, %a)\n  %e = where(%less, %s, %b)\n  %f = cast(%s, to = f32)\n  %g = cast(%p, to = i64)\n"
        "  %n = neg(%a)\n  %m = abs(%n)\n  %h = max(%m, %s)\n  %k = cast(%n, to = u8)\n}}\n",
        name(dtype));
    const Tensor a = values(dtype, 1000, 3), b = values(dtype, 1000, 77);
    const Tensors got = check(text, {{"a", a}, {"b", b}});
    const auto element = [](const Tensor& t, int64_t i) {
      return load_int64(t.dtype, static_cast<const std::byte*>(t.data()) + size_t(i) * size_of(t.dtype));
    };
    for (int64_t i = 0; i < 1000; ++i) {
      const int64_t x = element(a, i), y = element(b, i);
      const int64_t sum = wrap_to(dtype, int64_t(uint64_t(x) + uint64_t(y)));
      const int64_t product = wrap_to(dtype, int64_t(uint64_t(sum) * uint64_t(x)));
      ASSERT_EQ(element(got.at("d"), i), wrap_to(dtype, int64_t(uint64_t(product) - uint64_t(y)))) << name(dtype);
      ASSERT_EQ(element(got.at("e"), i), sum < x ? sum : y) << name(dtype) << " " << x << " " << y;
      ASSERT_EQ(got.at("f").at(i), double(float(sum)));
      ASSERT_EQ(element(got.at("g"), i), product);
    }
  }
}

// Sums of products wrap, whatever carries them.
TEST_P(DTypes, ProductsOfIntegersWrap) {
  for (const DType dtype : {DType::i32, DType::i64, DType::u64}) {
    if (!takes(dtype)) continue;
    const std::string text = fmt::format(
        "fusion @wraps (%a: {0}[72], %b: {0}[30]) -> (%y) {{\n  %left = reshape(%a, shape = [2, 6, 6])\n"
        "  %right = reshape(%b, shape = [5, 6])\n  %y = linear(%left, %right)\n}}\n",
        name(dtype));
    const Tensor a = values(dtype, 72, 3), b = values(dtype, 30, 77);
    const Tensor got = check(text, {{"a", a}, {"b", b}}).at("y");
    const auto element = [](const Tensor& t, int64_t i) {
      return load_int64(t.dtype, static_cast<const std::byte*>(t.data()) + size_t(i) * size_of(t.dtype));
    };
    for (int64_t row = 0; row < 12; ++row)
      for (int64_t column = 0; column < 5; ++column) {
        uint64_t sum = 0;
        for (int64_t k = 0; k < 6; ++k) sum += uint64_t(element(a, row * 6 + k)) * uint64_t(element(b, column * 6 + k));
        ASSERT_EQ(element(got, row * 5 + column), wrap_to(got.dtype, int64_t(sum))) << name(dtype);
      }
  }
}

// What reads an f8 tensor sees numbers of its type, whatever made it.
TEST_P(DTypes, F8RoundsWhereverItIsRead) {
  for (const DType dtype : {DType::f8e4m3, DType::f8e5m2}) {
    const std::string text = fmt::format(
        "fusion @quantized (%x: f32[1000], %y: bf16[1000], %a: {0}[1000]) -> (%back, %more, %sum, %above, %z) {{\n"
        "  %q = cast(%x, to = {0})\n  %back = cast(%q, to = f32)\n  %more = add(%back, %x)\n"
        "  %s = add(%q, %a)\n  %sum = cast(%s, to = f32)\n  %above = gt(%s, %q)\n"
        "  %t = mul(%y, %y)\n  %z = cast(%t, to = {0})\n}}\n",
        name(dtype));
    const Inputs inputs = {
        {"x", values(DType::f32, 1000, 5)}, {"y", values(DType::bf16, 1000, 6)}, {"a", values(dtype, 1000, 0)}};
    for (const bool strict : {false, true}) {
      const Tensors got = check(text, inputs, strict);
      for (int64_t i = 0; i < 1000; ++i) {
        const double x = round_to(dtype, inputs.at("x").at(i)), a = inputs.at("a").at(i), s = round_to(dtype, x + a);
        const double y = inputs.at("y").at(i), z = round_to(dtype, round_to(DType::bf16, y * y));
        const auto same = [](double want, double found) {
          return want == found || (std::isnan(want) && std::isnan(found));
        };
        ASSERT_TRUE(same(x, got.at("back").at(i))) << inputs.at("x").at(i) << " is " << got.at("back").at(i);
        ASSERT_TRUE(same(s, got.at("sum").at(i))) << x << " + " << a << " is " << got.at("sum").at(i);
        ASSERT_EQ(got.at("above").at(i), double(s > x));
        ASSERT_TRUE(same(z, got.at("z").at(i))) << "the bf16 product rounds before the cast: " << y;
      }
      if (simulated()) break;
    }
  }
}

// Products accumulate in f32 and round once, the bias included; on one rank and, pending, on three.
TEST_P(DTypes, ProductsOfF8) {
  for (const char* dtype : {"f8e4m3", "f8e5m2"}) {
    const std::string text = fmt::format(
        "mesh @m (tp = t)\nfusion @products on @m (%x: {0}[6, 12], param %w: {0}[8, 12] {{1: tp}}, param %b: {0}[8],\n"
        "    param %v: {0}[5, 8]) -> (%y, %z, %r) {{\n"
        "  %y = linear(%x, %w, %b)\n  %g = relu(%y)\n  %z = linear(%g, %v)\n  %r = cast(%z, to = f32)\n}}\n",
        dtype);
    for (const int64_t ranks : {1, 3}) {
      if (simulated() && ranks > 1) continue;
      testing::CaseOptions how;
      static const std::unique_ptr<Device> shim = test::make_shim_device();
      if (device() == "shim")
        how.device_override = shim.get();
      else
        how.device = device();
      how.ranks = ranks;
      const testing::CaseResult result = run_case(text, how);
      EXPECT_TRUE(result.ok) << result.message;
      how.exact = true;
      const testing::CaseResult exact = run_case(text, how);
      EXPECT_TRUE(exact.ok) << exact.message;
    }
  }
}

}  // namespace
}  // namespace plait
