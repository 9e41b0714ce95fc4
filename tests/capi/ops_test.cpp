// Ops by name and by functions, devices: lists of the C ABI.
#include <array>
#include <limits>
#include <map>

#include "capi/c_api.h"
#include "capi/plait_ops.h"

namespace plait::testing {
namespace {

std::map<std::string, plait_op_info> all_ops() {
  std::map<std::string, plait_op_info> out;
  for (size_t i = 0; i < plait_ops_count(); ++i) {
    plait_op_info info = {};
    info.struct_size = sizeof(info);
    EXPECT_OK(plait_ops_get(i, &info));
    out[info.name] = info;
  }
  return out;
}

TEST(CApiOps, AreListedWithParametersAndWords) {
  const auto ops = all_ops();
  ASSERT_EQ(ops.size(), plait_ops_count());
  size_t place = 0;
  for (const auto& [name, op] : ops) {  // in the order of their names
    plait_op_info info = {};
    info.struct_size = sizeof(info);
    EXPECT_OK(plait_ops_get(place++, &info));
    EXPECT_EQ(info.name, name);
  }
  const plait_op_info& moments = ops.at("var_mean");
  EXPECT_STREQ(moments.property, "reduction");
  ASSERT_EQ(moments.result_count, 2U);
  EXPECT_STREQ(moments.results[1], "var");
  const plait_op_info& softmax = ops.at("softmax");
  ASSERT_EQ(softmax.parameter_count, 2U);
  EXPECT_EQ(softmax.parameters[0].role, PLAIT_OPERAND);
  EXPECT_STREQ(softmax.parameters[0].type, "tensor");
  EXPECT_STREQ(softmax.parameters[1].name, "dim");
  EXPECT_EQ(softmax.parameters[1].role, PLAIT_ATTRIBUTE_REQUIRED);
  EXPECT_STREQ(softmax.parameters[1].type, "int");
  EXPECT_EQ(softmax.parameters[1].initial, nullptr);
  const plait_op_info& topk = ops.at("topk");
  EXPECT_STREQ(topk.parameters[3].name, "largest");
  EXPECT_EQ(topk.parameters[3].role, PLAIT_ATTRIBUTE);
  EXPECT_STREQ(topk.parameters[3].initial, "true");
  EXPECT_EQ(ops.at("split").result_count, 0U);
  for (const auto& [name, op] : ops) {
    const bool made = std::string(op.property) == "communication" || std::string(op.property) == "local_move";
    EXPECT_EQ(std::string(op.words).empty(), made) << name;
  }
  plait_op_info info = {};
  info.struct_size = sizeof(info);
  EXPECT_NE(words(plait_ops_get(plait_ops_count(), &info)).find("there is no op"), std::string::npos);
}

TEST(CApiOps, FunctionsMakeWhatTextMakes) {
  plait_fusion* made = nullptr;
  ASSERT_OK(plait_fusion_new("f", nullptr, &made));
  const Owned<plait_fusion> fusion(made);
  ASSERT_OK(plait_fusion_input(made, "%x: f32[m, n]"));
  const int64_t last = -1, one = 1, dims[] = {1};
  const bool yes = true;
  const char* shape[] = {"m", "2 * n"};
  const char* parts[] = {"x", "%x"};
  plait_text* name = nullptr;
  ASSERT_OK(plait_op_add(made, "a", "x", "0.5", &name));
  EXPECT_EQ(text_of(name), "a");
  ASSERT_OK(plait_op_sum(made, nullptr, "a", dims, 1, &yes, &name));
  EXPECT_EQ(text_of(name), "sum");
  ASSERT_OK(plait_op_cat(made, "c", parts, 2, &one, nullptr));
  ASSERT_OK(plait_op_reshape(made, "r", "c", shape, 2, nullptr));
  ASSERT_OK(plait_op_sort(made, "v, i", "r", &last, nullptr, &name));
  EXPECT_EQ(text_of(name), "v, i");
  ASSERT_OK(plait_op_cast(made, "h", "v", "bf16", nullptr));
  ASSERT_OK(plait_op_full(made, "k", nullptr, 0, -std::numeric_limits<double>::infinity(), "f32", nullptr));
  ASSERT_OK(plait_op_einsum(made, "e", parts, 2, "mn,mn->m", nullptr));
  ASSERT_OK(plait_fusion_output(made, "y", "h"));
  plait_text* text = nullptr;
  ASSERT_OK(plait_fusion_print(made, &text));
  const std::string printed = text_of(text);
  const auto same = parsed(
      "fusion @f (%x: f32[m, n]) -> (%y) { %a = add(%x, 0.5)  %sum = sum(%a, dims = [1], keepdim = true)\n"
      "%c = cat(%x, %x, dim = 1)  %r = reshape(%c, shape = [m, 2 * n])  %v, %i = sort(%r, dim = -1)  %h = cast(%v, "
      "to = bf16)\n"
      "%k = full(shape = [], value = -inf, dtype = f32)  %e = einsum(%x, %x, equation = \"mn,mn->m\")  %y = cast(%v, "
      "to = bf16) }");
  EXPECT_NE(printed.find("sort(%r"), std::string::npos) << printed;
  EXPECT_NE(printed.find("-inf"), std::string::npos) << printed;
  EXPECT_NE(printed.find("\"mn,mn->m\""), std::string::npos) << printed;
  EXPECT_TRUE(same) << "the text that these are";
}

TEST(CApiOps, WhatIsWrongIsRefusedAndChangesNothing) {
  plait_fusion* made = nullptr;
  ASSERT_OK(plait_fusion_new("f", nullptr, &made));
  const Owned<plait_fusion> fusion(made);
  ASSERT_OK(plait_fusion_input(made, "%x: f32[m, n]"));
  const char* none[] = {nullptr};
  plait_text* result = nullptr;
  const plait_argument odd = {"dim", 77, 0, 0, nullptr, nullptr, nullptr, 0};
  for (const auto& [error, what] : std::vector<std::pair<plait_error*, std::string>>{
           {plait_op_softmax(made, "y", "z", 0, &result), "%z"},
           {plait_op_softmax(made, "y", nullptr, 0, &result), "`argument 0 of softmax` is null"},
           {plait_op_softmax(made, "y", "x", 5, &result), "dim"},
           {plait_op_cat(made, "y", none, 1, nullptr, &result), "argument 0 of cat"},
           {plait_op_cast(made, "y", "x", "f33", &result), "f33"},
           {plait_op_einsum(made, "y", nullptr, 0, "a\"b", &result), "quotes"},
           {plait_op_softmax(nullptr, "y", "x", 0, &result), "`fusion` is null"},
           {plait_fusion_op(made, nullptr, "y", nullptr, 0, &result), "`op` is null"},
           {plait_fusion_op(made, "softmx", "y", nullptr, 0, &result), "softmax"},
           {plait_fusion_op(made, "softmax", "y", nullptr, 1, &result), "`arguments` is null"},
           {plait_fusion_op(made, "softmax", "y", &odd, 1, &result),
            "an argument of kind 77 | argument dim of softmax"}}) {
    const std::string text = words(error);
    EXPECT_TRUE(text.starts_with("1: ") && text.find(what) != std::string::npos) << text << "\n" << what;
    EXPECT_EQ(result, nullptr);
  }
  plait_text* text = nullptr;
  ASSERT_OK(plait_fusion_print(made, &text));
  EXPECT_EQ(text_of(text).find("softmax"), std::string::npos);
}

// An empty fusion with %x: f32[n, m], and %p of the shape that weights, biases and statistics of the norms have.
Owned<plait_fusion> of_norms(const char* p) {
  plait_fusion* made = nullptr;
  EXPECT_OK(plait_fusion_new("f", nullptr, &made));
  EXPECT_OK(plait_fusion_input(made, "%x: f32[n, 4]"));
  EXPECT_OK(plait_fusion_input(made, p));
  return Owned<plait_fusion>(made);
}

TEST(CApiOps, WordsAreOfWhatUsersCanWrite) {
  const auto ops = all_ops();
  EXPECT_STREQ(
      ops.at("gelu").words,
      "x (1 + erf(x / sqrt(2))) / 2. approx = tanh: x / (1 + exp(-2 u)), u = sqrt(2 / pi) (x + 0.044715 x^3).");
  EXPECT_EQ(std::string(ops.at("linear").words).find("accumulate "), std::string::npos);
  EXPECT_EQ(std::string(ops.at("uniform").words).find("piece"), std::string::npos);
}

TEST(CApiOps, IntegersAreExact) {
  plait_fusion* f = nullptr;
  ASSERT_OK(plait_fusion_new("f", nullptr, &f));
  const Owned<plait_fusion> fusion(f);
  constexpr int64_t kOdd = (int64_t{1} << 53) + 1;
  const char* shape[] = {"1"};
  ASSERT_OK(plait_op_full_integer(f, "a", shape, 1, kOdd, "i64", nullptr));
  ASSERT_OK(plait_op_full_integer(f, "b", shape, 1, INT64_MIN, "i64", nullptr));
  ASSERT_OK(plait_op_cat(f, "c", std::array{"a", "b"}.data(), 2, nullptr, nullptr));
  ASSERT_OK(plait_fusion_output(f, "y", "c"));
  EXPECT_NE(words(plait_op_full_integer(f, "d", nullptr, 0, 300, "u8", nullptr)).find("300"), std::string::npos);
  const auto program = compiled(f, "reference");
  EXPECT_EQ(read<int64_t>(*run(program.get(), {})), (std::vector<int64_t>{kOdd, INT64_MIN}));
  const plait_argument most[] = {plait_words_argument("shape", nullptr, 0),
                                 plait_word_argument("value", "18446744073709551615"),
                                 plait_word_argument("dtype", "u64")};
  EXPECT_OK(plait_fusion_op(f, "full", "u", most, 3, nullptr));
}

TEST(CApiOps, InputsByTypes) {
  plait_fusion* f = nullptr;
  ASSERT_OK(plait_fusion_new("f", nullptr, &f));
  const Owned<plait_fusion> fusion(f);
  const plait_extent extents[] = {{"b", 7}, {nullptr, 768}, {"4 * b", 0}};
  ASSERT_OK(plait_fusion_typed_input(f, PLAIT_ROLE_INPUT, "x", kF32, extents, 3));
  ASSERT_OK(plait_fusion_typed_input(f, PLAIT_ROLE_PARAMETER, "%w", {kDLBfloat, 16, 1}, nullptr, 0));
  plait_tensor_info info = {};
  info.struct_size = sizeof(info);
  ASSERT_OK(plait_fusion_input_info(f, 0, &info));
  EXPECT_STREQ(info.type, "f32[b, 768, 4*b]");
  EXPECT_EQ(info.role, PLAIT_ROLE_INPUT);
  ASSERT_OK(plait_fusion_input_info(f, 1, &info));
  EXPECT_STREQ(info.name, "w");
  EXPECT_STREQ(info.type, "bf16[]");
  EXPECT_EQ(info.role, PLAIT_ROLE_PARAMETER);
  const plait_extent wrong[] = {{nullptr, -1}, {"b +", 0}};
  EXPECT_NE(words(plait_fusion_typed_input(f, PLAIT_ROLE_INPUT, "y", kF32, wrong, 1))
                .find("extent -1 is negative | %y dim 0"),
            std::string::npos);
  EXPECT_NE(words(plait_fusion_typed_input(f, PLAIT_ROLE_INPUT, "y", kF32, wrong + 1, 1)).find("%y dim 0"),
            std::string::npos);
  EXPECT_NE(words(plait_fusion_typed_input(f, PLAIT_ROLE_OUTPUT, "y", kF32, extents, 1)).find("role 2 of an input"),
            std::string::npos);
  EXPECT_NE(words(plait_fusion_typed_input(f, PLAIT_ROLE_INPUT, "x", kF32, extents, 1)).find("%x is defined twice"),
            std::string::npos);
  EXPECT_NE(words(plait_fusion_typed_input(f, PLAIT_ROLE_INPUT, "y", {kDLComplex, 64, 1}, extents, 1)).find("| %y |"),
            std::string::npos);
  EXPECT_NE(words(plait_fusion_typed_input(f, PLAIT_ROLE_INPUT, nullptr, kF32, extents, 1)).find("`name` is null"),
            std::string::npos);
  EXPECT_EQ(plait_fusion_input_count(f), 2U);
}

TEST(CApiOps, AGapInFrontOfAnOperandIsRefused) {
  const auto owned = of_norms("%p: f32[4]");
  plait_fusion* f = owned.get();
  constexpr const char* kWords = "1: a bias without a weight | %s | give a weight of ones, or add the bias afterwards";
  const auto refused = [&](const std::string& op) { return std::string(kWords).replace(29, 2, op); };
  EXPECT_EQ(words(plait_op_layer_norm(f, "y", "x", nullptr, "p", nullptr, nullptr, nullptr, nullptr)),
            refused("layer_norm"));
  EXPECT_EQ(words(plait_op_group_norm(f, "y", "x", nullptr, "p", 2, nullptr, nullptr, nullptr)), refused("group_norm"));
  EXPECT_EQ(words(plait_op_batch_norm(f, "y", "x", nullptr, "p", nullptr, nullptr, nullptr, nullptr, nullptr)),
            refused("batch_norm"));
  EXPECT_EQ(words(plait_op_batch_norm(f, "y", "x", nullptr, "p", "p", "p", nullptr, nullptr, nullptr)),
            refused("batch_norm"));
  EXPECT_NE(words(plait_op_batch_norm(f, "y", "x", nullptr, nullptr, "p", nullptr, nullptr, nullptr, nullptr))
                .find("one of mean and var is given"),
            std::string::npos);
  const plait_argument gap[] = {plait_tensor_argument(nullptr, "x"), plait_tensor_argument(nullptr, nullptr),
                                plait_tensor_argument(nullptr, "p")};
  EXPECT_EQ(words(plait_fusion_op(f, "layer_norm", "y", gap, 3, nullptr)), refused("layer_norm"));
  const plait_argument by_name[] = {plait_tensor_argument(nullptr, "x"), plait_tensor_argument("b", "p")};
  EXPECT_NE(words(plait_fusion_op(f, "layer_norm", "y", by_name, 2, nullptr)).find("no attribute `b`"),
            std::string::npos);
  EXPECT_NE(
      words(plait_fusion_op(f, "layer_norm", "y", gap + 1, 2, nullptr)).find("`argument 0 of layer_norm` is null"),
      std::string::npos);
}

// Operands that may be left out, from all to none: what the text of each is.
TEST(CApiOps, OptionalOperandsAreLeftOutFromTheLast) {
  const auto owned = of_norms("%p: f32[4]");
  plait_fusion* f = owned.get();
  ASSERT_OK(plait_op_layer_norm(f, "l0", "x", nullptr, nullptr, nullptr, nullptr, nullptr, nullptr));
  ASSERT_OK(plait_op_layer_norm(f, "l1", "x", "p", nullptr, nullptr, nullptr, nullptr, nullptr));
  ASSERT_OK(plait_op_layer_norm(f, "l2", "x", "p", "p", nullptr, nullptr, nullptr, nullptr));
  ASSERT_OK(plait_op_group_norm(f, "g0", "x", nullptr, nullptr, 2, nullptr, nullptr, nullptr));
  ASSERT_OK(plait_op_group_norm(f, "g2", "x", "p", "p", 2, nullptr, nullptr, nullptr));
  ASSERT_OK(plait_op_batch_norm(f, "b0", "x", nullptr, nullptr, "p", "p", nullptr, nullptr, nullptr));
  ASSERT_OK(plait_op_batch_norm(f, "b2", "x", "p", "p", "p", "p", nullptr, nullptr, nullptr));
  const plait_argument trailing[] = {plait_tensor_argument(nullptr, "x"), plait_tensor_argument(nullptr, nullptr),
                                     plait_tensor_argument(nullptr, nullptr)};
  ASSERT_OK(plait_fusion_op(f, "layer_norm", "t0", trailing, 3, nullptr));
  plait_text* text = nullptr;
  ASSERT_OK(plait_fusion_print(f, &text));
  const std::string printed = text_of(text);
  for (const char* line :
       {"%l0: f32[n, 4] = layer_norm(%x, dims", "%l1: f32[n, 4] = layer_norm(%x, %p, dims",
        "%l2: f32[n, 4] = layer_norm(%x, %p, %p, dims", "%g0: f32[n, 4] = group_norm(%x, groups = 2",
        "%g2: f32[n, 4] = group_norm(%x, %p, %p, groups = 2",
        "%b0: f32[n, 4] = batch_norm(%x, mean = %p, var = %p, eps",
        "%b2: f32[n, 4] = batch_norm(%x, %p, %p, mean = %p, var = %p, eps", "%t0: f32[n, 4] = layer_norm(%x, dims"})
    EXPECT_NE(printed.find(line), std::string::npos) << line << printed;
}

// The ops of the tests above are all that have several operands which may be left out.
TEST(CApiOps, OpsWithSeveralOptionalOperands) {
  std::string found;
  for (const auto& [name, op] : all_ops()) {
    int count = 0;
    for (size_t i = 0; i < op.parameter_count; ++i) count += op.parameters[i].role == PLAIT_OPERAND_OPTIONAL ? 1 : 0;
    if (count > 1) found += name + " ";
  }
  EXPECT_EQ(found, "batch_norm group_norm layer_norm ");
}

TEST(CApiDevices, AreListedTheDefaultFirst) {
  plait_device_list* made = nullptr;
  ASSERT_OK(plait_devices(&made));
  ASSERT_GE(plait_device_list_count(made), 1U);
  std::map<std::string, plait_device_info> by_name;
  for (size_t i = 0; i < plait_device_list_count(made); ++i) {
    plait_device_info info = {};
    info.struct_size = sizeof(info);
    ASSERT_OK(plait_device_list_get(made, i, &info));
    EXPECT_EQ(info.is_default, i == 0 ? 1 : 0);
    EXPECT_GE(info.count, 1);
    by_name[info.name] = info;
  }
  ASSERT_TRUE(by_name.contains("reference"));
  EXPECT_EQ(by_name["reference"].host_memory, 1);
  if (by_name.contains("cpu")) EXPECT_GE(by_name["cpu"].cores, 1);
  if (by_name.contains("sim:sm_80")) EXPECT_EQ(by_name["sim:sm_80"].host_memory, 0);
  plait_device_info info = {};
  info.struct_size = sizeof(info);
  EXPECT_NE(words(plait_device_list_get(made, 99, &info)).find("there is no device 99"), std::string::npos);
  EXPECT_NE(words(plait_devices(nullptr)).find("`out` is null"), std::string::npos);
  plait_device_list_free(made);
  plait_device_list_free(nullptr);
  EXPECT_EQ(plait_device_list_count(nullptr), 0U);
}

}  // namespace
}  // namespace plait::testing
