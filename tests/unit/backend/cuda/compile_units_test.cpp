// Several kernels in one run of NVRTC, on threads.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>

#include "backend/cuda/compile_units.h"
#include "backend/cuda/nvrtc.h"
#include "backend/disk_cache.h"
#include "base/error.h"
#include "codegen/cuda/write.h"
#include "support/host_shim_kernels.h"
#include "support/scratch_folder.h"

namespace plait {
namespace {

using namespace test;

KernelText text_of(const std::string& name, const std::string& body = "") {
  return {name,
          "struct Helper { int value; };\n__device__ int helper() { return 1; }\nextern \"C\" __global__ void " + name +
              "(int* out) {\n  Helper h{helper()};\n  out[threadIdx.x] = h.value;\n" + body + "}\n",
          1, 0};
}

std::vector<KernelText> generated(int count) {
  std::vector<KernelText> out;
  for (int i = 0; i < count; ++i) {
    kir::Kernel kernel = i % 2 == 0 ? bias_gelu_dropout_kernel(DType::bf16, 8) : add_kernel(DType::f32, 4);
    kernel.name += "_" + std::to_string(i);
    out.push_back({kernel.name, write_cuda(kernel), 0, 0});
  }
  return out;
}

class CompileUnits : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string why_not;
    if (!nvrtc_available(&why_not)) GTEST_SKIP() << "NVRTC: " << why_not;
  }
};

TEST_F(CompileUnits, EveryKernelOnce) {
  std::vector<KernelText> texts;
  for (int i = 0; i < 7; ++i) texts.push_back(text_of("k" + std::to_string(i)));
  for (int threads : {1, 2, 3, 20}) {
    const auto units = compile_units(texts, "sm_80", threads);
    EXPECT_EQ(units.size(), size_t(std::min(threads, 7)));
    std::vector<int> seen(7, 0);
    for (const CompiledUnit& unit : units) {
      ASSERT_EQ(unit.kernels.size(), unit.result.facts.size());
      EXPECT_EQ(unit.result.code.substr(1, 3), "ELF");
      for (size_t i = 0; i < unit.kernels.size(); ++i) {
        ++seen[unit.kernels[i]];
        EXPECT_GT(unit.result.facts[i].registers.value_or(0), 0);
        EXPECT_EQ(unit.result.facts[i].arch, "sm_80");
        EXPECT_NE(unit.title.find(texts[unit.kernels[i]].name), std::string::npos);
        EXPECT_NE(unit.result.code.find(texts[unit.kernels[i]].name), std::string::npos);
      }
    }
    EXPECT_EQ(seen, std::vector<int>(7, 1)) << threads;
  }
  EXPECT_TRUE(compile_units({}, "sm_80", 0).empty());
}

TEST_F(CompileUnits, PtxKnowsTheLinesOfEveryText) {
  const KernelText texts[] = {text_of("first"), text_of("second")};
  const auto units = compile_units(texts, "compute_90a", 1);
  ASSERT_EQ(units.size(), 1u);
  const std::string& ptx = units[0].result.code;
  EXPECT_NE(ptx.find(".target sm_90a"), std::string::npos);
  for (const char* part : {"first.cu", "second.cu", ".entry first", ".entry second", ".loc"})
    EXPECT_NE(ptx.find(part), std::string::npos) << part;
  EXPECT_EQ(units[0].result.facts[1].arch, "sm_90a");
  EXPECT_FALSE(units[0].result.facts[1].registers.has_value());
}

TEST_F(CompileUnits, MacrosStandAlone) {
  KernelText macro = text_of("macro");
  macro.text = "#define helper wrong\n" + macro.text;
  const KernelText texts[] = {text_of("a"), macro, text_of("b")};
  const auto units = compile_units(texts, "sm_80", 1);
  ASSERT_EQ(units.size(), 2u);
  EXPECT_EQ(units[0].kernels, (std::vector<size_t>{0, 2}));
  EXPECT_EQ(units[1].kernels, (std::vector<size_t>{1}));
}

TEST_F(CompileUnits, TheKernelAtFaultIsNamed) {
  const KernelText texts[] = {text_of("a"), text_of("b", "  wrong();\n"), text_of("c")};
  for (int threads : {1, 2, 3}) {
    try {
      compile_units(texts, "sm_80", threads);
      FAIL();
    } catch (const InternalError& error) {
      EXPECT_EQ(error.where(), "b.cu:6 for sm_80");
      EXPECT_NE(error.message().find("   6   wrong();"), std::string::npos) << error.what();
    }
  }
}

TEST_F(CompileUnits, NamesDiffer) {
  const KernelText texts[] = {text_of("a"), text_of("a")};
  EXPECT_THROW(compile_units(texts, "sm_80", 1), InternalError);
}

// Prints what the choice of one unit per thread rests on.
TEST_F(CompileUnits, CostLongRun) {
  const std::vector<KernelText> texts = generated(8);
  const auto time = [&](auto&& body) {
    const auto start = std::chrono::steady_clock::now();
    body();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  };
  for (const char* architecture : {"sm_90a", "compute_90a"}) {
    compile_units(std::span(texts).first(1), architecture, 1);
    const double apart = time([&] {
      for (const KernelText& text : texts) compile_units({&text, 1}, architecture, 1);
    });
    const double together = time([&] { compile_units(texts, architecture, 1); });
    const double threads = time([&] { compile_units(texts, architecture, 2); });
    std::printf("[ 8 kernels, %-11s ] apart %.0f ms, one unit %.0f ms, two threads %.0f ms\n", architecture, apart,
                together, threads);
    EXPECT_LT(together, apart);
  }
}

// A unit of another process: the same bytes and facts, without a run of NVRTC.
TEST_F(CompileUnits, AreKeptOnDisk) {
  const plait::testing::ScratchFolder scratch;
  DiskCache disk(scratch / "c", int64_t(1) << 30);
  const auto texts = generated(4);
  for (const char* architecture : {"sm_80", "compute_90a"}) {
    const auto first = compile_units(texts, architecture, 1, &disk);
    const auto again = compile_units(texts, architecture, 1, &disk);
    const auto fewer = compile_units(std::span(texts).first(3), architecture, 1, &disk);
    ASSERT_EQ(first.size(), 1u);
    ASSERT_EQ(again.size(), 1u);
    EXPECT_EQ(first[0].result.code, again[0].result.code);
    EXPECT_EQ(again[0].kernels, first[0].kernels);
    for (size_t i = 0; i < texts.size(); ++i) {
      const KernelFacts &made = first[0].result.facts[i], &kept = again[0].result.facts[i];
      EXPECT_FALSE(made.from_disk);
      EXPECT_TRUE(kept.from_disk);
      EXPECT_EQ(made.registers, kept.registers);
      EXPECT_EQ(made.shared_bytes, kept.shared_bytes);
      EXPECT_EQ(made.arch, kept.arch);
    }
    EXPECT_FALSE(fewer[0].result.facts[0].from_disk);
  }
  const KernelText wrong = text_of("wrong", "  int x = y;\n");
  for (int i = 0; i < 2; ++i) EXPECT_THROW(compile_units({&wrong, 1}, "sm_80", 1, &disk), InternalError);
  EXPECT_EQ(disk.counts().stored, 4);
}

}  // namespace
}  // namespace plait
