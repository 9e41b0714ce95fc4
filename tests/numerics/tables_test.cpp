// Every op and every pointwise function against what PyTorch, NumPy and SciPy give: tables/*.json, which
// numerics/tables/make_tables.py writes.
#include <cmath>
#include <fstream>
#include <map>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "graph/passes.h"
#include "reference/evaluate.h"
#include "scalar/convert.h"
#include "scalar/pointwise.h"
#include "support/useful_radius.h"

namespace plait {
namespace {

using Json = nlohmann::json;
using reference::Array;

double number(const Json& element) {
  return element.is_string() ? std::stod(element.get<std::string>()) : element.get<double>();
}

Tensor tensor(const Json& row) {
  const DType dtype = *parse_dtype(row[0].get<std::string>());
  Tensor out = Tensor::empty(dtype, row[1].get<std::vector<int64_t>>());
  auto* at = static_cast<char*>(out.memory->data());
  for (const Json& element : row[2]) {
    if (is_float(dtype))
      store_double(dtype, at, number(element));
    else
      store_int64(dtype, at, element.is_number_unsigned() ? int64_t(element.get<uint64_t>()) : element.get<int64_t>());
    at += size_of(dtype);
  }
  return out;
}

std::string extents(const std::vector<int64_t>& shape) {
  std::string out;
  for (int64_t e : shape) out += fmt::format("{}{}", out.empty() ? "" : ", ", e);
  return "[" + out + "]";
}

std::string operand_name(size_t i) { return std::string(1, char('a' + i)); }

// One stored case: an op, its operands, and what it must give.
struct Case {
  std::string call;
  std::map<std::string, Tensor> inputs;
  Tensor want;
  bool signs = false;
  std::string text;  // the fusion that holds nothing but the op
};

Case read_case(const Json& row, const Json& tensors) {
  Case out;
  out.call = row["call"];
  std::string inputs;
  for (size_t i = 0; i < row["in"].size(); ++i) {
    const std::string name = operand_name(i);
    Tensor t = tensor(tensors[row["in"][i].get<size_t>()]);
    std::string shape = extents(t.shape);
    if (row.contains("shapes") && row["shapes"].contains(name)) shape = row["shapes"][name];
    inputs += fmt::format("{}%{}: {}{}", i ? ", " : "", name, plait::name(t.dtype), shape);
    out.inputs[name] = std::move(t);
  }
  out.want = tensor(tensors[row["want"].get<size_t>()]);
  out.signs = row.contains("signs");
  const bool names_results = out.call[0] == '%' || out.call[0] == '_';
  out.text = fmt::format("fusion @f ({}) -> (%r) {{ {}{} }}", inputs, names_results ? "" : "%r = ", out.call);
  return out;
}

std::vector<Case> read_table(const char* name) {
  std::ifstream file(std::string(PLAIT_SOURCE_DIR "/tests/numerics/tables/") + name);
  const Json json = Json::parse(file);
  std::vector<Case> out;
  for (const Json& row : json["cases"]) out.push_back(read_case(row, json["tensors"]));
  return out;
}

// What an element's radius is measured by: the largest operand of the element where the operands have the result's
// shape, else of all, and 1 where the op's own error has a part that does not shrink with it.
double scale_of(const Case& c, const Op& op, int64_t i, double want) {
  double scale = 0;
  for (const auto& [name, t] : c.inputs) {
    const Array in = reference::from_tensor(t);
    if (!is_float(in.dtype)) continue;
    const bool own = t.shape == c.want.shape;
    for (int64_t j = own ? i : 0; j < (own ? i + 1 : in.elements()); ++j)
      if (std::isfinite(in.value[j])) scale = std::max(scale, std::abs(in.value[j]));
  }
  const auto* function = as<PointwiseOp>(op);
  if (op.kind == OpKind::Normal || (function && info(function->function).scale == ErrorScale::unit))
    scale = std::max(scale, 1.0);
  // x is its mean: what is left of x - mean is the mean's error, divided by no less than sqrt(eps).
  if (const auto* norm = as<LayerNorm>(op); norm && want == 0) scale /= std::sqrt(norm->eps);
  return scale;
}

constexpr double kUnits = 256;  // of the type in which an op computes

// Whether a result lies where a backend's may leave the type: nothing bounds it there.
bool at_the_end(DType dtype, double x) { return std::abs(x) >= max_finite(dtype) * (1 - 16 * unit_roundoff(dtype)); }

// What is wrong with element i, or nothing. Without a radius are none but those at the end of their type, which are
// the same number or an infinity.
std::string difference(const Array& got, const Array& want, int64_t i, bool signs, double scale, bool bits = false) {
  if (!is_float(got.dtype)) {
    const int64_t a = got.integer_at(i), b = want.integer_at(i);
    if (got.radius_at(i) != 0 && !bits) return fmt::format("{} is open", a);  // the bits of a NaN are
    return a == b ? "" : fmt::format("{} instead of {}", a, b);
  }
  const double a = got.value[i], b = want.value[i], radius = got.radius_at(i);
  const bool same = a == b || (std::isnan(a) && std::isnan(b));
  const bool same_sign = std::isnan(a) || std::signbit(a) == std::signbit(b);
  const std::string found = fmt::format("{:.17g} instead of {:.17g}, radius {:.3g}", a, b, radius);
  if (std::isinf(radius)) {
    const bool both = at_the_end(got.dtype, a) && at_the_end(got.dtype, b) && same_sign;
    return both && (same || std::isinf(a) || std::isinf(b)) ? "" : "nothing is known: " + found;
  }
  if (!test::is_useful(got.dtype, radius, std::max(std::isfinite(a) ? std::abs(a) : 0, scale), kUnits))
    return "a radius that says nothing: " + found;
  if (same && (!signs || same_sign)) return "";
  return !same && std::abs(a - b) <= radius ? "" : found;
}

// What is wrong with the case, or nothing.
std::string check(const Case& c, const Op& op, const Array& got) {
  const Array want = reference::from_tensor(c.want);
  if (got.dtype != want.dtype) return fmt::format("{} instead of {}", name(got.dtype), name(want.dtype));
  if (got.shape != want.shape) return fmt::format("{} instead of {}", extents(got.shape), extents(want.shape));
  for (int64_t i = 0; i < want.elements(); ++i) {
    const double scale = scale_of(c, op, i, want.value[i]);
    const std::string wrong = difference(got, want, i, c.signs, scale, op.kind == OpKind::Bitcast);
    if (wrong.empty()) continue;
    std::string operands;
    for (const auto& [name, t] : c.inputs)
      if (t.shape == c.want.shape) operands += fmt::format(" %{} = {:.17g}", name, reference::from_tensor(t).value[i]);
    return fmt::format("element {}: {};{}", i, wrong, operands);
  }
  return "";
}

std::string run(const Case& c, bool open) {
  try {
    auto fusion = parse_fusion(c.text);
    number_random_ops(*fusion);
    const auto written = parse_fusion(c.text);
    if (open) expand(*fusion);
    return check(c, *written->ops().back(), reference::evaluate(*fusion, c.inputs).at("r"));
  } catch (const Error& e) {
    return e.what();
  }
}

class Tables : public testing::TestWithParam<const char*> {};

// Both as the pass `expand` opens it and as the reference opens it itself.
TEST_P(Tables, AgreeWithTheReference) {
  for (const Case& c : read_table(GetParam()))
    for (bool open : {true, false}) {
      const std::string wrong = run(c, open);
      EXPECT_TRUE(wrong.empty()) << (open ? "opened: " : "as written: ") << c.text << "\n  " << wrong;
    }
}

INSTANTIATE_TEST_SUITE_P(, Tables, testing::Values("pointwise.json", "ops.json"), [](const auto& p) {
  const std::string file = p.param;
  return file.substr(0, file.find('.'));
});

bool users_write(OpKind kind) {
  const OpProperty p = property(kind);
  return p != OpProperty::communication && p != OpProperty::local_move;
}

// What a radius may not be, lest the tables pass whatever they hold.
TEST(Difference, FindsWhatSaysNothing) {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto wrong = [](DType dtype, double value, double radius, double want) {
    Array got = reference::make_array(dtype, {1}), other = got;
    got.value = {value}, got.radius = {radius}, other.value = {want};
    return !difference(got, other, 0, false, 0).empty();
  };
  EXPECT_FALSE(wrong(DType::f32, 1, 1e-5, 1));
  EXPECT_FALSE(wrong(DType::f32, 1, 1e-5, 1.000005));
  EXPECT_TRUE(wrong(DType::f32, 1, 1e-5, 1.00002));
  EXPECT_TRUE(wrong(DType::f32, 1, 1e-4, 1)) << "too large";
  EXPECT_TRUE(wrong(DType::f64, 1, 1e-5, 1));
  EXPECT_TRUE(wrong(DType::bf16, 1, 0.016, 1));
  EXPECT_FALSE(wrong(DType::bf16, 1, 0.004, 1));
  EXPECT_TRUE(wrong(DType::f32, 1, infinity, 1)) << "open";
  EXPECT_TRUE(wrong(DType::f32, std::nan(""), infinity, std::nan("")));
  EXPECT_FALSE(wrong(DType::f32, 3.4028234663852886e38, infinity, infinity));
  EXPECT_TRUE(wrong(DType::f32, 3.4028234663852886e38, infinity, -infinity));
  EXPECT_TRUE(wrong(DType::f32, 3.4028234663852886e38, infinity, 3e38));
  EXPECT_TRUE(wrong(DType::i32, 1, 1, 1)) << "open";
}

TEST(EveryOp, HasACase) {
  std::set<OpKind> ops;
  std::set<Pointwise> functions;
  std::set<Reduction> reductions;
  for (const char* file : {"pointwise.json", "ops.json"}) {
    for (const Case& c : read_table(file)) {
      const auto fusion = parse_fusion(c.text);
      const Op& op = *fusion->ops().back();
      ops.insert(op.kind);
      if (const auto* p = as<PointwiseOp>(op)) functions.insert(p->function);
      if (const auto* r = as<Reduce>(op)) reductions.insert(r->function);
    }
  }
#define PLAIT_OP(Name, text, properties) \
  EXPECT_TRUE(ops.count(OpKind::Name) || !users_write(OpKind::Name)) << "no case of " #text;
#include "ir/ops.def"
#undef PLAIT_OP
#define X(name, ...) EXPECT_TRUE(functions.count(Pointwise::name)) << "no case of " #name;
#include "scalar/pointwise.def"
#undef X
#define X(name, ...) EXPECT_TRUE(reductions.count(Reduction::name)) << "no case of " #name;
#include "ir/reductions.def"
#undef X
}

}  // namespace
}  // namespace plait
