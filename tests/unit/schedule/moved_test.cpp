// Kernels of moves: what they take, where their rows begin, and how the group is scheduled.
#include "schedule/moved.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "schedule/reads.h"
#include "schedule/tiles.h"
#include "support/direct_evaluation.h"

namespace plait {
namespace {

std::unique_ptr<Fusion> moves(const std::string& inputs, const std::string& outputs, const std::string& body) {
  return parse_fusion(fmt::format("fusion @f ({}) -> ({}) {{\n{}}}\n", inputs, outputs, body));
}

Segment whole(const Fusion& f) {
  Segment out;
  out.ops = f.ops();
  out.inputs = f.inputs();
  out.outputs = f.outputs();
  return out;
}

std::string why_not_moved(const Fusion& f) { return reason_of(moved_refuses(f.ops(), f.outputs())).value_or(""); }

TEST(Moved, RefusalsSayWhy) {
  EXPECT_EQ(why_not_moved(*moves("%x: f32[a, b]", "%y", "  %y = sum(%x, dims = [1])\n")),
            "sum: %y = sum(%x) is neither elementwise nor a move");
  EXPECT_EQ(why_not_moved(*moves("%x: f32[a, b]", "%p, %y", "  %p = exp(%x)\n  %y = permute(%p, dims = [1, 0])\n")),
            "outputs %p: f32[a, b] and %y: f32[b, a] have different domains");
  std::string doubled = "  %t0 = neg(%x)\n";
  for (int i = 0; i < 7; ++i)
    doubled += fmt::format(
        "  %l{0} = roll(%t{0}, shifts = [1], dims = [1])\n  %r{0} = flip(%t{0}, dims = [1])\n"
        "  %t{1} = cat(%l{0}, %r{0}, dim = 1)\n",
        i, i + 1);
  EXPECT_EQ(why_not_moved(*moves("%x: f32[a, b]", "%t7", doubled)), "its moves read at too many places");
  std::string dear = "  %e = exp(%x)\n";
  std::string sum = "%e";
  for (int i = 1; i < 9; ++i) {
    dear += fmt::format("  %r{0} = roll(%e, shifts = [{0}], dims = [1])\n  %s{0} = add({1}, %r{0})\n", i, sum);
    sum = fmt::format("%s{}", i);
  }
  EXPECT_EQ(why_not_moved(*moves("%x: f32[a, b]", sum, dear)),
            "exp: %e = exp(%x) would be computed again for each of its readers");
}

// A row begins at the first dim from which on every operand lies in one piece.
TEST(Moved, Rows) {
  const auto split = [](const std::string& inputs, const std::string& body) {
    const auto f = moves(inputs, "%y", body);
    const Segment s = whole(*f);
    return std::get<schedules::Pointwise>(choose_schedule({*f, s}, test::small_target(8), {})).split;
  };
  EXPECT_EQ(split("%x: f32[a, b, c], %z: f32[a, b, c]", "  %y = cat(%x, %z, dim = 0)\n"), 1);
  EXPECT_EQ(split("%x: f32[a, b, c], %z: f32[a, b, c]", "  %y = cat(%x, %z, dim = 1)\n"), 2);
  EXPECT_EQ(split("%x: f32[9, b, c], %i: i64[n]", "  %y = index_select(%x, %i, dim = 0)\n"), 1);
  EXPECT_EQ(split("%x: f32[a, b, c]", "  %y = permute(%x, dims = [1, 0, 2])\n"), 2);
  EXPECT_EQ(split("%x: f32[a, b, c], %w: f32[a, 1, 1]", "  %s = flip(%x, dims = [0])\n  %y = add(%s, %w)\n"), 1);
}

// Where an operand lies across the row, both dims have tiles, each with all dims that are one with it in memory.
TEST(Moved, Tiles) {
  const auto tiles = [](const std::string& inputs, const std::string& body) {
    const auto f = moves(inputs, "%y", body);
    const Segment s = whole(*f);
    const auto dims = tile_dims(s, false);
    return dims ? fmt::format("{}..{} across {}..", dims->across, dims->across_end, dims->row) : "none";
  };
  const std::string nchw = "%x: f32[b, c, h, w]";
  EXPECT_EQ(tiles("%x: f32[a, b]", "  %y = permute(%x, dims = [1, 0])\n"), "0..1 across 1..");
  EXPECT_EQ(tiles(nchw, "  %y = permute(%x, dims = [0, 2, 3, 1])\n"), "1..3 across 3..");
  EXPECT_EQ(tiles(nchw, "  %y = permute(%x, dims = [0, 3, 1, 2])\n"), "1..2 across 2..");
  EXPECT_EQ(tiles(nchw, "  %y = permute(%x, dims = [3, 2, 1, 0])\n"), "0..1 across 3..");
  EXPECT_EQ(tiles(nchw, "  %y = permute(%x, dims = [0, 2, 1, 3])\n"), "none");
  EXPECT_EQ(tiles("%x: f32[a, b], %z: f32[b, a]", "  %p = exp(permute(%x, dims = [1, 0]))\n  %y = add(%z, %p)\n"),
            "0..1 across 1..");
  EXPECT_EQ(tiles("%x: f32[a, b], %z: f32[a]", "  %y = add(permute(%x, dims = [1, 0]), %z)\n"), "0..1 across 1..");
  EXPECT_EQ(tiles("%x: f32[a, b, c], %z: f32[1, b, 1]", "  %p = permute(%x, dims = [2, 1, 0])\n  %y = add(%p, %z)\n"),
            "0..1 across 2..");
  EXPECT_EQ(tiles("%x: f32[a, b]", "  %f = flip(%x, dims = [1])\n  %y = permute(%f, dims = [1, 0])\n"), "none");
  EXPECT_EQ(tiles("%x: f32[a, b], %z: f32[b, c]", "  %p = permute(%x, dims = [1, 0])\n  %y = cat(%p, %z, dim = 1)\n"),
            "none");
}

TEST(Moved, TilesAreChosenOrPinned) {
  const auto choose = [](const std::string& pin, const std::string& shape, const std::string& body) -> std::string {
    const auto f = moves("%x: f32" + shape, "%y", body);
    const Segment s = whole(*f);
    try {
      return print(choose_schedule({*f, s}, test::small_target(8), pin.empty() ? Schedule() : parse_schedule(pin)));
    } catch (const UserError& e) {
      return e.message();
    }
  };
  const std::string across = "  %y = permute(%x, dims = [1, 0])\n",
                    rolled = "  %y = roll(%x, shifts = [1], dims = [1])\n";
  EXPECT_EQ(choose("", "[8, 9]", across), "pointwise(vector = 8, tile = 128)");
  EXPECT_EQ(choose("", "[7, 90]", across), "pointwise(vector = 8, unroll = 1, split = 1, block = 0)");
  EXPECT_EQ(choose("", "[90, 7]", across), "pointwise(vector = 8, unroll = 1, split = 1, block = 0)");
  EXPECT_EQ(choose("", "[90, 90]", rolled), "pointwise(vector = 8, unroll = 1, split = 1, block = 0)");
  EXPECT_EQ(choose("pointwise(tile = 16)", "[7, 90]", across), "pointwise(vector = 8, tile = 16)");
  EXPECT_EQ(choose("pointwise(vector = 1, tile = 1)", "[7, 90]", across), "pointwise(vector = 1, tile = 1)");
  EXPECT_EQ(choose("pointwise(vector = 4)", "[70, 90]", across), "pointwise(vector = 4, tile = 128)");
  EXPECT_EQ(choose("pointwise(block = 64)", "[70, 90]", across),
            "pointwise(vector = 8, unroll = 1, split = 1, block = 64)");
  EXPECT_EQ(choose("pointwise(vector = 8, tile = 4)", "[70, 90]", across), "tile = 4 is less than vector = 8");
  EXPECT_EQ(choose("pointwise(tile = 16)", "[70, 90]", rolled), "no operand lies across the row");
  EXPECT_EQ(choose("pointwise(tile = 16, block = 64)", "[70, 90]", across),
            "a schedule of tiles has no split, block, unroll, pieces, along or each");
  EXPECT_EQ(choose("pointwise(tile = 16)", "[70, 90]", "  %y = exp(%x)\n"), "no operand lies across the row");
}

// What a thread of a GPU has several of, where the tensor is large enough to keep all multiprocessors busy.
TEST(Moved, RepeatsOfGpus) {
  const auto choose = [](const std::string& inputs, const std::string& body) {
    const auto f = moves(inputs, "%y", body);
    const Segment s = whole(*f);
    const auto numbers = std::get<schedules::Pointwise>(choose_schedule({*f, s}, target_named("sm_80"), {}));
    std::string out = numbers.along ? fmt::format("{} along {}", *numbers.each, *numbers.along) : "one row";
    return numbers.pieces ? fmt::format("{}, {} pieces", out, *numbers.pieces) : out;
  };
  const std::string bias = "  %y = add(%x, %w)\n";
  const auto rotated = [](int d) {
    return fmt::format(
        "  %a = slice(%x, dim = 3, start = {0}, stop = {1})\n  %b = slice(%x, dim = 3, start = 0, stop = {0})\n"
        "  %c = cat(neg(%a), %b, dim = 3)\n  %y = add(mul(%x, %w), mul(%c, %v))\n",
        d / 2, d);
  };
  EXPECT_EQ(choose("%x: bf16[8192, 4096], %w: bf16[4096]", bias), "8 along 0");
  EXPECT_EQ(choose("%x: bf16[256, 4096], %w: bf16[4096]", bias), "2 along 0");
  EXPECT_EQ(choose("%x: bf16[64, 4096], %w: bf16[4096]", bias), "one row");
  EXPECT_EQ(choose("%x: bf16[8193, 4096], %w: bf16[4096]", bias), "one row") << "rows are divided evenly";
  EXPECT_EQ(choose("%x: bf16[8192, 4096], %w: bf16[8192, 1]", bias), "one row") << "one element of a row";
  EXPECT_EQ(choose("%x: bf16[8192, 4096], %w: bf16[8192, 4096]", bias), "one row");
  EXPECT_EQ(choose("%x: bf16[64, 32, 4096], %w: bf16[64, 1, 4096]", bias), "8 along 1");
  EXPECT_EQ(choose("%x: bf16[2, 32, 2048, 128], %w: bf16[2048, 128], %v: bf16[2048, 128]", rotated(128)),
            "8 along 1, 2 pieces");
  EXPECT_EQ(choose("%x: bf16[a, 32, 2048, 128], %w: bf16[2048, 128], %v: bf16[2048, 128]", rotated(128)),
            "one row, 2 pieces")
      << "nobody says how large it is";
  EXPECT_EQ(choose("%x: bf16[33, 32, 2048, 128], %w: bf16[2048, 128], %v: bf16[2048, 128]", rotated(128)),
            "8 along 1, 2 pieces");
  EXPECT_EQ(choose("%x: bf16[2, 3, 20, 128], %w: bf16[20, 128], %v: bf16[20, 128]", rotated(128)), "one row, 2 pieces");
  EXPECT_EQ(choose("%x: bf16[2, 3, 20, 24], %w: bf16[20, 24], %v: bf16[20, 24]", rotated(24)), "one row")
      << "a half is no vectors";
  EXPECT_EQ(choose("%x: bf16[64, 128]", "  %y = flip(%x, dims = [1])\n"), "one row") << "has no halves";
}

TEST(Moved, TilesOfGpus) {
  const auto choose = [](const std::string& pin, const std::string& inputs, const std::string& body) -> std::string {
    const auto f = moves(inputs, "%y", body);
    const Segment s = whole(*f);
    try {
      return print(choose_schedule({*f, s}, target_named("sm_80"), pin.empty() ? Schedule() : parse_schedule(pin)));
    } catch (const UserError& e) {
      return e.message();
    }
  };
  const std::string across = "  %y = permute(%x, dims = [1, 0])\n";
  EXPECT_EQ(choose("", "%x: f32[16, 16]", across), "pointwise(vector = 1, tile = 32, threads = 32, rows = 8)");
  EXPECT_EQ(choose("", "%x: f32[90, 15]", across),
            "pointwise(vector = 2, unroll = 1, split = 1, threads = 64, rows = 4)");
  EXPECT_EQ(choose("", "%x: bf16[64, 64]", across), "pointwise(vector = 2, tile = 64, threads = 32, rows = 8)");
  EXPECT_EQ(choose("", "%x: bf16[31, 64]", across), "pointwise(vector = 1, tile = 32, threads = 32, rows = 8)");
  EXPECT_EQ(choose("", "%x: u8[64, 64]", across), "pointwise(vector = 4, tile = 128, threads = 32, rows = 8)");
  EXPECT_EQ(choose("", "%x: bf16[64, 64], %z: f32[64, 64]", "  %y = add(permute(%x, dims = [1, 0]), %z)\n"),
            "pointwise(vector = 2, tile = 64, threads = 32, rows = 8)")
      << "of what lies across alone";
  EXPECT_EQ(choose("", "%x: bf16[64, 64], %z: f32[64, 64]",
                   "  %p = permute(%x, dims = [1, 0])\n  %q = permute(%z, dims = [1, 0])\n  %y = add(%p, %q)\n"),
            "pointwise(vector = 1, tile = 32, threads = 32, rows = 8)");
  EXPECT_EQ(choose("pointwise(tile = 16)", "%x: f32[7, 90]", across),
            "pointwise(vector = 1, tile = 16, threads = 16, rows = 8)");
  EXPECT_EQ(choose("pointwise(tile = 2)", "%x: f32[7, 90]", across),
            "pointwise(vector = 1, tile = 2, threads = 2, rows = 2)");
  EXPECT_EQ(choose("pointwise(rows = 4)", "%x: f32[70, 90]", across),
            "pointwise(vector = 2, unroll = 1, split = 1, threads = 64, rows = 4)");
  EXPECT_EQ(choose("pointwise(tile = 2, vector = 4)", "%x: f32[70, 90]", across),
            "2 rows of 1 threads of 4 elements are no part of a tile of 2");
}

TEST(Moved, EveryOpIsARead) {
  const auto f = moves("%x: f32[a, 8]", "%y", "  %r = roll(%x, shifts = [1], dims = [1])\n  %y = add(%x, %r)\n");
  Segment s;
  s.ops = f->ops();
  s.inputs = f->inputs();
  s.outputs = f->outputs();
  s.schedule = choose_schedule({*f, s}, test::small_target(8), {});
  const auto group = scheduled_group({*f, s});
  ASSERT_TRUE(group);
  const std::string text = group->print();
  EXPECT_NE(text.find("reference %y_store\nread %r\nread %y\n"), std::string::npos) << text;
}

// Reductions are none, and a reshape of what they make only where it asks for no other row.
TEST(Reads, OfGroupsThatReduce) {
  const auto names = [](const std::string& body) {
    const auto f = moves("%x: f32[a, 4, c]", "%y", body);
    std::string out;
    const auto reads = find_reads(f->ops());
    for (const Op* op : f->ops())
      if (reads.contains(op)) out += (out.empty() ? "" : " ") + op->results[0]->name;
    return out;
  };
  const std::string norm = "  %s = sum(%x, dims = [2], keepdim = true)\n  %n = div(%x, %s)\n";
  EXPECT_EQ(names(norm + "  %f = flip(%n, dims = [2])\n  %y = add(%n, %f)\n"), "n f");
  EXPECT_EQ(names(norm + "  %r = reshape(%n, shape = [a*4, c])\n  %y = exp(%r)\n"), "");
  EXPECT_EQ(names("  %g = reshape(%x, shape = [a*4, c])\n  %s = sum(%g, dims = [1])\n  %y = exp(%s)\n"), "g");
}

}  // namespace
}  // namespace plait
