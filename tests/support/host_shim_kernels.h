#pragma once
// Kernels of kernel IR as a GPU scheduler writes them, built by hand.
#include <fmt/core.h>

#include "kir/expand_functions.h"
#include "kir/lane.h"
#include "scalar/convert.h"
#include "support/kernel_builder.h"
#include "support/pointwise_values.h"

namespace plait::test {

// Calls body(index, access, active) for the vectors of 0 .. n-1, one a thread: aligned where the vector is whole,
// masked at the end. `index` depends on lane.
template <class Body>
void each_vector(KernelBuilder& k, sym::Expr n, int lanes, int threads, Body&& body) {
  const sym::Expr block = k.loop("block", sym::ceildiv(n, int64_t(threads) * lanes), kir::LoopKind::block_x);
  const sym::Expr thread = k.loop("thread", k.number(threads), kir::LoopKind::thread_x);
  const sym::Expr first = (block * threads + thread) * lanes;
  k.branch(sym::le(first + lanes, n));
  body(first + k.lane, kir::Access::aligned, sym::Expr());
  k.end();
  if (lanes > 1) {
    k.branch(sym::logical_and(sym::lt(first, n), sym::lt(n, first + lanes)));
    body(first + k.lane, kir::Access::contiguous, n - first);
    k.end();
  }
  k.end();
  k.end();
}

// out = a + b.
inline kir::Kernel add_kernel(DType dtype, int lanes) {
  KernelBuilder k(fmt::format("add_{}x{}", name(dtype), lanes), TargetKind::cuda);
  k.kernel.schedule = fmt::format("pointwise(vector = {})", lanes);
  const sym::Expr n = k.integer("n");
  const uint32_t a = k.reads("a", dtype, n), b = k.reads("b", dtype, n), out = k.writes("out", dtype, n);
  each_vector(k, n, lanes, 128, [&](sym::Expr at, kir::Access access, sym::Expr active) {
    const kir::Value x = k.load(a, at, lanes, access, active), y = k.load(b, at, lanes, access, active);
    k.store(out, at, k.compute(Pointwise::add, {x, y}), access, active);
  });
  return std::move(k.kernel);
}

// out = dropout(gelu(x + bias), p = 0.1): rows of 768, bias along the row, a seed in memory.
inline kir::Kernel bias_gelu_dropout_kernel(DType dtype, int lanes) {
  KernelBuilder k(fmt::format("bias_gelu_dropout_{}x{}", name(dtype), lanes), TargetKind::cuda);
  k.kernel.schedule = fmt::format("pointwise(vector = {})", lanes);
  const sym::Expr n = k.integer("n");
  const uint32_t x = k.reads("x", dtype, n), bias = k.reads("bias", dtype, k.number(768));
  const uint32_t seed = k.reads("seed", DType::u64, k.number(1)), out = k.writes("out", dtype, n);
  each_vector(k, n, lanes, 128, [&](sym::Expr at, kir::Access access, sym::Expr active) {
    const sym::Expr first = kir::at_lane(at, 0);
    const kir::Value key = k.load(seed, k.number(0), 1, kir::Access::splat);
    const kir::Value a = k.load(x, at, lanes, access, active);
    const kir::Value b = k.load(bias, sym::mod(first, 768) + k.lane, lanes, access, active);
    const kir::Value g = k.compute(Pointwise::gelu_tanh, {k.compute(Pointwise::add, {a, b})});
    const kir::Value u = k.random(key, at, 3, lanes);
    const kir::Value keep = k.compute(Pointwise::ge, {u, k.literal(DType::f32, 0.1f, lanes)});
    const kir::Value scaled = k.compute(Pointwise::mul, {g, k.literal(DType::f32, 1 / 0.9, lanes)});
    const kir::Value y = k.compute(Pointwise::where, {keep, scaled, k.literal(DType::f32, 0, lanes)});
    k.store(out, at, y, access, active);
  });
  return std::move(k.kernel);
}

// out[r] = sum of row r of x[rows, columns], one thread a row, by a serial loop.
inline kir::Kernel row_sum_kernel() {
  KernelBuilder k("row_sum", TargetKind::cuda);
  k.kernel.schedule = "nest()";
  const sym::Expr rows = k.integer("rows"), columns = k.integer("columns");
  const uint32_t x = k.reads("x", DType::bf16, rows * columns), out = k.writes("out", DType::bf16, rows);
  const sym::Expr block = k.loop("block", sym::ceildiv(rows, 64), kir::LoopKind::block_x);
  const sym::Expr thread = k.loop("thread", k.number(64), kir::LoopKind::thread_x);
  const sym::Expr row = block * 64 + thread;
  k.branch(sym::lt(row, rows));
  const kir::Value sum = k.variable(DType::f32, 0, 1);
  const sym::Expr column = k.loop("column", columns);
  const kir::Value term = k.load(x, row * columns + column, 1, kir::Access::contiguous);
  k.assign(sum, k.compute(Pointwise::add, {sum, term}));
  k.end();
  k.store(out, row, sum, kir::Access::contiguous);
  k.end();
  k.end();
  k.end();
  return std::move(k.kernel);
}

// Sums 8 columns at once: out[c] = sum over r of x[r, c]; a vector variable over a serial loop.
inline kir::Kernel column_sum_kernel() {
  KernelBuilder k("column_sum", TargetKind::cuda);
  k.kernel.schedule = "nest(vector = 8)";
  const sym::Expr rows = k.integer("rows"), n = k.integer("n", {.lo = 0, .multiple_of = 8});
  const uint32_t x = k.reads("x", DType::f32, rows * n), out = k.writes("out", DType::f32, n);
  const sym::Expr block = k.loop("block", sym::ceildiv(n, 512), kir::LoopKind::block_x);
  const sym::Expr thread = k.loop("thread", k.number(64), kir::LoopKind::thread_x);
  const sym::Expr first = block * 512 + thread * 8;
  k.branch(sym::lt(first, n));
  const kir::Value sum = k.variable(DType::f32, 0, 8);
  const sym::Expr row = k.loop("row", rows);
  const kir::Value term = k.load(x, row * n + first + k.lane, 8, kir::Access::aligned);
  k.assign(sum, k.compute(Pointwise::add, {sum, term}));
  k.end();
  k.store(out, first + k.lane, sum, kir::Access::aligned);
  k.end();
  k.end();
  k.end();
  return std::move(k.kernel);
}

// out[i, j] = x[j, i] + row[mod(j, 3)] over a grid of y and z blocks: strided and arbitrary indices.
inline kir::Kernel transpose_kernel() {
  KernelBuilder k("transpose", TargetKind::cuda);
  k.kernel.schedule = "transpose()";
  const sym::Expr rows = k.integer("rows"), columns = k.integer("columns");
  const uint32_t x = k.reads("x", DType::f32, rows * columns), row = k.reads("row", DType::f32, k.number(3));
  const uint32_t out = k.writes("out", DType::f32, rows * columns);
  const sym::Expr i = k.loop("i", columns, kir::LoopKind::block_z);
  const sym::Expr by = k.loop("by", sym::ceildiv(rows, 64), kir::LoopKind::block_y);
  const sym::Expr ty = k.loop("ty", k.number(16), kir::LoopKind::thread_y);
  const sym::Expr j = by * 64 + ty * 4 + k.lane, active = rows - by * 64 - ty * 4;
  const kir::Value a = k.load(x, j * columns + i, 4, kir::Access::lanewise, active);
  const kir::Value b = k.load(row, sym::mod(j, 3), 4, kir::Access::lanewise, active);
  k.store(out, i * rows + j, k.compute(Pointwise::add, {a, b}), kir::Access::contiguous, active);
  k.end();
  k.end();
  k.end();
  return std::move(k.kernel);
}

// Every op that computes in `dtype`, each with an output of its own; inputs a, b and the condition c: operands() in
// support/pointwise_values.h. `ops` gets them in the order of the outputs.
inline kir::Kernel all_ops_kernel(DType dtype, int lanes, std::vector<Pointwise>* ops) {
  KernelBuilder k(fmt::format("all_{}x{}", name(dtype), lanes), TargetKind::cuda);
  const sym::Expr n = k.integer("n");
  const uint32_t a = k.reads("a", dtype, n), b = k.reads("b", dtype, n), c = k.reads("c", DType::boolean, n);
  std::vector<uint32_t> outs;
  for (int i = 0; i < kPointwiseCount; ++i) {
    const Pointwise op = Pointwise(i);
    if (!computes_in(op, dtype)) continue;
    outs.push_back(k.writes(fmt::format("out_{}", name(op)), result_in(op, dtype), n));
    ops->push_back(op);
  }
  each_vector(k, n, lanes, 64, [&](sym::Expr at, kir::Access access, sym::Expr active) {
    const kir::Value x = k.load(a, at, lanes, access, active), y = k.load(b, at, lanes, access, active);
    const kir::Value condition = k.load(c, at, lanes, access, active);
    const kir::Value z = negates_third(dtype) ? k.compute(Pointwise::neg, {y}) : y;
    for (size_t i = 0; i < ops->size(); ++i) {
      std::vector<kir::Value> in = {x, y, z};
      in.resize(size_t(info((*ops)[i]).arity), x);
      if ((*ops)[i] == Pointwise::where) in = {condition, x, y};
      k.store(outs[i], at, k.compute((*ops)[i], in), access, active);
    }
  });
  kir::expand_functions(k.kernel);
  return std::move(k.kernel);
}

// Copies x to one output of every dtype, converting on the way where a value of its type may not be stored.
inline kir::Kernel casts_kernel(DType from, int lanes) {
  KernelBuilder k(fmt::format("casts_{}x{}", name(from), lanes), TargetKind::cuda);
  const sym::Expr n = k.integer("n");
  const uint32_t x = k.reads("x", from, n);
  std::vector<uint32_t> outs;
  for (int i = 0; i < kDTypeCount; ++i) outs.push_back(k.writes(fmt::format("out{}", i), DType(i), n));
  each_vector(k, n, lanes, 64, [&](sym::Expr at, kir::Access access, sym::Expr active) {
    const kir::Value in = k.load(x, at, lanes, access, active);
    for (int i = 0; i < kDTypeCount; ++i) {
      const DType to = DType(i);
      const bool stores_rounded = is_narrow(to) && is_float(in.dtype);
      const DType value = stores_rounded ? in.dtype : compute_type(to);
      k.store(outs[size_t(i)], at, value == in.dtype ? in : k.convert(in, value, lanes), access, active);
    }
  });
  return std::move(k.kernel);
}

// What casts_kernel stores for an element. Floats saturate at the ends of the type that i8, i16, u8 and u16 compute in.
inline void store_cast(DType in, const void* source, DType out, void* target) {
  if (!is_float(in) && !is_float(out)) return store_int64(out, target, load_int64(in, source));
  const double x = load_double(in, source);
  if (is_integer(out)) return store_int64(out, target, Constant::from_double(compute_type(out), x).to_int64());
  store_double(out, target, is_narrow(out) && !is_float(in) ? round_to(DType::f32, x) : x);
}

}  // namespace plait::test
