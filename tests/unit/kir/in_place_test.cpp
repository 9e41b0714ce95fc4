// Which kernels may write an output in the memory of an input, and what is left of them.
#include "kir/passes/in_place.h"

#include <gtest/gtest.h>

#include "kir/parse.h"

namespace plait::kir {
namespace {

// %x is read, %y written. The kernel that is left, or the reason why it may not.
std::string in_place(const std::string& body, const std::string& written = "write", const std::string& more = "") {
  Kernel kernel =
      parse("kernel @k(%x: f32[n] read, %y: f32[n] " + written + more + "; n) target cpu {\n" + body + "}\n");
  const std::string before = print(kernel);
  const uint32_t read[] = {0};
  if (const auto why = write_in_place(kernel, read, 1)) {
    EXPECT_EQ(print(kernel), before);
    return *why;
  }
  verify(kernel);
  EXPECT_EQ(print(parse(print(kernel))), print(kernel));
  return print(kernel);
}

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }
#define EXPECT_HOLDS(text, part) EXPECT_TRUE(holds(text, part)) << text

TEST(KirInPlace, ElementsThatOneIterationReadsAndWrites) {
  const std::string text = in_place(
      "for i in 0..n on cpu_thread {\n %0: f32 = load %x[i] contiguous\n %1: f32 = neg(%0)\n"
      " store %y[i] = %1 contiguous\n}\n");
  EXPECT_HOLDS(text, "%x: f32[n] replace, %y: f32[n] write");
  EXPECT_HOLDS(text, "load %x[i]");
  // Vectors under conditions, halves of what was loaded, a store in the block around the load's condition.
  EXPECT_HOLDS(in_place("for i in 0..n on cpu_thread {\n if 8*i + 8 <= n {\n  %0: f32x8 = load %x[8*i + lane] aligned\n"
                        "  %1: f32x8 = neg(%0)\n  store %y[8*i + lane] = %1 aligned\n }\n}\n"),
               "replace");
  EXPECT_HOLDS(in_place("for i in 0..n on cpu_thread {\n %0: f32x8 = load %x[8*i + lane] contiguous active n - 8*i\n"
                        " %1: f32x8 = neg(%0)\n store %y[8*i + lane] = %1 contiguous active n - 8*i\n}\n"),
               "replace");
  EXPECT_HOLDS(in_place("for i in 0..n on cpu_thread {\n %0: f32x8 = load %x[8*i + lane] contiguous\n"
                        " %1: f32x4 = half(%0, upper = false)\n %2: f32x4 = half(%0, upper = true)\n"
                        " store %y[8*i + lane] = %2 contiguous\n store %y[8*i + 4 + lane] = %1 contiguous\n}\n"),
               "replace");
}

TEST(KirInPlace, WhatOtherIterationsMayHaveWrittenIsRefused) {
  const std::string loop = "for i in 0..n on cpu_thread {\n";
  EXPECT_HOLDS(in_place(loop + " %0: f32 = load %x[n - 1 - i] contiguous\n %1: f32 = neg(%0)\n"
                               " store %y[i] = %1 contiguous\n}\n"),
               "%x is read in other iterations");
  EXPECT_HOLDS(
      in_place(loop + " %0: f32 = load %x[0] contiguous\n %1: f32 = neg(%0)\n store %y[i] = %1 contiguous\n}\n"),
      "other iterations");
  // Behind the store; in a block whose store stands elsewhere; in a loop within.
  EXPECT_HOLDS(in_place(loop + " %0: f32 = literal 1\n store %y[i] = %0 contiguous\n %1: f32 = load %x[i] contiguous\n"
                               " store %z[i] = %1 contiguous\n}\n",
                        "write", ", %z: f32[n] write"),
               "other iterations");
  EXPECT_HOLDS(in_place(loop + " %0: f32 = load %x[i] contiguous\n %1: f32 = neg(%0)\n if i < 3 {\n"
                               "  store %y[i] = %1 contiguous\n }\n}\n"),
               "other iterations");
  EXPECT_HOLDS(in_place(loop + " %0: f32 = variable 0\n for j in 0..n {\n  %1: f32 = load %x[i] contiguous\n"
                               "  assign %0 = %1\n }\n store %y[i] = %0 contiguous\n}\n"),
               "other iterations");
  // More lanes than are stored.
  EXPECT_HOLDS(in_place(loop + " %0: f32x8 = load %x[8*i + lane] contiguous\n %1: f32x4 = half(%0, upper = false)\n"
                               " store %y[8*i + lane] = %1 contiguous\n}\n"),
               "other iterations");
  EXPECT_HOLDS(in_place(loop + " %0: f32x8 = load %x[8*i + lane] contiguous\n %1: f32x8 = neg(%0)\n"
                               " store %y[8*i + lane] = %1 contiguous active n - 8*i\n}\n"),
               "other iterations");
}

TEST(KirInPlace, Phases) {
  const std::string read =
      "phase {\n for i in 0..n on cpu_thread {\n  %0: f32 = load %x[0] contiguous\n"
      "  store %p[i] = %0 contiguous\n }\n}\n";
  const std::string write =
      "phase {\n for i in 0..n on cpu_thread {\n  %1: f32 = load %p[i] contiguous\n"
      "  store %y[i] = %1 contiguous\n }\n}\n";
  EXPECT_HOLDS(in_place(read + write, "write", ", %p: f32[n] workspace"), "replace");
  const std::string late =
      "phase {\n for i in 0..n on cpu_thread {\n  %2: f32 = load %x[i] contiguous\n"
      "  store %z[i] = %2 contiguous\n }\n}\n";
  EXPECT_HOLDS(in_place(read + write + late, "write", ", %z: f32[n] write, %p: f32[n] workspace"),
               "%x is read in a later phase");
}

// What is there already is not stored again, and nothing is left of a loop that did only that.
TEST(KirInPlace, CopiesGo) {
  const std::string copy =
      "for i in 0..n {\n %0: f32x8 = load %x[8*i + lane] contiguous active n - 8*i\n"
      " store %y[8*i + lane] = %0 contiguous active n - 8*i\n}\n";
  const std::string update = "%1: f32 = load %u[0] contiguous\nstore %y[3] = %1 contiguous\n";
  const std::string text = in_place(copy + update, "update", ", %u: f32[1] read");
  EXPECT_FALSE(holds(text, "for ") || holds(text, "load %x")) << text;
  EXPECT_HOLDS(text, "%x: f32[n] read, %y: f32[n] update");
  EXPECT_HOLDS(text, "store %y[3]");
  // Of what else is read while updates go in, nothing is sure.
  const std::string other = "%2: f32 = load %x[5] contiguous\nstore %z[0] = %2 contiguous\n";
  EXPECT_HOLDS(in_place(copy + update + other, "update", ", %z: f32[1] write, %u: f32[1] read"),
               "%x is read while it is updated");
  // Another element, or fewer lanes, is no copy.
  EXPECT_HOLDS(in_place("for i in 0..n {\n %0: f32 = load %x[n - 1 - i] contiguous\n store %y[i] = %0 contiguous\n}\n"),
               "other iterations");
}

TEST(KirInPlace, OfWhatIsNotReadNothingIsAsked) {
  EXPECT_HOLDS(in_place("for i in 0..n on cpu_thread {\n %0: f32 = literal 1\n store %y[i] = %0 contiguous\n}\n"),
               "read");
}

}  // namespace
}  // namespace plait::kir
