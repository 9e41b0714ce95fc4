// Compiled programs as files: what comes back is what went, and whatever else a file holds is refused.
#include <gtest/gtest.h>

#include "api/program_file.h"
#include "backend/cpu/cpu_device.h"
#include "base/bounds_error.h"
#include "compile/pipeline.h"
#include "plait.h"
#include "reference/draw_inputs.h"
#include "run/pieces.h"
#include "session/boundary.h"
#include "support/fusion_files.h"
#include "support/refusal.h"
#include "support/run_case.h"
#include "support/scratch_folder.h"
#include "support/tensor_bits.h"
#include "unit/api/saved_fusions.h"

namespace plait {
namespace {

using testing::bits_of;
using testing::ScratchFolder;

// Bytes of the program after one run, which gives `outputs`.
std::string saved(const std::string& text, const CompileOptions& options, Tensors* outputs = nullptr) {
  const auto fusion = parse_fusion(text);
  Compiled program = compile(*fusion, options);
  const Tensors out = program.run(inputs_of(*fusion, options.sizes));
  if (outputs != nullptr) *outputs = out;
  return program.serialize();
}

class SavedPrograms : public ::testing::TestWithParam<std::string> {};

TEST_P(SavedPrograms, RunAsTheyRan) {
  if (const std::string reason = testing::why_no_device(GetParam()); !reason.empty()) GTEST_SKIP() << reason;
  for (const char* text : {kSoftmax, kLookup}) {
    Tensors expected;
    const std::string bytes = saved(text, {.device = GetParam()}, &expected);
    Compiled program = deserialize(bytes);
    EXPECT_EQ(program.classes(), 1);
    EXPECT_EQ(bits_of(program.run(inputs_of(program.fusion()))), bits_of(expected));
    EXPECT_EQ(program.classes(), 1);  // that of the file
    EXPECT_EQ(program.device().name(), GetParam());
    EXPECT_GT(program.report().launches, 0);
    for (const KernelReport& kernel : program.report().kernels) EXPECT_TRUE(kernel.facts.from_disk);
    EXPECT_TRUE(program.serialize() == bytes);  // texts too long to print
  }
}

TEST_P(SavedPrograms, OfRanksAreCutAsTheyWere) {
  const std::string device = GetParam() == "cpu" ? "cpu" : GetParam() + ":4";
  if (const std::string reason = testing::why_no_device(device); !reason.empty()) GTEST_SKIP() << reason;
  Tensors expected;
  const std::string bytes = saved(kSharded, {.device = device, .ranks = 4, .comm = "local:threads"}, &expected);
  Compiled program = deserialize(bytes);
  EXPECT_EQ(program.mesh().ranks(), 4);
  EXPECT_EQ(bits_of(program.run(inputs_of(program.fusion()))), bits_of(expected));
  EXPECT_EQ(program.report().collectives, 1);
  EXPECT_EQ(program.report().local_shapes.at("y").size(), 4);
  EXPECT_EQ(program.classes(), 1);
}

INSTANTIATE_TEST_SUITE_P(Device, SavedPrograms, ::testing::Values("cpu", "sim:sm_80"), [](const auto& info) {
  return info.param == "cpu" ? std::string("cpu") : std::string("sim");
});

TEST(SavedProgram, KeepsSpecializationsAndCompilesOthers) {
  const auto fusion = parse_fusion(kSoftmax);
  Compiled program = compile(*fusion, {.device = "cpu"});
  std::map<int64_t, std::vector<char>> expected;
  for (const int64_t n : {1, 40, 64, 5000}) expected[n] = bits_of(program.run(inputs_of(*fusion, {{"n", n}})));
  const size_t classes = program.classes();
  EXPECT_GT(classes, 1);
  Compiled again = deserialize(program.serialize());
  for (const auto& [n, bits] : expected) EXPECT_EQ(bits_of(again.run(inputs_of(*fusion, {{"n", n}}))), bits) << n;
  EXPECT_EQ(again.classes(), classes);
  EXPECT_EQ(again.guards().size(), program.guards().size());
  (void)again.run(inputs_of(*fusion, {{"n", 20000}}));
  EXPECT_GT(again.classes(), classes);
}

// Rules of another target ask other questions.
TEST(SavedProgram, OfAnotherTargetGoesOnWithThisOnes) {
  const auto fusion = parse_fusion(kSoftmax);
  Compiled program = compile(*fusion, {.device = "cpu"});
  std::map<int64_t, std::vector<char>> expected;
  for (const int64_t n : {40, 64, 5000}) expected[n] = bits_of(program.run(inputs_of(*fusion, {{"n", n}})));
  SavedProgram other = unpack(saved(kSoftmax, {.device = "cpu"}), "p");
  other.classes.at(0).answers.insert(other.classes[0].answers.begin(), {"n < 100", "another target", true});
  Compiled again = deserialize(pack(other));
  for (int i = 0; i < 2; ++i) {
    for (const auto& [n, bits] : expected) EXPECT_EQ(bits_of(again.run(inputs_of(*fusion, {{"n", n}}))), bits) << n;
    again = deserialize(again.serialize());
  }
}

TEST(SavedProgram, TellsOfItsStages) {
  const auto fusion = parse_fusion(kSoftmax);
  Compiled program = compile(*fusion, {.device = "cpu"});
  const Tensors inputs = inputs_of(*fusion);
  (void)program.run(inputs);
  Compiled again = deserialize(program.serialize());
  (void)again.run(inputs);
  for (const char* stage :
       {"fusion", "graph", "sharded", "localized", "params", "segments", "program", "kir", "llvm", "memory"})
    EXPECT_EQ(again.stage_text(stage), program.stage_text(stage)) << stage;
  EXPECT_EQ(print(again.localized()), print(program.localized()));
  EXPECT_EQ(again.compiled_specialization().segment_reasons, program.compiled_specialization().segment_reasons);
}

// Before it runs, of the sizes that it had last.
TEST(SavedProgram, TellsOfItselfBeforeItRuns) {
  for (const char* text : {kSoftmax, kSharded}) {
    const auto fusion = parse_fusion(text);
    Compiled program = compile(*fusion, {.device = "cpu", .ranks = text == kSharded ? std::optional(2) : std::nullopt});
    (void)program.run(inputs_of(*fusion, text == kSoftmax ? Sizes{{"n", 5000}} : Sizes{{"b", 6}}));
    (void)program.run(inputs_of(*fusion));
    const Compiled again = deserialize(program.serialize());
    EXPECT_EQ(again.sizes(), program.sizes());
    EXPECT_EQ(again.stage_text("program"), program.stage_text("program"));
    EXPECT_EQ(again.stage_text("memory"), program.stage_text("memory"));
    EXPECT_EQ(again.stage_text("llvm"), program.stage_text("llvm"));
    EXPECT_EQ(again.report().bytes_moved, program.report().bytes_moved);
    EXPECT_EQ(again.report().arena_least, program.report().arena_least);
    EXPECT_EQ(again.guards().size(), program.guards().size());
  }
}

TEST(SavedProgram, ShowsItsSteps) {
  const auto fusion = parse_fusion(kSharded);
  std::vector<std::string> made, seen;
  const auto note = [](std::vector<std::string>& into) {
    return [&into](int64_t rank, size_t step, const std::string& text) {
      into.push_back(std::to_string(rank) + " " + std::to_string(step) + " " + text);
    };
  };
  Compiled program = compile(*fusion, {.device = "cpu", .ranks = 2, .on_step = note(made)});
  const Tensors inputs = inputs_of(*fusion);
  (void)program.run(inputs);
  Compiled again = deserialize(program.serialize(), {.on_step = note(seen)});
  (void)again.run(inputs);
  EXPECT_FALSE(made.empty());
  EXPECT_EQ(seen, made);
}

// Without a compiler, how tensors lie costs copies and nothing else.
TEST(SavedProgram, RunsOnAnyTensorsWithoutACompiler) {
  const auto fusion = parse_fusion("let n = 6, m = 10\nfusion @f (%x: f32[n, m]) -> (%y) {\n  %y = exp(%x)\n}\n");
  Compiled made = compile(*fusion, {.device = "cpu"});
  const Tensors inputs = inputs_of(*fusion);
  const auto expected = bits_of(made.run(inputs));
  const ScratchFolder nothing;
  const auto device = make_cpu_device({.plugin_folder = nothing.path().string(), .disk_cache = false});
  Compiled again = deserialize(made.serialize(), {.device_override = device.get()});
  EXPECT_EQ(bits_of(again.run(inputs)), expected);
  Tensors given_up = with_own_copies(*fusion, inputs);
  given_up.at("x") = Tensor::from_doubles(DType::f32, {6, 10}, inputs.at("x").to_doubles());
  EXPECT_EQ(bits_of(again.run(given_up, {.donated = {"x"}})), expected);
  const Tensor own = Tensor::from_doubles(DType::f32, {6, 10}, inputs.at("x").to_doubles());
  EXPECT_EQ(bits_of(again.run({{"x", own}}, {.outputs = {{"y", own}}})), expected);
  Tensor across = Tensor::empty(DType::f32, {10, 6});
  across.shape = {6, 10};
  across.strides = {1, 6};
  copy_elements(inputs.at("x"), across);
  EXPECT_EQ(bits_of(again.run({{"x", across}})), expected);
  EXPECT_THROW((void)again.run(inputs_of(*fusion, {{"n", 4000}, {"m", 4096}})), MissingError);
}

TEST(SavedProgram, NamesIndicesOutOfRange) {
  Compiled program = deserialize(saved(kLookup, {.device = "cpu"}));
  Tensors inputs = inputs_of(program.fusion());
  static_cast<int64_t*>(inputs.at("i").data())[3] = 7;
  try {
    (void)program.run(inputs);
    ADD_FAILURE() << "index 7 of 7";
  } catch (const BoundsError& e) {
    EXPECT_NE(std::string(e.what()).find("index 7 at [3] of %i lies outside of the 7 places along dim 0 of %t"),
              std::string::npos)
        << e.what();
  }
}

TEST(SavedProgram, KeepsSchedulesOfItsText) {
  const std::string text = R"(fusion @f (%x: f32[n]) -> (%y) {
  segment @mine (%x) -> (%y) schedule pointwise(vector = 4, unroll = 2) {
    %y = exp(%x)
  }
}
)";
  const auto fusion = parse_fusion(text);
  Compiled program = compile(*fusion, {.device = "cpu"});
  const Tensors inputs = inputs_of(*fusion, {{"n", 100}});
  const auto expected = bits_of(program.run(inputs));
  Compiled again = deserialize(program.serialize());
  EXPECT_EQ(bits_of(again.run(inputs)), expected);
  (void)again.run(inputs_of(*fusion, {{"n", 1}}));
  EXPECT_NE(again.report().kernels[0].schedule.find("vector = 4, unroll = 2"), std::string::npos);
}

// Each of tests/fusions, in f32 with the sizes of its head.
TEST(SavedProgram, OfEveryTypicalFusion) {
  size_t count = 0;
  for (const auto& file : testing::read_fusions(std::filesystem::path(PLAIT_SOURCE_DIR) / "tests/fusions")) {
    const auto fusion = parse_fusion(file.text, {.file = file.name, .set = file.small});
    CompileOptions options{.device = "cpu"};
    for (const auto& let : fusion->size_lets) options.sizes[let.name] = let.value;
    Compiled program = compile(*fusion, options);
    const Tensors inputs = inputs_of(*fusion, options.sizes);
    const auto expected = bits_of(program.run(with_own_copies(*fusion, inputs)));
    Compiled again = deserialize(program.serialize());
    EXPECT_EQ(bits_of(again.run(with_own_copies(*fusion, inputs))), expected) << file.name;
    EXPECT_EQ(again.classes(), 1) << file.name;
    EXPECT_TRUE(again.serialize() == program.serialize()) << file.name;
    ++count;
  }
  EXPECT_GT(count, 90);
}

std::string refusal(const std::string& bytes) {
  try {
    (void)deserialize(bytes, {}, "p.plaitc");
  } catch (const UserError& e) {
    return e.message();
  }
  return "";
}

TEST(SavedProgram, IsWholeOrRefused) {
  const std::string bytes = saved(kSoftmax, {.device = "cpu"});
  EXPECT_EQ(refusal(bytes), "");
  EXPECT_EQ(refusal(""), "`p.plaitc` is no compiled program");
  EXPECT_EQ(refusal("fusion @f () -> () {}"), "`p.plaitc` is no compiled program");
  for (size_t size = 8; size < bytes.size(); size += 1 + size / 7)
    EXPECT_EQ(refusal(bytes.substr(0, size)), "`p.plaitc` is cut") << size;
  EXPECT_EQ(refusal(bytes + "x"), "`p.plaitc` goes on behind its end, 1 byte more");
  for (size_t bit = 0; bit < bytes.size() * 8; bit += 1 + bit / 50) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    EXPECT_NE(refusal(damaged), "") << bit;
  }
}

// Files whose checksum is right: of other versions and machines, and what nobody saved.
TEST(SavedProgram, SaysWhyItDoesNotRunHere) {
  const SavedProgram good = unpack(saved(kSoftmax, {.device = "cpu"}), "p");
  const auto with = [&](const std::function<void(SavedProgram&)>& change) {
    SavedProgram changed = good;
    change(changed);
    return refusal(pack(changed));
  };
  EXPECT_EQ(with([](SavedProgram&) {}), "");
  EXPECT_EQ(with([](SavedProgram& p) { p.version = "0.0.9"; }),
            "`p.plaitc` was made by plait 0.0.9, this is " + version());
  EXPECT_EQ(with([](SavedProgram& p) { p.needs += " avx1024"; }),
            "`p.plaitc` does not run here: it needs a processor with avx1024");
  EXPECT_EQ(with([](SavedProgram& p) { p.needs = "machine code for sm_90a"; }),
            "`p.plaitc` does not run here: it needs machine code for sm_90a, and this is a processor of x86-64");
  EXPECT_NE(with([](SavedProgram& p) { p.device = "tpu"; }), "");
  EXPECT_NE(with([](SavedProgram& p) { p.options.push_back("speed=high"); }), "");
  EXPECT_NE(with([](SavedProgram& p) { p.fusion = "fusion @f ("; }), "");
  EXPECT_NE(with([](SavedProgram& p) { p.classes[0].texts.erase("program"); }), "");
  EXPECT_NE(with([](SavedProgram& p) { p.classes[0].texts["program"] = "program @p () -> () {"; }), "");
  EXPECT_NE(with([](SavedProgram& p) { p.classes[0].kernels.clear(); }), "");
  EXPECT_NE(with([](SavedProgram& p) {
              p.classes[0].kernels[0].text.text += '\n';  // not the kernel that this process has already
              p.classes[0].kernels[0].code =
                  std::make_shared<const std::string>(p.classes[0].kernels[0].code->substr(0, 100));
            }),
            "");
  EXPECT_NE(with([](SavedProgram& p) { p.classes[0].kernels[0].text.waves = {1, 1}; }), "");
  EXPECT_NE(with([](SavedProgram& p) { p.classes[0].kernels[0].text.buffers = 7; }), "");
  EXPECT_NE(with([](SavedProgram& p) { p.classes[0].answers.push_back({"n <", "me", true}); }), "");
}

TEST(SavedProgram, IsRefusedWhereThereIsNothingToSave) {
  const auto fusion = parse_fusion(kSoftmax);
  Compiled program = compile(*fusion, {.device = "cpu"});
  EXPECT_THROW((void)program.serialize(), UserError);
  Compiled reference = compile(*fusion, {.device = "reference"});
  (void)reference.run(inputs_of(*fusion));
  EXPECT_THROW((void)reference.serialize(), UserError);
}

TEST(SavedProgram, IsAFileThatReplacesAnotherWhole) {
  const ScratchFolder scratch;
  const std::string path = scratch.file("p.plaitc", "what was there");
  const auto fusion = parse_fusion(kSoftmax);
  Compiled program = compile(*fusion, {.device = "cpu"});
  EXPECT_THROW(program.save(path), UserError);
  EXPECT_EQ(testing::read_file(path), "what was there");
  const Tensors inputs = inputs_of(*fusion);
  const auto expected = bits_of(program.run(inputs));
  program.save(path);
  EXPECT_EQ(bits_of(load(path).run(inputs)), expected);
  EXPECT_THROW(program.save(scratch / "nowhere/p.plaitc"), UserError);
  EXPECT_THROW((void)load(scratch / "nothing.plaitc"), UserError);
  EXPECT_THROW((void)load(scratch.path()), UserError);
}

}  // namespace
}  // namespace plait
