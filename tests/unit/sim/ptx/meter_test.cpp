// Meters of accesses, by kernels whose sectors and passes are known on paper.
#include <gtest/gtest.h>

#include <numeric>

#include "machine.h"
#include "sim/ptx/meter.h"

namespace plait::sim::ptx {
namespace {

MemoryCounts of_device(uint64_t first, uint64_t step, size_t bytes, uint32_t lanes = ~0u) {
  uint64_t at[kLanes];
  for (uint64_t lane = 0; lane < kLanes; ++lane) at[lane] = first + lane * step;
  MemoryCounts out;
  Meter meter(out);
  meter.device(at, lanes, bytes, false);
  return out;
}

TEST(Meter, SectorsOfRequests) {
  EXPECT_EQ(of_device(0, 4, 4).sectors, 4u) << "32 words side by side";
  EXPECT_EQ(of_device(4, 4, 4).sectors, 5u) << "not aligned to a sector";
  EXPECT_EQ(of_device(0, 8, 4).sectors, 8u) << "every second word";
  EXPECT_EQ(of_device(0, 128, 4).sectors, 32u) << "a column";
  EXPECT_EQ(of_device(0, 0, 4).sectors, 1u) << "one word for all";
  EXPECT_EQ(of_device(0, 16, 16).sectors, 16u) << "vectors";
  EXPECT_EQ(of_device(0, 2, 2).sectors, 2u) << "halves";
  EXPECT_EQ(of_device(0, 4, 4, 0x1).sectors, 1u) << "one lane";
  EXPECT_EQ(of_device(0, 4, 4, 0x80000001).sectors, 2u) << "the first and the last lane";
}

TEST(Meter, TheLeastCountsEachSectorOnce) {
  uint64_t at[kLanes];
  for (uint64_t lane = 0; lane < kLanes; ++lane) at[lane] = lane * 4;
  MemoryCounts out;
  Meter meter(out);
  for (int i = 0; i < 3; ++i) meter.device(at, ~0u, 4, false);
  meter.device(at, ~0u, 4, true);
  EXPECT_EQ(out.requests, 4u);
  EXPECT_EQ(out.sectors, 16u);
  EXPECT_EQ(out.least_sectors, 8u) << "read once, written once";
}

uint64_t conflicts(uint64_t step, size_t bytes, uint64_t row = 0) {
  uint64_t at[kLanes];
  for (uint64_t lane = 0; lane < kLanes; ++lane) at[lane] = lane * step + lane / 8 * row;
  MemoryCounts out;
  Meter meter(out);
  meter.shared(at, ~0u, bytes);
  return out.shared_passes - out.least_passes;
}

TEST(Meter, PassesOverBanks) {
  EXPECT_EQ(conflicts(4, 4), 0u);
  EXPECT_EQ(conflicts(0, 4), 0u) << "one word for all";
  EXPECT_EQ(conflicts(8, 4), 1u) << "two words of each second bank";
  EXPECT_EQ(conflicts(128, 4), 31u) << "all of one bank";
  EXPECT_EQ(conflicts(132, 4), 0u) << "a padded column";
  EXPECT_EQ(conflicts(8, 8), 0u) << "half a warp in a pass";
  EXPECT_EQ(conflicts(16, 16), 0u) << "a quarter";
  EXPECT_EQ(conflicts(16, 4), 3u);
  EXPECT_EQ(conflicts(1, 1), 0u) << "four bytes of a word";
  EXPECT_EQ(conflicts(256, 8), 30u) << "both halves of one bank and the next";
}

// 64 threads, of which 16 of each warp go the longer way.
TEST(Meter, InstructionsByKind) {
  test::Machine machine;
  const auto module = PtxModule::load(test::kernel_text(R"(
    ld.param.u64 %rd0, [a];
    mov.u32 %r0, %tid.x;
    and.b32 %r1, %r0, 16;
    setp.ne.s32 %p0, %r1, 0;
    @%p0 bra END;
    mul.wide.u32 %rd1, %r0, 4;
    add.s64 %rd2, %rd0, %rd1;
    cvt.rn.f32.u32 %r2, %r0;
    add.f32 %r3, %r2, %r2;
    fma.rn.f32 %r4, %r3, %r3, %r3;
    st.global.b32 [%rd2], %r4;
END:
    bar.sync 0;
    ret;
)"));
  Launch launch;
  launch.block[0] = 64;
  launch.metered = true;
  launch.parameters.resize(32);
  const uint64_t out = machine.allocate(256);
  std::memcpy(launch.parameters.data(), &out, 8);
  const LaunchCounts counts = sim::launch(*module, launch, machine.actor("k"), machine.space);
  using Kinds = std::array<uint64_t, kInstructionKinds>;
  // floats, integers, memory, control, together, other
  EXPECT_EQ(counts.kinds, (Kinds{2 * 32, 64 + 2 * 32, 32, 32 + 64, 64, 3 * 64 + 32}));
  EXPECT_EQ(counts.thread_instructions, std::accumulate(counts.kinds.begin(), counts.kinds.end(), uint64_t{0}));
}

// A warp copies 512 bytes to rows `pitch` apart and loads four matrices of 8 rows from there.
MemoryCounts of_matrices(int pitch) {
  test::Machine machine;
  const auto module = PtxModule::load(test::kernel_text(fmt::format(R"(
    .shared .align 16 .b8 tile[8192];
    ld.param.u64 %rd0, [a];
    mov.u32 %r0, %tid.x;
    mad.wide.u32 %rd1, %r0, 16, %rd0;
    mov.u32 %r1, tile;
    mad.lo.u32 %r2, %r0, {}, %r1;
    cp.async.cg.shared.global [%r2], [%rd1], 16;
    cp.async.wait_all;
    bar.sync 0;
    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{%r2, %r3, %r4, %r5}}, [%r2];
    ret;
)",
                                                                    pitch)));
  Launch launch;
  launch.block[0] = 32;
  launch.metered = true;
  launch.parameters.resize(32);
  const uint64_t in = machine.upload(std::vector<uint32_t>(128));
  std::memcpy(launch.parameters.data(), &in, 8);
  return sim::launch(*module, launch, machine.actor("k"), machine.space).memory;
}

TEST(Meter, CopiesAndMatrices) {
  const MemoryCounts dense = of_matrices(16), apart = of_matrices(128), padded = of_matrices(144);
  EXPECT_EQ(dense.requests, 1u);
  EXPECT_EQ(dense.sectors, 16u);
  EXPECT_EQ(dense.least_sectors, 16u);
  EXPECT_EQ(dense.shared_requests, 2u);
  EXPECT_EQ(dense.shared_passes, 8u) << "four for the copies, one for each matrix";
  EXPECT_EQ(dense.least_passes, 8u);
  EXPECT_EQ(apart.shared_passes, 64u) << "all rows in the same banks";
  EXPECT_EQ(padded.shared_passes, 8u);
}

TEST(Meter, BytesInFlight) {
  const auto in_flight = [](const std::string& body) {
    return PtxModule::load(test::kernel_text("ld.param.u64 %rd1, [a];\n" + body))->kernels()[0].bytes_in_flight;
  };
  EXPECT_EQ(in_flight("ret;"), 0u);
  EXPECT_EQ(in_flight("ld.global.u32 %r1, [%rd1];"), 4u);
  EXPECT_EQ(in_flight("ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1]; ld.global.nc.v2.u16 {%h1, %h2}, [%rd1+16];"),
            20u);
  EXPECT_EQ(in_flight("ld.global.u32 %r1, [%rd1]; add.u32 %r3, %r1, 1; ld.global.u32 %r2, [%rd1+4];"), 8u)
      << "the second needs nothing of the first";
  EXPECT_EQ(in_flight("ld.global.u32 %r1, [%rd1]; st.global.u32 [%rd1], %r1; ld.global.u32 %r2, [%rd1+4];"), 4u)
      << "behind a store";
  EXPECT_EQ(in_flight("ld.global.u32 %r1, [%rd1]; L: ld.global.u32 %r2, [%rd1+4];"), 4u) << "behind a label";
  EXPECT_EQ(in_flight("ld.global.u32 %r1, [%rd1]; ld.global.u32 %r2, [%rd1+4]; add.u32 %r3, %r1, 1;\n"
                      "bar.sync 0; ld.global.u32 %r1, [%rd1]; add.u32 %r3, %r1, %r2;"),
            8u)
      << "the most, not the last";
  EXPECT_EQ(in_flight("ld.global.u64 %rd2, [%rd1]; ld.global.u64 %rd3, [%rd2];"), 8u) << "an address that is loaded";
  const std::string copy = ".shared .align 16 .b8 s[64]; cp.async.cg.shared.global [s], [%rd1], 16;\n";
  EXPECT_EQ(in_flight(copy + "cp.async.commit_group; cp.async.wait_all;"), 16u);
  EXPECT_EQ(in_flight(copy + "cp.async.ca.shared.global [s+16], [%rd1+16], 8; cp.async.commit_group;\n"
                             "cp.async.wait_group 2;"),
            72u)
      << "three groups";
  EXPECT_EQ(in_flight(".shared .align 4 .b32 s; st.shared.u32 [s], 1; ld.shared.u32 %r1, [s];"), 0u);
}

}  // namespace
}  // namespace plait::sim::ptx
