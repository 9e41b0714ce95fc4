// Machine code of the example programs' kernels: registers, spills, shared memory, and wide accesses of the main path.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "backend/cuda/nvrtc.h"
#include "backend/cuda/offline_device.h"
#include "compile/pipeline.h"
#include "reference/draw_inputs.h"
#include "support/examples.h"

namespace plait {
namespace {

using testing::example;

struct CudaKernel {
  std::string name, schedule, text;
  KernelText code;
};

// Kernels of a program for an architecture; contractions are generated too, since what is asked is a kernel's quality.
std::vector<CudaKernel> kernels_of(const std::string& text, const ParseOptions& parse, int64_t ranks,
                                   const std::string& architecture) {
  const auto fusion = parse_fusion(text, parse);
  CompileOptions how;
  const std::unique_ptr<Device> device = make_offline_device(target_named(architecture));
  how.device_override = device.get();
  how.comm = "given";
  how.options.contractions = "nest";
  how.ranks = ranks;
  Compiled program = compile(*fusion, how);
  Metadata metadata;
  for (const auto& [input, tensor] : reference::draw_inputs(*fusion, {}))
    metadata[input] = {tensor.dtype, tensor.shape};
  program.prepare(metadata);
  std::vector<CudaKernel> out;
  for (const auto& kernel : program.program().kernels)
    out.push_back({kernel.code.name, kernel.schedule, kernel.code.text, kernel.code});
  return out;
}

std::vector<CudaKernel> kernels_of_example(const std::string& name, const std::string& dtype, int64_t ranks,
                                           const std::string& architecture) {
  ParseOptions parse;
  if (name != "simple_add") parse.set["T"] = dtype;
  return kernels_of(example(name), parse, ranks, architecture);
}

class CudaResources : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    std::string why_not;
    if (!nvrtc_available(&why_not)) GTEST_SKIP() << "NVRTC: " << why_not;
    const std::vector<int> known = nvrtc_architectures();
    const int number = std::stoi(std::string(GetParam()).substr(3));
    if (std::find(known.begin(), known.end(), number) == known.end())
      GTEST_SKIP() << "NVRTC " << nvrtc_version() << " does not know " << GetParam();
  }

  NvrtcResult check(const CudaKernel& kernel) {
    const NvrtcResult result = compile_cuda(kernel.text, kernel.name, GetParam());
    EXPECT_EQ(result.spill_bytes, 0) << kernel.name;
    EXPECT_EQ(result.stack_bytes, 0) << kernel.name;
    EXPECT_EQ(result.shared_bytes, 0) << kernel.name;
    EXPECT_LE(result.registers, 64) << kernel.name;
    EXPECT_GT(result.registers, 0) << kernel.name;
    std::printf("[ %-14s %-7s ] %2d registers, %5.1f ms, %s\n", kernel.name.c_str(), GetParam(), result.registers,
                result.compile_ms, kernel.schedule.c_str());
    return result;
  }
};

INSTANTIATE_TEST_SUITE_P(Architectures, CudaResources, ::testing::Values("sm_80", "sm_90a", "sm_100a"),
                         [](const auto& info) { return std::string(info.param); });

// Two passes over rows with a minimum beside them. The assembler keeps room for sixteen blocks, and spills two
// registers.
TEST_P(CudaResources, KernelsThatSpillAreCompiledAgain) {
  const std::string text =
      "let a = 2, b = 3, c = 8\n"
      "given a: 1 in 1..9, b: 1 in 1..999, c: 1 in 1..99999\n"
      "fusion @f (%x: f32[a, b, c], %w: f32[c]) -> (%t3, %t1, %min, %fmax) {\n"
      "  %t0: f32[a, b, c] = max(%x, %x)\n"
      "  %t1: f32[a, b, c] = mul(%t0, %w)\n"
      "  %t2: f32[1, b, 1] = amax(%x, dims = [0, 2], keepdim = true)\n"
      "  %t3: f32[a, b, c] = sub(%x, %t2)\n"
      "  %full: f32[] = full(shape = [], value = 0, dtype = f32)\n"
      "  %min: f32[c] = min(%w, %full)\n"
      "  %fmax: f32[] = fmax(%full, %full)\n"
      "}\n";
  int spilled = 0;
  for (const CudaKernel& kernel : kernels_of(text, {}, 1, GetParam())) {
    const NvrtcResult once = compile_cuda(kernel.text, kernel.name, GetParam());
    const NvrtcUnit unit = compile_cuda_unit({&kernel.code, 1}, GetParam());
    ASSERT_EQ(unit.facts.size(), 1u);
    EXPECT_EQ(unit.facts[0].spill_bytes, 0) << kernel.name;
    EXPECT_LE(*unit.facts[0].registers, once.registers + 8) << kernel.name;
    spilled += once.spill_bytes > 0;
    std::printf("%s: %d registers and %d bytes spilled, then %d and %d\n", GetParam(), once.registers, once.spill_bytes,
                *unit.facts[0].registers, *unit.facts[0].spill_bytes);
  }
  if (nvrtc_version() != "13.0" || std::string(GetParam()) != "sm_90a") return;
  EXPECT_GT(spilled, 0) << "nothing was compiled again";
}

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++n;
  return n;
}

TEST_P(CudaResources, Programs) {
  const std::pair<const char*, int64_t> programs[] = {
      {"simple_add", 1}, {"mlp_block", 1}, {"sp_toy", 3}, {"mlp_2d", 4}};
  for (const auto& [name, ranks] : programs) {
    for (const char* dtype : {"f32", "f64", "bf16"}) {
      const auto kernels = kernels_of_example(name, dtype, ranks, GetParam());
      EXPECT_FALSE(kernels.empty()) << name;
      for (const CudaKernel& kernel : kernels) check(kernel);
      if (std::string(name) == "simple_add") break;  // its dtype is fixed
    }
  }
}

// Tensors of the row's type move in pieces of 16 bytes: two loads and two stores per kernel and vector. Of bf16 beside
// f32 these have 16 bytes of f32, and so of an extent that four ranks share, which is known to be a multiple of 4 only.
TEST_P(CudaResources, TpMlpMovesSixteenBytes) {
  for (const char* dtype : {"f32", "bf16"}) {
    for (const int64_t ranks : {1, 2, 4}) {
      for (const CudaKernel& kernel : kernels_of_example("tp_mlp", dtype, ranks, GetParam())) {
        const NvrtcResult result = check(kernel);
        if (kernel.schedule.rfind("pointwise", 0) != 0) continue;
        const bool half = dtype == std::string("bf16") && kernel.schedule.find("vector = 4") != std::string::npos;
        const size_t wide = count(result.ptx, "ld.global.nc.v4"), narrow = count(result.ptx, "ld.global.nc.v2");
        EXPECT_GE(half ? wide + narrow : wide, 2u) << kernel.name << " " << dtype << " " << ranks;
        EXPECT_GE(count(result.ptx, half ? "st.global.v2" : "st.global.v4"), 2u)
            << kernel.name << " " << dtype << " " << ranks;
      }
    }
  }
}

}  // namespace
}  // namespace plait
