// What the norm scheduler takes, refuses and chooses, and the graph that it makes.
#include "schedule/norm.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "support/direct_evaluation.h"
#include "support/norm_cases.h"

namespace plait {
namespace {

std::unique_ptr<Fusion> rows(const std::string& inputs, const std::string& outputs, const std::string& body) {
  return parse_fusion("fusion @f (" + inputs + ") -> (" + outputs + ") {\n" + body + "\n}\n");
}

std::string why_refused(const Fusion& f) {
  const std::string before = print(f);
  const auto reason = reason_of(norm_refuses(f, f.ops(), f.outputs()));
  EXPECT_EQ(print(f), before);
  return reason.value_or("");
}

TEST(Norm, TakesItsCases) {
  for (const test::NormCase& c : test::norm_cases()) {
    const auto fusion = parse_fusion(c.text);
    const Segment& s = fusion->segments.at(0);
    EXPECT_FALSE(norm_refuses(*fusion, s.ops, s.outputs)) << c.name;
  }
}

TEST(Norm, RefusalsSayWhy) {
  const struct {
    const char *inputs, *outputs, *body, *reason;
  } cases[] = {
      {"%x: f32[b, n]", "%y", "%y: f32[b, n] = exp(%x)", "nothing is reduced"},
      {"%x: f32[b, n]", "%s, %t", "%s: f32[b] = sum(%x, dims = [1])\n%t: f32[n] = sum(%x, dims = [0])",
       "reduce different dims"},
      {"%x: f32[b, n], %w: f32[n]", "%s, %y", "%s: f32[b] = sum(%x, dims = [1])\n%y: f32[n] = exp(%w)",
       "has a dim that is none of the rows"},
      {"%x: f32[b, n], %w: f32[n]", "%s, %v",
       "%v: f32[n] = exp(%w)\n%t: f32[b, n] = mul(%x, %v)\n%s: f32[b] = sum(%t, dims = [1])", "does not have all dims"},
      {"%x: f32[b, n]", "%y, %k",
       "%s: f32[b, 1] = sum(%x, dims = [1], keepdim = true)\n%k: f32[b, n], %i: i64[b, n] = sort(%x, dim = 1)\n"
       "%y: f32[b, n] = sub(%x, %s)",
       "neither elementwise nor a reduction"},
      {"%x: f32[b, n]", "%y",
       "%s: f32[b, 1] = sum(%x, dims = [1], keepdim = true)\n%c: f32[b, n] = cumsum(%x, dim = 0)\n%y: f32[b, n] = "
       "sub(%c, %s)",
       "reduce different dims"},
      {"%x: f32[b, n]", "%y",
       "%c: f32[b, n] = cumsum(%x, dim = 1)\n%d: f32[b, n] = cumsum(%x, dim = 1, reverse = true)\n%y: f32[b, n] = "
       "sub(%c, %d)",
       "in opposite directions"},
      {"%x: f32[b, n]", "%a, %c, %d, %e, %g",
       "%a: f32[b, n] = cumsum(%x, dim = 1)\n%c: f32[b, n] = cumsum(%a, dim = 1)\n%d: f32[b, n] = cumsum(%c, dim = 1)\n"
       "%e: f32[b, n] = cumsum(%d, dim = 1)\n%g: f32[b, n] = cumsum(%e, dim = 1)",
       "its 5 scans would run 15 times"},
      {"%x: f32[b, n]", "%y",
       "%s: f32[b, 1] = sum(%x, dims = [1], keepdim = true)\n%r: f32[b, 1] = flip(%s, dims = [0])\n"
       "%y: f32[b, n] = div(%x, %r)",
       "elsewhere along dim 0 than it is made"},
  };
  for (const auto& c : cases) {
    const std::string found = why_refused(*rows(c.inputs, c.outputs, c.body));
    EXPECT_NE(found.find(c.reason), std::string::npos) << c.body << ": " << found;
  }
}

// An output that only moves read, or that is one, gets a store of its own in the kernel.
TEST(Norm, OutputsThatMovesGive) {
  EXPECT_EQ(why_refused(*rows("%x: f32[b, n]", "%r, %s",
                              "%r: f32[b, n] = flip(%x, dims = [1])\n%s: f32[b] = sum(%x, dims = [1])")),
            "");
  EXPECT_EQ(why_refused(*rows("%x: f32[b, n], %t: i64[b, 1]", "%y, %p",
                              "%s: f32[b, 1] = sum(%x, dims = [1], keepdim = true)\n%y: f32[b, n] = div(%x, %s)\n"
                              "%p: f32[b, 1] = gather(%y, %t, dim = 1)")),
            "");
}

schedules::Norm chosen(const Fusion& f, int lanes, sym::Guards* guards = nullptr) {
  const Segment& s = f.segments.at(0);
  return std::get<schedules::Norm>(choose_schedule({f, s, guards}, test::small_target(lanes), s.schedule));
}

TEST(Norm, NumbersFollowFromTheRow) {
  const auto cases = test::norm_cases();
  EXPECT_EQ(print(Schedule(chosen(*parse_fusion(cases[0].text), 8))),
            "norm(vector = 32, rows = 1, parts = 32, keep = 0)");
  ParseOptions wide;
  wide.set = {{"T", "f64"}, {"W", "f64"}};
  EXPECT_EQ(chosen(*parse_fusion(cases[0].text, wide), 16).vector, 32);
  EXPECT_EQ(chosen(*parse_fusion(cases[0].text), 16).vector, 64);
  // No longer than the row, and no parts where it is short.
  const auto text = [](const std::string& n) {
    return "fusion @f (%x: f32[b, " + n + "]) -> (%s) {\n  segment @s1 (%x) -> (%s) schedule norm() {\n" +
           "    %s: f32[b] = sum(%x, dims = [1])\n  }\n}\n";
  };
  EXPECT_EQ(print(Schedule(chosen(*parse_fusion(text("5")), 8))), "norm(vector = 8, rows = 1, parts = 1, keep = 0)");
  EXPECT_EQ(print(Schedule(chosen(*parse_fusion(text("1")), 8))), "norm(vector = 1, rows = 1, parts = 1, keep = 0)");
  EXPECT_EQ(chosen(*parse_fusion(text("512")), 8).parts, 1);
  EXPECT_EQ(chosen(*parse_fusion(text("1024")), 8).parts, 32);
  // Rows that are only summed take 16 lanes on any machine.
  EXPECT_EQ(chosen(*parse_fusion(text("1024")), 8).vector, 16);
  EXPECT_EQ(chosen(*parse_fusion(text("1024")), 16).vector, 16);
}

TEST(Norm, TakesScans) {
  for (const test::NormCase& c : test::scan_cases()) {
    const auto fusion = parse_fusion(c.text);
    const Segment& s = fusion->segments.at(0);
    std::string asked;
    const auto fits = [&](sym::Expr e) { return !(asked += sym::print(e)).empty(); };
    EXPECT_FALSE(norm_refuses(*fusion, s.ops, s.outputs, fits)) << c.name;
    const std::string name = c.name;
    EXPECT_EQ(asked, name == "moving_means" || name == "turned" ? "n < 16385" : "") << name;
  }
}

// Scans know what a part begins with from totals of the parts before it; those that are read at other places of the row
// have whole rows.
TEST(Norm, ScansOfLongRowsAreSplit) {
  const auto split = [](const std::string& shape, const std::string& scan, const std::string& pin = "",
                        const std::string& before = "") {
    const auto fusion = parse_fusion(fmt::format(
        "fusion @f (%x: f32[{}]) -> (%y) {{\n  segment @s (%x) -> (%y) schedule norm({}) {{\n{}    %y = {}\n"
        "  }}\n}}\n",
        shape, pin, before, scan));
    const Segment& s = fusion->segments.at(0);
    return std::get<schedules::Norm>(choose_schedule({*fusion, s}, test::small_target(8), s.schedule))
        .split.value_or(0);
  };
  EXPECT_EQ(split("4, 32768", "cumsum(%x, dim = 1)"), 0);
  EXPECT_EQ(split("4, 32769", "cumsum(%x, dim = 1)"), 16384);
  EXPECT_EQ(split("16, 32769", "cumsum(%x, dim = 1)"), 0);
  EXPECT_EQ(split("100000", "cumprod(%x, dim = 0, reverse = true)"), 16384);
  EXPECT_EQ(split("4, 100000", "logcumsumexp(%x, dim = 1)"), 16384);
  EXPECT_EQ(split("100000", "add(%b, %b)", "", "%b, %i = cummax(%x, dim = 0)\n"), 16384);
  EXPECT_EQ(split("257, 100", "cumsum(%x, dim = 0)"), 128);
  EXPECT_EQ(split("100000", "cumsum(%b, dim = 0)", "", "%a = cumsum(%x, dim = 0)\n%b = exp(%a)\n"), 16384);
  EXPECT_EQ(split("100000", "cumsum(%b, dim = 0)", "", "%a = cumsum(%x, dim = 0)\n%b = cumsum(%a, dim = 0)\n"), 0);
  EXPECT_EQ(split("4, 100", "cumsum(%x, dim = 1)", "vector = 8, split = 40"), 40);
  try {
    split("4, 100", "add(%a, flip(%a, dims = [1]))", "split = 64", "%a = cumsum(%x, dim = 1)\n");
    ADD_FAILURE() << "a row that is read at other places";
  } catch (const UserError& error) {
    EXPECT_EQ(error.message(), "split = 64 does not apply: moves read at other places of %a");
  }
}

TEST(Norm, TotalsStandInFrontOfTheirScans) {
  const auto fusion = parse_fusion(
      "fusion @f (%x: bf16[b, n]) -> (%y, %z) {\n  segment @s (%x) -> (%y, %z) schedule norm(vector = 8, parts = 1, "
      "split = 16) {\n    %c = cumsum(%x, dim = 1)\n    %y = tanh(%c)\n    %z = sum(%c, dims = [1])\n  }\n}\n");
  const Segment& s = fusion->segments.at(0);
  const ScheduledGroup group = *scheduled_group({*fusion, s});
  const std::string text = group.print();
  EXPECT_NE(text.find("%c_wide: f64[b, n] = cast(%x, to = f64)"), std::string::npos) << text;
  EXPECT_NE(text.find("total %c_total of %c\ntotal %c_total of %c_1"), std::string::npos) << text;
}

// Rows of a scan that moves read at other places stay on the stack, or are a kernel of their own.
TEST(Norm, ScansThatAreReadElsewhere) {
  const auto of = [](const std::string& shape, const std::string& body) {
    return rows("%x: f32[" + shape + "]", "%y", body);
  };
  const std::string two =
      "%c: f32[4, 9] = cumsum(%x, dim = 1)\n%f: f32[4, 9] = flip(%c, dims = [1])\n"
      "%y: f32[4, 9] = sub(%c, %f)";
  EXPECT_EQ(why_refused(*of("4, 9", two)), "");
  const auto with = [](std::string text, const std::string& from, const std::string& to) {
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
    return text;
  };
  EXPECT_NE(
      why_refused(*of("4, 16385", with(two, "4, 9", "4, 16385"))).find("of 16385 elements do not stay on the stack"),
      std::string::npos);
  EXPECT_NE(why_refused(*of("4, 9", with(two, "dim = 1", "dim = 0"))).find("read elsewhere along dim 1"),
            std::string::npos);
  EXPECT_NE(why_refused(*of("4, 9", with(with(two, "dim = 1", "dim = 0"), "dims = [1]", "dims = [0]")))
                .find("rows lie apart in memory"),
            std::string::npos);
}

// Who has something to keep asks whether a row fits; others whether rows are so long that tasks share them.
TEST(Norm, AsksForTheLengthOfARowWhereItMatters) {
  for (const test::NormCase& c : test::norm_cases()) {
    const auto fusion = parse_fusion(c.text);
    sym::Guards guards({{"a", 2}, {"b", 3}, {"n", 1000}}, {{}});
    const schedules::Norm numbers = chosen(*fusion, 8, &guards);
    const std::string name = c.name;
    const bool keeps = name == "softmax" || name == "rms_norm_of_tanh" || name == "softmax_of_dims_apart";
    EXPECT_EQ(guards.answers().size(), name == "softmax_of_dims_apart" ? 2u : 1u) << name;
    EXPECT_FALSE(numbers.split) << name;
    EXPECT_EQ(numbers.keep, keeps && name != "softmax_of_dims_apart" ? 16384 : 0) << name;  // 1000 parts of 1024
  }
  sym::Guards guards({{"a", 2}, {"b", 3}, {"n", 100000}}, {{}});
  EXPECT_EQ(chosen(*parse_fusion(test::norm_cases()[0].text), 8, &guards).keep, 0);
}

// Sizes alone decide, not cores.
TEST(Norm, LongRowsAreSplitWhereTheyAreFew) {
  const auto split = [](const std::string& shape, const std::string& dims, int cores, bool again = false) {
    const auto fusion = parse_fusion(fmt::format(
        "fusion @f (%x: f32[{}]) -> (%y) {{\n  segment @s (%x) -> (%y) schedule norm() {{\n    %s = sum(%x, dims = {}, "
        "keepdim = true)\n    %y = {}\n  }}\n}}\n",
        shape, dims, again ? "sub(%x, %s)" : "neg(%s)"));
    Target target = test::small_target(8);
    target.cores = cores;
    const Segment& s = fusion->segments.at(0);
    return std::get<schedules::Norm>(choose_schedule({*fusion, s}, target, s.schedule)).split.value_or(0);
  };
  for (int cores : {1, 64}) {
    EXPECT_EQ(split("1000000", "[0]", cores), 16384);
    EXPECT_EQ(split("1000, 1000", "[0, 1]", cores), 16384);
    EXPECT_EQ(split("32768", "[0]", cores), 0);
    EXPECT_EQ(split("32769", "[0]", cores), 16384);
    EXPECT_EQ(split("63, 100000", "[1]", cores), 16384);
    EXPECT_EQ(split("64, 100000", "[1]", cores), 0);
    EXPECT_EQ(split("15, 100000", "[1]", cores, true), 16384);
    EXPECT_EQ(split("16, 100000", "[1]", cores, true), 0);
    EXPECT_EQ(split("100000, 64", "[0]", cores), 128);
    EXPECT_EQ(split("256, 64", "[0]", cores), 0);
    EXPECT_EQ(split("257, 64", "[0]", cores), 128);
    EXPECT_EQ(split("100000, 9000", "[0]", cores), 128);
    EXPECT_EQ(split("100000, 9000", "[0]", cores, true), 0);
    EXPECT_EQ(split("16, 15, 3136", "[0, 2]", cores, true), 1);
    EXPECT_EQ(split("256, 15, 196", "[0, 2]", cores, true), 8);
    EXPECT_EQ(split("16, 64, 3136", "[0, 2]", cores, true), 0);  // a row lies in the cache of its task
    EXPECT_EQ(split("256, 64, 196", "[0, 2]", cores, true), 0);
    EXPECT_EQ(split("4096, 64, 49", "[0, 2]", cores, true), 0);
    EXPECT_EQ(split("4, 64, 31360", "[0, 2]", cores, true), 0);
    EXPECT_EQ(split("160, 640, 3136", "[0, 2]", cores, true), 0);
    EXPECT_EQ(split("160, 640, 3136", "[0, 2]", cores), 1);
  }
}

// A pinned buffer is refused where it would not hold a row as it is laid out.
TEST(Norm, BuffersHoldTheirRows) {
  const auto text = [](const std::string& shape, const std::string& dims, int keep) {
    return fmt::format(
        "fusion @f (%x: f32[{0}]) -> (%y) {{\n  segment @s (%x) -> (%y) schedule norm(vector = 8, parts = 1, keep = "
        "{2}) {{\n"
        "    %e = exp(%x)\n    %s = sum(%e, dims = {1}, keepdim = true)\n    %y = div(%e, %s)\n  }}\n}}\n",
        shape, dims, keep);
  };
  EXPECT_EQ(chosen(*parse_fusion(text("3, 96", "[1]", 96)), 8).keep, 96);
  EXPECT_THROW(chosen(*parse_fusion(text("3, 97", "[1]", 96)), 8), UserError);
  EXPECT_THROW(chosen(*parse_fusion(text("3, 97", "[1]", 100)), 8), UserError);  // in whole vectors 104
  EXPECT_EQ(chosen(*parse_fusion(text("4, 3, 5", "[0, 2]", 32)), 8).keep, 32);
  EXPECT_THROW(chosen(*parse_fusion(text("4, 3, 5", "[0, 2]", 31)), 8), UserError);
  EXPECT_THROW(chosen(*parse_fusion(text("4, 3, 5", "[0, 2]", 1 << 20)), 8), UserError);
}

TEST(Norm, OfGpusHasBlocksOfThreads) {
  const auto chosen = [](const std::string& numbers, const std::string& n = "n", const char* dtype = "f32") {
    const auto fusion = parse_fusion(
        fmt::format("fusion @f (%x: {1}[b, {0}]) -> (%y) {{\n  segment @s (%x) -> (%y) schedule norm({2}) {{\n"
                    "    %m = amax(%x, dims = [1], keepdim = true)\n    %d = sub(%x, %m)\n    %e = exp(%d)\n"
                    "    %s = sum(%e, dims = [1], keepdim = true)\n    %y = div(%e, %s)\n  }}\n}}\n",
                    n, dtype, numbers));
    const Segment& s = fusion->segments.at(0);
    return print(choose_schedule({*fusion, s}, test::small_target(8, true), s.schedule));
  };
  // Vectors divide the row; short rows share a block.
  EXPECT_EQ(chosen("", "100"), "norm(vector = 4, rows = 4, parts = 1, keep = 128, threads = 32)");
  EXPECT_EQ(chosen("", "512"), "norm(vector = 4, rows = 4, parts = 4, keep = 512, threads = 32)");
  EXPECT_EQ(chosen("", "516"), "norm(vector = 4, rows = 1, parts = 2, keep = 1024, threads = 128)");
  EXPECT_EQ(chosen("", "513"), "norm(vector = 1, rows = 1, parts = 4, keep = 1024, threads = 256, align = 8)");
  EXPECT_EQ(chosen("", "513", "bf16"), "norm(vector = 1, rows = 1, parts = 4, keep = 1024, threads = 256, align = 16)");
  EXPECT_EQ(chosen("", "1022"), "norm(vector = 2, rows = 1, parts = 4, keep = 1024, threads = 128)") << "whole vectors";
  EXPECT_EQ(chosen("", "1021"), "norm(vector = 1, rows = 1, parts = 8, keep = 2048, threads = 256, align = 8)")
      << "with the places in front it is longer than 1024";
  EXPECT_EQ(chosen("keep = 1024", "513"), "norm(vector = 1, rows = 1, parts = 4, keep = 1024, threads = 256)");
  EXPECT_EQ(chosen("", "4104"), "norm(vector = 4, rows = 1, parts = 4, keep = 8192, threads = 512)");
  EXPECT_EQ(chosen("", "8192", "bf16"), "norm(vector = 8, rows = 1, parts = 4, keep = 8192, threads = 256)");
  EXPECT_EQ(chosen("", "2050", "f64"), "norm(vector = 2, rows = 1, parts = 4, keep = 4096, threads = 512)");
  EXPECT_EQ(chosen("", "1"), "norm(vector = 1, rows = 32, parts = 1, keep = 0, threads = 4)");
  EXPECT_EQ(chosen("", "3"), "norm(vector = 1, rows = 32, parts = 1, keep = 4, threads = 4)");
  EXPECT_EQ(chosen("", "32"), "norm(vector = 4, rows = 32, parts = 2, keep = 32, threads = 4)");
  EXPECT_EQ(chosen("", "36"), "norm(vector = 4, rows = 4, parts = 1, keep = 128, threads = 32)");
  EXPECT_EQ(chosen("", "4096", "bf16"), "norm(vector = 8, rows = 1, parts = 4, keep = 4096, threads = 128)");
  EXPECT_EQ(chosen("", "1000000"), "norm(vector = 4, rows = 1, parts = 8, keep = 0, threads = 512)");
  EXPECT_EQ(chosen("threads = 1024, vector = 1"), "norm(vector = 1, rows = 1, parts = 8, keep = 0, threads = 1024)");
  EXPECT_EQ(chosen("rows = 2, threads = 16"), "norm(vector = 1, rows = 2, parts = 8, keep = 0, threads = 16)");
  EXPECT_EQ(chosen("keep = 0", "512"), "norm(vector = 4, rows = 4, parts = 1, keep = 0, threads = 32)");
  EXPECT_EQ(chosen("keep = 1024, threads = 64, rows = 1", "600"),
            "norm(vector = 4, rows = 1, parts = 4, keep = 1024, threads = 64)");
  EXPECT_THROW(chosen("keep = 512", "600"), UserError) << "a row is longer";
  EXPECT_THROW(chosen("keep = 500", "100"), UserError) << "no whole vectors of all threads";
  for (const char* numbers :
       {"keep = 1024", "split = 64", "threads = 48", "rows = 3", "rows = 64, threads = 32", "rows = 2, threads = 8"})
    EXPECT_THROW(chosen(numbers), UserError) << numbers;
  // Threads scan a row together, a column each for itself.
  const auto scanned = [](const std::string& dim, const std::string& numbers) {
    const auto fusion = parse_fusion(
        fmt::format("fusion @f (%x: f32[b, n]) -> (%y) {{\n  segment @s (%x) -> (%y) schedule norm({1}) {{\n"
                    "    %y = cumsum(%x, dim = {0})\n  }}\n}}\n",
                    dim, numbers));
    const Segment& s = fusion->segments.at(0);
    return print(choose_schedule({*fusion, s}, test::small_target(8, true), s.schedule));
  };
  EXPECT_EQ(scanned("1", ""), "norm(vector = 4, rows = 1, parts = 1, keep = 0, threads = 512)");
  EXPECT_EQ(scanned("1", "vector = 1"), "norm(vector = 1, rows = 1, parts = 1, keep = 0, threads = 512)");
  EXPECT_EQ(scanned("0", ""), "norm(vector = 1, rows = 128, parts = 1, threads = 1)");
  EXPECT_THROW(scanned("0", "threads = 16"), UserError);
}

// Blocks merge what all in front of them left, so that parts of very long rows grow with the row.
TEST(Norm, PartsOfScansOfGpusGrow) {
  const auto split = [](const std::string& shape, int dim, bool gpu) {
    const auto fusion = parse_fusion(
        fmt::format("fusion @f (%x: f32[{}]) -> (%y) {{\n  segment @s (%x) -> (%y) {{\n    %y = cumsum(%x, dim = {})\n"
                    "  }}\n}}\n",
                    shape, dim));
    return std::get<schedules::Norm>(
               choose_schedule({*fusion, fusion->segments.at(0)}, test::small_target(8, gpu), schedules::Norm{}))
        .split.value_or(0);
  };
  EXPECT_EQ(split("67108864", 0, true), 16384);
  EXPECT_EQ(split("67108865", 0, true), 32768);
  EXPECT_EQ(split("3, 1000000000", 1, true), 65536);
  EXPECT_EQ(split("1000000000", 0, false), 16384) << "a CPU merges once";
  EXPECT_EQ(split("4096, 64", 0, true), 128);
  EXPECT_EQ(split("4097, 64", 0, true), 256);
  EXPECT_EQ(split("1000000, 64", 0, true), 2048);
}

TEST(Norm, ThreadsAreNoneOfACpu) {
  const auto fusion = parse_fusion(test::norm_cases("threads = 32")[0].text);
  const Segment& s = fusion->segments.at(0);
  EXPECT_THROW(choose_schedule({*fusion, s}, test::small_target(8), s.schedule), UserError);
}

TEST(Norm, GroupsAreGraphsOfTheirOwn) {
  const auto fusion = parse_fusion(test::norm_cases("vector = 8, rows = 2, parts = 4, keep = 256")[2].text);
  Segment& s = fusion->segments.at(0);
  s.schedule = choose_schedule({*fusion, s}, test::small_target(8), s.schedule);
  const std::string before = print(*fusion);
  const auto group = scheduled_group({*fusion, s});
  EXPECT_EQ(print(*fusion), before);
  ASSERT_TRUE(group.has_value());
  verify(*group->graph);
  const std::string text = group->print();
  for (const char* part :
       {"%sum: W[b, 1] loops (merge(0), split(0, 2), parallel(0, cpu_thread), split(2, 8), parallel(3, vectorize), "
        "split(2, 4)) = sum(%w",
        "%mean_store: W[b, 1] = cast(%mean, to = f32)", "copy %c_1 of %c", "reference %sum", "inline %mean 2"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

// Outputs with readers become a value and a store; the copies of a root are its own.
TEST(Norm, EveryPassHasItsOwnCopies) {
  const auto fusion = parse_fusion(test::norm_cases("keep = 0")[0].text);
  Segment& s = fusion->segments.at(0);
  s.schedule = choose_schedule({*fusion, s}, test::small_target(8), s.schedule);
  const auto group = scheduled_group({*fusion, s});
  int exponentials = 0;
  for (const Op* op : group->graph->ops())
    if (const auto* p = as<PointwiseOp>(*op)) exponentials += p->function == Pointwise::exp;
  EXPECT_EQ(exponentials, 2) << group->print();
}

}  // namespace
}  // namespace plait
