// Every invariant of kir/verify.cpp, broken once.
#include <gtest/gtest.h>

#include <functional>

#include "base/error.h"
#include "kir/kernel.h"
#include "support/kernel_builder.h"

namespace plait::kir {
namespace {

using test::KernelBuilder;

// The message with which the kernel is refused, or "accepted".
std::string verdict(const Kernel& kernel) {
  try {
    verify(kernel);
  } catch (const InternalError& error) {
    return error.message() + " @ " + error.where();
  }
  return "accepted";
}

// A kernel y[i*n + ...] = x[...] of 8 lanes that keeps all invariants; tests break it.
struct Sample {
  KernelBuilder b{"k"};
  sym::Expr m = b.integer("m"), n = b.integer("n");
  uint32_t x = b.reads("x", DType::f32, m* n), y = b.writes("y", DType::f32, m* n);
  sym::Expr i = b.loop("i", m, LoopKind::cpu_thread), j = b.loop("j", sym::floordiv(n, 8));
  sym::Expr index = n * i + 8 * j + b.lane;
  Value v = b.load(x, index, 8, Access::contiguous);

  std::string verdict() { return kir::verdict(b.kernel); }
};

#define EXPECT_REFUSED(sample, words) EXPECT_NE((sample).verdict().find(words), std::string::npos) << (sample).verdict()

TEST(KirVerify, AcceptsTheSample) {
  Sample s;
  s.b.store(s.y, s.index, s.v, Access::contiguous);
  EXPECT_EQ(s.verdict(), "accepted");
}

TEST(KirVerify, NamesTheStatement) {
  Sample s;
  s.b.store(s.x, s.index, s.v, Access::contiguous);
  EXPECT_EQ(s.verdict(), "kernel IR: x is written, but marked as read @ kernel @k: store %x[" + sym::print(s.index) +
                             "] = %0 contiguous");
}

TEST(KirVerify, Head) {
  {
    Sample s;
    s.b.kernel.name = "not a name";
    EXPECT_REFUSED(s, "not an identifier of C");
  }
  {
    Sample s;
    s.b.kernel.pool = nullptr;
    EXPECT_REFUSED(s, "has no pool");
  }
  {
    Sample s;
    s.b.kernel.integers.push_back(s.b.number(3));
    EXPECT_REFUSED(s, "not a symbol");
  }
  {
    Sample s;
    s.b.integer("n");
    EXPECT_REFUSED(s, "integer argument n twice");
  }
  {
    Sample s;
    s.b.kernel.integers.push_back(s.b.lane);
    EXPECT_REFUSED(s, "called lane");
  }
  {
    Sample s;
    sym::Pool other;
    s.b.kernel.integers[0] = other.symbol("m");
    EXPECT_REFUSED(s, "of another pool");
  }
  {
    Sample s;
    s.b.reads("x", DType::f32, s.n);
    EXPECT_REFUSED(s, "two buffers are called x");
  }
  {
    Sample s;
    s.b.reads("2", DType::f32, s.n);
    EXPECT_REFUSED(s, "buffer name 2");
  }
  {
    Sample s;
    s.b.reads("z", DType::f32, s.n + s.b.kernel.pool->symbol("other"));
    EXPECT_REFUSED(s, "extent of a buffer speaks of other");
  }
}

TEST(KirVerify, Symbols) {
  {
    Sample s;
    s.b.load(s.x, s.b.kernel.pool->symbol("k"), 8, Access::splat);
    EXPECT_REFUSED(s, "index speaks of k");
  }
  {
    Sample s;
    s.b.load(s.x, {}, 8, Access::splat);
    EXPECT_REFUSED(s, "index is null");
  }
  {
    Sample s;
    s.b.end();
    s.b.load(s.x, s.j, 8, Access::splat);
    EXPECT_REFUSED(s, "index speaks of j");
  }
  {
    Sample s;
    s.b.load(s.x, s.index, 8, Access::contiguous, s.n - s.b.lane);
    EXPECT_REFUSED(s, "active speaks of lane");
  }
  {
    Sample s;
    s.b.branch(sym::lt(s.b.lane, s.n));
    EXPECT_REFUSED(s, "condition speaks of lane");
  }
  {
    Sample s;
    s.b.loop("k", s.b.lane + 1);
    EXPECT_REFUSED(s, "extent speaks of lane");
  }
  {
    Sample s;
    s.b.kernel.pool->symbol(kLane, {.lo = 0, .hi = 3});
    s.b.load(s.x, s.n + s.b.lane, 8, Access::contiguous);
    EXPECT_REFUSED(s, "the facts of lane do not hold for 8 lanes");
  }
}

TEST(KirVerify, Loops) {
  {
    Sample s;
    s.b.loop("n", s.m);
    EXPECT_REFUSED(s, "loop variable n is in scope already");
  }
  {
    Sample s;
    s.b.loop("i", s.m);
    EXPECT_REFUSED(s, "loop variable i is in scope already");
  }
  {
    Sample s;
    s.b.add<For>().var = s.b.lane;
    EXPECT_REFUSED(s, "called lane");
  }
  {
    Sample s;
    s.b.add<For>().extent = s.n;
    EXPECT_REFUSED(s, "not a symbol");
  }
  {
    Sample s;
    s.b.loop("k", s.n, LoopKind::thread_x);
    EXPECT_REFUSED(s, "for the other target");
  }
  {
    Sample s;
    s.b.loop("k", s.n, LoopKind::cpu_thread);
    EXPECT_REFUSED(s, "inside of a serial loop");
  }
  {
    Sample s;
    s.b.end();
    s.b.end();
    s.b.loop("k", s.n, LoopKind::cpu_thread);
    EXPECT_REFUSED(s, "two cpu_thread loops");
  }
  {
    KernelBuilder b("k");
    const auto n = b.integer("n");
    b.branch(sym::lt(n, 3));
    b.loop("i", n, LoopKind::cpu_thread);
    EXPECT_NE(verdict(b.kernel).find("inside of a serial loop or condition"), std::string::npos);
  }
  {
    KernelBuilder b("k", TargetKind::cuda);
    const auto n = b.integer("n");
    b.loop("i", n, LoopKind::cpu_thread);
    EXPECT_NE(verdict(b.kernel).find("for the other target"), std::string::npos);
  }
  {
    KernelBuilder b("k", TargetKind::cuda);
    const auto n = b.integer("n");
    const auto i = b.loop("i", n, LoopKind::block_x);
    b.loop("j", i, LoopKind::thread_x);
    EXPECT_NE(verdict(b.kernel).find("extent speaks of i"), std::string::npos);
  }
}

TEST(KirVerify, FactsOfLoopVariables) {
  {
    Sample s;  // facts of a loop variable that its extent does not prove
    auto& loop = s.b.add<For>();
    loop.var = s.b.kernel.pool->symbol("k", {.lo = 0, .hi = 9});
    loop.extent = s.n;
    EXPECT_REFUSED(s, "the facts of k are not proven for 0..n");
    loop.extent = s.b.number(10);
    EXPECT_EQ(s.verdict(), "accepted");
    loop.extent = s.b.number(11);
    EXPECT_REFUSED(s, "the facts of k");
  }
  {
    Sample s;
    auto& loop = s.b.add<For>();
    loop.var = s.b.kernel.pool->symbol("k", {.multiple_of = 2});
    loop.extent = s.n;
    EXPECT_REFUSED(s, "the facts of k");
  }
}

TEST(KirVerify, StoresStandInsideAllParallelLoops) {
  Sample s;
  const Value one = s.b.literal(DType::f32, 1, 1);
  s.b.store(s.y, s.i, one, Access::lanewise);
  EXPECT_EQ(s.verdict(), "accepted");
  s.b.end();
  s.b.end();
  const Value two = s.b.literal(DType::f32, 2, 1);
  s.b.store(s.y, s.b.number(0), two, Access::lanewise);
  EXPECT_REFUSED(s, "outside of a parallel loop");
}

TEST(KirVerify, Values) {
  {
    Sample s;
    s.b.add<Literal>().out = s.v;
    s.b.kernel.pool->constant(0);
    EXPECT_REFUSED(s, "%0 is defined twice");
  }
  {
    Sample s;
    s.b.store(s.y, s.index, {99, DType::f32, 8}, Access::contiguous);
    EXPECT_REFUSED(s, "%99 is used before its definition");
  }
  {
    Sample s;
    s.b.end();
    s.b.store(s.y, s.i + s.b.lane, s.v, Access::contiguous);
    EXPECT_REFUSED(s, "outside of the block that defines it");
  }
  {
    Sample s;
    s.b.store(s.y, s.index, {s.v.id, DType::f32, 4}, Access::contiguous);
    EXPECT_REFUSED(s, "another dtype or other lanes");
  }
  for (int lanes : {0, 3, 128, -4}) {
    Sample s;
    s.b.literal(DType::f32, 1, lanes);
    EXPECT_REFUSED(s, "lanes");
  }
  {
    Sample s;
    s.b.literal(DType::bf16, 1, 8);
    EXPECT_REFUSED(s, "a value of storage dtype bf16");
  }
  {
    Sample s;
    s.b.kernel.phases[0].body.push_back(nullptr);
    EXPECT_REFUSED(s, "a null statement");
  }
}

TEST(KirVerify, VariablesAndConstants) {
  {
    Sample s;
    s.b.assign(s.v, s.v);
    EXPECT_REFUSED(s, "%0 is not a variable");
  }
  {
    Sample s;
    const Value a = s.b.variable(DType::f32, 0, 8);
    s.b.assign(a, s.b.literal(DType::f32, 0, 4));
    EXPECT_REFUSED(s, "dtype or lanes differ");
  }
  {
    KernelBuilder b("k");
    const auto n = b.integer("n");
    const Value a = b.variable(DType::f32, 0, 8);
    b.loop("i", n, LoopKind::cpu_thread);
    b.assign(a, b.literal(DType::f32, 0, 8));
    EXPECT_NE(verdict(b.kernel).find("declared outside of a parallel loop"), std::string::npos);
  }
  {
    Sample s;
    s.b.add<Variable>().out = {7, DType::f64, 1};
    EXPECT_REFUSED(s, "a f32 constant");
  }
  {
    Sample s;
    s.b.add<Literal>().out = {7, DType::i64, 1};
    EXPECT_REFUSED(s, "a f32 constant");
  }
}

TEST(KirVerify, AtomicsAndUpdates) {
  struct Status : Sample {
    uint32_t words = b.updates("status", DType::u64, b.number(4));
    Value one = b.literal(DType::u64, 1, 1);
  };
  {
    Status s;
    s.b.atomic_min(s.words, s.b.number(2), s.one);
    EXPECT_EQ(s.verdict(), "accepted");
    s.b.load(s.words, s.b.number(2), 1, Access::contiguous);
    EXPECT_REFUSED(s, "status has atomics and other accesses");
  }
  {
    Status s;  // an updated buffer without atomics is loaded and stored
    s.b.store(s.words, s.b.number(2), s.b.load(s.words, s.b.number(1), 1, Access::contiguous), Access::contiguous);
    EXPECT_EQ(s.verdict(), "accepted");
    s.b.atomic_min(s.words, s.b.number(2), s.one);
    EXPECT_REFUSED(s, "status has atomics and other accesses");
  }
  {
    Status s;
    s.b.kernel.buffers[s.words].updated = false;
    s.b.atomic_min(s.words, s.b.number(2), s.one);
    EXPECT_REFUSED(s, "status is updated, but not marked so");
  }
  {
    Status s;
    s.b.kernel.buffers[s.words].written = false;
    EXPECT_REFUSED(s, "buffer status is updated and not written");
  }
  {
    Status s;
    s.b.atomic_min(s.words, s.b.number(2), s.b.literal(DType::i64, 1, 1));
    EXPECT_REFUSED(s, "an atomic is of one u64");
  }
  {
    Status s;
    s.b.kernel.buffers[s.words].dtype = DType::f32;
    s.b.atomic_min(s.words, s.b.number(2), s.b.literal(DType::f32, 1, 1));
    EXPECT_REFUSED(s, "there is no atomic_min of f32");
  }
  {
    Status s;
    s.b.atomic_min(s.words, s.b.lane, s.one);
    EXPECT_REFUSED(s, "index speaks of lane");
  }
  {
    Status s;
    s.b.end();
    s.b.end();
    s.b.atomic_min(s.words, s.b.number(2), s.b.literal(DType::u64, 1, 1));
    EXPECT_REFUSED(s, "an atomic outside of a parallel loop");
  }
}

TEST(KirVerify, Memory) {
  {
    Sample s;
    s.b.add<Load>().buffer = 5;
    EXPECT_REFUSED(s, "there is no buffer 5");
  }
  {
    Sample s;
    s.b.load(s.y, s.index, 8, Access::contiguous);
    EXPECT_REFUSED(s, "y is read, but marked as written");
  }
  {
    Sample s;
    auto& load = s.b.add<Load>();
    load.out = {50, DType::f64, 8};
    load.index = s.index;
    EXPECT_REFUSED(s, "a f32 buffer loads as f32");
  }
  {
    Sample s;
    s.b.store(s.y, s.index, s.b.literal(DType::i64, 1, 8), Access::contiguous);
    EXPECT_REFUSED(s, "a i64 value into a f32 buffer");
  }
  {
    KernelBuilder b("k");
    const auto y = b.writes("y", DType::f64, b.number(8));
    b.store(y, b.lane, b.literal(DType::f32, 1, 8), Access::contiguous);
    EXPECT_NE(verdict(b.kernel).find("a f32 value into a f64 buffer"), std::string::npos);
  }
  {
    Sample s;
    s.b.store(s.y, s.n, s.v, Access::splat);
    EXPECT_REFUSED(s, "never splat");
  }
  {
    Sample s;
    s.b.load(s.x, s.index, 8, Access::splat);
    EXPECT_REFUSED(s, "depends on lane");
  }
  {
    Sample s;
    s.b.load(s.x, s.n * s.b.lane, 8, Access::contiguous);
    EXPECT_REFUSED(s, "not proven contiguous");
  }
  {
    Sample s;
    s.b.load(s.x, s.index, 8, Access::aligned);
    EXPECT_REFUSED(s, "not proven a multiple of 8");
  }
  {
    Sample s;
    s.b.load(s.x, 8 * s.j + s.b.lane, 8, Access::aligned);
    s.b.load(s.x, s.b.lane, 8, Access::aligned);
    EXPECT_EQ(s.verdict(), "accepted");
  }
}

TEST(KirVerify, Compute) {
  const auto with = [](Pointwise function, std::vector<std::pair<DType, int>> in, Value out) {
    Sample s;
    std::vector<Value> values;
    for (auto [dtype, lanes] : in) values.push_back(s.b.literal(dtype, 1, lanes));
    auto& stmt = s.b.add<Compute>();
    stmt.function = function;
    stmt.in = values;
    stmt.out = out;
    return s.verdict();
  };
  const Value f32x8{50, DType::f32, 8}, boolx8{50, DType::boolean, 8}, i64x8{50, DType::i64, 8};
  const std::pair f{DType::f32, 8}, f4{DType::f32, 4}, d{DType::f64, 8}, z{DType::i64, 8}, t{DType::boolean, 8};
  EXPECT_EQ(with(Pointwise::add, {f, f}, f32x8), "accepted");
  EXPECT_EQ(with(Pointwise::where, {t, f, f}, f32x8), "accepted");
  EXPECT_EQ(with(Pointwise::lt, {z, z}, boolx8), "accepted");
  const auto refused = [&](Pointwise function, std::vector<std::pair<DType, int>> in, Value out, const char* words) {
    const std::string found = with(function, std::move(in), out);
    EXPECT_NE(found.find(words), std::string::npos) << found;
  };
  refused(Pointwise::cast, {f}, f32x8, "cast is spelled convert");
  refused(Pointwise::add, {f}, f32x8, "1 operands");
  refused(Pointwise::add, {f, f4}, f32x8, "lanes");
  refused(Pointwise::add, {f, d}, f32x8, "dtypes of the operands differ");
  refused(Pointwise::where, {f, f, f}, f32x8, "dtypes of the operands differ");
  refused(Pointwise::lt, {f, f}, f32x8, "the result's dtype is f32");
  refused(Pointwise::exp, {z}, i64x8, "exp");
  refused(Pointwise::add, {t, t}, boolx8, "add");
}

TEST(KirVerify, Half) {
  {
    Sample s;
    s.b.half(s.v, false);
    EXPECT_EQ(s.verdict(), "accepted");
  }
  {
    Sample s;
    auto& half = s.b.add<Half>();
    half.in = s.v;
    half.out = {70, DType::f32, 2};
    EXPECT_REFUSED(s, "dtype or lanes differ");
  }
}

TEST(KirVerify, Transpose) {
  const auto rectangle = [](int rows, int lanes, DType last, int results, int lanes_of_results) {
    KernelBuilder b("k");
    auto stmt = std::make_unique<Transpose>();
    for (int i = 0; i < rows; ++i) stmt->in.push_back(b.literal(i + 1 < rows ? DType::f32 : last, 1, lanes));
    for (int i = 0; i < results; ++i) stmt->out.push_back({uint32_t(100 + i), DType::f32, lanes_of_results});
    b.kernel.phases[0].body.push_back(std::move(stmt));
    return std::move(b.kernel);
  };
  for (int lanes : {1, 4, 8}) EXPECT_NO_THROW(verify(rectangle(8, lanes, DType::f32, lanes, 8)));
  EXPECT_THROW(verify(rectangle(4, 8, DType::f32, 8, 4)), InternalError);  // wide
  EXPECT_THROW(verify(rectangle(8, 4, DType::f32, 4, 4)), InternalError);
  EXPECT_THROW(verify(rectangle(8, 4, DType::f32, 8, 8)), InternalError);
  EXPECT_THROW(verify(rectangle(4, 4, DType::i32, 4, 4)), InternalError);
  Kernel gpu = rectangle(4, 4, DType::f32, 4, 4);
  gpu.target = TargetKind::cuda;
  EXPECT_THROW(verify(gpu), InternalError);
}

TEST(KirVerify, LanesThatRunBackwards) {
  {
    Sample s;
    s.b.load(s.x, s.n - s.index, 8, Access::reversed);
    EXPECT_EQ(s.verdict(), "accepted");
  }
  {
    Sample s;
    s.b.load(s.x, s.index, 8, Access::reversed);
    EXPECT_REFUSED(s, "run backwards");
  }
  {
    Sample s;
    s.b.load(s.x, s.n - s.index, 8, Access::reversed, s.n);
    EXPECT_REFUSED(s, "run backwards");
  }
  {
    Sample s;
    s.b.store(s.y, s.n - s.index, s.v, Access::reversed);
    EXPECT_REFUSED(s, "never reversed");
  }
}

TEST(KirVerify, ConvertRoundRandomCoordinate) {
  {
    Sample s;
    s.b.convert(s.v, DType::f64, 4);
    EXPECT_REFUSED(s, "8 lanes become 4");
  }
  {
    Sample s;
    s.b.convert(s.b.literal(DType::f32, 1, 1), DType::f64, 4);
    EXPECT_EQ(s.verdict(), "accepted");
  }
  {
    Sample s;
    s.b.round(s.v, DType::f32);
    EXPECT_REFUSED(s, "rounding to f32");
  }
  {
    Sample s;
    s.b.round(s.b.literal(DType::i64, 1, 8), DType::bf16);
    EXPECT_REFUSED(s, "rounding a i64 to");
  }
  {
    Sample s;
    auto& round = s.b.add<Round>();
    round.in = s.v;
    round.out = {50, DType::f64, 8};
    EXPECT_REFUSED(s, "dtype or lanes differ");
  }
  {
    Sample s;
    s.b.random(s.b.literal(DType::u64, 1, 8), s.index, 0, 8);
    EXPECT_REFUSED(s, "not one u64");
  }
  {
    Sample s;
    auto& random = s.b.add<Random>();
    random.seed = s.b.literal(DType::u64, 1, 1);
    random.index = s.index;
    random.offset = s.b.number(0);
    random.out = {60, DType::f64, 8};
    EXPECT_EQ(s.verdict().find("accepted"), std::string::npos);
  }
  {
    Sample s;
    s.b.add<Coordinate>().out = {50, DType::f32, 8};
    EXPECT_REFUSED(s, "a coordinate of dtype f32");
  }
}

TEST(KirVerify, Bind) {
  {
    Sample s;
    const sym::Expr at = s.b.bind("at", s.b.literal(DType::i64, 3, 1));
    s.b.branch(sym::logical_and(sym::ge(at, 0), sym::lt(at, s.n)));
    s.b.store(s.y, s.n * s.i + at, s.b.load(s.x, at, 1, Access::contiguous), Access::contiguous);
    EXPECT_EQ(s.verdict(), "accepted");
  }
  {
    Sample s;
    s.b.bind("at", s.b.literal(DType::u32, 3, 1));
    EXPECT_REFUSED(s, "an index is one i64");
  }
  {
    Sample s;
    s.b.bind("at", s.b.literal(DType::i64, 3, 8));
    EXPECT_REFUSED(s, "an index is one i64");
  }
  {
    Sample s;
    s.b.bind("at", s.b.literal(DType::i64, 3, 1), {.lo = 0});
    EXPECT_REFUSED(s, "at has facts, which nothing proves");
  }
  {
    Sample s;
    s.b.bind("free", s.b.literal(DType::i64, 3, 1));
    s.b.bind("free", s.b.literal(DType::i64, 4, 1));
    EXPECT_REFUSED(s, "free is in scope already");
  }
  {
    Sample s;
    s.b.bind(kLane, s.b.literal(DType::i64, 3, 1));
    EXPECT_REFUSED(s, "a bound symbol is called lane");
  }
  {
    Sample s;
    s.b.branch(sym::lt(s.i, 3));
    const sym::Expr at = s.b.bind("at", s.b.literal(DType::i64, 3, 1));
    s.b.end();
    s.b.load(s.x, at, 1, Access::contiguous);
    EXPECT_REFUSED(s, "index speaks of at, which is not in scope");
  }
}

}  // namespace
}  // namespace plait::kir
