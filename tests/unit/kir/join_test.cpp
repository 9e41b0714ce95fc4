// Kernels joined to one: what they compute, where their phases and buffers stand.
#include "kir/join.h"

#include <gtest/gtest.h>

#include "kir/facts.h"
#include "kir/interpret.h"
#include "kir/parse.h"

namespace plait::kir {
namespace {

const std::string kSquares =
    "kernel @squares(%x: f32[n] read, %y: f32[n] write; n) given n: 4 in 4..64 target cpu {\n"
    "  for i in 0..floordiv(n, 4) on cpu_thread {\n"
    "    %0: f32x4 = load %x[4*i + lane] contiguous\n"
    "    %1: f32x4 = mul(%0, %0)\n"
    "    store %y[4*i + lane] = %1 contiguous\n"
    "  }\n"
    "}\n";
const std::string kSum =
    "kernel @sum(%x: f32[n] read, %y: f32[1] write, %p: f32[n] workspace; n) target cpu {\n"
    "  phase {\n"
    "    for i in 0..n on cpu_thread {\n"
    "      alloc %t: f32[1] stack\n"
    "      %0: f32 = load %x[i] splat\n"
    "      store %t[0] = %0 lanewise\n"
    "      %1: f32 = load %t[0] splat\n"
    "      store %p[i] = %1 lanewise\n"
    "    }\n"
    "  }\n"
    "  phase {\n"
    "    %2: f32 = variable 0\n"
    "    for j in 0..n {\n"
    "      %3: f32 = load %p[j] splat\n"
    "      %4: f32 = add(%2, %3)\n"
    "      assign %2 = %4\n"
    "    }\n"
    "    store %y[0] = %2 lanewise\n"
    "  }\n"
    "}\n";

Buffer buffer(const std::string& name, bool written, Space space = Space::argument) {
  Buffer out;
  out.name = name;
  out.written = written;
  out.space = space;
  return out;
}

// squares(a) -> sq in a workspace, sum(sq) -> total, and sum(b) -> other beside both, in the waves given.
Kernel joined(const std::vector<size_t>& of_other = {0, 1}) {
  Kernel whole;
  whole.name = "whole";
  whole.pool = std::make_shared<sym::Pool>();
  const sym::Expr n = whole.pool->symbol("n0", {.lo = 4, .hi = 64, .multiple_of = 4});
  const sym::Expr m = whole.pool->symbol("n1", {.lo = 0});
  whole.integers = {n, m};
  whole.phases.clear();
  whole.buffers = {buffer("a", false), buffer("b", false), buffer("total", true), buffer("other", true),
                   buffer("sq", false, Space::workspace)};
  std::vector<JoinPart> parts;
  parts.push_back({parse(kSquares), {0}, {0, 4}, {n}});
  parts.push_back({parse(kSum), {1, 2}, {4, 2}, {n}});
  parts.push_back({parse(kSum), of_other, {1, 3}, {m}});
  join(whole, std::move(parts));
  return whole;
}

TEST(KirJoin, ComputesWhatThePartsCompute) {
  const Kernel kernel = joined();
  verify(kernel);
  for (const int64_t m : {0, 1, 5}) {
    std::vector<float> a, b;
    for (int i = 0; i < 8; ++i) a.push_back(float(i));
    for (int i = 0; i < m; ++i) b.push_back(float(i + 1));
    float total = -1, other = -1;
    std::vector<void*> arguments = {a.data(), b.data(), &total, &other};
    AccessChecker checker(kernel);
    interpret(kernel, {{8, m}}, arguments, checker);
    checker.finish(buffer_extents(kernel, {{8, m}}));
    EXPECT_EQ(checker.problems(), std::vector<std::string>{});
    EXPECT_EQ(total, 140);
    EXPECT_EQ(other, float(m * (m + 1) / 2));
  }
}

TEST(KirJoin, PhasesOfOneWaveAreBesideEachOther) {
  const Kernel kernel = joined();
  EXPECT_EQ(waves(kernel), (std::vector<size_t>{2, 2, 1}));
  std::vector<std::string> names;
  for (const Buffer& b : kernel.buffers) names.push_back(b.name + " " + std::string(name(b.space)));
  EXPECT_EQ(names, (std::vector<std::string>{"a argument", "b argument", "total argument", "other argument",
                                             "sq workspace", "p workspace", "p_2 workspace", "t stack", "t_2 stack"}));
  const std::string text = print(kernel);
  EXPECT_EQ(print(parse(text)), text);
  EXPECT_NE(text.find("  phase beside {\n"), std::string::npos) << text;
}

TEST(KirJoin, APartMayWaitBetweenItsWaves) {
  const Kernel kernel = joined({0, 2});
  verify(kernel);
  EXPECT_EQ(waves(kernel), (std::vector<size_t>{2, 1, 2}));
  EXPECT_THROW(joined({0}), InternalError);
}

TEST(KirJoin, AWrongWaveIsFound) {
  Kernel kernel = joined();
  for (size_t i = 1; i < kernel.phases.size(); ++i) kernel.phases[i].beside = true;
  std::vector<float> a(8, 1.0f), b(2, 1.0f);
  float total = 0, other = 0;
  std::vector<void*> arguments = {a.data(), b.data(), &total, &other};
  AccessChecker checker(kernel);
  interpret(kernel, {{8, 2}}, arguments, checker);
  ASSERT_FALSE(checker.problems().empty());
  EXPECT_NE(checker.problems()[0].find("is written by another task of the phase"), std::string::npos)
      << checker.problems()[0];
}

}  // namespace
}  // namespace plait::kir
