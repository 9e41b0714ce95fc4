// Schedules by hand: a softmax, a transposed addition and a rope, in a file and in C++, give one kernel each, and the
// same one; what does not hold is refused by name.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <array>
#include <sstream>

#include "base/error.h"
#include "plait.h"
#include "reference/draw_inputs.h"
#include "support/examples.h"
#include "support/run_case.h"

namespace plait {
namespace {

using testing::CaseOptions;
using testing::example;
using testing::run_case;

struct Tutorial {
  const char* name;
  std::vector<std::map<std::string, std::string, std::less<>>> sizes;
};

const std::vector<Tutorial>& tutorials() {
  static const std::vector<Tutorial> all = {
      {"softmax", {{}, {{"n", "1"}}, {{"n", "15"}}, {{"b", "1"}, {"n", "4096"}}, {{"b", "3"}, {"n", "17"}}}},
      {"transposed_add", {{}, {{"m", "1"}}, {{"m", "15"}, {"n", "17"}}, {{"m", "16"}, {"n", "16"}}, {{"n", "1"}}}},
      {"rope", {{}, {{"b", "1"}, {"h", "1"}, {"s", "1"}}, {{"s", "3"}}}},
      {"matmul",
       {{},
        {{"m", "1"}, {"n", "1"}, {"k", "1"}},
        {{"m", "5"}, {"n", "15"}, {"k", "2"}},
        {{"m", "47"}, {"n", "17"}, {"k", "4096"}},
        {{"m", "49"}, {"n", "161"}, {"k", "33"}}}},
  };
  return all;
}

std::string file(const std::string& name) { return example("by_hand/" + name); }

TEST(Manual, TutorialsOfFilesAreOneKernel) {
  for (const Tutorial& tutorial : tutorials()) {
    for (const auto& sizes : tutorial.sizes) {
      CaseOptions how;
      how.set = sizes;
      for (int threads : {1, 3}) {
        how.options.cpu_threads = threads;
        const auto result = run_case(file(tutorial.name), how);
        EXPECT_TRUE(result.ok) << tutorial.name << ": " << result.message;
        EXPECT_EQ(result.kernels, 1) << tutorial.name;
        EXPECT_EQ(result.report.launches, 1) << tutorial.name;
      }
    }
  }
}

std::string text_of(const Fusion& fusion, const std::string& stage) {
  CompileOptions how;
  how.device = "cpu";
  how.until = stage;
  const auto inputs = reference::draw_inputs(fusion, {});
  try {
    compile(fusion, how).run({inputs.begin(), inputs.end()});
  } catch (const StoppedAt& stop) {
    return stop.text;
  }
  return "";
}

std::unique_ptr<Fusion> softmax_in_cpp() {
  auto fusion = std::make_unique<Fusion>(Mesh(), "softmax");
  Fusion& f = *fusion;
  f.let("b", 64);
  f.let("n", 1000);
  TensorView* x = f.input("x", {"b", "n"}, f32);
  TensorView* m = amax(x, {1}, true);
  TensorView* e = exp(sub(x, m));
  TensorView* s = sum(e, {1}, true);
  TensorView* y = f.output("y", div(e, s));
  y->parallelize(0, ParallelType::cpu_thread).split(1, 16).parallelize(2, ParallelType::vectorize);
  for (TensorView* t : {m, e, s}) t->inline_at(1);
  e->keep(4096);
  return fusion;
}

std::unique_ptr<Fusion> transposed_add_in_cpp() {
  auto fusion = std::make_unique<Fusion>(Mesh(), "transposed_add");
  Fusion& f = *fusion;
  f.let("m", 500);
  f.let("n", 1000);
  TensorView* x = f.input("x", {"n", "m"}, f32);
  TensorView* z = f.input("z", {"m", "n"}, f32);
  TensorView* y = f.output("y", add(permute(x, {1, 0}), z));
  TensorView* c = x->cache_after();
  c->split(1, 16).split(0, 16).reorder({2, 0, 1, 3}).inline_at(2).keep(256);
  y->split(1, 16).split(0, 16).reorder({0, 2, 1, 3});
  for (TensorView* t : {c, y}) t->parallelize(0, ParallelType::cpu_thread).parallelize(3, ParallelType::vectorize);
  return fusion;
}

std::unique_ptr<Fusion> rope_in_cpp() {
  auto fusion = std::make_unique<Fusion>(Mesh(), "rope");
  Fusion& f = *fusion;
  f.let("b", 2);
  f.let("h", 4);
  f.let("s", 64);
  TensorView* x = f.input("x", {"b", "h", "s", 64}, f32);
  TensorView* cosine = f.input("cos", {"s", 64}, f32);
  TensorView* sine = f.input("sin", {"s", 64}, f32);
  TensorView* lo = slice(x, 3, 0, 32);
  TensorView* hi = slice(x, 3, 32, 64);
  TensorView* turned = cat({neg(hi), lo}, 3);
  TensorView* a = mul(x, cosine);
  TensorView* c = mul(turned, sine);
  TensorView* y = f.output("y", add(a, c));
  y->merge(0).merge(0).parallelize(0, ParallelType::cpu_thread);
  y->split(1, 16).parallelize(2, ParallelType::vectorize);
  return fusion;
}

std::unique_ptr<Fusion> matmul_in_cpp() {
  auto fusion = std::make_unique<Fusion>(Mesh(), "matmul");
  Fusion& f = *fusion;
  f.let("m", 128);
  f.let("k", 96);
  f.let("n", 160);
  f.given(sym::parse_facts("k: 1 in 1..4096"));
  TensorView* a = f.input("a", {"m", "k"}, f32);
  TensorView* b = f.input("b", {"k", "n"}, f32);
  TensorView* bias = f.input("bias", {"n"}, f32);
  TensorView* p = matmul(a, b);
  TensorView* y = f.output("y", gelu(add(p, bias)));
  TensorView* c = b->cache_after();
  c->split(1, 16).reorder({1, 0, 2}).parallelize(2, ParallelType::vectorize).inline_at(2).keep(65536);
  p->split(0, 48).split(1, 6).split(3, 16).reorder({0, 3, 1, 5, 2, 4}).parallelize(0, ParallelType::cpu_thread);
  p->parallelize(4, ParallelType::unroll).parallelize(5, ParallelType::vectorize).inline_at(3);
  y->split(0, 48).split(1, 6).split(3, 16).reorder({0, 3, 1, 2, 4}).parallelize(0, ParallelType::cpu_thread);
  y->parallelize(3, ParallelType::unroll).parallelize(4, ParallelType::vectorize);
  return fusion;
}

// Lines of the loop trees and kernels with the names of tensors left out.
std::string without_names(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    if (text[i] != '%') continue;
    while (i + 1 < text.size() && (std::isalnum(static_cast<unsigned char>(text[i + 1])) || text[i + 1] == '_')) ++i;
  }
  return out;
}

TEST(Manual, CppAndFilesAreTwoSpellings) {
  const std::pair<const char*, std::unique_ptr<Fusion> (*)()> pairs[] = {{"softmax", softmax_in_cpp},
                                                                         {"transposed_add", transposed_add_in_cpp},
                                                                         {"rope", rope_in_cpp},
                                                                         {"matmul", matmul_in_cpp}};
  for (const auto& [name, make] : pairs) {
    const auto built = make();
    EXPECT_EQ(print(*parse_fusion(print(*built))), print(*built));
    EXPECT_TRUE(equal(*parse_fusion(print(*built)), *built)) << name;
    const auto written = parse_fusion(file(name));
    const std::string text = text_of(*written, "scheduled"), tree = text.substr(text.find("tree {"));
    const std::string other = text_of(*built, "scheduled");
    EXPECT_EQ(without_names(other.substr(other.find("tree {"))), without_names(tree)) << name;
    const auto result = run_case(print(*built), {});
    EXPECT_TRUE(result.ok) << name << ": " << result.message;
    EXPECT_EQ(result.kernels, 1) << name;
  }
}

// What is printed behind segmentation is read again, and means the same.
TEST(Manual, TextOfSegmentsIsObeyed) {
  for (const Tutorial& tutorial : tutorials()) {
    const std::string text = text_of(*parse_fusion(file(tutorial.name)), "segments");
    EXPECT_EQ(text_of(*parse_fusion(text), "segments"), text);
  }
}

std::string why_refused(const std::string& text, const CaseOptions& how = {}) {
  try {
    run_case(text, how);
    return "";
  } catch (const UserError& e) {
    return e.message() + "\n" + e.where() + "\n" + e.remedy();
  }
}

std::string segment_of(const std::string& body, const std::string& outputs = "%y", const std::string& facts = "") {
  return facts + "fusion @f (%x: f32[b, n], %w: f32[n, b]) -> (" + outputs + ") {\n  segment @a (%x, %w) -> (" +
         outputs + ") schedule manual {\n" + body + "  }\n}\n";
}

TEST(Manual, WhatIsNotObeyedIsRefusedByName) {
  const std::string lets = "let b = 8, n = 100\n";
  const struct {
    const char *body, *message, *remedy;
  } cases[] = {
      // Another place than asked.
      {"%m: f32[b, 1] inline 2 = amax(%x, dims = [1], keepdim = true)\n"
       "%y: f32[b, n] loops (split(1, 16)) = sub(mul(%x, permute(%w, dims = [1, 0])), %m)\n",
       "inline 2 of %m is not obeyed", "smaller inline position"},
      {"%e: f32[b, n] inline 9 = exp(%x)\n%y: f32[b, n] loops (split(1, 4)) = add(%e, permute(%w, dims = [1, 0]))\n",
       "inline 9 of %e is not obeyed: it stands in 3 loops", "reorder"},
      // Buffers.
      {"%e: f32[b, n] inline 1 keep 16 = exp(%x)\n"
       "%y: f32[b, n] loops (split(1, 4)) = add(%e, permute(%w, dims = [1, 0]))\n",
       "keep 16 of %e is not obeyed: its buffer holds", "keep more"},
      {"%e: f32[b, n] keep 16 = exp(%x)\n%y: f32[b, n] loops (split(1, 4)) = add(%e, permute(%w, dims = [1, 0]))\n",
       "it needs no buffer", "smaller inline position"},
      // Kinds of loops.
      {"%y: f32[b, n] loops (parallel(1, vectorize)) = add(%x, permute(%w, dims = [1, 0]))\n",
       "loop 1 of %y cannot be vectorize: its extent is n", "change the loops"},
      {"%y: f32[b, n] loops (split(1, 6), parallel(2, vectorize)) = add(%x, permute(%w, dims = [1, 0]))\n",
       "lanes are powers of two", "change the loops"},
      {"%y: f32[b, n] loops (parallel(0, block_x)) = add(%x, permute(%w, dims = [1, 0]))\n", "it is of GPUs", ""},
      {"%m: f32[b, 1] loops (parallel(2, cpu_thread)) = amax(%x, dims = [1], keepdim = true)\n"
       "%y: f32[b, n] = sub(mul(%x, permute(%w, dims = [1, 0])), %m)\n",
       "loop 2 of %m is not obeyed: it is serial, not cpu_thread", "loops over threads stand outermost"},
      {"%m: f32[b, 1] inline 0 = amax(%x, dims = [1], keepdim = true)\n"
       "%y: f32[b, n] loops (parallel(0, cpu_thread)) = sub(mul(%x, permute(%w, dims = [1, 0])), %m)\n",
       "%m", "inline"},
      // Of an index the state is two values; of a tile whose size is no number they are as many as nobody knows.
      {"%p = mul(%x, permute(%w, dims = [1, 0]))\n"
       "%s: i64[b] loops (split(0, 2), reorder(0, 2, 1)) inline 0 = argmax(%p, dims = [1])\n"
       "%y: f32[b, n] = add(%x, broadcast(cast(%s, to = f32), shape = [b, n], dims = [0]))\n",
       "%s is reduced outside of a loop over its kept dims", "reorder"},
      // A sum whose rows are walked inside of what it sums.
      {"%s: f32[b, 1] = sum(%x, dims = [1], keepdim = true)\n"
       "%y: f32[b, n] loops (reorder(1, 0), split(1, 4), split(0, 2)) = div(mul(%x, permute(%w, dims = [1, 0])), %s)\n",
       "%s is reduced outside of a loop over its kept dims", "reorder"},
  };
  for (const auto& c : cases) {
    const std::string found = why_refused(lets + segment_of(c.body));
    EXPECT_NE(found.find(c.message), std::string::npos) << c.body << found;
    EXPECT_NE(found.find(c.remedy), std::string::npos) << c.body << found;
  }
  const std::string symbolic =
      why_refused(segment_of("%y: f32[b, n] loops (split(1, n)) = add(%x, permute(%w, dims = [1, 0]))\n", "%y",
                             "let b = 8, n = 100\ngiven n: 1 in 1..1000\n"));
  EXPECT_NE(symbolic.find("%y is split by n, which is no number"), std::string::npos) << symbolic;
}

// Two tiles in one loop: what begins and ends each of them stays with it.
TEST(Manual, TilesSideBySide) {
  const std::string tile =
      "loops (split(0, 4), split(2, 8), reorder(0, 2, 4, 1, 3), parallel(0, cpu_thread), parallel(3, unroll), "
      "parallel(4, vectorize)) inline 2";
  const std::string text =
      "fusion @f (%a: f32[m, k], %b: f32[k, n], %c: f32[k, n]) -> (%y) {\n"
      "  segment @s (%a, %b, %c) -> (%y) schedule manual {\n    %p: f32[m, n] " +
      tile + " = matmul(%a, %b)\n    %q: f32[m, n] " + tile +
      " = matmul(%a, %c)\n"
      "    %y: f32[m, n] loops (split(0, 4), split(2, 8), reorder(0, 2, 1, 3), parallel(0, cpu_thread), "
      "parallel(2, unroll), parallel(3, vectorize)) = mul(%p, %q)\n  }\n}\n";
  for (const auto& [m, n, k] : {std::array{8, 16, 5}, std::array{9, 19, 1}, std::array{3, 5, 20}}) {
    const auto result = run_case(fmt::format("let m = {}, n = {}, k = {}\n{}", m, n, k, text), {});
    EXPECT_TRUE(result.ok) << result.message;
    EXPECT_EQ(result.kernels, 1);
  }
}

// Loops over kept dims inside of those of the sum: a state for each of their iterations.
TEST(Manual, TilesOfReductions) {
  const struct {
    const char *inputs, *op, *dtypes;
  } cases[] = {
      {"%a: T[m, k], %b: T[k, n]", "matmul(%a, %b)", "f32 f64"},
      {"%a: T[m, k], %b: T[n, k]", "linear(%a, %b)", "f32 f64"},
      {"%a: T[m, n, k]", "sum(%a, dims = [2])", "f32 f64 bf16 i64"},
      {"%a: T[m, n, k]", "amax(%a, dims = [2])", "f32 bf16 i8"},
      {"%a: T[m, n, k]", "amin(%a, dims = [2])", "f32 u8"},
      {"%a: T[m, n, k]", "prod(%a, dims = [2])", "f32 i64"},
  };
  const char* loops[] = {
      ("split(0, 3), split(2, 4), reorder(0, 2, 4, 1, 3), parallel(0, cpu_thread), parallel(3, unroll), "
       "parallel(4, vectorize)"),
      "split(0, 2), split(2, 8), split(4, 3), reorder(0, 2, 4, 5, 3, 1)",                // rows inside of columns
      "split(1, 2), reorder(0, 1, 3, 2), parallel(0, cpu_thread), parallel(3, unroll)",  // no lanes
      "split(0, 4), split(1, 2), split(3, 16), reorder(0, 3, 5, 1, 2, 4), parallel(5, vectorize)"};  // of two loops
  for (const auto& c : cases)
    for (const char* l : loops)
      for (const auto& sizes :
           {std::array{6, 8, 5}, std::array{7, 19, 1}, std::array{1, 1, 4}, std::array{8, 33, 17}}) {
        std::istringstream words(c.dtypes);
        for (std::string dtype; words >> dtype;) {
          std::string inputs = c.inputs, names;
          for (char letter : {'a', 'b'})
            if (inputs.find(fmt::format("%{}:", letter)) != inputs.npos)
              names += (names.empty() ? "%" : ", %") + std::string(1, letter);
          CaseOptions how;
          how.options.cpu_threads = 2;
          const auto result = run_case(
              fmt::format("let T = {}, m = {}, n = {}, k = {}\nfusion @f ({}) -> (%y) {{\n  segment @a ({}) -> (%y) "
                          "schedule manual {{\n    %y: T[m, n] loops ({}) = {}\n  }}\n}}\n",
                          dtype, sizes[0], sizes[1], sizes[2], inputs, names, l, c.op),
              how);
          EXPECT_TRUE(result.ok) << c.op << " " << dtype << " " << l << ": " << result.message;
          EXPECT_EQ(result.report.launches, 1) << c.op;
        }
      }
}

// A loop over a kept dim between those of the sum: no parts.
TEST(Manual, TilesAroundPartsOfSums) {
  for (const char* order : {"reorder(0, 2, 1, 3, 4)", "reorder(0, 2, 3, 1, 4)", "reorder(0, 2, 3, 4, 1)"}) {
    const auto result = run_case(
        fmt::format(
            "let m = 13, n = 2100\nfusion @f (%a: f32[m, n], %x: f32[m]) -> (%y) {{\n"
            "  segment @a (%a, %x) -> (%y) schedule manual {{\n"
            "    %p: f32[m] loops (split(0, 4), split(2, 1024), split(3, 64), {}) inline 1 = sum(%a, dims = [1])\n"
            "    %y: f32[m] loops (split(0, 4)) = add(%p, %x)\n  }}\n}}\n",
            order),
        {});
    EXPECT_TRUE(result.ok) << order << ": " << result.message;
  }
}

// A condition that one statement has beside the others' does not hold for those behind it.
TEST(Manual, PartsOfACatInLoopsThatLeaveTheRow) {
  for (const char* loops : {"split(1, 3), merge(0), merge(0)", "merge(0), split(0, 8), split(0, 16)"})
    for (const char* rows : {"1", "5"}) {
      const auto result =
          run_case(fmt::format("let b = {}, n = 2, m = 11\n"
                               "fusion @f (%x: f32[b, n], %y: f32[b, m], %z: f32[b, n]) -> (%o) {{\n"
                               "  segment @a (%x, %y, %z) -> (%o) schedule manual {{\n"
                               "    %p: f32[b, m] inline 1 = add(%y, 1.0)\n    %c: f32[b, m] inline 1 = tanh(%p)\n"
                               "    %d: f32[b, n] inline 1 = exp(%z)\n"
                               "    %o: f32[b, m + 2*n] loops ({}) = cat(neg(%x), %c, %d, dim = 1)\n  }}\n}}\n",
                               rows, loops),
                   {});
      EXPECT_TRUE(result.ok) << loops << ": " << result.message;
    }
}

TEST(Manual, LoopsOfOtherSchedulesAreThoseThatTheyMake) {
  const auto text = [](const std::string& loops) {
    return "fusion @f (%x: f32[40]) -> (%z) {\n  segment @a (%x) -> (%z) schedule pointwise(vector = 4) {\n"
           "    %z: f32[40]" +
           loops + " = neg(%x)\n  }\n}\n";
  };
  EXPECT_NE(why_refused(text(" loops (split(0, 2))")).find("what is said of the loops of %z is not what its schedule"),
            std::string::npos);
  const std::string printed = text_of(*parse_fusion(text("")), "segments");
  EXPECT_NE(printed.find("loops ("), std::string::npos);
  EXPECT_TRUE(run_case(printed, {}).ok);
}

TEST(Manual, InputsHaveNoLoops) {
  const auto f = softmax_in_cpp();
  EXPECT_THROW(f->find("x")->split(1, 4), UserError);
  EXPECT_THROW(f->find("x")->inline_at(1), UserError);
  EXPECT_THROW(f->find("x")->keep(1), UserError);
}

TEST(Manual, CachesAreOpsOfTheFusion) {
  Fusion f;
  TensorView* x = f.input("x", {8}, f32);
  EXPECT_THROW(x->cache_before(), UserError);
  EXPECT_THROW(x->cache_after(), UserError);  // nothing reads it yet
  TensorView* y = f.output("y", exp(x));
  TensorView* before = y->cache_before();
  TensorView* after = x->cache_after();
  verify(f);
  EXPECT_EQ(print(f), R"(fusion @fusion (
  %x: f32[8]
) -> (%y) {
  %x_cache: f32[8] = cast(%x, to = f32)
  %y_cache: f32[8] = exp(%x_cache)
  %y: f32[8] = cast(%y_cache, to = f32)
}
)");
  EXPECT_EQ(before->name, "y_cache");
  EXPECT_EQ(after->name, "x_cache");
  EXPECT_THROW(y->split(1, 4), UserError);
  EXPECT_THROW(y->split(0, 0), UserError);
  EXPECT_THROW(y->inline_at(-1), UserError);
  EXPECT_THROW(y->keep(0), UserError);
  EXPECT_FALSE(is_by_hand(*y));
}

// Lanes along what is reduced, with loops over kept dims inside: a state for each lane of each of their iterations.
TEST(Manual, LanesOfASumWithKeptLoopsInside) {
  const char* const loops =
      "loops (split(1, 4), split(3, 8), reorder(1, 3, 0, 2, 4), parallel(0, cpu_thread), "
      "parallel(2, unroll), parallel(3, unroll), parallel(4, vectorize))";
  for (const auto& [m, n, k] : {std::tuple(3, 16, 64), {2, 18, 37}, {3, 7, 0}, {5, 9, 300}})
    for (const char* sum : {"linear(%a, %b)", "sum(%c, dims = [2])", "amax(%c, dims = [2])", "prod(%c, dims = [2])"}) {
      const bool linear = std::string(sum).find("linear") == 0;
      if (k == 0 && std::string(sum).find("amax") == 0) continue;
      const std::string inputs = linear ? fmt::format("%a: f32[{}, {}], %b: f32[{}, {}]", m, k, n, k)
                                        : fmt::format("%c: f32[{}, {}, {}]", m, n, k);
      CaseOptions how;
      how.options.cpu_threads = 2;
      const auto result = run_case(
          fmt::format("fusion @f ({}) -> (%y) {{\n  segment @s ({}) -> (%y) schedule manual {{\n    %p: f32[{}, {}] {} "
                      "inline 1 = {}\n    %y: f32[{}, {}] loops (split(1, 4), reorder(1, 0, 2), parallel(0, "
                      "cpu_thread)) = neg(%p)\n  }}\n}}\n",
                      inputs, linear ? "%a, %b" : "%c", m, n, loops, sum, m, n),
          how);
      EXPECT_TRUE(result.ok) << m << ", " << n << ", " << k << ", " << sum << ": " << result.message;
    }
}

}  // namespace
}  // namespace plait
