// Loads and stores: widths, vectors, extension, parameters; and every fault with its place.
#include <gtest/gtest.h>

#include <functional>
#include <numeric>

#include "machine.h"

namespace plait::sim::test {
namespace {

template <class Fn>
Fault fault_of(Fn fn) {
  try {
    fn();
  } catch (const Fault& fault) {
    return fault;
  }
  return {0, "no fault"};
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

#define EXPECT_TEXT(fault, part) EXPECT_TRUE(contains((fault).text, part)) << (fault).text

// Number of the line of the kernel's text that holds this.
int line_of(const std::string& text, const std::string& part) {
  const size_t at = text.find(part);
  EXPECT_NE(at, text.npos) << part;
  return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<long>(at), '\n'));
}

TEST(Memory, Widths) {
  struct Row {
    const char* text;
    uint64_t expected;
  };
  // Memory of the thread: 0x88 0x99 0xaa 0xbb 0xcc 0xdd 0xee 0xff.
  const Row rows[] = {
      {"ld.global.u8 %h1, [%rd39]; cvt.u64.u16 %rd1, %h1;", 0x88},
      {"ld.global.s8 %h1, [%rd39]; cvt.u64.u16 %rd1, %h1;", 0xff88},
      {"ld.global.s8 %r1, [%rd39+1]; cvt.u64.u32 %rd1, %r1;", 0xffffff99},
      {"ld.global.u8 %rd1, [%rd39+7];", 0xff},
      {"ld.global.s8 %rd1, [%rd39+7];", ~uint64_t(0)},
      {"ld.global.u16 %h1, [%rd39+2]; cvt.u64.u16 %rd1, %h1;", 0xbbaa},
      {"ld.global.s16 %r1, [%rd39+2]; cvt.u64.u32 %rd1, %r1;", 0xffffbbaa},
      {"ld.global.b32 %r1, [%rd39+4]; cvt.u64.u32 %rd1, %r1;", 0xffeeddcc},
      {"ld.global.s32 %rd1, [%rd39+4];", 0xffffffffffeeddcc},
      {"ld.global.f64 %rd1, [%rd39];", 0xffeeddccbbaa9988},
      {"ld.global.nc.v2.u32 {%r1, %r2}, [%rd39]; mov.b64 %rd1, {%r2, %r1};", 0xbbaa9988ffeeddcc},
      {"ld.global.v4.u16 {%h1, %h2, %h3, %h4}, [%rd39]; mov.b64 %rd1, {%h4, %h3, %h2, %h1};", 0x9988bbaaddccffee},
      {"ld.global.v2.u8 {%h1, _}, [%rd39+2]; cvt.u64.u16 %rd1, %h1;", 0xaa},
      {"ld.volatile.global.u64 %rd1, [%rd39];", 0xffeeddccbbaa9988},
      {"ld.global.ca.L1::evict_last.L2::128B.u64 %rd1, [%rd39];", 0xffeeddccbbaa9988},
      {"ld.u64 %rd1, [%rd39+-0];", 0xffeeddccbbaa9988},
      {"ld.param.u32 %r1, [c+4]; cvt.u64.u32 %rd1, %r1;", 0x12345678},
      {"ld.param.v2.u32 {%r1, %r2}, [c]; mov.b64 %rd1, {%r2, %r1};", 0x9abcdef012345678},
      {"st.global.u8 [%rd39], 1; ld.global.u64 %rd1, [%rd39];", 0xffeeddccbbaa9901},
      {"mov.u32 %r1, 0x12345678; st.global.u16 [%rd39+2], %r1; ld.global.u64 %rd1, [%rd39];", 0xffeeddcc56789988},
      {"st.global.v2.b32 [%rd39], {1, 2}; ld.global.u64 %rd1, [%rd39];", 0x0000000200000001},
      {"mov.u16 %h1, 7; st.global.v4.u8 [%rd39+4], {%h1, %h1, 0, %h1}; ld.global.u64 %rd1, [%rd39];",
       0x07000707bbaa9988}};
  for (const Row& row : rows) {
    Machine machine;
    const auto module = PtxModule::load(kernel_text(std::string(kThread) + row.text +
                                                    "\nld.param.u64 %rd20, [b]; mul.wide.u32 %rd21, %r39, 8;"
                                                    "add.s64 %rd20, %rd20, %rd21; st.global.u64 [%rd20], %rd1; ret;"));
    const uint64_t in = machine.upload(std::vector<uint64_t>(40, 0xffeeddccbbaa9988)), out = machine.allocate(320);
    machine.run(*module, {in, out, 0x123456789abcdef0, 0}, 1, 40);
    EXPECT_EQ(machine.download<uint64_t>(out, 40), std::vector<uint64_t>(40, row.expected)) << row.text;
  }
}

TEST(Memory, StridesAndPermutations) {
  // Lanes at adjacent, spread, reversed, equal and mixed addresses, all or some of them.
  const std::vector<std::pair<const char*, std::function<uint32_t(uint32_t)>>> maps = {
      {"mov.u32 %r1, %r39;", [](uint32_t i) { return i; }},
      {"mul.lo.u32 %r1, %r39, 3;", [](uint32_t i) { return 3 * i; }},
      {"sub.u32 %r1, 63, %r39;", [](uint32_t i) { return 63 - i; }},
      {"shr.u32 %r1, %r39, 3;", [](uint32_t i) { return i / 8; }},
      {"xor.b32 %r1, %r39, 5;", [](uint32_t i) { return i ^ 5; }},
      {"and.b32 %r1, %r39, 32;", [](uint32_t i) { return i & 32; }}};
  std::vector<uint64_t> values(256);
  std::iota(values.begin(), values.end(), 1000);
  for (const auto& [text, map] : maps)
    for (uint32_t threads : {1u, 31u, 32u, 33u, 64u}) {
      Machine machine;
      const auto module =
          PtxModule::load(kernel_text(std::string(kThread) + text +
                                      "ld.param.u64 %rd1, [b]; mul.wide.u32 %rd2, %r1, 8; add.s64 %rd1, %rd1, %rd2;"
                                      "ld.global.u64 %rd3, [%rd1]; st.global.u64 [%rd39], %rd3; ret;"));
      const uint64_t in = machine.upload(values), out = machine.allocate(threads * 8);
      machine.run(*module, {out, in, 0, 0}, 1, threads);
      const auto found = machine.download<uint64_t>(out, threads);
      for (uint32_t i = 0; i < threads; ++i) EXPECT_EQ(found[i], 1000 + map(i)) << text << i;
    }
}

// ---- Faults.

// One thread per element of a: reads 16 bytes at a + 16 i, writes 4 bytes at b + 4 i.
const char* const kCopyBody = R"(
.loc 1 5 3
mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.s32 %r4, %r1, %r2, %r3;
ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; mul.wide.u32 %rd3, %r4, 16; add.s64 %rd4, %rd1, %rd3;
.loc 1 6 3
.loc 1 2 10, function_name $L__info_string0, inlined_at 1 6 3
ld.global.v4.f32 {%r10, %r11, %r12, %r13}, [%rd4];
.loc 1 7 3
mul.wide.u32 %rd5, %r4, 4; add.s64 %rd6, %rd2, %rd5;
st.global.f32 [%rd6], %r10;
ret;)";
const char* const kCuda =
    "// kernel\n  out = load(in);\n\nvoid k() {\n  long i = thread;\n  load(v, a + 4 * i);\n  b[i] = v[0];\n}\n";

struct Copy {
  Machine machine;
  std::string text = kernel_text(kCopyBody);
  std::shared_ptr<const PtxModule> module = PtxModule::load(text, kCuda);
  std::string load_place =
      fmt::format("PTX line {}: `ld.global.v4.f32 {{%r10, %r11, %r12, %r13}}, [%rd4];`", line_of(text, "ld.global.v4"));
  std::string store_place = fmt::format("PTX line {}: `st.global.f32 [%rd6], %r10;`", line_of(text, "st.global"));
  Fault run(uint64_t a, uint64_t b, uint32_t blocks = 3, uint32_t threads = 40) {
    return fault_of([&] { machine.run(*module, {a, b, 0, 0}, blocks, threads); });
  }
};

TEST(Faults, OutOfBoundsRead) {
  Copy copy;
  const uint64_t a = copy.machine.upload(std::vector<float>(4 * 100, 1.0f)), b = copy.machine.allocate(480);
  const Fault fault = copy.run(a, b);  // thread 100 is the first beyond: block 2, thread 20
  EXPECT_EQ(fault.code, kIllegalAddress);
  EXPECT_TEXT(fault, "out of bounds: reads 16 bytes at allocation 1 + 1600 of 1600 bytes (cuMemAlloc, device 0)");
  EXPECT_TEXT(fault, "`k`");
  EXPECT_TEXT(fault, "block (2, 0, 0), thread (20, 0, 0)");
  EXPECT_TEXT(fault, copy.load_place);
  EXPECT_TEXT(fault, "CUDA line 6: `load(v, a + 4 * i);`, inlined CUDA line 2: `out = load(in);`");
}

TEST(Faults, OutOfBoundsByPartOfAnAccess) {
  Copy copy;
  const uint64_t a = copy.machine.upload(std::vector<float>(4 * 119 + 3, 1.0f)), b = copy.machine.allocate(480);
  const Fault fault = copy.run(a, b);
  EXPECT_EQ(fault.code, kIllegalAddress);
  EXPECT_TEXT(fault, "allocation 1 + 1904 of 1916 bytes");
  EXPECT_TEXT(fault, "block (2, 0, 0), thread (39, 0, 0)");
}

TEST(Faults, OutOfBoundsWriteAndBeforeTheStart) {
  Copy copy;
  const uint64_t a = copy.machine.upload(std::vector<float>(480, 1.0f)), b = copy.machine.allocate(476);
  Fault fault = copy.run(a, b);
  EXPECT_EQ(fault.code, kIllegalAddress);
  EXPECT_TEXT(fault, "out of bounds: writes 4 bytes at allocation 2 + 476 of 476 bytes");
  EXPECT_TEXT(fault, copy.store_place);
  EXPECT_TEXT(fault, "CUDA line 7: `b[i] = v[0];`");
  fault = copy.run(a - 16, b);
  EXPECT_TEXT(fault, "reads 16 bytes at allocation 1 - 16 of 1920 bytes");
  EXPECT_TEXT(fault, "thread (0, 0, 0)");
  fault = copy.run(0, b);
  EXPECT_EQ(fault.code, kIllegalAddress);
  EXPECT_TEXT(fault, "no device memory and no registered host memory");
}

TEST(Faults, Misaligned) {
  Copy copy;
  const uint64_t a = copy.machine.upload(std::vector<float>(500, 1.0f)), b = copy.machine.allocate(490);
  Fault fault = copy.run(a + 4, b);
  EXPECT_EQ(fault.code, kMisalignedAddress);
  EXPECT_TEXT(fault, "misaligned: reads 16 bytes at allocation 1 + 4 of 2000 bytes");
  EXPECT_TEXT(fault, copy.load_place);
  fault = copy.run(a, b + 2);
  EXPECT_EQ(fault.code, kMisalignedAddress);
  EXPECT_TEXT(fault, "writes 4 bytes");
  EXPECT_TEXT(fault, copy.store_place);
}

TEST(Faults, UninitialisedRead) {
  Copy copy;
  const uint64_t a = copy.machine.allocate(1920), b = copy.machine.allocate(480);
  Fault fault = copy.run(a, b);
  EXPECT_EQ(fault.code, kLaunchFailed);
  EXPECT_TEXT(fault, "uninitialised: reads 16 bytes at allocation 1 + 0 of 1920 bytes");
  // All but one byte, which the last thread of the second block reads.
  AddressSpace& space = copy.machine.space;
  std::memset(space.host_address(a, 1920), 0, 1920);
  space.check_write(copy.machine.actor("fill"), a, 79 * 16 + 9);
  space.check_write(copy.machine.actor("fill"), a + 79 * 16 + 10, 1920 - 79 * 16 - 10);
  fault = copy.run(a, b);
  EXPECT_TEXT(fault, "of which the byte at + 1273 was never written");
  EXPECT_TEXT(fault, "block (1, 0, 0), thread (39, 0, 0)");
  space.check_write(copy.machine.actor("fill"), a + 1273, 1);
  EXPECT_EQ(copy.run(a, b).code, 0);
}

TEST(Faults, UseAfterFree) {
  Copy copy;
  const uint64_t a = copy.machine.upload(std::vector<float>(480, 1.0f)), b = copy.machine.allocate(480);
  copy.machine.space.release(a, copy.machine.actor("cuMemFreeAsync"));
  const Fault fault = copy.run(a, b);
  EXPECT_EQ(fault.code, kIllegalAddress);
  EXPECT_TEXT(fault, "use after free: reads 16 bytes at allocation 1 + 0 of 1920 bytes");
  EXPECT_TEXT(fault, "freed by `cuMemFreeAsync` (operation 2 on stream main)");
}

TEST(Faults, UnorderedAccess) {
  Copy copy;
  AddressSpace& space = copy.machine.space;
  const uint64_t a = copy.machine.upload(std::vector<float>(480, 1.0f)), b = copy.machine.allocate(480);
  // A copy on another stream that nothing orders against the kernel.
  const Actor other = space.trace().begin({"cuMemcpyAsync", 2, 1, "comm"}, Clock{}, 0);
  space.check_write(other, b + 100, 4);
  const Fault fault = copy.run(a, b);
  EXPECT_EQ(fault.code, kLaunchFailed);
  EXPECT_TEXT(fault, "not ordered: writes 4 bytes at allocation 2 + 100 of 480 bytes");
  EXPECT_TEXT(fault, "which `cuMemcpyAsync` (operation 1 on stream comm) writes");
  EXPECT_TEXT(fault, "`k`");
  EXPECT_TEXT(fault, "block (0, 0, 0), thread (25, 0, 0)");
  EXPECT_TEXT(fault, copy.store_place);
}

TEST(Faults, PeerMemoryWithoutAccess) {
  Copy copy;
  AddressSpace& space = copy.machine.space;
  space.add_device(1, 1 << 20);
  const uint64_t a = space.allocate(1, 1920), b = copy.machine.allocate(480);
  space.check_write(copy.machine.actor("fill"), a, 0);
  Actor filler = copy.machine.actor("fill");
  filler.device = -1;
  space.check_write(filler, a, 1920);
  std::memset(space.host_address(a, 1920), 0, 1920);
  const Fault fault = copy.run(a, b);
  EXPECT_EQ(fault.code, kIllegalAddress);
  EXPECT_TEXT(fault, "no peer access: device 0 reads 16 bytes");
  space.set_peer_access(0, 1, true);
  EXPECT_EQ(copy.run(a, b).code, 0);
}

TEST(Faults, RegisteredHostMemory) {
  Copy copy;
  AddressSpace& space = copy.machine.space;
  std::vector<float> host(480, 2.5f);
  const uint64_t b = copy.machine.allocate(480), a = reinterpret_cast<uint64_t>(host.data());
  EXPECT_EQ(copy.run(a, b).code, kIllegalAddress);  // pageable
  space.register_host(host.data(), 1900);
  const Fault fault = copy.run(a, b);
  EXPECT_TEXT(fault, "registered memory");
  EXPECT_TEXT(fault, "+ 1888 of 1900 bytes (cuMemHostRegister, host)");
  space.unregister_host(host.data(), copy.machine.actor("unregister"));
  space.register_host(host.data(), 1920);
  EXPECT_EQ(copy.run(a, b).code, 0);
  EXPECT_EQ(copy.machine.download<float>(b, 120), std::vector<float>(120, 2.5f));
}

TEST(Faults, LocalMemory) {
  const auto run = [](const std::string& body) {
    return fault_of([&] {
      Machine machine;
      machine.run(*PtxModule::load(kernel_text(".local .align 8 .b8 depot[16];\n" + std::string(kThread) + body)),
                  {machine.allocate(8 * 64), 0, 0, 0}, 1, 64);
    });
  };
  Fault fault =
      run("cvt.u64.u32 %rd1, %r39; mul.lo.u64 %rd1, %rd1, 4; mov.u64 %rd2, depot; add.s64 %rd1, %rd1, %rd2;"
          "st.local.u32 [%rd1], 1; ret;");
  EXPECT_EQ(fault.code, kIllegalAddress);
  EXPECT_TEXT(fault, "out of bounds: writes 4 bytes at offset 16 of 16 bytes of local memory");
  EXPECT_TEXT(fault, "thread (4, 0, 0)");
  fault = run("ld.local.u32 %r1, [depot+8]; ret;");
  EXPECT_TEXT(fault, "uninitialised: reads 4 bytes at offset 8 of local memory");
  fault = run("mov.u64 %rd1, depot; st.local.u32 [%rd1+2], 1; ret;");
  EXPECT_EQ(fault.code, kMisalignedAddress);
  // A second warp starts afresh.
  fault = run("setp.ge.u32 %p1, %r39, 32; @!%p1 st.local.u32 [depot], 1; ld.local.u32 %r1, [depot]; ret;");
  EXPECT_TEXT(fault, "thread (32, 0, 0)");
}

TEST(Faults, RegisterReadBeforeWritten) {
  const auto run = [](const std::string& body) {
    return fault_of([&] {
      Machine machine;
      machine.run(*PtxModule::load(kernel_text(kThread + body)), {machine.allocate(8 * 64), 0, 0, 0}, 1, 64);
    });
  };
  const std::string some = "setp.lt.u32 %p1, %r39, 40; @%p1 mov.u64 %rd1, 1; ";
  Fault fault = run(some + "add.s64 %rd2, %rd1, 1; st.global.u64 [%rd39], %rd2; ret;");
  EXPECT_EQ(fault.code, kLaunchFailed);
  EXPECT_TEXT(fault, "uninitialised: reads register %rd1 before any instruction wrote it");
  EXPECT_TEXT(fault, "thread (40, 0, 0)");
  EXPECT_EQ(run(some + "@%p1 st.global.u64 [%rd39], %rd1; ret;").code, 0);
  EXPECT_EQ(run(some + "@!%p1 mov.u64 %rd1, 2; st.global.u64 [%rd39], %rd1; ret;").code, 0);
  // What nothing writes is no value, but for a half beside the one that is read.
  EXPECT_EQ(
      run("mov.u32 %r1, 5; mov.b64 %rd1, {%r1, %r2}; cvt.u32.u64 %r3, %rd1; st.global.u32 [%rd39], %r3; ret;").code, 0);
  EXPECT_EQ(run("add.u32 %r1, %r2, 5; st.global.u32 [%rd39], %r1; ret;").code, kLaunchFailed);
  const std::string half = "setp.lt.u32 %p1, %r39, 40; @%p1 mov.u32 %r2, 1; mov.u32 %r1, 5; ";
  EXPECT_EQ(run(half + "mov.b64 %rd1, {%r1, %r2}; st.global.u64 [%rd39], %rd1; ret;").code, kLaunchFailed);
  EXPECT_EQ(run(some + "@!%p1 bra $end; st.global.u64 [%rd39], %rd1; $end: ret;").code, 0);
  fault = run("@%p1 ret;");
  EXPECT_TEXT(fault, "reads register %p1");
  fault =
      run("mov.u64 %rd1, 3; $again: st.global.u64 [%rd39], %rd1; setp.eq.u64 %p1, %rd1, 2; @%p1 ret;"
          "sub.u64 %rd1, %rd1, 1; mov.u64 %rd3, %rd2; mov.u64 %rd2, 5; bra $again;");
  EXPECT_TEXT(fault, "reads register %rd2");
}

// The least of what all threads bring, whatever order they come in. Its twin without an atomic loses what lanes of a
// warp bring at once.
TEST(Memory, AtomicMin) {
  const std::string value =
      std::string(kThread) + "cvt.u64.u32 %rd2, %r39; add.u64 %rd2, %rd2, 921; ld.param.u64 %rd3, [b];";
  const auto least = [&](const std::string& body, uint64_t before, uint64_t seed) {
    Machine machine;
    const auto module = PtxModule::load(kernel_text(value + body + "ret;"));
    const uint64_t in = machine.upload(std::vector<uint64_t>(80, 0)),
                   out = machine.upload(std::vector<uint64_t>{7, before});
    machine.run(*module, {in, out, 0, 0}, 2, 40, seed);
    const std::vector<uint64_t> found = machine.download<uint64_t>(out, 2);
    EXPECT_EQ(found[0], 7u);
    return found[1];
  };
  for (uint64_t seed : {0, 1, 2, 3}) {
    for (const char* body : {"atom.global.min.u64 %rd4, [%rd3+8], %rd2;", "red.global.min.u64 [%rd3+8], %rd2;",
                             "red.relaxed.gpu.global.min.u64 [%rd3+8], %rd2;"}) {
      EXPECT_EQ(least(body, ~uint64_t(0), seed), 921u) << body;
      EXPECT_EQ(least(body, 5, seed), 5u) << body;  // without a sign: ~0 is the greatest
    }
  }
  const char* twin = "ld.global.u64 %rd4, [%rd3+8]; min.u64 %rd4, %rd4, %rd2; st.global.u64 [%rd3+8], %rd4;";
  try {
    least(twin, ~uint64_t(0), 0);
    ADD_FAILURE() << "the twin is not reported";
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.text.rfind("race: ", 0), 0u) << fault.text;
  }
}

TEST(Memory, AtomicsGiveWhatWasThere) {
  Machine machine;
  const auto module =
      PtxModule::load(kernel_text(std::string(kThread) +
                                  "ld.param.u64 %rd3, [b]; mov.u64 %rd2, 3; atom.global.min.u64 %rd4, [%rd3], %rd2;"
                                  "st.global.u64 [%rd39], %rd4; ret;"));
  const uint64_t in = machine.upload(std::vector<uint64_t>(4, 0)), out = machine.upload(std::vector<uint64_t>{9});
  machine.run(*module, {in, out, 0, 0}, 1, 4);
  EXPECT_EQ(machine.download<uint64_t>(in, 4), (std::vector<uint64_t>{9, 3, 3, 3}));
  const auto bad =
      PtxModule::load(kernel_text(std::string(kThread) + "mov.u64 %rd2, 3; red.global.min.u64 [%rd39+4], %rd2; ret;"));
  EXPECT_EQ(fault_of([&] { machine.run(*bad, {in, out, 0, 0}, 1, 2); }).code, kMisalignedAddress);
}

TEST(Faults, LoopsWithoutEnd) {
  Machine machine;
  const auto module = PtxModule::load(kernel_text("$L: bra $L;"));
  const Fault fault = fault_of([&] { machine.run(*module, {0, 0, 0, 0}, 1, 32, 0, 1000); });
  EXPECT_EQ(fault.code, kLaunchFailed);
  EXPECT_TEXT(fault, "no end: a warp executed 1000 instructions");
  EXPECT_TEXT(fault, "bra $L;");
}

TEST(Faults, Trap) {
  Machine machine;
  const auto module = PtxModule::load(kernel_text(std::string(kThread) + "setp.eq.u32 %p1, %r39, 37; @%p1 trap; ret;"));
  const Fault fault = fault_of([&] { machine.run(*module, {0, 0, 0, 0}, 2, 32); });
  EXPECT_EQ(fault.code, kLaunchFailed);
  EXPECT_TEXT(fault, "block (1, 0, 0), thread (5, 0, 0)");
}

TEST(Faults, LaunchesThatDoNotFit) {
  Machine machine;
  std::string text = kernel_text("ret;");
  text.insert(text.find("\n{\n"), "\n.maxntid 64, 2, 1");
  const auto module = PtxModule::load(text);
  const auto run = [&](std::array<uint32_t, 3> grid, std::array<uint32_t, 3> block, size_t bytes = 32) {
    return fault_of([&] {
      Launch launch;
      launch.grid = grid;
      launch.block = block;
      launch.parameters.resize(bytes);
      sim::launch(*module, launch, machine.actor("k"), machine.space);
    });
  };
  EXPECT_EQ(run({1, 1, 1}, {128, 1, 1}).code, 0);
  EXPECT_EQ(run({1, 1, 1}, {129, 1, 1}).code, kLaunchOutOfResources);
  EXPECT_EQ(run({1, 1, 1}, {1025, 1, 1}).code, kInvalidValue);
  EXPECT_EQ(run({0, 1, 1}, {32, 1, 1}).code, kInvalidValue);
  EXPECT_EQ(run({1, 1, 1}, {32, 0, 1}).code, kInvalidValue);
  EXPECT_EQ(run({1, 65536, 1}, {32, 1, 1}).code, kInvalidValue);
  EXPECT_EQ(run({1, 1, 1}, {32, 1, 1}, 24).code, kInvalidValue);
  text.replace(text.find(".maxntid 64, 2, 1"), 17, ".reqntid 32");
  const auto required = PtxModule::load(text);
  Launch launch;
  launch.parameters.resize(32);
  EXPECT_TEXT(fault_of([&] { sim::launch(*required, launch, machine.actor("k"), machine.space); }), ".reqntid");
}

}  // namespace
}  // namespace plait::sim::test
