#include <gtest/gtest.h>

#include "unit/program/build.h"

namespace plait {
namespace {

using test::Builder;

TEST(PrintProgram, StepsKernelsAndMesh) {
  Builder b({{"dp", 2, ""}, {"tp", 0, "t"}}, {2, 4});
  const ValueId x = b.input("x", {"chunk(b, 2, rank.dp)", "768"}, DType::bf16);
  const ValueId w = b.input("w", {"chunk(3072, t, rank.tp)", "768"}, DType::bf16);
  const ValueId h = b.alloc("h", {"chunk(b, 2, rank.dp)", "chunk(3072, t, rank.tp)"}, DType::bf16);
  b.contraction(x, b.transposed(w, "chunk(3072, t, rank.tp)", "768"), h, {DType::bf16, DType::bf16, true});
  const ValueId g = b.alloc("g", {"chunk(b, 2, rank.dp)", "chunk(3072, t, rank.tp)"}, DType::bf16);
  auto& launch = b.launch("k1", {h}, {g}, {"chunk(b, 2, rank.dp)"}, [](const LaunchArguments&) {});
  launch.grid[0] = b.expr("ceildiv(b, 128)");
  const ValueId p = b.alloc("p", {"chunk(b, 2, rank.dp)", "3072"}, DType::bf16);
  b.pieces(Collective::all_gather, g, p, {"chunk(b, 2, rank.dp)", "chunk(3072, t, rank.tp)", "3072", "1"}, 1);
  const ValueId s = b.alloc("s", {"chunk(b, 2, rank.dp)", "10"}, DType::bf16);
  b.slice(p, s, {"chunk(b, 2, rank.dp)", "5", "10", "3072", "1"});
  const ValueId y = b.output("y", {"chunk(b, 2, rank.dp)", "10"}, DType::bf16);
  b.all_reduce(s, y, CommReduce::sum, 1);
  assign_streams(b.program);
  verify(b.program);
  EXPECT_EQ(print(b.program), R"(mesh @m (dp = 2, tp = t)
program @test on @m[2, 4] (
  %x: bf16[chunk(b, 2, rank.dp), 768],
  %w: bf16[chunk(3072, t, rank.tp), 768]
) -> (
  %y: bf16[chunk(b, 2, rank.dp), 10]
) {
  kernel @k1 (buffers = 2, integers = 1) schedule pointwise(vector = 8)
  contraction @l1 linear bf16 -> bf16
  %h = alloc bf16[chunk(b, 2, rank.dp), chunk(3072, t, rank.tp)]
  library @l1(%x, %w[768, chunk(3072, t, rank.tp)] strides [1, 768]) -> (%h) on compute
  %g = alloc bf16[chunk(b, 2, rank.dp), chunk(3072, t, rank.tp)]
  launch @k1(%h) -> (%g) (integers = [chunk(b, 2, rank.dp)], grid = [floordiv(b + 127, 128), 1, 1]) on compute
  record %e1 on compute
  %p = alloc bf16[chunk(b, 2, rank.dp), 3072]
  wait %e1 on comm
  all_gather %g -> %p (team = tp, outer = chunk(b, 2, rank.dp), count = chunk(3072, t, rank.tp), total = 3072, inner = 1) on comm
  record %e2 on comm
  %s = alloc bf16[chunk(b, 2, rank.dp), 10]
  wait %e2 on compute
  copy %p -> %s (outer = chunk(b, 2, rank.dp), start = 5, count = 10, total = 3072, inner = 1) on compute
  record %e3 on compute
  %y = alloc bf16[chunk(b, 2, rank.dp), 10]
  wait %e3 on comm
  all_reduce %s -> %y (op = sum, team = tp) on comm
}
)");
  EXPECT_EQ(b.program.count(StepKind::CollectiveStep), 2u);
  EXPECT_EQ(b.program.count(StepKind::LibraryStep), 1u);
}

TEST(PrintProgram, LinksOfAxesAreReadBack) {
  Builder b({{"dp", 2, "", 50, 12}, {"tp", 0, "t", 450, 0}}, {2, 4});
  const std::string text = print(b.program);
  EXPECT_TRUE(text.starts_with("mesh @m (dp = 2 bandwidth 50 latency 12, tp = t bandwidth 450 latency 0)\n")) << text;
  EXPECT_EQ(print(parse_program(text)), text);
  EXPECT_EQ(parse_program(text).mesh, b.program.mesh);
}

TEST(PrintProgram, WithoutMeshInputsAndAttributes) {
  Builder b;
  const ValueId y = b.output("y", {});
  b.launch("fill", {}, {y}, {}, [](const LaunchArguments&) {});
  EXPECT_EQ(print(b.program), R"(program @test () -> (
  %y: f32[]
) {
  kernel @fill (buffers = 1, integers = 0) schedule pointwise(vector = 8)
  %y = alloc f32[]
  launch @fill() -> (%y) on compute
}
)");
}

TEST(PrintMemory, OffsetsAndPeaks) {
  Builder b;
  const ValueId x = b.input("x", {"n"});
  const ValueId h = b.alloc("h", {"n"});
  b.combine({x}, h, "n", 1);
  const ValueId y = b.output("y", {"n"});
  b.combine({h}, y, "n", 1);
  auto program = b.done();
  RankValues values(*program, {{"n", 20}});
  EXPECT_EQ(print_memory(*program, values),
            "rank 0: arena 128 bytes (alive at once 128), inputs 80, outputs 80, peak 288\n"
            "  %h: 80 bytes at 0, steps 1 to 3\n");
}

}  // namespace
}  // namespace plait
