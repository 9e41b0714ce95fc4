// What callers of the C ABI are told of their mistakes.
#include <cmath>

#include "base/sanitizers.h"
#include "capi/c_api.h"
#include "capi/plait_ops.h"

namespace plait::testing {
namespace {

constexpr const char* kText = "fusion @f (%x: f32[n]) -> (%y) { %y = neg(%x) }";

TEST(CApiErrors, TextsKeepTheirPlace) {
  plait_fusion* out = nullptr;
  plait_error* error =
      plait_fusion_parse("fusion @f (%x: f32[n]) -> (%y) { %y = negg(%x) }", "mine.plait", nullptr, 0, &out);
  EXPECT_EQ(out, nullptr);
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(plait_error_code(error), PLAIT_ERROR_USER);
  EXPECT_STREQ(plait_error_where(error), "mine.plait:1:39");
  EXPECT_NE(std::string(plait_error_remedy(error)).find("neg"), std::string::npos);
  plait_error_free(error);
}

TEST(CApiErrors, NullIsNamed) {
  plait_fusion* fusion = nullptr;
  plait_program* program = nullptr;
  EXPECT_NE(words(plait_fusion_parse(nullptr, nullptr, nullptr, 0, &fusion)).find("`text`"), std::string::npos);
  EXPECT_NE(words(plait_fusion_parse(kText, nullptr, nullptr, 0, nullptr)).find("`out`"), std::string::npos);
  EXPECT_NE(words(plait_fusion_parse(kText, nullptr, nullptr, 1, &fusion)).find("`settings`"), std::string::npos);
  EXPECT_NE(words(plait_fusion_input(nullptr, "%x: f32[]")).find("`fusion`"), std::string::npos);
  EXPECT_NE(words(plait_compile(nullptr, nullptr, &program)).find("`fusion`"), std::string::npos);
  EXPECT_NE(words(plait_program_prepare(nullptr, nullptr, 0)).find("`program`"), std::string::npos);
  EXPECT_NE(words(plait_program_run(nullptr, nullptr, 0, nullptr, nullptr, 0)).find("`program`"), std::string::npos);
  EXPECT_EQ(plait_error_code(nullptr), 0);
  EXPECT_STREQ(plait_error_what(nullptr), "");
  plait_error_free(nullptr);
  plait_text_free(nullptr);
  plait_fusion_free(nullptr);
  plait_program_free(nullptr);
}

TEST(CApiErrors, OfARefusedLineNothingStays) {
  const auto fusion = parsed(kText);
  plait_text *before = nullptr, *after = nullptr, *name = nullptr;
  ASSERT_OK(plait_fusion_print(fusion.get(), &before));
  EXPECT_NE(words(plait_fusion_statement(fusion.get(), "%z = softmax(%x, dim = 5)", &name)), "");
  EXPECT_EQ(name, nullptr);
  EXPECT_NE(words(plait_fusion_input(fusion.get(), "%z: f32[n] {0: tp}")), "");
  EXPECT_NE(words(plait_fusion_output(fusion.get(), "z", "nothing")), "");
  EXPECT_NE(words(plait_fusion_let(fusion.get(), "n", -1)), "");
  ASSERT_OK(plait_fusion_print(fusion.get(), &after));
  EXPECT_EQ(text_of(before), text_of(after));
}

TEST(CApiErrors, OfCompiling) {
  const auto fusion = parsed(kText);
  plait_compile_options options = {};
  plait_program* out = nullptr;
  EXPECT_NE(words(plait_compile(fusion.get(), &options, &out)).find("struct_size"), std::string::npos);
  options.struct_size = sizeof(options);
  options.device = "gpuu";
  EXPECT_NE(words(plait_compile(fusion.get(), &options, &out)).find("1: "), std::string::npos);
  options.device = "cpu";
  const plait_setting unknown = {"poisson", "1"};
  options.settings = &unknown;
  options.setting_count = 1;
  EXPECT_NE(words(plait_compile(fusion.get(), &options, &out)).find("poison"), std::string::npos);
  options.setting_count = 0;
  plait_setting size = {"m", "2"};
  options.sizes = &size;
  options.size_count = 1;
  EXPECT_NE(words(plait_compile(fusion.get(), &options, &out)).find("there is no size `m`"), std::string::npos);
  size = {"n", "-2"};
  EXPECT_NE(words(plait_compile(fusion.get(), &options, &out)).find("at least 0"), std::string::npos);
  options.size_count = 0;
  options.ranks = -1;
  EXPECT_NE(words(plait_compile(fusion.get(), &options, &out)), "");
  options.ranks = 2;  // the fusion has no mesh
  EXPECT_NE(words(plait_compile(fusion.get(), &options, &out)), "");
  EXPECT_EQ(out, nullptr);
}

TEST(CApiErrors, OfSettings) {
  constexpr const char* kLets = "let n = 2, T = f32\nfusion @f (%x: T[n, m]) -> (%y) { %y = neg(%x) }";
  plait_fusion* out = nullptr;
  const auto said = [&](std::vector<plait_setting> settings) {
    return words(plait_fusion_parse(kLets, nullptr, settings.data(), settings.size(), &out));
  };
  EXPECT_EQ(said({{"TT", "bf16"}}), "1: there is no size or dtype `TT` | setting TT | did you mean `T`?");
  EXPECT_EQ(said({{"quantity", "3"}}), "1: there is no size or dtype `quantity` | setting quantity | known: T, m, n");
  EXPECT_EQ(said({{"n", "3"}, {"T", "f64"}, {"n", "3"}}), "1: `n` is set twice | settings | set it once");
  EXPECT_EQ(said({{"n", "x"}}), "1: `x` is no size | setting n | sizes are whole numbers, at least 0");
  EXPECT_EQ(said({{"m", "-1"}}), "1: `-1` is no size | setting m | sizes are whole numbers, at least 0");
  EXPECT_NE(said({{"T", "f33"}}).find("`f33` is no dtype | setting T"), std::string::npos);
  EXPECT_EQ(out, nullptr);
  EXPECT_EQ(said({{"T", "bf16"}, {"n", "3"}, {"m", "4"}}), "");
  const Owned<plait_fusion> fusion(out);
  plait_text* text = nullptr;
  ASSERT_OK(plait_fusion_print(fusion.get(), &text));
  const std::string printed = text_of(text);
  for (const char* line : {"n = 3", "m = 4", "T = bf16"}) EXPECT_NE(printed.find(line), std::string::npos) << printed;

  const auto again = parsed(kText);
  plait_compile_options options = {};
  options.struct_size = sizeof(options);
  const plait_setting twice[] = {{"contractions", "own"}, {"contractions", "own"}}, sizes[] = {{"n", "1"}, {"n", "2"}};
  options.settings = twice;
  options.setting_count = 2;
  plait_program* program = nullptr;
  EXPECT_EQ(words(plait_compile(again.get(), &options, &program)),
            "1: `contractions` is set twice | settings | set it once");
  options.setting_count = 0;
  options.sizes = sizes;
  options.size_count = 2;
  EXPECT_EQ(words(plait_compile(again.get(), &options, &program)), "1: `n` is set twice | sizes | set it once");
  EXPECT_EQ(program, nullptr);
}

TEST(CApiErrors, OfCommunicators) {
  const auto fusion = parsed(kText);
  plait_compile_options options = {};
  options.struct_size = sizeof(options);
  options.comm = "givn";
  plait_program* out = nullptr;
  EXPECT_NE(words(plait_compile(fusion.get(), &options, &out)).find("did you mean `given`?"), std::string::npos);
  options.comm = "local:x";
  EXPECT_NE(words(plait_compile(fusion.get(), &options, &out)).find("nccl or given"), std::string::npos);
  options.comm = options.device = "";
  EXPECT_OK(plait_compile(fusion.get(), &options, &out));
  plait_program_free(out);
}

TEST(CApiErrors, OfNamesThatOutputsHadBefore) {
  plait_fusion* f = nullptr;
  ASSERT_OK(plait_fusion_new(nullptr, nullptr, &f));
  const Owned<plait_fusion> fusion(f);
  ASSERT_OK(plait_fusion_input(f, "%x: f32[n]"));
  ASSERT_OK(plait_fusion_statement(f, "%y = neg(%x)", nullptr));
  ASSERT_OK(plait_fusion_output(f, "o", "y"));
  EXPECT_NE(words(plait_fusion_statement(f, "%z = abs(%y)", nullptr)).find("1: %y is now called %o | "),
            std::string::npos);
  EXPECT_EQ(
      words(plait_fusion_output(f, "p", "%y")),
      "1: %y is now called %o | fusion @fusion | an output has one name: for a second output take a copy, set(%o)");
  ASSERT_OK(plait_fusion_statement(f, "%y = abs(%o)", nullptr));
  ASSERT_OK(plait_fusion_output(f, "p", "y"));
  EXPECT_NE(words(plait_fusion_output(f, "q", "w")).find("there is no tensor %w"), std::string::npos);
}

TEST(CApiErrors, OfSizesWithoutAValue) {
  const auto fusion = parsed(
      "fusion @f (%x: f32[n]) -> (%y, %z) { %y = size(value = k + n)  %z = expand(%x, shape = [2, n])  %unread = "
      "size(value = q) }");
  const auto program = compiled(fusion.get(), "reference");
  Values<float> x({1, 2}, {2}, kF32);
  const plait_input inputs[] = {{"x", &x.tensor}};
  DLManagedTensorVersioned* out[2] = {};
  const std::string error = words(plait_program_run(program.get(), inputs, 1, nullptr, out, 2));
  EXPECT_NE(error.find("1: size k has no value | size: %y = size()"), std::string::npos) << error;
  EXPECT_NE(error.find("| no input has it: give its value where the fusion is compiled, or let k = 4"),
            std::string::npos)
      << error;
  const int64_t negative[] = {-1};
  const plait_metadata metadata = {"x", kF32, 1, negative};
  EXPECT_EQ(words(plait_program_prepare(program.get(), &metadata, 1)),
            "1: extent -1 of dim 0 is negative | input %x: f32[n], found f32[-1] | extents are at least 0");
}

TEST(CApiErrors, OfGraphs) {
  plait_fusion* f = nullptr;
  ASSERT_OK(plait_fusion_new(nullptr, nullptr, &f));
  const Owned<plait_fusion> fusion(f);
  plait_program* program = nullptr;
  EXPECT_NE(
      words(plait_compile(f, nullptr, &program)).find("the fusion has no outputs | fusion @fusion | make a tensor"),
      std::string::npos);
  EXPECT_EQ(words(plait_compile(nullptr, nullptr, &program)), "1: `fusion` is null |  | it must not be");
  ASSERT_OK(plait_fusion_input(f, "%x: f32[n]"));
  EXPECT_NE(words(plait_op_sum(f, "y", "x", nullptr, 3, nullptr, nullptr)).find("`argument dims of sum` is null"),
            std::string::npos);
  EXPECT_NE(words(plait_op_full(f, "y", nullptr, 2, 0, "f32", nullptr)).find("`argument shape of full` is null"),
            std::string::npos);
  EXPECT_NE(words(plait_op_cat(f, "y", nullptr, 2, nullptr, nullptr)).find("is null"), std::string::npos);
  EXPECT_NE(words(plait_fusion_typed_input(f, PLAIT_ROLE_INPUT, "z", kF32, nullptr, 1)).find("`extents` is null"),
            std::string::npos);
}

TEST(CApiErrors, OfRunning) {
  const auto fusion = parsed(kText);
  const auto program = compiled(fusion.get(), "reference");
  Values<float> x({1, 2}, {2}, kF32);
  Values<int64_t> wrong({1, 2}, {2}, kI64);
  Values<float> backwards({1, 2}, {2}, kF32, {-1});
  Values<float> far({1, 2}, {2}, kF32, {INT64_MAX});
  Values<float> lanes({1, 2}, {2}, {2, 32, 4});
  Values<float> elsewhere({1, 2}, {2}, kF32);
  elsewhere.tensor.device = {kDLMetal, 0};
  Values<float> wraps({1, 2}, {2}, kF32);
  wraps.tensor.byte_offset = UINT64_MAX - 7;
  Values<float> nowhere({1, 2}, {2}, kF32);
  nowhere.tensor.data = nullptr;
  DLManagedTensorVersioned* y = nullptr;
  const auto said = [&](std::vector<plait_input> inputs, size_t outputs = 1) {
    return words(plait_program_run(program.get(), inputs.data(), inputs.size(), nullptr, &y, outputs));
  };
  EXPECT_NE(said({}).find("%x"), std::string::npos);
  EXPECT_NE(said({{"x", &wrong.tensor}}).find("i64"), std::string::npos);
  EXPECT_NE(said({{"x", &x.tensor}, {"x", &x.tensor}}).find("twice"), std::string::npos);
  EXPECT_NE(said({{"x", &x.tensor}, {"z", &x.tensor}}).find("z"), std::string::npos);
  EXPECT_NE(said({{"x", nullptr}}).find("inputs.tensor"), std::string::npos);
  EXPECT_NE(said({{nullptr, &x.tensor}}).find("inputs.name"), std::string::npos);
  EXPECT_NE(said({{"x", &backwards.tensor}}).find("stride -1"), std::string::npos);
  EXPECT_NE(said({{"x", &far.tensor}}).find("past 2^63"), std::string::npos);
  EXPECT_NE(said({{"x", &lanes.tensor}}).find("lanes 4"), std::string::npos);
  EXPECT_NE(said({{"x", &elsewhere.tensor}}).find("device type 8"), std::string::npos);
  EXPECT_NE(
      said({{"x", &wraps.tensor}}).find("byte_offset 18446744073709551608 leads past the end of memory | input %x"),
      std::string::npos);
  EXPECT_NE(said({{"x", &nowhere.tensor}}).find("null"), std::string::npos);
  EXPECT_NE(said({{"x", &x.tensor}}, 0).find("outputs"), std::string::npos);
  EXPECT_EQ(y, nullptr);
  EXPECT_EQ(said({{"x", &x.tensor}}), "");  // and goes on
  EXPECT_EQ(read<float>(*Owned<DLManagedTensorVersioned>(y)), (std::vector<float>{-1, -2}));
}

TEST(CApiErrors, AMissingPartHasItsOwnCode) {
  const auto fusion = parsed(kText);
  plait_compile_options options = {};
  options.struct_size = sizeof(options);
  options.device = "cuda";
  plait_program* out = nullptr;
  plait_error* error = plait_compile(fusion.get(), &options, &out);
  const Owned<plait_program> program(out);
  if (!error) GTEST_SKIP() << "a GPU is here";
  EXPECT_EQ(plait_error_code(error), PLAIT_ERROR_MISSING) << words(error);
  plait_error_free(error);
}

TEST(CApiErrors, ATensorThatDoesNotFit) {
#if PLAIT_ASAN || PLAIT_TSAN
  GTEST_SKIP() << "sanitizers end the process at such a request";
#endif
  const auto fusion = parsed(
      "fusion @f (%x: f32[n]) -> (%y) {\n  %c = reshape(%x, shape = [n, 1])\n"
      "  %z = expand(%c, shape = [n, n])\n  %y = exp(%z)\n}\n");
  const auto program = compiled(fusion.get(), "cpu");
  constexpr int64_t kRows = int64_t{1} << 24;  // its square is more than there are addresses
  Values<float> x(std::vector<float>(kRows), {kRows}, kF32);
  const plait_input inputs[] = {{"x", &x.tensor}};
  DLManagedTensorVersioned* y = nullptr;
  plait_error* error = plait_program_run(program.get(), inputs, 1, nullptr, &y, 1);
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(plait_error_code(error), PLAIT_ERROR_MEMORY);
  EXPECT_NE(words(error).find("no memory for"), std::string::npos);
}

}  // namespace
}  // namespace plait::testing
