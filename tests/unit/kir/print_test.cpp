#include <gtest/gtest.h>

#include "base/error.h"
#include "kir/kernel.h"
#include "kir/lane.h"
#include "support/kernel_builder.h"

namespace plait::kir {
namespace {

using test::KernelBuilder;

TEST(KirPrint, PointwiseKernel) {
  KernelBuilder b("tp_mlp_s1");
  b.kernel.schedule = "pointwise(vector = 8)";
  const auto m = b.integer("m"), n = b.integer("n");
  const auto x = b.reads("x", DType::f32, m * n), y = b.writes("y", DType::bf16, m * n);
  const auto i = b.loop("i", m, LoopKind::cpu_thread);
  const auto j = b.loop("j", sym::floordiv(n, 8));
  const auto index = i * n + 8 * j + b.lane;
  const Value v = b.load(x, index, 8, Access::contiguous);
  b.store(y, index, b.compute(Pointwise::tanh, {v}), Access::contiguous);
  verify(b.kernel);
  const std::string position = sym::print(index);
  EXPECT_EQ(print(b.kernel),
            "kernel @tp_mlp_s1(%x: f32[m*n] read, %y: bf16[m*n] write; m, n) given lane: 1 in 0.. target cpu schedule "
            "pointwise(vector = 8) {\n"
            "  for i in 0..m on cpu_thread {\n"
            "    for j in 0..floordiv(n, 8) {\n"
            "      %0: f32x8 = load %x[" +
                position +
                "] contiguous\n"
                "      %1: f32x8 = tanh(%0)\n"
                "      store %y[" +
                position +
                "] = %1 contiguous\n"
                "    }\n"
                "  }\n"
                "}\n");
}

TEST(KirPrint, EveryStatement) {
  KernelBuilder b("all");
  const auto n = b.integer("n");
  const auto x = b.reads("x", DType::bf16, n), s = b.reads("seed", DType::u64, b.number(1));
  const auto y = b.writes("y", DType::f64, n), words = b.updates("words", DType::u64, b.number(2));
  const Value sum = b.variable(DType::f64, 0, 4);
  const Value seed = b.load(s, b.number(0), 1, Access::splat);
  b.branch(sym::lt(b.number(3), n));
  const Value v = b.load(x, b.lane, 4, Access::aligned, n);
  const Value half = b.literal(DType::f32, 0.5, 4);
  const Value r = b.random(seed, b.lane, 7, 4);
  const Value p = b.compute(Pointwise::where, {b.compute(Pointwise::ge, {r, half}), v, half});
  const Value c = b.convert(b.round(p, DType::bf16), DType::f64, 4);
  const Value d = b.convert(b.coordinate(2 * b.lane, 4), DType::f64, 4);
  b.assign(sum, b.compute(Pointwise::add, {c, d}));
  b.end();
  b.half(sum, true);
  b.store(y, 2 * b.lane, sum, Access::lanewise, n - 1);
  b.atomic_min(words, b.number(1), seed);
  verify(b.kernel);
  EXPECT_EQ(print(b.kernel),
            "kernel @all(%x: bf16[n] read, %seed: u64[1] read, %y: f64[n] write, %words: u64[2] update; n) given lane: "
            "1 in 0.. target cpu "
            "{\n"
            "  %0: f64x4 = variable 0\n"
            "  %1: u64 = load %seed[0] splat\n"
            "  if " +
                sym::print(sym::lt(b.number(3), n)) +
                " {\n"
                "    %2: f32x4 = load %x[lane] aligned active n\n"
                "    %3: f32x4 = literal 0.5\n"
                "    %4: f32x4 = random(seed = %1, index = lane, offset = 7)\n"
                "    %5: boolx4 = ge(%4, %3)\n"
                "    %6: f32x4 = where(%5, %2, %3)\n"
                "    %7: f32x4 = round(%6, to = bf16)\n"
                "    %8: f64x4 = convert(%7)\n"
                "    %9: i64x4 = coordinate 2*lane\n"
                "    %10: f64x4 = convert(%9)\n"
                "    %11: f64x4 = add(%8, %10)\n"
                "    assign %0 = %11\n"
                "  }\n"
                "  %12: f64x2 = half(%0, upper = true)\n"
                "  store %y[2*lane] = %0 lanewise active n - 1\n"
                "  atomic_min %words[1] = %1\n"
                "}\n");
}

TEST(KirPrint, PhasesReductionsAndLocalBuffers) {
  KernelBuilder b("columns");
  const auto n = b.integer("n");
  const auto x = b.reads("x", DType::f32, 64 * n), y = b.writes("y", DType::f32, b.number(1));
  const auto partials = b.workspace("partials", DType::f32, n);
  const auto i = b.loop("i", n, LoopKind::cpu_thread);
  const auto row = b.stack("row", DType::f32, b.number(64));
  const auto sum = b.start(Combine::sum, {DType::f32});
  const auto j = b.loop("j", b.number(8));
  const auto lane = b.loop("l", b.number(8), LoopKind::lanes);
  const Value v = b.load(x, 64 * i + 8 * j + lane, 1, Access::lanewise);
  b.store(row, 8 * j + lane, v, Access::lanewise);
  b.accumulate(Combine::sum, sum, {v});
  b.end();
  b.end();
  b.store(partials, i, b.fold(Combine::sum, sum)[0], Access::lanewise);
  b.phase();
  const auto most = b.start(Combine::first_greatest, {DType::f32, DType::i64});
  b.loop("k", n);
  const auto& loop = static_cast<For&>(*b.kernel.phases[1].body.back());
  b.accumulate(Combine::first_greatest, most,
               {b.load(partials, loop.var, 1, Access::lanewise), b.coordinate(loop.var, 1)}, n - loop.var);
  b.merge(Combine::first_greatest, most, most);
  b.end();
  b.store(y, b.number(0), most[0], Access::lanewise);
  verify(b.kernel);
  EXPECT_EQ(print(b.kernel),
            "kernel @columns(%x: f32[64*n] read, %y: f32[1] write, %partials: f32[n] workspace; n) target cpu {\n"
            "  phase {\n"
            "    for i in 0..n on cpu_thread {\n"
            "      alloc %row: f32[64] stack\n"
            "      %0: f32 = start sum\n"
            "      for j in 0..8 {\n"
            "        for l in 0..8 on lanes {\n"
            "          %1: f32 = load %x[64*i + 8*j + l] lanewise\n"
            "          store %row[8*j + l] = %1 lanewise\n"
            "          accumulate sum(%0) with %1\n"
            "        }\n"
            "      }\n"
            "      %2: f32 = fold sum(%0)\n"
            "      store %partials[i] = %2 lanewise\n"
            "    }\n"
            "  }\n"
            "  phase {\n"
            "    %3: f32, %4: i64 = start first_greatest\n"
            "    for k in 0..n {\n"
            "      %5: f32 = load %partials[k] lanewise\n"
            "      %6: i64 = coordinate k\n"
            "      accumulate first_greatest(%3, %4) with %5, %6 active -k + n\n"
            "      merge first_greatest(%3, %4) with %3, %4\n"
            "    }\n"
            "    store %y[0] = %3 lanewise\n"
            "  }\n"
            "}\n");
  EXPECT_THROW(require_replaced(b.kernel), InternalError);
}

TEST(Kir, ThreadLoopAndLaunchExtents) {
  KernelBuilder cpu("c");
  const auto n = cpu.integer("n");
  cpu.literal(DType::f32, 1, 1);
  EXPECT_EQ(thread_loop(cpu.kernel.phases[0]), nullptr);
  cpu.loop("i", n, LoopKind::cpu_thread);
  ASSERT_NE(thread_loop(cpu.kernel.phases[0]), nullptr);
  EXPECT_EQ(thread_loop(cpu.kernel.phases[0])->extent, n);

  KernelBuilder gpu("g", TargetKind::cuda);
  const auto m = gpu.integer("m");
  gpu.loop("b", sym::ceildiv(m, 128), LoopKind::block_y);
  gpu.loop("t", gpu.number(128), LoopKind::thread_x);
  verify(gpu.kernel);
  const LaunchExtents extents = launch_extents(gpu.kernel);
  ASSERT_EQ(extents.grid.size(), 3u);
  EXPECT_EQ(extents.grid[0].constant(), 1);
  EXPECT_EQ(extents.grid[1], sym::ceildiv(m, 128));
  EXPECT_EQ(extents.block[0].constant(), 128);
  EXPECT_EQ(extents.block[2].constant(), 1);
}

TEST(Kir, NamesOfStatements) {
  EXPECT_EQ(name(StmtKind::Coordinate), "coordinate");
  EXPECT_EQ(name(Access::lanewise), "lanewise");
  EXPECT_EQ(name(LoopKind::thread_z), "thread_z");
}

TEST(KirLane, Strides) {
  KernelBuilder b("k");
  const auto n = b.integer("n");
  EXPECT_EQ(lane_stride(3 * n + 1), 0);
  EXPECT_EQ(lane_stride(3 * n + b.lane), 1);
  EXPECT_EQ(lane_stride(n - 2 * b.lane), -2);
  EXPECT_EQ(lane_stride(n * b.lane), std::nullopt);
  EXPECT_EQ(lane_stride(sym::floordiv(b.lane + n, 2)), std::nullopt);
  EXPECT_EQ(sym::print(at_lane(4 * n + b.lane, 3)), "4*n + 3");
}

}  // namespace
}  // namespace plait::kir
