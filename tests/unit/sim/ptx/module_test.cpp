// Reading: declarations, what is refused and where, quoted CUDA lines, architectures; the table in the docs.
#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>

#include "machine.h"
#include "sim/ptx/decoder.h"
#include "sim/ptx/text.h"

namespace plait::sim::test {
namespace {

std::string refusal(const std::string& text) {
  try {
    PtxModule::load(text);
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.code, kInvalidPtx);
    return fault.text;
  }
  return "accepted";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

TEST(Module, Declarations) {
  const std::string text = R"(
.version 9.0
.target sm_90a
.address_size 64
.visible .entry first(
  .param .u8 one, .param .u64 .ptr .global .align 16 two, .param .align 4 .b8 three[10], .param .f32 four
)
.maxntid 128, 2, 1
.minnctapersm 2
{ .reg .b32 %r<3>; .local .align 16 .b8 depot[24]; .pragma "nounroll"; ret; }
.entry second() .reqntid 64 { exit; }
.weak .entry third { }
  .file  1 "/some/where/kernel.cu"
  .section  .debug_str
  {
$L__info_string0:
.b8 95,90,0
  }
)";
  const auto module = PtxModule::load(text);
  EXPECT_EQ(module->target(), "sm_90a");
  ASSERT_EQ(module->kernels().size(), 3u);
  const KernelInfo& first = module->kernels()[0];
  EXPECT_EQ(first.name, "first");
  std::vector<std::pair<size_t, size_t>> places;
  for (const KernelParameter& each : first.parameters) places.emplace_back(each.offset, each.bytes);
  EXPECT_EQ(places, (std::vector<std::pair<size_t, size_t>>{{0, 1}, {8, 8}, {16, 10}, {28, 4}}));
  EXPECT_EQ(first.parameter_bytes, 32u);
  EXPECT_EQ(first.max_threads, (std::array<uint32_t, 3>{128, 2, 1}));
  EXPECT_EQ(first.local_bytes, 24u);
  EXPECT_EQ(first.registers, 3);
  EXPECT_EQ(module->kernels()[1].required_threads, (std::array<uint32_t, 3>{64, 1, 1}));
  EXPECT_EQ(module->find("third"), 2);
  EXPECT_EQ(module->find("fourth"), -1);
}

TEST(Module, Architectures) {
  const auto of = [](const std::string& target) {
    return PtxModule::load(".version 9.0\n.target " + target + "\n.address_size 64\n");
  };
  EXPECT_TRUE(of("sm_80")->runs_on("sm_80"));
  EXPECT_TRUE(of("sm_80")->runs_on("sm_90a"));
  EXPECT_FALSE(of("sm_90")->runs_on("sm_80"));
  EXPECT_TRUE(of("sm_90a")->runs_on("sm_90a"));
  EXPECT_FALSE(of("sm_90a")->runs_on("sm_90"));
  EXPECT_FALSE(of("sm_90a")->runs_on("sm_100a"));
}

TEST(Module, UnknownInstructionsAreRefusedByLine) {
  const std::string cuda = "line one\nline two\n  nonsense(a);\n";
  const std::string body = ".loc 1 3 7\nmov.u32 %r1, 0;\ntex.1d.v4.f32.s32 %r2, %r1;\nret;";
  const std::string text = kernel_text(body);
  try {
    PtxModule::load(text, cuda);
    FAIL();
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.code, kInvalidPtx);
    EXPECT_TRUE(contains(fault.text, "the instruction `tex` is not modelled")) << fault.text;
    EXPECT_TRUE(contains(fault.text, "PTX line 12: `tex.1d.v4")) << fault.text;
    EXPECT_TRUE(contains(fault.text, "CUDA line 3: `nonsense(a);`")) << fault.text;
  }
  // The text may come with the module.
  EXPECT_TRUE(contains(refusal(with_source(text, cuda)), "CUDA line 3: `nonsense(a);`"));
  EXPECT_TRUE(contains(refusal(text), "CUDA line 3")) << refusal(text);
  // Of several files each has its own.
  const std::string two = text + ".file 1 \"/a/first.cu\"\n.file 2 \"second.cu\"\n";
  const std::string sources = with_source(with_source(two, cuda, "second.cu"), "a\nb\nright\n", "first.cu");
  EXPECT_TRUE(contains(refusal(sources), "CUDA line 3 of first.cu: `right`")) << refusal(sources);
}

TEST(Module, UnknownFormsAreRefused) {
  const std::pair<const char*, const char*> rows[] = {
      {"add.cc.u16 %h1, %h2, %h3;", "this form of `add` is not modelled"},
      {"add.s32 %rd1, %r2, %r3;", "register %rd1 of 64 bits for a result of type s32"},
      {"add.s32 %r1, %rd2, %r3;", "register %rd2 of 64 bits for an operand of type s32"},
      {"add.s32 %r1, %p1, %r3;", "register %p1"},
      {"add.b32 %r1, %r2, %r3;", "this form of `add` is not modelled"},
      {"add.f32 %r1, %r2, 1;", "an integer literal for a float"},
      {"add.s32 %r1, %r2;", "`add` with 2 operands"},
      {"fma.f32 %r1, %r1, %r1, %r1;", "no rounding"},
      {"sqrt.f32 %r1, %r1;", "this form of `sqrt` is not modelled"},
      {"ex2.f32 %r1, %r1;", "no .approx"},
      {"cvt.f16.f32 %h1, %r1;", "a narrowing conversion without a rounding"},
      {"cvt.s32.f32 %r1, %r1;", "a conversion to an integer without"},
      {"cvt.f32.s32 %r1, %r1;", "a conversion to a float without a rounding"},
      {"cvt.rn.satfinite.e4m3x2.f32 %h1, %r1, %r2;", "`cvt` for sm_80: it needs sm_89"},
      {"cvt.rn.satfinite.e2m1x2.f32 %h1, %r1, %r2;", "a type is missing"},
      {"mov.u32 %r1, %clock;", "`%clock` is not modelled"},
      {"mov.u32 %r1, %tid;", "`%tid` is not modelled"},
      {"mov.u64 %rd1, nowhere;", "the address of `nowhere` is not modelled"},
      {"bra nowhere;", "the label nowhere is not there"},
      {"ld.shared::cluster.u32 %r1, [%r2];", "`ld` for sm_80: it needs sm_90"},
      {"ld.shared.u32 %r1, [%h1];", "register %h1 of 16 bits"},
      {"ld.shared.u32 %r1, [zz];", "no variable zz"},
      {"ld.param.u64 %rd1, [a+4];", "an access beyond a"},
      {"ld.param.u64 %rd1, [zz];", "no variable zz"},
      {"ld.global.u64 %r1, [%rd1];", "register %r1 of 32 bits"},
      {"ld.global.v2.u32 {%r1}, [%rd1];", "a vector of another length"},
      {"ld.global.v2.u32 {%r1, %rd1}, [%rd1];", "a vector of different registers"},
      {"ld.global.u32 %r1, [%r2];", "register %r2 of 32 bits"},
      {"st.param.u32 [a], %r1;", "a store to a space that is only read"},
      {"madc.hi.s32 %r1, %r2, %r3, %r4;", "a signed product with a carry"},
      {"addc.u16 %h1, %h2, %h3;", "this form of `addc` is not modelled"},
      {"madc.wide.u32 %rd1, %r2, %r3, %rd4;", "neither .lo nor .hi"},
      {"setp.xx.s32 %p1, %r1, %r2;", "an unknown comparison"},
      {"setp.lt.b32 %p1, %r1, %r2;", "untyped bits have no order"},
      {"setp.equ.s32 %p1, %r1, %r2;", "this form of `setp`"},
      {"mov.b64 %rd1, {%r1, %r2, %r3};", "packing of this form"},
      {"prmt.b32.f4e %r1, %r2, %r3, 0;", "`.f4e` of `prmt` is not modelled"},
      {"mov.u32 %r1, %r99;", "is not modelled"},
      {"@%r1 ret;", "%r1 is no predicate"},
      {"L: L: ret;", "the label L is there twice"},
      {"mov.u32 %r1, 0f3F80;", "malformed literal"},
      {".reg .b32 %r1;", "declared twice"},
      {"call f;", "the function f is not there"},
      {"@%p1 call f;", "a call under a predicate is not modelled"},
      {".param .b32 p; st.param.b64 [p], %rd1;", "an access beyond p"},
      {"ld.param.b32 %r1, [p];", "no variable p"}};
  for (const auto& [body, expected] : rows)
    EXPECT_TRUE(contains(refusal(kernel_text(body)), expected)) << body << ": " << refusal(kernel_text(body));
}

TEST(Module, UnknownFormsOfCooperationAreRefused) {
  const std::pair<const char*, const char*> rows[] = {
      {"bar.sync;", "`bar` with 0 operands"},
      {"bar.arrive 0;", "`bar` with 1 operands"},
      {"bar.red.popc.u32 %r1, 0;", "`bar` with 2 operands"},
      {"bar.red.add.u32 %r1, 0, %p1;", "a barrier of this form"},
      {"barrier.cluster.arrive;", "`barrier` for sm_80: it needs sm_90"},
      {"mapa.shared::cluster.u32 %r1, %r2, 0;", "`mapa` for sm_80: it needs sm_90"},
      {"shfl.idx.b32 %r1, %r2, 0, 31;", "a shuffle that is not .sync"},
      {"shfl.sync.idx.b64 %rd1, %rd2, 0, 31, -1;", "a shuffle of this form"},
      {"vote.sync.ballot.pred %p1, %p2, -1;", "a vote of this form"},
      {"redux.sync.add.b32 %r1, %r2, -1;", "this form of `redux` is not modelled"},
      {"match.any.sync.b16 %r1, %h2, -1;", "a match of this type"},
      {"atom.local.add.u32 %r1, [%rd1], 1;", "an atomic in this space"},
      {"atom.global.sub.u32 %r1, [%rd1], 1;", "an atomic operation that is not modelled"},
      {"atom.global.and.u32 %r1, [%rd1], 1;", "this form of `atom` is not modelled"},
      {"atom.shared.add.v2.f32 {%r1, %r2}, [%r3], {%r4, %r5};", "a vector of this operation"},
      {"red.global.add.v2.f32 [%rd1], {%r4};", "a vector of another length"}};
  for (const auto& [body, expected] : rows)
    EXPECT_TRUE(contains(refusal(kernel_text(body)), expected)) << body << ": " << refusal(kernel_text(body));
}

TEST(Module, MalformedModulesAreRefused) {
  const std::string good = kernel_text("ret;");
  EXPECT_EQ(refusal(good), "accepted");
  EXPECT_TRUE(contains(refusal(""), "no .target"));
  EXPECT_TRUE(contains(refusal(".version 9.0\n.target sm_80\n.address_size 32\n"), "64-bit"));
  EXPECT_EQ(refusal(good + ".func f() { ret; }"), "accepted");
  EXPECT_TRUE(contains(refusal(good + ".func f() { ret; "), "the body of f does not end"));
  EXPECT_TRUE(contains(refusal(good + ".func f(.reg .b32 x) { ret; }"), "`.param`"));
  const std::string calls_itself = ".func f() { call f; ret; }", takes_one = ".func f(.param .b32 x) { ret; }";
  EXPECT_TRUE(contains(refusal(kernel_text("call f;", calls_itself)), "f is called too deep, or by itself"));
  EXPECT_TRUE(contains(refusal(kernel_text("call f;", takes_one)), "0 parameters or results of 1"));
  EXPECT_TRUE(contains(refusal(kernel_text("call f, (y);", takes_one)), "y for x is no variable of its size"));
  EXPECT_TRUE(contains(refusal(kernel_text(".param .b64 y; call f, (y);", takes_one)), "y for x is no variable of"));
  EXPECT_TRUE(contains(refusal(good.substr(0, good.size() - 3)), "does not end"));
  EXPECT_TRUE(contains(refusal(good + ".file 1 \"open"), "closing quote"));
  EXPECT_TRUE(contains(refusal(good + ".section .debug {"), "a section does not end"));
  EXPECT_TRUE(contains(refusal(good + ".global .u32 x[2] = {1, 2, 3};"), "too many values"));
  EXPECT_TRUE(contains(refusal(good + ".global .align 3 .u32 x;"), "size or alignment of x"));
}

// Texts with a few characters changed are read or refused, nothing else.
TEST(Module, MutatedTexts) {
  const std::string good = kernel_text(std::string(kThread) +
                                       "$L: ld.global.v2.u32 {%r1, %r2}, [%rd39+8]; setp.lt.and.f32 %p1|%p2, %r1, "
                                       "0f3F800000, !%p3; @%p1 bra $L; { .reg .b32 %t; mov.b64 {%t, _}, %rd1; } ret;");
  std::mt19937 random(1);
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string text = good;
    for (uint32_t k = 1 + random() % 3; k > 0; --k) {
      const size_t at = random() % text.size();
      const char drawn = "%.;,{}[]@!|:0a _\n-+\"/"[random() % 21];
      switch (random() % 3) {
        case 0:
          text[at] = drawn;
          break;
        case 1:
          text.erase(at, 1 + random() % 4);
          break;
        default:
          text.insert(at, 1, drawn);
      }
    }
    refused += refusal(text) != "accepted";
  }
  EXPECT_GT(refused, 1500);
  EXPECT_LT(refused, 3000);
}

TEST(Module, DocumentedInstructions) {
  std::ifstream in(PLAIT_SOURCE_DIR "/docs/simulated_gpu.md");
  std::ostringstream out;
  out << in.rdbuf();
  const std::string docs = out.str();
  std::string table;
  for (const ptx::InstructionRow& row : ptx::instruction_table())
    table += fmt::format("| `{}` | {} | {} |\n", row.name, row.forms, row.label);
  EXPECT_TRUE(contains(docs, table)) << "docs/simulated_gpu.md lacks this table:\n" << table;
}

}  // namespace
}  // namespace plait::sim::test
