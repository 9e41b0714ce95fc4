// Of all fusions that are here as text, what `explain --segments` says where two segments meet, on CPUs and on GPUs:
// that each refusal has a suggestion and none is of a scheduler that neither side concerns; and that suggestions are
// true: with what they say, both sides are one segment.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "device/target.h"
#include "ir/launches.h"
#include "plait.h"
#include "segment/boundaries.h"
#include "session/bind_inputs.h"
#include "support/fusion_files.h"
#include "support/planned_device.h"
#include "support/run_case.h"

namespace plait {
namespace {

namespace fs = std::filesystem;
const fs::path kSource = PLAIT_SOURCE_DIR;

// As text, for the sizes that the file has by itself.
struct Found {
  std::string text;
  size_t segments = 0, boundaries = 0;
};

// The schedule that the suggestion names takes both sides, as the sizes are.
void check_schedule(const Boundary& b, const std::string& change, const Target& target, sym::Guards& guards) {
  const std::string words = "write both as one `segment` with `schedule ";
  const size_t at = change.find(words);
  if (at == std::string::npos) return;
  const std::string name = change.substr(at + words.size(), change.find('`', at + words.size()) - at - words.size());
  const Fusion& fusion = *b.tensors.front()->fusion;
  Segment both = as_one(fusion, std::array{b.from, b.to});
  both.name = "both";
  EXPECT_NO_THROW(choose_schedule({fusion, both, &guards}, target, parse_schedule(name))) << change;
}

void check(const Boundary& b, const Target& target, sym::Guards& guards, const std::string& where) {
  EXPECT_FALSE(b.refusers.empty()) << where;
  const auto has = [&](auto&& is) {
    return std::ranges::any_of(b.from->ops, is) || std::ranges::any_of(b.to->ops, is);
  };
  const bool scatters = has([](const Op* op) { return op->kind == OpKind::Scatter; }),
             contracts = has([](const Op* op) { return property(op->kind) == OpProperty::contraction; });
  std::set<std::string> names;
  for (const auto& [by, refused] : b.refusers) {
    SCOPED_TRACE(where + ": " + by + " refuses: " + refused.reason);
    EXPECT_TRUE(names.insert(by).second);
    EXPECT_FALSE(refused.reason.empty());
    EXPECT_GT(refused.change.size(), std::string("nothing: ").size());
    EXPECT_EQ(refused.change.find("docs/"), std::string::npos) << refused.change;
    EXPECT_TRUE(scatters || by != "scatter");
    EXPECT_TRUE(contracts || (by != "contraction" && by != "attention"));
    check_schedule(b, refused.change, target, guards);
  }
}

Found find_boundaries(const std::string& text, const std::string& target, const std::string& where = "a text") {
  const auto fusion = parse_fusion(text);
  testing::PlannedDevice device(target == "cpu" ? find_device("cpu", {}).target() : target_named(target));
  Compiled program = compile(*fusion, {.device_override = &device, .sizes = lets_of_open_symbols(*fusion)});
  const Metadata metadata = testing::metadata_of(*fusion);
  program.prepare(metadata);
  Sizes given = mesh_symbols(fusion->mesh(), program.mesh());
  given.merge(lets_of_open_symbols(*fusion));
  sym::Guards guards(bind_sizes(*fusion, metadata, given), {});
  const std::vector<Boundary> found = boundaries(program.localized(), device.target(), &guards);
  for (const Boundary& b : found) check(b, device.target(), guards, where + " on " + target);
  return {print(found), program.localized().segments.size(), found.size()};
}

std::string text_of(const fs::path& file) {
  std::ostringstream out;
  out << std::ifstream(file).rdbuf();
  return out.str();
}

std::string fusion_text(const std::string& name) { return text_of(kSource / "tests/fusions" / (name + ".plait")); }

// `from`, which the text has once, becomes `to`.
std::string with(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  if (at == std::string::npos) return text;
  EXPECT_EQ(text.find(from, at + 1), std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

void expect_found(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "no `" << part << "` in:\n" << text;
}

TEST(Reasons, EveryBoundaryOfEveryTextHasASuggestion) {
  size_t texts = 0, found = 0;
  for (const char* folder : {"tests/fusions", "docs/examples", "docs/examples/sharded", "docs/examples/by_hand"})
    for (const auto& entry : fs::directory_iterator(kSource / folder)) {
      if (entry.path().extension() != ".plait") continue;
      const std::string text = text_of(entry.path());
      for (const std::string target : {"cpu", "sm_90a"}) {
        const bool by_hand = text.find("schedule manual") != text.npos || text.find("loops (") != text.npos;
        if (target != "cpu" && by_hand) continue;  // refused there
        found += find_boundaries(text, target, entry.path().filename().string()).boundaries;
        ++texts;
      }
    }
  EXPECT_GE(texts, 200u);
  EXPECT_GE(found, 300u);
}

TEST(Suggestions, ReduceTheSameDims) {
  const std::string text = fusion_text("returns_normalised");
  const Found before = find_boundaries(text, "cpu");
  expect_found(before.text, "to change: reduce the same dims on both sides");
  const Found after = find_boundaries(with(text, "var_mean(%g)", "var_mean(%g, dims = [1], keepdim = true)"), "cpu");
  EXPECT_GT(before.segments, 1u);
  EXPECT_EQ(after.segments, 1u) << after.text;
}

TEST(Suggestions, MoveTheInputs) {
  const std::string text = fusion_text("shifted_windows");
  const Found before = find_boundaries(text, "cpu");
  expect_found(before.text, "apply the move to the inputs of what it reads");
  std::string moved = with(text, "layer_norm(%x, %w, %bias)", "roll(%x, shifts = [-2, -2], dims = [1, 2])");
  moved = with(moved, "reshape(roll(%n, shifts = [-2, -2], dims = [1, 2]), shape", "reshape(%n, shape");
  moved = with(moved, "  %y = reshape(permute(%r, dims = [0, 1, 3, 2, 4, 5]), shape = [b*h*v, 16, c])\n",
               "  %t = reshape(permute(%r, dims = [0, 1, 3, 2, 4, 5]), shape = [b*h*v, 16, c])\n"
               "  %y = layer_norm(%t, %w, %bias)\n");
  for (const char* target : {"cpu", "sm_90a"}) {
    const Found after = find_boundaries(moved, target);
    EXPECT_EQ(after.segments, 1u) << target << "\n" << after.text;
  }
}

TEST(Suggestions, GiveRowsOneLengthOrCompileForTheCpu) {
  const std::string text = fusion_text("segment_mean");
  const Found before = find_boundaries(text, "sm_90a");
  expect_found(before.text, "to change: give both rows of one length, or compile for the CPU");
  EXPECT_EQ(find_boundaries(text, "cpu").segments, 1u);
  std::string wide = with(text, "full(shape = [segments], value", "full(shape = [segments, n], value");
  wide = with(wide, "%id, full(shape = [rows], value", "%ids, full(shape = [rows, n], value");
  wide = with(wide, "unsqueeze(max(%counts, 1.0), dims = [1])", "max(%counts, 1.0)");
  const Found after = find_boundaries(wide, "sm_90a");
  EXPECT_EQ(after.segments, 1u) << after.text;
}

TEST(Suggestions, CompileForTheCpuWhichKeepsRows) {
  const std::string text = fusion_text("moving_average");
  expect_found(find_boundaries(text, "sm_90a").text, "to change: compile for the CPU, which keeps them");
  EXPECT_EQ(find_boundaries(text, "cpu").segments, 1u);
}

TEST(Suggestions, WriteLoopsByHand) {
  const std::string text = fusion_text("accuracy");
  expect_found(find_boundaries(text, "cpu").text, "by hand both are one: segment @a (...) -> (...) schedule manual");
  const std::string op = "  %y = mean(cast(eq(argmax(%x, dims = [1]), %target), to = T))\n";
  const std::string by_hand = with(text, op, "segment @a (%x, %target) -> (%y) schedule manual {\n" + op + "}\n");
  EXPECT_EQ(find_boundaries(by_hand, "cpu").segments, 1u);
}

// What stands behind a call of a library is computed with it by tiles in its place.
TEST(Suggestions, WriteBothAsOneSegmentOfTiles) {
  const std::string head = R"(
let rows = 512, h = 512, n = 1024
fusion @f (%x: f32[rows, h], param %w: f32[n, h], param %b: f32[n]) -> (%y) {
)";
  const std::string ops = "  %p = linear(%x, %w)\n  %y = relu(add(%p, %b))\n";
  for (const char* target : {"cpu", "sm_90a"}) {
    const Found before = find_boundaries(head + ops + "}\n", target);
    if (before.text.find("library refuses") == std::string::npos) continue;  // tiles have both already
    expect_found(before.text, "to change: write both as one `segment` with `schedule contraction()`");
    const Found after =
        find_boundaries(head + "segment @a (%x, %w, %b) -> (%y) schedule contraction() {\n" + ops + "}\n}\n", target);
    EXPECT_EQ(after.segments, 1u) << target << "\n" << after.text;
  }
}

// Statements of a kernel have a limit, which is told with the number that lifts it.
TEST(Suggestions, WriteBothAsOneSegment) {
  std::string ops = "  %t0 = exp(%x)\n";
  for (int i = 1; i < 200; ++i) ops += fmt::format("  %t{} = add(%t{}, {}.5)\n", i, i - 1, i);
  ops += "  %y = neg(%t199)\n";
  const std::string head = "let n = 4096\nfusion @f (%x: f32[n]) -> (%y) {\n";
  const Found before = find_boundaries(head + ops + "}\n", "cpu");
  EXPECT_GT(before.segments, 1u);
  expect_found(before.text, "cost refuses: pointwise takes both: together ");
  expect_found(before.text, "or write both as one `segment` with `schedule pointwise()`");
  const Found after =
      find_boundaries(head + "segment @a (%x) -> (%y) schedule pointwise() {\n" + ops + "}\n}\n", "cpu");
  EXPECT_EQ(after.segments, 1u) << after.text;
}

}  // namespace
}  // namespace plait
