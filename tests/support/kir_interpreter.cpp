#include "support/kir_interpreter.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include "kir/statements.h"
#include "scalar/convert.h"
#include "scalar/philox.h"

namespace plait::test {

namespace {

using Lanes = std::vector<double>;

// As the storage dtype holds it: rounded, or modulo 2^bits.
double brought_to(DType dtype, double v) {
  if (is_narrow(dtype)) return round_to(dtype, v);
  return compute_type(dtype) == dtype ? v : static_cast<double>(wrap_to(dtype, static_cast<int64_t>(v)));
}

// Of integers and bool where the function has no meaning on floats.
double evaluate_in(DType dtype, Pointwise function, const std::vector<double>& in) {
  if (has_float_meaning(function)) return plait::evaluate(function, in);
  const std::vector<int64_t> integers(in.begin(), in.end());
  return static_cast<double>(evaluate_int(function, integers, dtype));
}

class Interpreter {
 public:
  Interpreter(const kir::Kernel& kernel, std::vector<std::vector<double>>& buffers)
      : kernel_(kernel), buffers_(buffers) {}

  Counts run(const std::vector<int64_t>& integers) {
    for (size_t i = 0; i < kernel_.integers.size(); ++i) env_[kernel_.integers[i].symbol_name()] = integers.at(i);
    lane_ = &env_[kir::kLane];
    const size_t passed = kir::passed_buffers(kernel_);
    buffers_.resize(kernel_.buffers.size());
    for (size_t b = 0; b < buffers_.size(); ++b) {
      const size_t extent = static_cast<size_t>(evaluate(kernel_.buffers[b].extent, env_));
      const bool own = kernel_.buffers[b].space != kir::Space::argument;
      if (kernel_.buffers[b].written || own) buffers_[b].assign(extent, NAN);
      if (buffers_[b].size() != extent) fail("buffer {} has {} elements of {}", b, buffers_[b].size(), extent);
      stored_.emplace_back(extent, false);
    }
    for (const kir::Phase& phase : kernel_.phases) {
      find_atomics(phase.body);
      block(phase.body);
    }
    for (size_t b = 0; b < buffers_.size(); ++b)
      for (size_t i = 0; kernel_.buffers[b].written && i < stored_[b].size(); ++i)
        if (!stored_[b][i] && !atomics_.contains(b)) fail("{}[{}] is never stored", kernel_.buffers[b].name, i);
    buffers_.resize(passed);
    return counts_;
  }

 private:
  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
    throw std::runtime_error(fmt::format(format, std::forward<Args>(args)...));
  }

  void find_atomics(const kir::Block& body) {
    for (const auto& s : body) {
      if (const auto* loop = kir::as<kir::For>(*s)) find_atomics(loop->body);
      if (const auto* branch = kir::as<kir::If>(*s)) find_atomics(branch->body);
      if (const auto* atomic = kir::as<kir::Atomic>(*s)) atomics_.insert(atomic->buffer);
    }
  }

  void block(const kir::Block& body) {
    for (const auto& s : body) kir::visit(*s, [&](const auto& stmt) { execute(stmt); });
  }
  int64_t scalar(sym::Expr e) const { return sym::evaluate(e, env_); }
  int64_t at_lane(sym::Expr e, int lane) {
    *lane_ = lane;
    return sym::evaluate(e, env_);
  }
  Lanes& value(const kir::Value& v) {
    if (v.id >= values_.size()) values_.resize(v.id + 1);
    return values_[v.id];
  }
  // What a statement makes is gathered here: it may be read by the same statement, and memory is used again.
  Lanes& none() {
    made_.clear();
    return made_;
  }
  void set(const kir::Value& v, Lanes& made) { value(v).swap(made); }

  void execute(const kir::For& s) {
    const int64_t extent = scalar(s.extent);
    if (s.loop >= kir::LoopKind::thread_x && cooperates(s.body)) return at_once(s, extent);
    int64_t& var = env_[s.var.symbol_name()];
    for (int64_t i = 0; i < extent; ++i) {
      ++counts_.iterations;
      var = i;
      block(s.body);
    }
    env_.erase(s.var.symbol_name());
  }
  // ---- threads that cooperate, one statement of all of them after another

  // Copies that are under way, by the group that they were committed in; the last group is open.
  struct Copied {
    uint32_t buffer;
    size_t index;
    double value;
  };
  using Copies = std::vector<std::vector<Copied>>;

  struct Thread {
    sym::Environment env;
    std::vector<Lanes> values;
    std::map<uint32_t, std::vector<double>> stack;
    Copies copies;
    int64_t* lane = nullptr;  // of env
  };

  static bool cooperates(const kir::Block& body) {
    return std::any_of(body.begin(), body.end(), [](const auto& s) {
      const kir::Block* inner = kir::body_of(*s);
      return s->kind == kir::StmtKind::Sync || s->kind == kir::StmtKind::Shuffle || (inner && cooperates(*inner));
    });
  }

  void at_once(const kir::For& s, int64_t extent) {
    const auto* x = s.body.size() == 1 ? kir::as<kir::For>(*s.body[0]) : nullptr;
    if (x && x->loop < kir::LoopKind::thread_x) x = nullptr;
    const size_t row = x ? static_cast<size_t>(scalar(x->extent)) : 1;
    threads_.resize(static_cast<size_t>(extent) * row);
    std::vector<size_t> all;
    for (size_t t = 0; t < threads_.size(); ++t) {
      threads_[t].env = env_;
      threads_[t].lane = &threads_[t].env.at(kir::kLane);
      threads_[t].values = values_;
      threads_[t].stack.clear();
      threads_[t].copies.assign(1, {});
      threads_[t].env[s.var.symbol_name()] = static_cast<int64_t>(t / row);
      if (x) threads_[t].env[x->var.symbol_name()] = static_cast<int64_t>(t % row);
      all.push_back(t);
      ++counts_.iterations;
    }
    at_once(x ? x->body : s.body, all);
  }

  template <class Fn>
  void as(size_t t, Fn&& fn) {
    const auto exchange = [&] {
      std::swap(env_, threads_[t].env);
      std::swap(lane_, threads_[t].lane);
      std::swap(values_, threads_[t].values);
      std::swap(copies_, threads_[t].copies);
      for (auto& [buffer, elements] : threads_[t].stack) std::swap(buffers_[buffer], elements);
    };
    exchange();
    fn();
    exchange();
  }

  void at_once(const kir::Block& body, const std::vector<size_t>& all) {
    for (const auto& s : body) at_once(*s, all);
  }

  void at_once(const kir::Stmt& stmt, const std::vector<size_t>& all) {
    if (const auto* loop = kir::as<kir::For>(stmt)) {
      std::vector<size_t> left = all;
      for (int64_t i = 0; !left.empty(); ++i) {
        std::erase_if(left, [&](size_t t) {
          bool ends = false;
          as(t, [&] { ends = i >= scalar(loop->extent); });
          return ends;
        });
        for (size_t t : left) threads_[t].env[loop->var.symbol_name()] = i;
        at_once(loop->body, left);
      }
      for (size_t t : all) threads_[t].env.erase(loop->var.symbol_name());
    } else if (const auto* branch = kir::as<kir::If>(stmt)) {
      std::vector<size_t> some;
      for (size_t t : all)
        as(t, [&] {
          if (scalar(branch->condition) != 0) some.push_back(t);
        });
      at_once(branch->body, some);
    } else if (const auto* shuffle = kir::as<kir::Shuffle>(stmt)) {
      std::vector<Lanes> taken;
      for (size_t t : all) taken.push_back(threads_.at(t ^ static_cast<size_t>(shuffle->by)).values.at(shuffle->in.id));
      for (size_t i = 0; i < all.size(); ++i) as(all[i], [&] { set(shuffle->out, taken[i]); });
    } else if (stmt.kind != kir::StmtKind::Sync) {
      const auto* alloc = kir::as<kir::Alloc>(stmt);
      if (alloc && kernel_.buffers[alloc->buffer].space == kir::Space::shared) return execute(*alloc);
      for (size_t t : all) {
        if (alloc) threads_[t].stack.try_emplace(alloc->buffer, buffers_[alloc->buffer].size());
        as(t, [&] { kir::visit(stmt, [&](const auto& s) { execute(s); }); });
      }
    }
  }

  void execute(const kir::If& s) {
    if (scalar(s.condition) != 0) block(s.body);
  }
  void execute(const kir::Alloc& s) { std::fill(buffers_[s.buffer].begin(), buffers_[s.buffer].end(), NAN); }
  void execute(const kir::Variable& s) { value(s.out).assign(static_cast<size_t>(s.out.lanes), s.initial.to_double()); }
  void execute(const kir::Assign& s) {
    Lanes& out = none();
    out = value(s.in);
    set(s.variable, out);
  }
  void execute(const kir::Literal& s) { value(s.out).assign(static_cast<size_t>(s.out.lanes), s.constant.to_double()); }
  void execute(const kir::Coordinate& s) {
    Lanes& out = none();
    for (int l = 0; l < s.out.lanes; ++l) out.push_back(static_cast<double>(at_lane(s.index, l)));
    set(s.out, out);
  }

  void execute(const kir::Bind& s) { env_[s.var.symbol_name()] = static_cast<int64_t>(value(s.in).at(0)); }

  // Index of every active lane, after checking what the statement claims about them.
  template <class S>
  const std::vector<int64_t>& indices(const S& s, int lanes) {
    const int64_t active = s.active ? std::min<int64_t>(scalar(s.active), lanes) : lanes;
    const auto& name = kernel_.buffers[s.buffer].name;
    // All or none under a condition; of what is cut off, some.
    const bool none = active == 0 && (lanes == 1 || s.active.kind() == sym::Kind::select);
    if (active < 1 && !none) fail("{} of {} lanes active in {}", active, lanes, name);
    std::vector<int64_t>& out = indices_;
    out.clear();
    for (int l = 0; l < active; ++l) {
      const int64_t i = at_lane(s.index, l);
      if (i < 0 || i >= static_cast<int64_t>(buffers_[s.buffer].size()))
        fail("{}[{}] of {} elements", name, i, buffers_[s.buffer].size());
      const bool run = s.access == kir::Access::aligned || s.access == kir::Access::contiguous;
      if (run && l > 0 && i != out[0] + l) fail("lanes of {} are not contiguous", name);
      if (s.access == kir::Access::splat && l > 0 && i != out[0]) fail("lanes of {} differ", name);
      if (s.access == kir::Access::aligned && l == 0 && i % lanes != 0) fail("{}[{}] is not aligned", name, i);
      out.push_back(i);
    }
    return out;
  }

  void execute(const kir::Load& s) {
    ++counts_.loads;
    const auto& at = indices(s, s.out.lanes);
    Lanes& out = value(s.out);
    out.assign(static_cast<size_t>(s.out.lanes), 0);
    const DType dtype = kernel_.buffers[s.buffer].dtype;
    const bool bits = kir::element_type(kernel_, s.buffer, s.out) != dtype;
    for (size_t l = 0; l < at.size(); ++l) {
      const double element = buffers_[s.buffer][static_cast<size_t>(at[l])];
      out[l] = bits ? static_cast<double>(Constant::from_double(dtype, element).bits) : element;
    }
  }
  void execute(const kir::Store& s) {
    ++counts_.stores;
    const auto& at = indices(s, s.in.lanes);
    const Lanes& in = value(s.in);
    for (size_t l = 0; l < at.size(); ++l) {
      const size_t i = static_cast<size_t>(at[l]);
      const kir::Buffer& to = kernel_.buffers[s.buffer];
      if (stored_[s.buffer][i] && !to.updated && to.space == kir::Space::argument)
        fail("{}[{}] is stored twice", to.name, i);
      stored_[s.buffer][i] = true;
      const bool bits = kir::element_type(kernel_, s.buffer, s.in) != to.dtype;
      const double number = bits ? Constant{to.dtype, static_cast<uint64_t>(in[l])}.to_double() : in[l];
      buffers_[s.buffer][i] = brought_to(to.dtype, number);
    }
  }
  // As late as may be: when its thread waits for it.
  void execute(const kir::CopyAsync& s) {
    struct Side {
      uint32_t buffer;
      sym::Expr index;
      kir::Access access;
      sym::Expr active;
    };
    Lanes taken(static_cast<size_t>(s.lanes), 0);
    if (!s.active || scalar(s.active) > 0) {  // of a row that is over, less than none are active
      const auto& from = indices(Side{s.from, s.index, s.access, s.active}, s.lanes);
      for (size_t l = 0; l < from.size(); ++l) taken[l] = buffers_[s.from][static_cast<size_t>(from[l])];
    }
    const auto& to = indices(Side{s.to, s.to_index, s.to_access, {}}, s.lanes);
    for (size_t l = 0; l < to.size(); ++l) copies_.back().push_back({s.to, static_cast<size_t>(to[l]), taken[l]});
  }
  void execute(const kir::Commit&) { copies_.emplace_back(); }
  void execute(const kir::Wait& s) {
    const size_t left = static_cast<size_t>(s.left) + 1;  // and the open one
    for (; copies_.size() > left; copies_.erase(copies_.begin()))
      for (const Copied& copied : copies_.front()) buffers_[copied.buffer][copied.index] = copied.value;
  }
  void execute(const kir::Atomic& s) {
    const size_t i = static_cast<size_t>(scalar(s.index));
    if (i >= buffers_[s.buffer].size()) fail("{}[{}]", kernel_.buffers[s.buffer].name, i);
    double& at = buffers_[s.buffer][i];
    const double in = value(s.in)[0];
    if (s.op == AtomicOp::add)
      at += in;
    else
      at = std::isnan(at) ? in : s.op == AtomicOp::min ? std::min(at, in) : std::max(at, in);
    ++counts_.atomics;
  }
  void execute(const kir::Compute& s) {
    Lanes& out = none();
    for (int l = 0; l < s.out.lanes; ++l) {
      operands_.clear();
      for (const kir::Value& v : s.in) operands_.push_back(value(v)[l]);
      out.push_back(evaluate_in(s.in.back().dtype, s.function, operands_));
    }
    set(s.out, out);
  }
  void execute(const kir::Convert& s) {
    Lanes& out = none();
    for (int l = 0; l < s.out.lanes; ++l) {
      const double v = value(s.in)[s.in.lanes == 1 ? 0 : l];
      out.push_back(is_float(s.out.dtype) ? v : round_to(s.out.dtype, v));
    }
    set(s.out, out);
  }
  void execute(const kir::Round& s) {
    Lanes& out = none();
    for (double v : value(s.in)) out.push_back(brought_to(s.to, v));
    set(s.out, out);
  }
  void execute(const kir::Half& s) {
    const Lanes in = value(s.in);
    const auto first = in.begin() + (s.upper ? s.out.lanes : 0);
    value(s.out) = Lanes(first, first + s.out.lanes);
  }
  void execute(const kir::Transpose& s) {
    std::vector<Lanes> columns;
    for (const kir::Value& v : s.in) columns.push_back(value(v));
    for (size_t i = 0; i < s.out.size(); ++i) {
      Lanes row;
      for (const Lanes& column : columns) row.push_back(column[i]);
      value(s.out[i]) = row;
    }
  }
  double joined(const kir::Running& s, double before, double here) {
    return evaluate_in(s.out.dtype, s.function, {before, here});
  }
  void execute(const kir::Running& s) {
    Lanes in = value(s.in);
    double before = value(s.before)[0];
    for (size_t begin = 0; begin < in.size(); begin += kir::kRunningGroup) {
      const Lanes group(in.begin() + long(begin), in.begin() + long(std::min(in.size(), begin + kir::kRunningGroup)));
      Lanes sums = group;
      for (size_t by = 1; by < group.size(); by *= 2) {
        const Lanes last = sums;
        for (size_t l = by; l < sums.size(); ++l) sums[l] = joined(s, last[l - by], last[l]);
      }
      for (size_t l = 0; l < sums.size(); ++l) in[begin + l] = joined(s, before, sums[l]);
      before = in[begin + sums.size() - 1];
    }
    value(s.out) = in;
  }
  void execute(const kir::Random& s) {
    Lanes& out = none();
    const auto seed = static_cast<uint64_t>(value(s.seed)[0]);
    for (int l = 0; l < s.out.lanes; ++l)
      out.push_back(
          uniform_f32(seed, static_cast<uint64_t>(at_lane(s.index, l)), static_cast<uint64_t>(at_lane(s.offset, 0))));
    set(s.out, out);
  }

  template <class S>
  void execute(const S& s) {
    fail("a {} statement", kir::name(s.kind));
  }

  const kir::Kernel& kernel_;
  std::vector<std::vector<double>>& buffers_;
  std::vector<std::vector<bool>> stored_;
  sym::Environment env_;
  int64_t* lane_ = nullptr;  // of env_
  std::vector<Lanes> values_;
  Lanes made_, operands_;
  std::vector<int64_t> indices_;
  Copies copies_ = Copies(1);
  std::vector<Thread> threads_;  // of the block at hand
  std::set<size_t> atomics_;     // buffers that meet them
  Counts counts_;
};

}  // namespace

Counts interpret(const kir::Kernel& kernel, std::vector<std::vector<double>>& buffers,
                 const std::vector<int64_t>& integers) {
  return Interpreter(kernel, buffers).run(integers);
}

}  // namespace plait::test
