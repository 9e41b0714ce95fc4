// Objects of kernels on disk, and another compiler that takes them.
#include <gtest/gtest.h>

#include "backend/cpu/llvm_compiler.h"
#include "backend/disk_cache.h"
#include "support/kernel_run.h"
#include "support/scratch_folder.h"

namespace plait {
namespace {

using plait::testing::read_file;
using plait::testing::ScratchFolder;

constexpr int kLanes = 4;

KernelText gelu_text(DType dtype) {
  return test::text_of(test::pointwise_kernel(
      {dtype}, dtype, kLanes, test::Style::active,
      [](test::KernelBuilder& b, const auto& v) { return b.compute(Pointwise::gelu_erf, {v[0]}); }));
}

// The source of the only object: its length, eight bytes, stands behind the first 16.
std::string kept_source(const std::string& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string bytes = read_file(entry.path());
    uint64_t length = 0;
    std::memcpy(&length, bytes.data() + 16, sizeof length);
    if (bytes.substr(48, length).starts_with("object")) return bytes.substr(48, length);
  }
  return "";
}

class KeptCode : public ::testing::Test {
 protected:
  LlvmCompiler::Compiled compile(const LlvmCompiler& compiler, const KernelText& kernel) {
    return compiler.compile(kernel.text, {kernel.name});
  }
  // gelu of 0, 1 .. 8
  static std::vector<float> values(const LlvmCompiler::Compiled& compiled) {
    std::vector<float> in(8), out(8);
    for (size_t i = 0; i < in.size(); ++i) in[i] = float(i);
    void* buffers[] = {in.data(), out.data()};
    const int64_t integers[] = {8};
    compiled.entries[0](buffers, integers, 0, 8 / kLanes);
    return out;
  }

  ScratchFolder scratch_;
  DiskCache disk_{scratch_ / "c", int64_t(1) << 30};
  const KernelText kernel_ = gelu_text(DType::f32);
};

TEST_F(KeptCode, ServesAnotherCompiler) {
  std::vector<float> expected;
  int64_t instructions = 0;
  {
    const LlvmCompiler compiler("", &disk_);
    const auto made = compile(compiler, kernel_);
    EXPECT_FALSE(made.from_disk);
    expected = values(made);
    instructions = made.instructions;
    EXPECT_GT(instructions, 10);
    EXPECT_TRUE(compiler.loaded());
  }
  EXPECT_NEAR(expected[2], 1.9545, 1e-3);
  const LlvmCompiler later("", &disk_);
  auto kept = compile(later, kernel_);
  const auto again = compile(later, kernel_);  // the same names twice
  EXPECT_TRUE(kept.from_disk && again.from_disk);
  EXPECT_FALSE(later.loaded());
  EXPECT_FALSE(compile(later, gelu_text(DType::f64)).from_disk);
  EXPECT_TRUE(later.loaded());
  EXPECT_EQ(kept.instructions, instructions);
  EXPECT_NE(kept.entries[0], again.entries[0]);
  EXPECT_EQ(values(kept), expected);
  kept = {};
  EXPECT_EQ(values(again), expected);
  const LlvmCompiler without("", nullptr);
  EXPECT_FALSE(compile(without, kernel_).from_disk);
}

TEST_F(KeptCode, WhatCannotBeLoadedIsCompiledAgain) {
  const LlvmCompiler compiler("", &disk_);
  const auto first = compile(compiler, kernel_);
  const std::string source = kept_source(disk_.folder()), code = *disk_.find(source);
  // Not an object, less than its head, nothing, one that is cut, one without the function.
  std::string cut = code.substr(0, code.size() / 2), renamed = code;
  for (size_t at = 0; (at = renamed.find(kernel_.name, at)) != renamed.npos;) renamed[at] = '?';
  for (const std::string& bad : {std::string("12345678no object"), std::string("123"), std::string(), cut, renamed}) {
    disk_.store(source, bad);
    const auto again = compile(compiler, kernel_);
    EXPECT_FALSE(again.from_disk);
    EXPECT_EQ(values(again), values(first));
    EXPECT_EQ(disk_.find(source), code);  // in the place of what was bad
  }
}

TEST_F(KeptCode, WhatIsRefusedIsNotKept) {
  const LlvmCompiler compiler("", &disk_);
  EXPECT_THROW(compiler.compile("define void @k() { no }", {"k"}), InternalError);
  EXPECT_THROW(compiler.compile("define void @k() { ret void }", {"other"}), InternalError);
  const std::string calls = "declare void @somewhere()\ndefine void @k() { call void @somewhere() ret void }";
  try {
    compiler.compile(calls, {"k"});
    ADD_FAILURE() << "calls what is not there";
  } catch (const InternalError& e) {
    EXPECT_NE(std::string(e.what()).find("it calls somewhere, which is not there"), std::string::npos) << e.what();
  }
  EXPECT_EQ(kept_source(disk_.folder()), "");
}

}  // namespace
}  // namespace plait
