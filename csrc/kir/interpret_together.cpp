#include "kir/interpreter.h"

namespace plait::kir {

void Interpreter::run_together(const For& s) {
  const For* inner = s.body.size() == 1 ? as<For>(*s.body[0]) : nullptr;  // x in y
  if (inner != nullptr && inner->loop < LoopKind::thread_x) inner = nullptr;
  const int64_t extent = scalar(s.extent), within = inner != nullptr ? scalar(inner->extent) : 1, outer = task_;
  Together all;
  threads_.clear();
  ranks_ = s.loop == LoopKind::cluster ? size_t(extent) : 1;
  for (int64_t i = 0; i < extent * within; ++i) {
    threads_.emplace_back();
    threads_.back().rank = ranks_ > 1 ? size_t(i / within) : 0;
    threads_.back().env = env_;
    threads_.back().values = values_;
    threads_.back().task = outer * extent * within + i;
    threads_.back().env[s.var.symbol_name()] = i / within;
    if (inner != nullptr) threads_.back().env[inner->var.symbol_name()] = i % within;
    all.push_back(size_t(i));
  }
  block_ = outer;
  together(inner != nullptr ? inner->body : s.body, all);
  behind_ = nullptr;
  threads_.clear();
  ranks_ = 1;
  task_ = outer;
}

void Interpreter::together(const Block& body, const Together& all) {
  for (const auto& stmt : body) together(*stmt, all);
}

void Interpreter::together(const Stmt& stmt, const Together& all) {
  if (const For* loop = as<For>(stmt)) return together(*loop, all);
  if (const If* branch = as<If>(stmt)) {
    Together some;
    for (size_t t : all)
      as_thread(t, [&] {
        if (scalar(branch->condition) != 0) some.push_back(t);
      });
    return together(branch->body, some);
  }
  if (const Shuffle* shuffle = as<Shuffle>(stmt)) return together(*shuffle, all);
  if (const Fold* fold = as<Fold>(stmt); fold != nullptr && fold->threads > 1) return together(*fold, all);
  if (const Prefix* prefix = as<Prefix>(stmt)) return together(*prefix, all);
  if (const LastBlock* last = as<LastBlock>(stmt)) return together(*last, all);
  if (const Await* await = as<Await>(stmt)) return together(*await, all);
  if (const LoadMatrix* load = as<LoadMatrix>(stmt)) return together(*load, all);
  if (const Mma* mma = as<Mma>(stmt)) return together(*mma, all);
  if (stmt.kind == StmtKind::Sync) {
    ++syncs_;
    return;
  }
  const Alloc* alloc = as<Alloc>(stmt);
  if (const LoadOfBlock* load = as<LoadOfBlock>(stmt)) return together(*load, all);
  if (alloc != nullptr && kernel_.buffers[alloc->buffer].space == Space::shared) {
    execute(*alloc);
    shared_[alloc->buffer].assign(ranks_, own_[alloc->buffer]);
    return;
  }
  for (size_t t : all)
    as_thread(t, [&] {
      visit(stmt, [&](const auto& s) { execute(s); });
      if (alloc != nullptr) {
        threads_[t].stack[alloc->buffer] = own_[alloc->buffer];
        memory_[alloc->buffer] = threads_[t].stack[alloc->buffer].data();
      }
    });
}

void Interpreter::together(const For& s, const Together& all) {
  const std::string var = s.var.symbol_name();
  std::map<size_t, int64_t> extents;
  int64_t most = 0;
  for (size_t t : all) as_thread(t, [&] { most = std::max(most, extents[t] = scalar(s.extent)); });
  for (int64_t i = 0; i < most; ++i) {
    Together some;
    for (size_t t : all)
      if (i < extents[t]) {
        threads_[t].env[var] = i;
        some.push_back(t);
      }
    together(s.body, some);
  }
  for (size_t t : all) threads_[t].env.erase(var);
}

void Interpreter::together(const LastBlock& s, const Together& all) {
  if (all.empty()) return;  // of another branch of the launch
  ++syncs_;
  int64_t blocks = 0, index = 0;
  as_thread(all[0], [&] {
    blocks = scalar(s.blocks);
    index = scalar(s.index);
    observer_.atomic(touch(s, s.buffer, index));
  });
  Arrived& arrived = arrived_[{s.buffer, index}];
  for (size_t t : all) arrived.tasks.insert(first_task_ + threads_[t].task);
  if (++arrived.blocks > blocks) observer_.wrong(s, fmt::format("more than {} blocks come", blocks));
  if (arrived.blocks != blocks) return;
  const auto* outer = std::exchange(behind_, &arrived.tasks);
  together(s.body, all);
  behind_ = outer;
}

void Interpreter::together(const Await& s, const Together& all) {
  if (all.empty()) return;
  ++syncs_;
  int64_t from = 0;
  as_thread(all[0], [&] {
    from = scalar(s.from);
    observer_.atomic(touch(s, s.buffer, block_));
  });
  for (size_t t : all) arrived_[{s.buffer, block_}].tasks.insert(first_task_ + threads_[t].task);
  awaited_.clear();
  if (from < 0 || from > block_) observer_.wrong(s, fmt::format("block {} waits from {} on", block_, from));
  for (int64_t block = std::max<int64_t>(from, 0); block < block_; ++block) {
    const std::set<int64_t>& tasks = arrived_[{s.buffer, block}].tasks;
    if (tasks.empty()) observer_.wrong(s, fmt::format("block {} does not come", block));
    awaited_.insert(tasks.begin(), tasks.end());
  }
  behind_ = &awaited_;
}

void Interpreter::together(const Shuffle& s, const Together& all) {
  std::vector<Lanes> taken;
  for (size_t t : all) taken.push_back(threads_.at(t ^ size_t(s.by)).values.at(s.in.id));
  for (size_t i = 0; i < all.size(); ++i) threads_[all[i]].values[s.out.id] = taken[i];
}

void Interpreter::together(const LoadOfBlock& s, const Together& all) {
  for (size_t t : all)
    as_thread(t, [&] {
      const int64_t index = scalar(s.index), block = scalar(s.block);
      const size_t rank = size_t(std::clamp<int64_t>(block, 0, int64_t(ranks_) - 1));
      if (block != int64_t(rank)) observer_.wrong(s, fmt::format("there is no block {}", block));
      observer_.load(touch(s, s.buffer, index, rank));
      const bool there = index >= 0 && index < extents_[s.buffer];
      const size_t at = size_t(index) * size_of(s.out.dtype);
      set(s.out, {there ? Constant::load(s.out.dtype, shared_.at(s.buffer)[rank].data() + at)
                        : Constant::from_int64(s.out.dtype, 0)});
    });
}

void Interpreter::together(const Fold& s, const Together& all) {
  std::vector<std::vector<State>> parts;  // of each thread, by lane
  for (size_t t : all) as_thread(t, [&] { parts.push_back(folded(s)); });
  const size_t count = size_t(s.threads), stride = size_t(s.stride), lanes = size_t(s.out[0].lanes);
  for (size_t t : all) {
    const size_t first = t / (count * stride) * (count * stride) + t % stride;
    if (t != first) continue;
    std::vector<Lanes> whole(s.out.size());
    for (size_t l = 0; l < lanes; ++l) {
      std::vector<State> group;
      for (size_t i = 0; i < count; ++i) group.push_back(parts[first + i * stride][l]);
      const State one = as_one(s, std::move(group));
      for (size_t i = 0; i < one.size(); ++i) whole[i].push_back(one[i]);
    }
    for (size_t i = 0; i < count; ++i)
      for (size_t v = 0; v < s.out.size(); ++v) threads_[first + i * stride].values[s.out[v].id] = whole[v];
  }
}

void Interpreter::together(const Prefix& s, const Together& all) {
  const size_t count = size_t(s.threads), in_warp = std::min(count, size_t(kWarp));
  std::vector<DType> types;
  for (const Value& v : s.state) types.push_back(v.dtype);
  const State nothing = identity(s.combine, types, s.element);
  const auto set_all = [&](size_t thread, const std::vector<Value>& values, const State& state) {
    for (size_t i = 0; i < values.size(); ++i) threads_[thread].values[values[i].id] = {state[i]};
  };
  for (size_t t : all) {
    if (t % count != 0) continue;
    std::vector<State> whole, before(count, nothing);
    for (size_t i = 0; i < count; ++i) as_thread(t + i, [&] { whole.push_back(lane_of(s.state, 0)); });
    for (size_t by = 1; by < in_warp; by *= 2) {
      const std::vector<State> old = whole;
      for (size_t i = 0; i < count; ++i) {
        if ((i & by) != 0) before[i] = formulas_.merge(s.combine, old[i ^ by], before[i]);
        whole[i] = formulas_.merge(s.combine, old[i & ~by], old[i | by]);
      }
    }
    State one = count > in_warp ? nothing : whole[0];
    for (size_t w = 0; w < count && count > in_warp; w += in_warp) {
      for (size_t i = w; i < w + in_warp; ++i) before[i] = formulas_.merge(s.combine, one, before[i]);
      one = formulas_.merge(s.combine, one, whole[w]);
    }
    for (size_t i = 0; i < count; ++i) {
      set_all(t + i, s.before, before[i]);
      set_all(t + i, s.all, one);
    }
  }
}

void Interpreter::together(const LoadMatrix& s, const Together& all) {
  const DType dtype = kernel_.buffers[s.from].dtype;
  for (size_t warp = 0; warp + size_t(kWarp) <= all.size(); warp += size_t(kWarp)) {
    std::vector<Lanes> rows;  // by matrix and row
    for (size_t l = 0; l < size_t(8) * size_t(s.count); ++l)
      as_thread(all[warp + l], [&] {
        const int64_t first = scalar(s.index);
        if (first % 8 != 0) observer_.wrong(s, fmt::format("element {} is not aligned", first));
        rows.emplace_back();
        for (int64_t i = first; i < first + 8; ++i) {
          observer_.load(touch(s, s.from, i));
          const void* from = element(s.from, i);
          rows.back().push_back(from != nullptr ? Constant::load(dtype, from) : Constant::from_int64(dtype, 0));
        }
      });
    for (size_t l = 0; l < size_t(kWarp); ++l)
      as_thread(all[warp + l], [&] {
        for (size_t i = 0; i < size_t(s.count); ++i)
          for (size_t j = 0; j < 2; ++j) {
            const size_t g = l / 4, t = 2 * (l % 4) + j;
            const int64_t at = scalar(s.to_index) + int64_t(2 * i + j);
            observer_.store(touch(s, s.to, at));
            if (void* to = element(s.to, at)) (s.transposed ? rows[8 * i + t][g] : rows[8 * i + g][t]).store(to);
          }
      });
  }
}

void Interpreter::together(const Mma& s, const Together& all) {
  const auto number = [&](uint32_t buffer, int64_t at) {
    observer_.load(touch(s, buffer, at));
    const void* from = element(buffer, at);
    return from != nullptr ? Constant::load(kernel_.buffers[buffer].dtype, from).to_double() : 0;
  };
  for (size_t warp = 0; warp + size_t(kWarp) <= all.size(); warp += size_t(kWarp)) {
    double a[kMmaRows][kMmaTerms], b[kMmaTerms][kMmaColumns];
    for (int64_t l = 0; l < kWarp; ++l)
      as_thread(all[warp + size_t(l)], [&] {
        for (int64_t h = 0; h < 2; ++h)
          for (int64_t j = 0; j < 2; ++j) {
            const int64_t term = 2 * (l % 4) + j + 8 * h;
            for (int64_t i = 0; i < 2; ++i) a[l / 4 + 8 * i][term] = number(s.a, scalar(s.a_index) + 4 * h + 2 * i + j);
            b[term][l / 4] = number(s.b, scalar(s.b_index) + 2 * h + j);
          }
      });
    for (int64_t l = 0; l < kWarp; ++l)
      as_thread(all[warp + size_t(l)], [&] {
        for (int64_t i = 0; i < 2; ++i)
          for (int64_t j = 0; j < 2; ++j) {
            const int64_t at = scalar(s.sums_index) + 2 * i + j;
            double sum = number(s.sums, at);
            for (int64_t k = 0; k < kMmaTerms; ++k) sum += a[l / 4 + 8 * i][k] * b[k][2 * (l % 4) + j];
            observer_.store(touch(s, s.sums, at));
            if (void* to = element(s.sums, at)) Constant::from_double(DType::f32, sum).store(to);
          }
      });
  }
}

Interpreter::State Interpreter::of_blocks(const Fold& s, const std::vector<State>& group) {
  Fold within;
  within.combine = s.combine;
  within.out = s.out;
  within.threads = int64_t(group.size() / ranks_);
  std::vector<State> blocks;
  for (auto it = group.begin(); it != group.end(); it += within.threads)
    blocks.push_back(as_one(within, {it, it + within.threads}));
  within.threads = int64_t(ranks_);
  return as_one(within, std::move(blocks));
}

Interpreter::State Interpreter::as_one(const Fold& s, std::vector<State> group) {
  if (way_of(s) == FoldWay::in_order) {
    for (size_t i = 1; i < group.size(); ++i) group[0] = formulas_.merge(s.combine, group[0], group[i]);
    return group[0];
  }
  const auto halve = [&](size_t from) {  // within so many that stand together
    for (size_t by = from / 2; by > 0; by /= 2) {
      const std::vector<State> before = group;
      for (size_t i = 0; i < group.size(); ++i) group[i] = formulas_.merge(s.combine, before[i & ~by], before[i | by]);
    }
  };
  const size_t in_warp = std::min(group.size(), size_t(kWarp / std::min(s.stride, kWarp)));
  if (ranks_ > 1 && group.size() == threads_.size()) return of_blocks(s, group);
  halve(in_warp);
  const size_t warps = group.size() / in_warp;
  for (size_t w = 0; w < warps; ++w) group[w] = group[w * in_warp];
  group.resize(warps);
  halve(warps);
  return group[0];
}

}  // namespace plait::kir
