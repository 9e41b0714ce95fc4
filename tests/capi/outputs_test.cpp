// Outputs in the caller's memory, through the C ABI.
#include <algorithm>

#include "capi/c_api.h"

namespace plait::testing {
namespace {

constexpr const char* kTwoOutputs = "fusion @f (%x: f32[m, n]) -> (%y, %s) { %y = neg(%x)  %s = sum(%x, dims = [1]) }";

plait_run_options options_with(const std::vector<plait_output>& given) {
  plait_run_options out = {};
  out.struct_size = sizeof(out);
  out.given = given.data();
  out.given_count = given.size();
  return out;
}

int64_t bytes_copied(plait_program* program) {
  plait_program_info info = {};
  info.struct_size = sizeof(info);
  EXPECT_OK(plait_program_info_get(program, &info));
  return info.bytes_copied;
}

TEST(CApiOutputs, EndWhereTheCallerSays) {
  const auto fusion = parsed(kTwoOutputs);
  for (const char* device : {"reference", "cpu"}) {
    const auto program = compiled(fusion.get(), device);
    Values<float> x({1, 2, 3, 4, 5, 6}, {2, 3}, kF32);
    const std::vector<plait_input> inputs = {{"x", &x.tensor}};
    Values<float> y(std::vector<float>(6, 9), {2, 3}, kF32);
    DLManagedTensorVersioned* out[2] = {};
    std::vector<plait_output> given = {{"y", &y.tensor}};
    plait_run_options how = options_with(given);
    ASSERT_OK(plait_program_run(program.get(), inputs.data(), 1, &how, out, 2));
    EXPECT_EQ(out[0], nullptr) << "the caller has it";
    EXPECT_EQ(y.data, (std::vector<float>{-1, -2, -3, -4, -5, -6}));
    EXPECT_EQ(read<float>(*Owned<DLManagedTensorVersioned>(out[1])), (std::vector<float>{6, 15}));
    EXPECT_EQ(bytes_copied(program.get()), 0);

    // Columns with a gap, and an offset.
    Values<float> wide(std::vector<float>(9, 9), {2, 3}, kF32, {1, 3});
    wide.tensor.byte_offset = 4;
    Values<float> s({9, 9, 9}, {2}, kF32, {2});
    given = {{"s", &s.tensor}, {"y", &wide.tensor}};
    how = options_with(given);
    ASSERT_OK(plait_program_run(program.get(), inputs.data(), 1, &how, out, 2));
    EXPECT_EQ(out[0], nullptr);
    EXPECT_EQ(out[1], nullptr);
    EXPECT_EQ(wide.data, (std::vector<float>{9, -1, -4, 9, -2, -5, 9, -3, -6}));
    EXPECT_EQ(s.data, (std::vector<float>{6, 9, 15}));
    EXPECT_EQ(bytes_copied(program.get()), 32);

    // The input's own memory; nothing at all.
    given = {{"y", &x.tensor}};
    how = options_with(given);
    ASSERT_OK(plait_program_run(program.get(), inputs.data(), 1, &how, out, 2));
    EXPECT_EQ(x.data, (std::vector<float>{-1, -2, -3, -4, -5, -6}));
    EXPECT_EQ(read<float>(*Owned<DLManagedTensorVersioned>(out[1])), (std::vector<float>{6, 15}));
    Values<float> none({}, {0, 3}, kF32), empty({}, {0, 3}, kF32);
    given = {{"y", &empty.tensor}};
    how = options_with(given);
    const std::vector<plait_input> nothing = {{"x", &none.tensor}};
    ASSERT_OK(plait_program_run(program.get(), nothing.data(), 1, &how, out, 2));
    EXPECT_EQ(out[0], nullptr);
    const Owned<DLManagedTensorVersioned> sums(out[1]);
    EXPECT_EQ(out[1]->dl_tensor.shape[0], 0);
  }
}

TEST(CApiOutputs, WhatDoesNotFitIsRefused) {
  const auto fusion = parsed(kTwoOutputs);
  const auto program = compiled(fusion.get());
  Values<float> x({1, 2, 3, 4, 5, 6}, {2, 3}, kF32), y(std::vector<float>(6, 9), {2, 3}, kF32);
  Values<float> flat(std::vector<float>(6, 9), {6}, kF32), wrong(std::vector<float>(6, 9), {3, 2}, kF32);
  Values<float> repeated(std::vector<float>(6, 9), {2, 3}, kF32, {0, 1});
  Values<int64_t> integers(std::vector<int64_t>(6, 9), {2, 3}, kI64);
  DLTensor gpu = y.tensor, null = y.tensor;
  gpu.device = {kDLCUDA, 0};
  null.data = nullptr;
  const std::vector<plait_input> inputs = {{"x", &x.tensor}};
  const std::vector<std::pair<std::vector<plait_output>, std::string>> cases = {
      {{{"z", &y.tensor}}, "no output `z`"},
      {{{"y", nullptr}}, "`given.tensor` is null"},
      {{{nullptr, &y.tensor}}, "`given.name` is null"},
      {{{"y", &y.tensor}, {"y", &y.tensor}}, "given twice | output %y"},
      {{{"y", &flat.tensor}}, "expected 2 dims, got 1"},
      {{{"y", &wrong.tensor}}, "has shape [3, 2], the output [2, 3]"},
      {{{"y", &repeated.tensor}}, "share memory"},
      {{{"y", &integers.tensor}}, "dtype i64 does not fit"},
      {{{"y", &gpu}}, "in a GPU's memory"},
      {{{"y", &null}}, "data is null | output %y"},
  };
  for (const auto& [given, what] : cases) {
    const plait_run_options how = options_with(given);
    DLManagedTensorVersioned* out[2] = {};
    const std::string error = words(plait_program_run(program.get(), inputs.data(), 1, &how, out, 2));
    EXPECT_TRUE(error.starts_with("1: ") && error.find(what) != std::string::npos) << error << "\n" << what;
    EXPECT_TRUE(!out[0] && !out[1]);
    for (const auto* values : {&y, &flat, &wrong, &repeated})
      EXPECT_EQ(std::count(values->data.begin(), values->data.end(), 9.0F), 6);
  }
  plait_run_options how = options_with({});
  how.given = nullptr;
  how.given_count = 1;
  DLManagedTensorVersioned* out[2] = {};
  EXPECT_NE(words(plait_program_run(program.get(), inputs.data(), 1, &how, out, 2)).find("`options.given` is null"),
            std::string::npos);
  // A caller of an older header knows of no outputs.
  how.struct_size = offsetof(plait_run_options, given);
  ASSERT_OK(plait_program_run(program.get(), inputs.data(), 1, &how, out, 2));
  const Owned<DLManagedTensorVersioned> first(out[0]), second(out[1]);
  EXPECT_EQ(read<float>(*first)[5], -6);
}

TEST(CApiOutputs, InPlaceOfInputs) {
  plait_fusion* made = nullptr;
  ASSERT_OK(plait_fusion_new("f", nullptr, &made));
  const Owned<plait_fusion> fusion(made);
  ASSERT_OK(plait_fusion_input(made, "%p: f32[n]"));
  ASSERT_OK(plait_fusion_statement(made, "%q = mul(%p, 2)", nullptr));
  EXPECT_NE(words(plait_fusion_alias(made, "q", "p")).find("%q is no output"), std::string::npos);
  ASSERT_OK(plait_fusion_output(made, "q", "q"));
  EXPECT_NE(words(plait_fusion_alias(made, "q", "z")).find("%z is no input"), std::string::npos);
  EXPECT_NE(words(plait_fusion_alias(made, nullptr, "p")).find("`output` is null"), std::string::npos);
  ASSERT_OK(plait_fusion_alias(made, "q", "p"));
  plait_text* printed = nullptr;
  ASSERT_OK(plait_fusion_print(made, &printed));
  EXPECT_NE(text_of(printed).find("-> (%q aliases %p)"), std::string::npos);
  for (const char* device : {"reference", "cpu"}) {
    const auto program = compiled(made, device);
    Values<float> p({1, 2, 3}, {3}, kF32);
    for (int i = 0; i < 2; ++i) {
      const auto q = run(program.get(), {{"p", &p.tensor}});
      EXPECT_EQ(static_cast<char*>(q->dl_tensor.data) + q->dl_tensor.byte_offset,
                reinterpret_cast<char*>(p.data.data()));
    }
    EXPECT_EQ(p.data, (std::vector<float>{4, 8, 12}));
    EXPECT_EQ(bytes_copied(program.get()), std::string(device) == "cpu" ? 0 : 12);
  }
}

}  // namespace
}  // namespace plait::testing
