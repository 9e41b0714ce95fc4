// Inputs whose memory the caller gives up, through the C ABI.
#include "capi/c_api.h"

namespace plait::testing {
namespace {

constexpr const char* kDoubled = "fusion @f (%x: f32[n], %w: f32[n]) -> (%y) { %y = add(%x, %w) }";

struct Released {
  int times = 0;
  static void note(void* user) { ++static_cast<Released*>(user)->times; }
};

plait_run_options donating(const std::vector<plait_donation>& donated) {
  plait_run_options out = {};
  out.struct_size = sizeof(out);
  out.donated = donated.data();
  out.donated_count = donated.size();
  return out;
}

int64_t bytes_donated(plait_program* program) {
  plait_program_info info = {};
  info.struct_size = sizeof(info);
  EXPECT_OK(plait_program_info_get(program, &info));
  return info.bytes_donated;
}

TEST(CApiDonations, OutputsTakeTheMemoryAndGiveItBackOnce) {
  const auto fusion = parsed(kDoubled);
  const auto program = compiled(fusion.get());
  Values<float> x({1, 2, 3}, {3}, kF32), w({10, 20, 30}, {3}, kF32);
  const std::vector<plait_input> inputs = {{"x", &x.tensor}, {"w", &w.tensor}};
  Released of_x, of_w;
  const std::vector<plait_donation> donated = {{"x", &Released::note, &of_x}, {"w", &Released::note, &of_w}};
  const plait_run_options how = donating(donated);
  for (int runs = 1; runs <= 2; ++runs) {
    Owned<DLManagedTensorVersioned> y = run(program.get(), inputs, &how);
    EXPECT_EQ(y->dl_tensor.data, x.data.data());
    EXPECT_EQ(bytes_donated(program.get()), 12);
    EXPECT_EQ(of_x.times, runs - 1) << "the output lies there";
    EXPECT_EQ(of_w.times, runs) << "nothing lies there";
    y.reset();
    EXPECT_EQ(of_x.times, runs);
  }
  EXPECT_EQ(x.data, (std::vector<float>{21, 42, 63}));
  const std::vector<plait_donation> kept = {{"x", nullptr, nullptr}};
  const plait_run_options unreleased = donating(kept);
  EXPECT_EQ(run(program.get(), inputs, &unreleased)->dl_tensor.data, x.data.data());
  run(program.get(), inputs);
  EXPECT_EQ(bytes_donated(program.get()), 0);
}

TEST(CApiDonations, ArePreparedWithoutBeingTaken) {
  const auto fusion = parsed(kDoubled);
  const auto program = compiled(fusion.get());
  Values<float> x({1, 2, 3}, {3}, kF32), w({10, 20, 30}, {3}, kF32);
  const std::vector<plait_input> inputs = {{"x", &x.tensor}, {"w", &w.tensor}};
  Released of_x;
  const std::vector<plait_donation> donated = {{"x", &Released::note, &of_x}};
  plait_run_options how = donating(donated);
  ASSERT_OK(plait_program_prepare_run(program.get(), inputs.data(), inputs.size(), &how));
  EXPECT_EQ(of_x.times, 0);
  EXPECT_EQ(x.data, (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(run(program.get(), inputs, &how)->dl_tensor.data, x.data.data());
  how.donated_count = 0;
  ASSERT_OK(plait_program_prepare_run(program.get(), inputs.data(), inputs.size(), nullptr));
  EXPECT_NE(words(plait_program_prepare_run(program.get(), inputs.data(), 1, &how)).find("%w"), std::string::npos);
  EXPECT_NE(words(plait_program_prepare_run(program.get(), nullptr, 1, &how)).find("`inputs`"), std::string::npos);
}

// An output that ends in the input's memory, made elsewhere: no other one is made there meanwhile.
TEST(CApiDonations, OutputsThatAliasTheInputHaveItAlone) {
  const char* const texts[] = {
      "fusion @f (%x: f32[n, n], %w: f32[n, n]) -> (%y aliases %x, %z) { %y = matmul(%x, %w)  %z = mul(%y, 3.0) }",
      "fusion @f (%x: f32[n, n], %w: f32[n, n]) -> (%y aliases %x, %z) { %y = matmul(%w, %x)  %z = matmul(%y, %w) }",
      "fusion @f (%x: f32[n, n], %w: f32[n, n]) -> (%y aliases %x, %z) { %y = add(%w, 1.0)  %z = mul(%x, 3.0) }"};
  for (const char* text : texts)
    for (const char* device : {"cpu", "reference"}) {
      const auto fusion = parsed(text);
      const auto program = compiled(fusion.get(), device);
      const auto results = [&](bool gives_up) {
        Values<float> x({1, 2, 3, 4}, {2, 2}, kF32), w({5, 6, 7, 8}, {2, 2}, kF32);
        const std::vector<plait_input> inputs = {{"x", &x.tensor}, {"w", &w.tensor}};
        const std::vector<plait_donation> donated = {{"x", nullptr, nullptr}};
        const plait_run_options how = donating(donated);
        DLManagedTensorVersioned* out[2] = {};
        EXPECT_OK(plait_program_run(program.get(), inputs.data(), 2, gives_up ? &how : nullptr, out, 2));
        const Owned<DLManagedTensorVersioned> y(out[0]), z(out[1]);
        return std::pair(read<float>(*y), read<float>(*z));
      };
      EXPECT_EQ(results(true), results(false)) << device << ": " << text;
    }
}

TEST(CApiDonations, WhatIsRefusedStaysTheCallers) {
  const auto fusion = parsed(kDoubled);
  const auto program = compiled(fusion.get());
  Values<float> x({1, 2, 3}, {3}, kF32), w({10, 20, 30}, {3}, kF32);
  const std::vector<plait_input> inputs = {{"x", &x.tensor}, {"w", &w.tensor}},
                                 twice = {{"x", &x.tensor}, {"w", &x.tensor}};
  Released released;
  const plait_donation of_x = {"x", &Released::note, &released}, of_z = {"z", &Released::note, &released},
                       of_none = {nullptr, &Released::note, &released};
  const std::vector<plait_output> given = {{"y", &x.tensor}};
  struct Case {
    const std::vector<plait_input>& inputs;
    std::vector<plait_donation> donated;
    bool given;
    std::string what;
  };
  for (const Case& each :
       {Case{inputs, {of_z}, false, "no input `z`"}, Case{inputs, {of_none}, false, "`donated.name` is null"},
        Case{inputs, {of_x, of_x}, false, "given twice | donated input %x"},
        Case{twice, {of_x}, false, "shares memory with input %w"},
        Case{inputs, {of_x}, true, "shares memory with what is given for output %y"}}) {
    plait_run_options how = donating(each.donated);
    if (each.given) {
      how.given = given.data();
      how.given_count = given.size();
    }
    DLManagedTensorVersioned* out = nullptr;
    const std::string error = words(plait_program_run(program.get(), each.inputs.data(), 2, &how, &out, 1));
    EXPECT_TRUE(error.starts_with("1: ") && error.find(each.what) != std::string::npos) << error << "\n" << each.what;
    EXPECT_EQ(out, nullptr);
  }
  EXPECT_EQ(released.times, 0);
  EXPECT_EQ(x.data, (std::vector<float>{1, 2, 3}));
  // A caller of an older header knows of none.
  const std::vector<plait_donation> donated = {of_x};
  plait_run_options how = donating(donated);
  how.struct_size = offsetof(plait_run_options, donated);
  EXPECT_NE(run(program.get(), inputs, &how)->dl_tensor.data, x.data.data());
}

TEST(CApiDonations, AnErrorOfTheRunLeavesTheMemoryWithTheCaller) {
  const auto fusion = parsed("fusion @f (%t: f32[v], %i: i64[n]) -> (%y) { %y = index_select(%t, %i, dim = 0) }");
  const auto program = compiled(fusion.get());
  Values<float> t({1, 2}, {2}, kF32);
  Values<int64_t> i({0, 5}, {2}, kI64);
  const std::vector<plait_input> inputs = {{"t", &t.tensor}, {"i", &i.tensor}};
  Released released;
  const std::vector<plait_donation> donated = {{"t", &Released::note, &released}};
  const plait_run_options how = donating(donated);
  DLManagedTensorVersioned* out = nullptr;
  EXPECT_TRUE(words(plait_program_run(program.get(), inputs.data(), 2, &how, &out, 1)).starts_with("1: index 5"));
  EXPECT_EQ(released.times, 0);
  i.data[1] = 1;
  EXPECT_EQ(read<float>(*run(program.get(), inputs, &how)), (std::vector<float>{1, 2}));
  EXPECT_EQ(released.times, 1);
}

}  // namespace
}  // namespace plait::testing
