// Divergence, ends, order of blocks, and random programs against a lane-by-lane evaluation.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "machine.h"

namespace plait::sim::test {
namespace {

std::vector<uint64_t> run_threads(const std::string& body, uint32_t blocks, uint32_t threads, uint64_t seed = 0,
                                  LaunchCounts* counts = nullptr) {
  Machine machine;
  const auto module = PtxModule::load(kernel_text(kThread + body));
  const uint64_t out = machine.allocate(size_t(blocks) * threads * 8);
  const LaunchCounts found = machine.run(*module, {out, 0, 0, 0}, blocks, threads, seed);
  if (counts != nullptr) *counts = found;
  return machine.download<uint64_t>(out, size_t(blocks) * threads);
}

TEST(Control, NestedBranchesJoinAgain) {
  // i % 2 and i % 3 choose one of four paths; what follows runs once for the whole warp.
  const std::string body = R"(
    rem.u32 %r1, %r39, 2; rem.u32 %r2, %r39, 3; mov.u32 %r3, 0;
    setp.eq.u32 %p1, %r1, 0; setp.eq.u32 %p2, %r2, 0;
    @%p1 bra $even;
    add.u32 %r3, %r3, 1; @%p2 bra $odd3; add.u32 %r3, %r3, 10; bra $join1;
    $odd3: add.u32 %r3, %r3, 20;
    $join1: add.u32 %r3, %r3, 100; bra $join;
    $even: add.u32 %r3, %r3, 2; @!%p2 bra $join; add.u32 %r3, %r3, 1000;
    $join: mul.lo.u32 %r3, %r3, 3; cvt.u64.u32 %rd1, %r3; st.global.u64 [%rd39], %rd1; ret;)";
  LaunchCounts counts;
  const auto found = run_threads(body, 1, 64, 0, &counts);
  for (uint32_t i = 0; i < 64; ++i) {
    const uint32_t expected = i % 2 == 0 ? (i % 3 == 0 ? 1002 : 2) : (i % 3 == 0 ? 121 : 111);
    EXPECT_EQ(found[i], expected * 3) << i;
  }
  // 7 + 5 + 1 instructions before, the paths once each, 4 after: reconverged, no instruction runs twice a warp.
  EXPECT_LE(counts.warp_instructions, 2u * 32);
}

TEST(Control, LoopsOfDifferentLengths) {
  // The Collatz steps of i + 1: every lane leaves the loop on its own.
  const std::string body = R"(
    cvt.u64.u32 %rd1, %r39; add.s64 %rd1, %rd1, 1; mov.u64 %rd2, 0;
    $loop: setp.eq.u64 %p0, %rd1, 1; @%p0 bra $done;
    and.b64 %rd3, %rd1, 1; setp.eq.b64 %p1, %rd3, 0; add.s64 %rd2, %rd2, 1;
    @%p1 bra $half; mad.lo.s64 %rd1, %rd1, 3, 1; bra $loop;
    $half: shr.u64 %rd1, %rd1, 1; bra.uni $loop;
    $done: st.global.u64 [%rd39], %rd2; ret;)";
  const auto found = run_threads(body, 3, 70);
  for (uint64_t i = 0; i < found.size(); ++i) {
    uint64_t steps = 0;
    for (uint64_t n = i + 1; n != 1; n = n % 2 == 0 ? n / 2 : 3 * n + 1) ++steps;
    EXPECT_EQ(found[i], steps) << i;
  }
}

// Functions with parameters, results, labels and an early return, called twice, under divergence, and from a function.
TEST(Control, CallsOfFunctions) {
  const std::string functions = R"(
    .func (.param .b64 r) twice (.param .b64 x);
    .func (.param .align 8 .b8 r[16]) halves (.param .b64 x) {
      .reg .pred %p<2>; .reg .b64 %rd<5>;
      ld.param.u64 %rd1, [x]; and.b64 %rd2, %rd1, 1; setp.eq.u64 %p1, %rd2, 0; @%p1 bra $even;
      add.u64 %rd1, %rd1, 1000; st.param.b64 [r], %rd1; st.param.b64 [r+8], %rd2; ret;
      $even: shr.u64 %rd3, %rd1, 1;
      { .param .b64 p; st.param.b64 [p], %rd3; .param .b64 q; call.uni (q), twice, (p); ld.param.b64 %rd4, [q]; }
      st.param.b64 [r], %rd4; st.param.b64 [r+8], %rd2; ret;
    }
    .func (.param .b64 r) twice (.param .b64 x) {
      .reg .b64 %rd<3>; .local .align 8 .b8 space[8];
      ld.param.u64 %rd1, [x]; st.local.u64 [space], %rd1; ld.local.u64 %rd2, [space]; add.u64 %rd2, %rd2, %rd1;
      st.param.b64 [r], %rd2; ret;
    })";
  const std::string body = R"(
    cvt.u64.u32 %rd1, %r39; setp.gt.u32 %p1, %r39, 40; mov.u64 %rd4, 7; @%p1 bra $second;
    { .param .b64 p; st.param.b64 [p], %rd1; .param .align 16 .b8 r[16]; call.uni (r), halves, (p);
      ld.param.v2.b64 {%rd2, %rd3}, [r]; }
    mad.lo.s64 %rd4, %rd3, 5000, %rd2;
    $second:
    { .param .b64 p; st.param.b64 [p], %rd4; .param .align 16 .b8 r[16]; call.uni (r), halves, (p);
      ld.param.b64 %rd2, [r]; ld.param.b64 %rd3, [r+8]; }
    mad.lo.s64 %rd4, %rd3, 100000, %rd2; st.global.u64 [%rd39], %rd4; ret;)";
  Machine machine;
  const auto module = PtxModule::load(kernel_text(kThread + body, functions));
  const uint64_t out = machine.allocate(64 * 8);
  machine.run(*module, {out, 0, 0, 0}, 1, 64);
  const auto found = machine.download<uint64_t>(out, 64);
  const auto halves = [](uint64_t x) {
    return x % 2 == 0 ? std::pair(x, uint64_t(0)) : std::pair(x + 1000, uint64_t(1));
  };
  for (uint64_t i = 0; i < 64; ++i) {
    uint64_t x = 7;
    if (i <= 40) {
      const auto [value, odd] = halves(i);
      x = odd * 5000 + value;
    }
    const auto [value, odd] = halves(x);
    EXPECT_EQ(found[i], odd * 100000 + value) << i;
  }
}

TEST(Control, LanesLeaveOnTheirOwn) {
  const std::string body = R"(
    mov.u64 %rd1, 1; st.global.u64 [%rd39], %rd1;
    and.b32 %r1, %r39, 3; setp.eq.u32 %p0, %r1, 1; @%p0 ret;
    mov.u64 %rd1, 2; st.global.u64 [%rd39], %rd1;
    setp.eq.u32 %p1, %r1, 2; @!%p1 bra $on; exit;
    $on: mov.u64 %rd1, 3; st.global.u64 [%rd39], %rd1;)";
  const auto found = run_threads(body, 2, 45);
  for (uint64_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], i % 4 == 1 ? 1u : i % 4 == 2 ? 2u : 3u) << i;
}

TEST(Control, SeedsOrderBlocksAndChangeNoResult) {
  const std::string body = R"(
    cvt.u64.u32 %rd1, %r39; mul.lo.s64 %rd1, %rd1, %rd1; st.global.u64 [%rd39], %rd1; ret;)";
  const auto expected = run_threads(body, 37, 65);
  for (uint64_t seed = 1; seed < 20; ++seed) EXPECT_EQ(run_threads(body, 37, 65, seed), expected) << seed;
  // Blocks overwrite one word; the last one depends on the seed.
  std::set<uint64_t> last;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Machine machine;
    const auto module = PtxModule::load(
        kernel_text(std::string(kThread) +
                    "mov.u32 %r1, %ctaid.x; cvt.u64.u32 %rd1, %r1; st.volatile.global.u64 [%rd38], %rd1; ret;"));
    const uint64_t out = machine.allocate(8);
    machine.run(*module, {out, 0, 0, 0}, 16, 32, seed);
    last.insert(machine.download<uint64_t>(out, 1)[0]);
  }
  EXPECT_GT(last.size(), 3u);
  EXPECT_EQ(last.count(15), 1u);
}

TEST(Control, LocalMemoryOfEveryThread) {
  // A table in local memory, indexed by data, by its own addresses and by generic ones.
  const std::string body = R"(
    .local .align 16 .b8 depot[64];
    mov.u64 %rd1, depot; cvta.local.u64 %rd2, %rd1; mov.u32 %r1, 0;
    $fill: mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3; add.u32 %r2, %r1, %r39; st.local.u32 [%rd4], %r2;
    add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 16; @%p1 bra $fill;
    rem.u32 %r3, %r39, 16; mul.wide.u32 %rd5, %r3, 4; add.s64 %rd6, %rd2, %rd5; ld.u32 %r4, [%rd6];
    ld.local.v4.u32 {%r5, %r6, %r7, %r8}, [depot+48]; add.u32 %r4, %r4, %r8;
    st.u64 [%rd2], %rd5; ld.local.u64 %rd8, [depot]; setp.ne.u64 %p2, %rd8, %rd5; @%p2 trap;
    cvt.u64.u32 %rd7, %r4; st.u64 [%rd39], %rd7; ret;)";
  const auto found = run_threads(body, 2, 48);
  for (uint64_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], i + i % 16 + i + 15) << i;
}

TEST(Control, GlobalVariables) {
  const std::string before =
      ".const .align 8 .b64 table[3] = {7, -1, 0d3FF0000000000000};\n.global .align 4 .u32 counter;\n"
      ".global .align 1 .b8 bytes[4] = {1, 2, 3};\n";
  const std::string body = std::string(kThread) + R"(
    ld.const.u64 %rd1, [table]; mov.u64 %rd2, table; cvta.const.u64 %rd2, %rd2; ld.u64 %rd3, [%rd2+8];
    ld.const.u64 %rd5, [table+16]; ld.global.u8 %r3, [bytes+2]; mov.u64 %rd6, bytes+3; ld.global.u8 %r4, [%rd6];
    add.s64 %rd1, %rd1, %rd3; st.global.u32 [counter], 5; ld.global.u32 %r1, [counter]; add.u32 %r1, %r1, %r3;
    add.u32 %r1, %r1, %r4; cvt.u64.u32 %rd4, %r1;
    add.s64 %rd1, %rd1, %rd4; xor.b64 %rd1, %rd1, %rd5; st.global.u64 [%rd39], %rd1; ret;)";
  Machine machine;
  const auto module = PtxModule::load(kernel_text(body, before));
  ASSERT_EQ(module->globals().size(), 3u);
  EXPECT_TRUE(module->globals()[0].constant);
  EXPECT_EQ(module->globals()[1].bytes, 4u);
  EXPECT_TRUE(module->globals()[1].initial.empty());
  const uint64_t out = machine.allocate(8);
  machine.run(*module, {out, 0, 0, 0}, 1, 1);
  EXPECT_EQ(machine.download<uint64_t>(out, 1)[0], (7u - 1 + 5 + 3 + 0) ^ bits(1.0));
}

// ---- Random programs: blocks of arithmetic behind nested conditions and loops of bounded length.

constexpr int kRegisters = 8;

struct RandomProgram {
  std::mt19937 random;
  std::string text;
  int labels = 0;
  explicit RandomProgram(uint32_t seed) : random(seed) {}
  int below(int n) { return static_cast<int>(random() % static_cast<uint32_t>(n)); }

  // The same program is generated and evaluated: `state` are the registers of one lane.
  struct Node {
    enum Kind { sum, product, exclusive, shift, branch, loop } kind;
    int d, a, b;
    uint32_t number;
    std::vector<Node> then, otherwise;
  };

  std::vector<Node> block(int depth) {
    std::vector<Node> out;
    for (int i = 2 + below(4); i > 0; --i) {
      Node node{static_cast<Node::Kind>(below(depth > 0 ? 6 : 4)),
                below(kRegisters),
                below(kRegisters),
                below(kRegisters),
                static_cast<uint32_t>(random()),
                {},
                {}};
      if (node.kind == Node::branch) {
        node.then = block(depth - 1);
        node.otherwise = block(depth - 1);
      }
      if (node.kind == Node::loop) node.then = block(depth - 1);
      out.push_back(std::move(node));
    }
    return out;
  }

  void write(const std::vector<Node>& nodes) {
    for (const Node& n : nodes) {
      const auto binary = [&](const char* op) { text += fmt::format("{} %r{}, %r{}, %r{};\n", op, n.d, n.a, n.b); };
      const int label = labels;
      switch (n.kind) {
        case Node::sum:
          binary(n.number % 2 != 0 ? "add.u32" : "sub.s32");
          break;
        case Node::product:
          text += fmt::format("mad.lo.s32 %r{}, %r{}, %r{}, {};\n", n.d, n.a, n.b, n.number);
          break;
        case Node::exclusive:
          binary("xor.b32");
          break;
        case Node::shift:
          text += fmt::format("shf.l.wrap.b32 %r{0}, %r{1}, %r{1}, {2};\n", n.d, n.a, n.number % 32);
          break;
        case Node::branch:
          labels += 1;
          text += fmt::format("and.b32 %r20, %r{}, {}; setp.lt.u32 %p1, %r20, {};\n@!%p1 bra $else{};\n", n.a, 255,
                              n.number % 256, label);
          write(n.then);
          text += fmt::format("bra $end{0};\n$else{0}:\n", label);
          write(n.otherwise);
          text += fmt::format("$end{}:\n", label);
          break;
        case Node::loop: {  // as often as the low bits of a register say
          labels += 1;
          const int counter = 21 + label % 16;
          text += fmt::format("st.local.u32 [depth+{1}], %r{0};\nand.b32 %r{0}, %r{2}, 3;\n", counter, 4 * (label % 64),
                              n.a);
          text += fmt::format("$loop{0}: setp.eq.u32 %p2, %r{1}, 0; @%p2 bra $end{0};\n", label, counter);
          text += fmt::format("st.local.u32 [depth+{}], %r{};\n", 256 + 4 * (label % 64), counter);
          write(n.then);
          text += fmt::format("ld.local.u32 %r{1}, [depth+{2}]; sub.u32 %r{1}, %r{1}, 1; bra $loop{0};\n$end{0}:\n",
                              label, counter, 256 + 4 * (label % 64));
          break;
        }
      }
    }
  }

  static void evaluate(const std::vector<Node>& nodes, uint32_t* r) {
    for (const Node& n : nodes) {
      switch (n.kind) {
        case Node::sum:
          r[n.d] = n.number % 2 != 0 ? r[n.a] + r[n.b] : r[n.a] - r[n.b];
          break;
        case Node::product:
          r[n.d] = r[n.a] * r[n.b] + n.number;
          break;
        case Node::exclusive:
          r[n.d] = r[n.a] ^ r[n.b];
          break;
        case Node::shift:
          r[n.d] = std::rotl(r[n.a], static_cast<int>(n.number % 32));
          break;
        case Node::branch:
          evaluate((r[n.a] & 255) < n.number % 256 ? n.then : n.otherwise, r);
          break;
        case Node::loop:
          for (uint32_t count = r[n.a] & 3; count > 0; --count) evaluate(n.then, r);
          break;
      }
    }
  }
};

TEST(Control, RandomPrograms) {
  for (uint32_t seed = 0; seed < 150; ++seed) {
    RandomProgram program(seed);
    const auto nodes = program.block(3);
    program.text = ".local .align 16 .b8 depth[512];\n" + std::string(kThread);
    for (int i = 21; i < 37; ++i) program.text += fmt::format("mov.u32 %r{}, 0;\n", i);
    for (int i = 0; i < kRegisters; ++i)
      program.text += fmt::format("mad.lo.u32 %r{}, %r39, {}, {};\n", i, 2654435761u * (2u * i + 1), i * 77);
    program.write(nodes);
    program.text += "mov.u32 %r9, 0;\n";
    for (int i = 0; i < kRegisters; ++i) program.text += fmt::format("mad.lo.u32 %r9, %r9, 31, %r{};\n", i);
    program.text += "cvt.u64.u32 %rd1, %r9; st.global.u64 [%rd39], %rd1; ret;";
    Machine machine;
    const auto module = PtxModule::load(kernel_text(program.text));
    const uint64_t out = machine.allocate(40 * 2 * 8);
    machine.run(*module, {out, 0, 0, 0}, 2, 40, seed);
    const auto found = machine.download<uint64_t>(out, 80);
    for (uint32_t thread = 0; thread < 80; ++thread) {
      uint32_t r[kRegisters], expected = 0;
      for (int i = 0; i < kRegisters; ++i) r[i] = thread * (2654435761u * (2u * i + 1)) + i * 77;
      RandomProgram::evaluate(nodes, r);
      for (uint32_t each : r) expected = expected * 31 + each;
      ASSERT_EQ(found[thread], expected) << "seed " << seed << ", thread " << thread << "\n" << program.text;
    }
  }
}

}  // namespace
}  // namespace plait::sim::test
