// Outputs in place of inputs, as the text says: values, where they end, what is copied, what is refused.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "compile/pipeline.h"
#include "plait.h"
#include "reference/check.h"
#include "reference/draw_inputs.h"
#include "reference/evaluate.h"
#include "session/boundary.h"
#include "support/run_case.h"

namespace plait {
namespace {

constexpr const char* kAdam = R"(
fusion @adam (%p: f32[n], %g: f32[n], %m: f32[n], %v: f32[n], %rate: f32[]) -> (
  %q aliases %p, %m2 aliases %m, %v2 aliases %v) {
  %a = mul(%m, 0.9)
  %b = mul(%g, 0.1)
  %m2 = add(%a, %b)
  %c = mul(%v, 0.99)
  %gg = mul(%g, %g)
  %d = mul(%gg, 0.01)
  %v2 = add(%c, %d)
  %r = sqrt(%v2)
  %s = add(%r, 1e-8)
  %t = div(%m2, %s)
  %u = mul(%t, %rate)
  %q = sub(%p, %u)
}
)";

constexpr const char* kCache = R"(
fusion @cache (%k: f32[b, s, 64], %new: f32[b, t, 64], %at: i64[]) -> (%k2 aliases %k) {
  %k2 = slice_update(%k, %new, %at, dim = 1)
}
)";

class Aliases : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string why = testing::why_no_device(GetParam());
    if (!why.empty()) GTEST_SKIP() << why;
  }
  bool on_cpu() const { return std::string(GetParam()) == "cpu"; }
  // Of results in memory of the host that no kernel wrote where they are to be.
  int64_t copied(int64_t bytes) const { return std::string(GetParam()) == "reference" ? bytes : 0; }

  static Tensors draw(const Fusion& f, const Sizes& sizes) {
    reference::DrawOptions how;
    for (const auto& [name, value] : sizes) how.sizes[name] = value;
    const auto inputs = reference::draw_inputs(f, how);
    return {inputs.begin(), inputs.end()};
  }

  // Runs on `inputs`, which change, and compares; aliased outputs are the inputs' tensors.
  void check(Compiled& p, const Fusion& f, const Tensors& inputs, const RunOptions& how = {}) {
    const reference::Results wanted = reference::evaluate(f, {inputs.begin(), inputs.end()}, {});
    const Tensors out = p.run(inputs, how);
    for (const auto& [name, want] : wanted) {
      const reference::CheckResult result = reference::compare(name, want, out.at(name));
      EXPECT_TRUE(result.ok) << GetParam() << ": " << result.message;
      const auto alias = f.aliases.find(name);
      if (alias == f.aliases.end()) continue;
      EXPECT_EQ(out.at(name).data(), inputs.at(alias->second).data()) << name;
      EXPECT_EQ(out.at(name).strides, inputs.at(alias->second).strides) << name;
    }
  }
};

INSTANTIATE_TEST_SUITE_P(All, Aliases, ::testing::Values("reference", "cpu", "sim:sm_90a"), [](const auto& info) {
  return std::string(info.param).substr(0, std::string(info.param).find(':'));
});

TEST_P(Aliases, StepsOfAnOptimizer) {
  const auto f = parse_fusion(kAdam);
  EXPECT_EQ(print(*parse_fusion(print(*f))), print(*f));
  EXPECT_NE(print(*f).find("%q aliases %p, %m2 aliases %m"), std::string::npos) << print(*f);
  auto p = compile(*f, {.device = GetParam()});
  for (int64_t n : {1000, 1, 0, 7, 20000}) {
    Tensors inputs = draw(*f, {{"n", n}});
    std::vector<double> squares = inputs.at("v").to_doubles();
    for (double& x : squares) x *= x;
    inputs["v"] = Tensor::from_doubles(f32, {n}, squares);
    for (int i = 0; i < 2; ++i) check(p, *f, inputs);
    EXPECT_EQ(p.report().bytes_copied, copied(12 * n));
  }
  if (!on_cpu()) return;
  EXPECT_NE(p.stage_text("program").find("%q: f32[n] in %p"), std::string::npos) << p.stage_text("program");
  EXPECT_NE(p.compiled_specialization().segment_reasons.find("%q lies in the memory of %p"), std::string::npos);
  EXPECT_EQ(p.report().launches, 1);
}

// Of a cache only the slice is written, whatever its size: the kernel has no loop over the rest.
TEST_P(Aliases, CachesAreUpdatedWhereTheyLie) {
  for (const std::string& text : {std::string(kCache), std::string(R"(
fusion @cache (%k: bf16[2, 3, s, 8], %new: bf16[2, 3, t, 8], %at: i64[]) -> (%k2 aliases %k) {
  %w = mul(%new, 2)
  %k2 = slice_update(%k, %w, %at, dim = 2)
}
)"),
                                  std::string(R"(
fusion @cache (%k: f32[64, 8], %new: f32[t, 8], %at: i64[]) -> (%k2 aliases %k, %y) {
  %k2 = slice_update(%k, %new, dim = 0, start = 5)
  %y = sum(%k2, dims = [0])
}
)")}) {
    const auto f = parse_fusion(text);
    auto p = compile(*f, {.device = GetParam()});
    for (int64_t s : {64, 65}) {
      Tensors inputs = draw(*f, {{"b", 2}, {"s", s}, {"t", 3}});
      for (double at : {0.0, 4.0, 61.0}) {
        inputs["at"] = Tensor::from_doubles(DType::i64, {}, {at});
        check(p, *f, inputs);
      }
    }
    if (!on_cpu()) continue;
    EXPECT_EQ(p.report().bytes_copied, 0) << text << p.compiled_specialization().segment_reasons;
    EXPECT_NE(p.stage_text("program").find(" in %k"), std::string::npos) << text;
    EXPECT_EQ(p.kernel_texts()[0].find("load %k["), std::string::npos) << p.kernel_texts()[0];
  }
}

TEST_P(Aliases, AnIndexOutsideLeavesTheProgramUsable) {
  const auto f = parse_fusion(kCache);
  auto p = compile(*f, {.device = GetParam()});
  Tensors inputs = draw(*f, {{"b", 2}, {"s", 8}, {"t", 3}});
  inputs["at"] = Tensor::from_doubles(DType::i64, {}, {6});
  EXPECT_THROW(p.run(inputs), UserError);
  inputs["at"] = Tensor::from_doubles(DType::i64, {}, {5});
  check(p, *f, inputs);
}

// Inputs that lie otherwise, that meet others, that are not aligned.
TEST_P(Aliases, WhereverTheInputLies) {
  const auto f = parse_fusion(
      "fusion @f (%x: f32[m, n], %w: f32[m, n]) -> (%y aliases %x) {\n  %h = mul(%w, 3)\n  %y = add(%x, %h)\n}\n");
  auto p = compile(*f, {.device = GetParam()});
  const Tensors dense = draw(*f, {{"m", 4}, {"n", 6}});
  Tensor room = Tensor::from_doubles(f32, {100}, std::vector<double>(100, 2.5));
  const auto at = [&](int64_t offset, std::vector<int64_t> strides) {
    Tensor t = room;
    t.shape = {4, 6}, t.strides = std::move(strides), t.byte_offset = size_t(offset) * 4;
    return t;
  };
  check(p, *f, {{"x", at(0, {1, 4})}, {"w", dense.at("w")}});
  EXPECT_EQ(p.report().bytes_copied, 192) << "in and out";
  check(p, *f, {{"x", at(3, {8, 1})}, {"w", dense.at("w")}});
  check(p, *f, {{"x", at(1, {6, 1})}, {"w", dense.at("w")}});
  EXPECT_EQ(p.report().bytes_copied, copied(96));
  for (int64_t rows : {0, 1, 3})  // %w begins so many rows behind %x, and keeps its old values while it is read
    check(p, *f, {{"x", at(0, {6, 1})}, {"w", at(6 * rows, {6, 1})}});
  EXPECT_EQ(p.report().bytes_copied, on_cpu() ? 192 : copied(96)) << "of %x, there and back";
  check(p, *f, {{"x", at(0, {6, 1})}, {"w", at(24, {6, 1})}});
  EXPECT_EQ(p.report().bytes_copied, copied(96));
}

// What no kernel can do in place is right all the same.
TEST_P(Aliases, ReadersOfTheOldValue) {
  for (const auto& [body, why] : std::vector<std::pair<std::string, std::string>>{
           {"%y = add(%x, 1)\n %h = permute(%x, dims = [1, 0])\n %z = softmax(%h, dim = -1)", ""},
           {"%h = permute(%x, dims = [1, 0])\n %y = mul(%h, 2)\n %z = neg(%x)", ""},
           {"%y = softmax(%x, dim = -1)\n %z = neg(%x)", ""},
           {"%y = flip(%x, dims = [0])\n %z = neg(%x)", ""},
           {"%y = matmul(%x, %x)\n %z = neg(%x)", ""},
           {"%s = sum(%x, dims = [0], keepdim = true)\n %y = sub(%x, %s)\n %z = neg(%x)", ""},
           {"%h = reshape(%x, shape = [64])\n %g = neg(%h)\n %y = reshape(%g, shape = [8, 8])\n %z = neg(%x)", ""},
           {"%y = iota(shape = [8, 8], dim = 0, dtype = f32)\n %z = neg(%x)", ""}}) {
    const auto f = parse_fusion("fusion @f (%x: f32[8, 8]) -> (%y aliases %x, %z) {\n " + body + "\n}\n");
    auto p = compile(*f, {.device = GetParam()});
    check(p, *f, draw(*f, {}));
  }
}

TEST_P(Aliases, GivenMemoryIsTheInputs) {
  const auto f =
      parse_fusion("fusion @f (%x: f32[n]) -> (%y aliases %x, %z) {\n  %y = neg(%x)\n  %z = mul(%x, 2)\n}\n");
  auto p = compile(*f, {.device = GetParam()});
  const Tensors inputs = draw(*f, {{"n", 9}});
  RunOptions how;
  how.outputs = {{"y", inputs.at("x")}};
  check(p, *f, inputs, how);
  how.outputs = {{"y", Tensor::empty(f32, {9})}};
  EXPECT_THROW(p.run(inputs, how), UserError);
  how.outputs = {{"z", inputs.at("x")}};
  EXPECT_THROW(p.run(inputs, how), UserError) << "two outputs in one place";
  Tensor one = Tensor::from_doubles(f32, {1}, {4});
  one.shape = {9}, one.strides = {0};
  EXPECT_THROW(p.run({{"x", one}}), UserError) << "nine elements in one place";
  EXPECT_EQ(one.memory->bytes(), 4u);
  EXPECT_EQ(*static_cast<float*>(one.data()), 4);
}

// A call that gives an output the very tensor of an input says what the text could have.
TEST_P(Aliases, AsTheCallSays) {
  const auto f = parse_fusion(
      "fusion @f (%k: f32[s, 8], %new: f32[t, 8], %at: i64[], %w: f32[s, 8]) -> (%k2, %z) {\n"
      "  %k2 = slice_update(%k, %new, %at, dim = 0)\n  %z = add(%w, %w)\n}\n");
  auto p = compile(*f, {.device = GetParam()});
  Tensors inputs = draw(*f, {{"s", 12}, {"t", 2}});
  inputs["at"] = Tensor::from_doubles(DType::i64, {}, {7});
  const Tensors before = with_own_copies(*f, inputs), want = p.run(inputs);
  for (int i = 0; i < 2; ++i) {
    Tensor k = Tensor::empty(f32, {12, 8});
    std::memcpy(k.data(), before.at("k").data(), k.bytes());
    RunOptions how;
    how.outputs = {{"k2", k}};
    Tensors given = inputs;
    given["k"] = k;
    const Tensors out = p.run(given, how);
    EXPECT_EQ(k.to_doubles(), want.at("k2").to_doubles());
    EXPECT_EQ(out.at("z").to_doubles(), want.at("z").to_doubles());
    EXPECT_EQ(p.report().bytes_copied, copied(384));
    EXPECT_EQ(p.stage_text("program").find("%k2: f32[s, 8] in %k") != std::string::npos, on_cpu());
    EXPECT_EQ(p.run(inputs).at("k2").to_doubles(), want.at("k2").to_doubles()) << "elsewhere again";
    EXPECT_EQ(p.stage_text("program").find(" in %k"), std::string::npos);
    // Of another input's memory, and of the same tensor as two inputs.
    Tensor w = Tensor::empty(f32, {12, 8});
    std::memcpy(w.data(), k.data(), k.bytes());
    given = inputs;
    given["k"] = given["w"] = w;
    how.outputs = {{"z", w}};
    const std::vector<double> doubled =
        p.run({{"k", inputs.at("k")}, {"new", inputs.at("new")}, {"at", inputs.at("at")}, {"w", k}})
            .at("z")
            .to_doubles();
    EXPECT_EQ(p.run(given, how).at("z").to_doubles(), doubled);
    EXPECT_EQ(w.to_doubles(), doubled);
  }
}

TEST_P(Aliases, OnRanks) {
  const auto f = parse_fusion(R"(
mesh @m (tp = 2)
fusion @f on @m (param %p: f32[5, 6] {0: tp}, %g: f32[5, 6] {0: tp}, %c: f32[6]) -> (%q {0: tp}, %d aliases %c) {
  %h = mul(%g, 0.5)
  %q = sub(%p, %h)
  %d = add(%c, 1)
}
)");
  f->alias("q", "p");
  const std::string device = on_cpu() || std::string(GetParam()) == "reference" ? GetParam() : "sim:sm_90a:2";
  for (const char* comm : {"local", "local:threads"}) {
    auto p = compile(*f, {.device = device, .comm = device.starts_with("sim") ? "nccl" : comm});
    const Tensors inputs = draw(*f, {});
    for (int i = 0; i < 3; ++i) {
      const Tensors before = with_own_copies(*f, inputs);
      const Tensors out = p.run(inputs);
      EXPECT_EQ(out.at("q").data(), inputs.at("p").data());
      for (const auto& [name, want] : reference::evaluate(*f, {before.begin(), before.end()}, {}))
        EXPECT_TRUE(reference::compare(name, want, out.at(name)).ok) << name;
    }
  }
}

TEST(AliasErrors, AreNamed) {
  const auto refusal = [](const std::string& text) -> std::string {
    try {
      compile(*parse_fusion(text), {.device = "reference"}).prepare({{"x", {f32, {4}}}, {"w", {f32, {4}}}});
    } catch (const UserError& e) {
      return e.what();
    }
    return "";
  };
  const std::string ops = ") {\n %y = neg(%x)\n %z = cast(%w, to = f64)\n %u = sum(%x, dims = [0])\n}\n";
  const std::string head = "fusion @f (%x: f32[n], %w: f32[n]) -> (";
  for (const auto& [outputs, words] :
       std::vector<std::pair<std::string, std::string>>{{"%y aliases %v", "%v is no input"},
                                                        {"%y aliases %u, %u", "%u is no input"},
                                                        {"%z aliases %x", "%z is f64[n], %x is f32[n]"},
                                                        {"%u aliases %x", "%u is f32[], %x is f32[n]"},
                                                        {"%w aliases %x", "%w is an input itself"},
                                                        {"%y aliases %x, %x aliases %x", "%x is an input itself"},
                                                        {"%y aliases", "a tensor"}})
    EXPECT_NE(refusal(head + outputs + ops).find(words), std::string::npos) << refusal(head + outputs + ops);
  EXPECT_NE(refusal("fusion @f (%x: f32[n], %w: f32[n]) -> (%y aliases %x, %z aliases %x) {\n %y = neg(%x)\n %z = "
                    "neg(%w)\n}\n")
                .find("%y ends in %x already"),
            std::string::npos);
  EXPECT_NE(refusal("mesh @m (tp = 2)\nfusion @f on @m (%x: f32[n] {0: tp}, %w: f32[n]) -> (%y aliases %x {}) {\n %y = "
                    "neg(%w)\n}\n")
                .find("output %y aliases %x"),
            std::string::npos);
}

TEST(AliasThreads, RunOneProgramAtOnce) {
  const auto f = parse_fusion("fusion @f (%x: f32[n]) -> (%y aliases %x) {\n  %y = add(%x, 1)\n}\n");
  auto p = compile(*f, {.device = "cpu"});
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const Tensor x = Tensor::from_doubles(f32, {1000}, std::vector<double>(1000, t));
      for (int i = 0; i < 50; ++i) p.run({{"x", x}});
      wrong += x.to_doubles() != std::vector<double>(1000, t + 50);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace plait
