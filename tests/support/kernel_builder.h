#pragma once
// Builds kernels of kernel IR by hand, statement by statement.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kir/kernel.h"

namespace plait::test {

class KernelBuilder {
 public:
  explicit KernelBuilder(std::string name, TargetKind target = TargetKind::cpu) {
    kernel.name = std::move(name);
    kernel.target = target;
    kernel.pool = std::make_shared<sym::Pool>();
    blocks_.push_back(&kernel.phases[0].body);
    lane = kernel.pool->symbol(kir::kLane, {.lo = 0});
  }

  sym::Expr number(int64_t value) { return kernel.pool->constant(value); }
  sym::Expr integer(const std::string& name, sym::SymbolInfo info = {.lo = 0}) {
    kernel.integers.push_back(kernel.pool->symbol(name, info));
    return kernel.integers.back();
  }
  uint32_t reads(const std::string& name, DType dtype, sym::Expr extent) {
    kernel.buffers.push_back({name, dtype, extent, false});
    return uint32_t(kernel.buffers.size() - 1);
  }
  uint32_t writes(const std::string& name, DType dtype, sym::Expr extent) {
    kernel.buffers.push_back({name, dtype, extent, true});
    return uint32_t(kernel.buffers.size() - 1);
  }

  uint32_t updates(const std::string& name, DType dtype, sym::Expr extent) {
    kernel.buffers.push_back({name, dtype, extent, true, true});
    return uint32_t(kernel.buffers.size() - 1);
  }
  uint32_t workspace(const std::string& name, DType dtype, sym::Expr extent) {
    kernel.buffers.push_back({name, dtype, extent, false, false, kir::Space::workspace});
    return uint32_t(kernel.buffers.size() - 1);
  }
  // A stack buffer, which has memory from here to the end of the block.
  uint32_t stack(const std::string& name, DType dtype, sym::Expr extent) {
    kernel.buffers.push_back({name, dtype, extent, false, false, kir::Space::stack});
    add<kir::Alloc>().buffer = uint32_t(kernel.buffers.size() - 1);
    return uint32_t(kernel.buffers.size() - 1);
  }
  // What follows stands in a new phase; all blocks are closed.
  void phase() {
    kernel.phases.emplace_back();
    blocks_ = {&kernel.phases.back().body};
  }

  // Opens a loop whose variable is a new symbol with the facts 0 <= var < extent.
  sym::Expr loop(const std::string& var, sym::Expr extent, kir::LoopKind kind = kir::LoopKind::serial) {
    auto& s = add<kir::For>();
    s.var = kernel.pool->symbol(var, sym::index_facts(extent));
    s.extent = extent;
    s.loop = kind;
    blocks_.push_back(&s.body);
    return s.var;
  }
  void branch(sym::Expr condition) {
    auto& s = add<kir::If>();
    s.condition = condition;
    blocks_.push_back(&s.body);
  }
  void end() { blocks_.pop_back(); }

  kir::Value value(DType dtype, int lanes) { return {next_++, dtype, lanes}; }

  kir::Value load(uint32_t buffer, sym::Expr index, int lanes, kir::Access access, sym::Expr active = {}) {
    auto& s = add<kir::Load>();
    s.out = value(compute_type(kernel.buffers[buffer].dtype), lanes);
    s.buffer = buffer;
    s.index = index;
    s.access = access;
    s.active = active;
    return s.out;
  }
  void store(uint32_t buffer, sym::Expr index, kir::Value in, kir::Access access, sym::Expr active = {}) {
    auto& s = add<kir::Store>();
    s.buffer = buffer;
    s.index = index;
    s.in = in;
    s.access = access;
    s.active = active;
  }
  void atomic_min(uint32_t buffer, sym::Expr index, kir::Value in) {
    auto& s = add<kir::Atomic>();
    s.buffer = buffer;
    s.index = index;
    s.in = in;
  }
  kir::Value literal(DType dtype, double constant, int lanes) {
    auto& s = add<kir::Literal>();
    s.out = value(dtype, lanes);
    s.constant = Constant::from_double(dtype, constant);
    return s.out;
  }
  kir::Value variable(DType dtype, double initial, int lanes) {
    auto& s = add<kir::Variable>();
    s.out = value(dtype, lanes);
    s.initial = Constant::from_double(dtype, initial);
    return s.out;
  }
  void assign(kir::Value variable, kir::Value in) {
    auto& s = add<kir::Assign>();
    s.variable = variable;
    s.in = in;
  }
  kir::Value coordinate(sym::Expr index, int lanes) {
    auto& s = add<kir::Coordinate>();
    s.out = value(DType::i64, lanes);
    s.index = index;
    return s.out;
  }
  sym::Expr bind(const std::string& symbol, kir::Value in, sym::SymbolInfo info = {}) {
    auto& s = add<kir::Bind>();
    s.var = kernel.pool->symbol(symbol, info);
    s.in = in;
    return s.var;
  }
  kir::Value compute(Pointwise function, std::vector<kir::Value> in) {
    std::vector<DType> dtypes;
    for (const kir::Value& v : in) dtypes.push_back(v.dtype);
    auto& s = add<kir::Compute>();
    s.out = value(result_type(function, dtypes), in[0].lanes);
    s.function = function;
    s.in = std::move(in);
    return s.out;
  }
  kir::Value convert(kir::Value in, DType dtype, int lanes) {
    auto& s = add<kir::Convert>();
    s.in = in;
    s.out = value(dtype, lanes);
    return s.out;
  }
  kir::Value round(kir::Value in, DType to) {
    auto& s = add<kir::Round>();
    s.in = in;
    s.out = value(in.dtype, in.lanes);
    s.to = to;
    return s.out;
  }
  kir::Value half(kir::Value in, bool upper) {
    auto& s = add<kir::Half>();
    s.in = in;
    s.upper = upper;
    s.out = value(in.dtype, in.lanes / 2);
    return s.out;
  }
  std::vector<kir::Value> start(Combine combine, const std::vector<DType>& types, int lanes = 1) {
    auto& s = add<kir::Start>();
    s.combine = combine;
    for (DType type : types) s.state.push_back(value(type, lanes));
    return s.state;
  }
  void accumulate(Combine combine, std::vector<kir::Value> state, std::vector<kir::Value> in, sym::Expr active = {}) {
    auto& s = add<kir::Accumulate>();
    s.combine = combine;
    s.state = std::move(state);
    s.in = std::move(in);
    s.active = active;
  }
  void merge(Combine combine, std::vector<kir::Value> state, std::vector<kir::Value> in) {
    auto& s = add<kir::Merge>();
    s.combine = combine;
    s.state = std::move(state);
    s.in = std::move(in);
  }
  std::vector<kir::Value> fold(Combine combine, std::vector<kir::Value> state) {
    auto& s = add<kir::Fold>();
    s.combine = combine;
    for (const kir::Value& v : state) s.out.push_back(value(v.dtype, 1));
    s.state = std::move(state);
    return s.out;
  }
  kir::Value random(kir::Value seed, sym::Expr index, uint64_t offset, int lanes) {
    auto& s = add<kir::Random>();
    s.seed = seed;
    s.index = index;
    s.offset = number(static_cast<int64_t>(offset));
    s.out = value(DType::f32, lanes);
    return s.out;
  }

  template <class T>
  T& add() {
    auto stmt = std::make_unique<T>();
    T& reference = *stmt;
    blocks_.back()->push_back(std::move(stmt));
    return reference;
  }

  kir::Kernel kernel;
  sym::Expr lane;

 private:
  std::vector<kir::Block*> blocks_;
  uint32_t next_ = 0;
};

}  // namespace plait::test
