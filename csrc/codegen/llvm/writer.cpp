#include "codegen/llvm/writer.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "codegen/llvm/compute.h"
#include "codegen/llvm/functions.h"
#include "codegen/llvm/index.h"
#include "codegen/llvm/shuffles.h"
#include "codegen/llvm/text.h"
#include "device/device.h"
#include "kir/lane.h"
#include "kir/passes/edit.h"
#include "kir/statements.h"

namespace plait::codegen {
namespace {

using namespace llvm;

constexpr Type kI64{Scalar::i64, 1}, kPtr{Scalar::ptr, 1};
constexpr int64_t kAlignment = 64;  // of memory that is ours
// Of the page behind a stack, which a larger frame could pass over: that touches each page on its way.
constexpr int64_t kGuardBytes = 4096;
constexpr const char* kReads = ", !alias.scope !4, !noalias !5, !invariant.load !0";
constexpr const char* kWrites = ", !alias.scope !5, !noalias !4";
constexpr const char* kMetadata =
    "\n!0 = !{}\n!1 = distinct !{!1}\n!2 = distinct !{!2, !1, !\"read\"}\n!3 = distinct !{!3, !1, !\"written\"}\n"
    "!4 = !{!2}\n!5 = !{!3}\n";

constexpr const char* kParameters =
    "(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) "
    "nounwind";

// Which buffers and integers of a launch a function is given, by their places in it.
struct Passed {
  std::vector<size_t> buffers, integers;
};

Passed all_of(const kir::Kernel& kernel) {
  Passed out;
  for (size_t i = 0; i < kernel.buffers.size(); ++i)
    if (!kernel.buffers[i].is_local()) out.buffers.push_back(i);
  for (size_t i = 0; i < kernel.integers.size(); ++i) out.integers.push_back(i);
  return out;
}

// Those that statements speak of, in the order in which they do.
class PassedFinder {
 public:
  PassedFinder(const kir::Kernel& kernel, Passed& out) : kernel_(kernel), out_(out) {
    for (size_t i = 0; i < kernel.integers.size(); ++i) integers_[kernel.integers[i].symbol_name()] = i;
  }

  void block(const kir::Block& body) {
    for (const auto& stmt : body) {
      if (const uint32_t* buffer = kir::buffer_of(*stmt); buffer != nullptr && !kernel_.buffers[*buffer].is_local())
        add(out_.buffers, *buffer);
      std::set<std::string> names;
      for (sym::Expr e : kir::expressions(*stmt)) sym::symbols(e, names);
      if (const auto* alloc = kir::as<kir::Alloc>(*stmt)) sym::symbols(kernel_.buffers[alloc->buffer].extent, names);
      for (const auto& [name, place] : integers_)
        if (names.contains(name)) add(out_.integers, place);
      if (const kir::Block* inner = kir::body_of(*stmt)) block(*inner);
    }
  }

 private:
  static void add(std::vector<size_t>& list, size_t place) {
    if (std::find(list.begin(), list.end(), place) == list.end()) list.push_back(place);
  }

  const kir::Kernel& kernel_;
  Passed& out_;
  std::map<std::string, size_t> integers_;
};

class Writer {
 public:
  Writer(const kir::Kernel& kernel, Module& module) : kernel_(kernel), module_(module), f_(module_), index_(f_) {}

  // The body of the function of one phase.
  std::string run(const kir::Phase& phase, const Passed& passed) {
    arguments(passed);
    if (kir::thread_loop(phase) == nullptr) {
      const Ir some = f_.compare("icmp slt", {kI64, "%begin"}, {kI64, "%end"});
      guarded(some, [&] { block(phase.body); });
    } else {
      block(phase.body);
    }
    f_.line("ret void");
    const char* attributes = stack_bytes_ > kGuardBytes ? " \"probe-stack\"=\"inline-asm\"" : "";
    return fmt::format("{} {{\nentry:\n{}{}}}\n", attributes, allocas_, f_.body());
  }

 private:
  void arguments(const Passed& passed) {
    buffers_.resize(kernel_.buffers.size());
    for (size_t i = 0; i < passed.buffers.size(); ++i) {
      const Ir slot = f_.define(kPtr, fmt::format("getelementptr inbounds ptr, ptr %buffers, i64 {}", i));
      buffers_[passed.buffers[i]] =
          f_.define(kPtr, fmt::format("load ptr, {}, align 8, !invariant.load !0", slot.typed()));
    }
    for (size_t i = 0; i < passed.integers.size(); ++i) {
      const Ir slot = f_.define(kPtr, fmt::format("getelementptr inbounds i64, ptr %integers, i64 {}", i));
      const Ir value = f_.define(kI64, fmt::format("load i64, {}, align 8, !invariant.load !0", slot.typed()));
      index_.bind(kernel_.integers[passed.integers[i]], value);
    }
  }

  void block(const kir::Block& body) {
    for (const auto& stmt : body) {
      const size_t begin = f_.body().size();
      kir::visit(*stmt, [&](const auto& s) { write(s); });
      for (const kir::Value& value : kir::results(*stmt))
        if (const auto made = values_.find(value.id); made != values_.end()) f_.note(made->second, value.id, begin);
    }
  }

  void jump(const std::string& label) { f_.line("br label %" + label); }
  void branch(const Ir& condition, const std::string& yes, const std::string& no) {
    f_.line(fmt::format("br {}, label %{}, label %{}", condition.typed(), yes, no));
  }

  // What is computed in a body is known in it only.
  template <class Body>
  void scoped(Body&& body) {
    index_.enter();
    masks_.emplace_back();
    body();
    masks_.pop_back();
    index_.leave();
  }

  // Runs body where the condition holds.
  template <class Body>
  void guarded(const Ir& condition, Body&& body) {
    const std::string then = f_.fresh_label("then"), join = f_.fresh_label("join");
    branch(condition, then, join);
    f_.label(then);
    scoped(body);
    jump(join);
    f_.label(join);
  }

  // The same with a result: body() where the condition holds, else `otherwise`.
  template <class Body>
  Ir guarded_value(const Ir& condition, const Ir& otherwise, Body&& body) {
    const std::string outer = f_.block();
    Ir inner;
    std::string inner_block;
    guarded(condition, [&] {
      inner = body();
      inner_block = f_.block();
    });
    return f_.define(otherwise.type, fmt::format("phi {} [ {}, %{} ], [ {}, %{} ]", otherwise.type.text(), inner.text,
                                                 inner_block, otherwise.text, outer));
  }

  const Ir& value(const kir::Value& v) const { return values_.at(v.id); }

  Ir read(const kir::Value& v) {
    const auto variable = variables_.find(v.id);
    if (variable == variables_.end()) return value(v);
    const Type type = value_type(v.dtype, v.lanes);
    return f_.define(type, fmt::format("load {}, {}", type.text(), variable->second.typed()));
  }

  void write(const kir::For& s) {
    const bool whole = s.loop != kir::LoopKind::cpu_thread;
    const Ir first = whole ? integer(kI64, 0) : Ir{kI64, "%begin"};
    const Ir last = whole ? index_.value(s.extent) : Ir{kI64, "%end"};
    const std::string before = f_.block(), loop = f_.fresh_label("loop"), latch = f_.fresh_label("latch");
    const std::string done = f_.fresh_label("done");
    branch(f_.compare("icmp slt", first, last), loop, done);
    f_.label(loop);
    const std::string next = fmt::format("%{}.next", loop);
    const Ir var = f_.define(kI64, fmt::format("phi i64 [ {}, %{} ], [ {}, %{} ]", first.text, before, next, latch));
    scoped([&] {
      index_.bind(s.var, var);
      block(s.body);
    });
    jump(latch);
    f_.label(latch);
    f_.line(fmt::format("{} = add nuw nsw i64 {}, 1", next, var.text));
    branch(f_.compare("icmp slt", {kI64, next}, last), loop, done);
    f_.label(done);
  }

  void write(const kir::If& s) {
    guarded(index_.condition(s.condition), [&] { block(s.body); });
  }

  // Memory of the greatest extent, for the whole of the function.
  void write(const kir::Alloc& s) {
    const kir::Buffer& buffer = kernel_.buffers[s.buffer];
    PLAIT_CHECK(buffer.space == kir::Space::stack, "kernel {} has the {} buffer {} on a CPU", kernel_.name,
                kir::name(buffer.space), buffer.name);
    if (!buffers_[s.buffer].text.empty()) return;
    const int64_t most = std::max<int64_t>(1, sym::bounds(buffer.extent).hi);
    PLAIT_CHECK(most <= kir::kMostStackBytes / int64_t(size_of(buffer.dtype)), "stack buffer {} has no small bound",
                buffer.name);
    const Ir slot{kPtr, fmt::format("%stack{}", s.buffer)};
    allocas_ += fmt::format("  {} = alloca [{} x {}], align {}\n", slot.text, most, memory_type(buffer.dtype, 1).text(),
                            kAlignment);
    buffers_[s.buffer] = slot;
    stack_bytes_ += most * static_cast<int64_t>(size_of(buffer.dtype));
  }

  void write(const kir::Variable& s) {
    const Type type = value_type(s.out.dtype, s.out.lanes);
    const Ir initial = constant(type, s.initial);
    const Ir slot{kPtr, fmt::format("%variable{}", s.out.id)};
    allocas_ += fmt::format("  {} = alloca {}\n", slot.text, type.text());
    f_.line(fmt::format("store {}, {}", initial.typed(), slot.typed()));
    variables_.emplace(s.out.id, slot);
  }

  void write(const kir::Assign& s) {
    f_.line(fmt::format("store {}, {}", read(s.in).typed(), variables_.at(s.variable.id).typed()));
  }

  void write(const kir::Literal& s) {
    values_.emplace(s.out.id, constant(value_type(s.out.dtype, s.out.lanes), s.constant));
  }

  // index(lane) in every lane.
  Ir lanes_of(sym::Expr index, int lanes) {
    const Type type{Scalar::i64, lanes};
    if (const auto stride = kir::lane_stride(index)) {
      const Ir first = f_.splat(index_.value(kir::at_lane(index, 0)), lanes);
      if (*stride == 0 || lanes == 1) return first;
      const Ir steps = *stride == 1 ? iota(type) : f_.binary("mul", iota(type), integer(type, *stride));
      return f_.binary("add", first, steps);
    }
    Ir result{type, "poison"};
    for (int lane = 0; lane < lanes; ++lane) {
      result = f_.insert(result, index_.value(kir::at_lane(index, lane)), lane);
    }
    return result;
  }

  void write(const kir::Coordinate& s) { values_.emplace(s.out.id, lanes_of(s.index, s.out.lanes)); }

  void write(const kir::Bind& s) { index_.bind(s.var, read(s.in)); }

  Ir address(uint32_t buffer, sym::Expr index) {
    const Type element = memory_type(kernel_.buffers[buffer].dtype, 1);
    return f_.define(kPtr, fmt::format("getelementptr inbounds {}, {}, {}", element.text(), buffers_[buffer].typed(),
                                       index_.value(index).typed()));
  }

  // Bytes of which the address of an element is a multiple.
  int64_t alignment(uint32_t buffer) const { return int64_t(size_of(kernel_.buffers[buffer].dtype)); }

  // The same of a vector: arguments lie where the caller has them.
  int64_t alignment(uint32_t buffer, int lanes, kir::Access access) const {
    const bool ours = kernel_.buffers[buffer].space != kir::Space::argument;
    return ours && access == kir::Access::aligned ? std::min(kAlignment, alignment(buffer) * lanes) : alignment(buffer);
  }

  // What holds of loads: those from what is stored to, or lies in its memory, see the stores.
  const char* reads(uint32_t buffer) const {
    const kir::Buffer& b = kernel_.buffers[buffer];
    return b.stores() || b.replaced ? kWrites : kReads;
  }

  // lane < active, made once in a scope.
  Ir mask(sym::Expr active, int lanes) {
    const auto key = std::pair(active.node(), lanes);
    for (auto scope = masks_.rbegin(); scope != masks_.rend(); ++scope)
      if (const auto known = scope->find(key); known != scope->end()) return known->second;
    const sym::Bounds range = sym::bounds(active);
    Ir count = index_.value(active);
    if (range.lo < 0) count = f_.intrinsic("llvm.smax", {count, integer(kI64, 0)});
    if (range.hi > lanes) count = f_.intrinsic("llvm.smin", {count, integer(kI64, lanes)});
    const Ir all = f_.splat(f_.cast("trunc", count, {Scalar::i32, 1}), lanes);
    return masks_.back()[key] = f_.compare("icmp slt", iota({Scalar::i32, lanes}), all);
  }

  Ir is_active(sym::Expr active, int lane) { return f_.compare("icmp sgt", index_.value(active), integer(kI64, lane)); }

  Ir load_element(uint32_t buffer, sym::Expr index) {
    const Type type = memory_type(kernel_.buffers[buffer].dtype, 1);
    return f_.define(type, fmt::format("load {}, {}, align {}{}", type.text(), address(buffer, index).typed(),
                                       alignment(buffer), reads(buffer)));
  }

  Ir load_lane(const kir::Load& s, sym::Expr index, int lane) {
    const Type type = memory_type(kernel_.buffers[s.buffer].dtype, 1);
    if (!s.active) return load_element(s.buffer, index);
    return guarded_value(is_active(s.active, lane), integer_or_number(type),
                         [&] { return load_element(s.buffer, index); });
  }

  static Ir integer_or_number(Type type) { return type.is_float() ? number(type, 0) : integer(type, 0); }

  Ir load_vector(const kir::Load& s) {
    const int lanes = s.out.lanes;
    const Type type = memory_type(kernel_.buffers[s.buffer].dtype, lanes);
    const bool reversed = s.access == kir::Access::reversed;
    const Ir from = address(s.buffer, kir::at_lane(s.index, reversed ? lanes - 1 : 0));
    const int64_t align = alignment(s.buffer, lanes, s.access);
    if (!s.active) {
      const Ir all =
          f_.define(type, fmt::format("load {}, {}, align {}{}", type.text(), from.typed(), align, reads(s.buffer)));
      return reversed ? reverse(f_, all) : all;
    }
    const std::string name = fmt::format("llvm.masked.load.{}.p0", type.suffix());
    const Ir active = mask(s.active, lanes);
    module_.declare(name, fmt::format("declare {} @{}(ptr, i32 immarg, {}, {})", type.text(), name, active.type.text(),
                                      type.text()));
    return f_.define(type, fmt::format("call {} @{}({}, i32 {}, {}, {}){}", type.text(), name, from.typed(), align,
                                       active.typed(), integer_or_number(type).typed(), reads(s.buffer)));
  }

  Ir load_lanewise(const kir::Load& s) {
    const int lanes = s.out.lanes;
    Ir result{memory_type(kernel_.buffers[s.buffer].dtype, lanes), "poison"};
    for (int lane = 0; lane < lanes; ++lane) {
      result = f_.insert(result, load_lane(s, kir::at_lane(s.index, lane), lane), lane);
    }
    return result;
  }

  Ir load_splat(const kir::Load& s) {
    const Ir all = f_.splat(load_lane(s, s.index, 0), s.out.lanes);
    if (!s.active || s.out.lanes == 1) return all;
    return f_.select(mask(s.active, s.out.lanes), all, integer_or_number(all.type));
  }

  void write(const kir::Load& s) {
    Ir element;
    if (s.access == kir::Access::splat) {
      element = load_splat(s);
    } else if (s.access == kir::Access::lanewise || s.out.lanes == 1) {
      element = load_lanewise(s);
    } else {
      element = load_vector(s);
    }
    values_.emplace(s.out.id, from_memory(f_, element, kir::element_type(kernel_, s.buffer, s.out)));
  }

  void store_lane(const kir::Store& s, const Ir& elements, int lane) {
    const Ir element = f_.extract(elements, lane);
    const auto put = [&] {
      f_.line(fmt::format("store {}, {}, align {}{}", element.typed(),
                          address(s.buffer, kir::at_lane(s.index, lane)).typed(), alignment(s.buffer), kWrites));
    };
    if (s.active) {
      guarded(is_active(s.active, lane), put);
    } else {
      put();
    }
  }

  void store_vector(const kir::Store& s, const Ir& elements) {
    const Ir to = address(s.buffer, kir::at_lane(s.index, 0));
    const int64_t align = alignment(s.buffer, s.in.lanes, s.access);
    if (!s.active) {
      f_.line(fmt::format("store {}, {}, align {}{}", elements.typed(), to.typed(), align, kWrites));
      return;
    }
    const std::string name = fmt::format("llvm.masked.store.{}.p0", elements.type.suffix());
    const Ir active = mask(s.active, s.in.lanes);
    module_.declare(
        name, fmt::format("declare void @{}({}, ptr, i32 immarg, {})", name, elements.type.text(), active.type.text()));
    f_.line(fmt::format("call void @{}({}, {}, i32 {}, {}){}", name, elements.typed(), to.typed(), align,
                        active.typed(), kWrites));
  }

  void write(const kir::Store& s) {
    const DType element = kir::element_type(kernel_, s.buffer, s.in);
    const Ir elements = to_memory(f_, read(s.in), s.in.dtype, element);
    if (s.access != kir::Access::lanewise && s.in.lanes > 1) return store_vector(s, elements);
    for (int lane = 0; lane < s.in.lanes; ++lane) store_lane(s, elements, lane);
  }

  void write(const kir::Atomic& s) {
    const bool is_add = s.op == AtomicOp::add;
    const char* sign = is_float(s.in.dtype) ? "f" : is_unsigned(s.in.dtype) && !is_add ? "u" : "";
    const char* what = is_add ? "add" : s.op == AtomicOp::min ? "min" : "max";
    f_.line(fmt::format("atomicrmw {}{} {}, {} monotonic, align {}", sign, what, address(s.buffer, s.index).typed(),
                        read(s.in).typed(), size_of(s.in.dtype)));
  }

  void write(const kir::Compute& s) {
    std::vector<Ir> in;
    for (const kir::Value& operand : s.in) in.push_back(read(operand));
    values_.emplace(s.out.id, compute(f_, s.function, s.in.back().dtype, in));
  }

  void write(const kir::Convert& s) {
    const Ir converted = convert(f_, read(s.in), s.in.dtype, s.out.dtype);
    values_.emplace(s.out.id, s.in.lanes == s.out.lanes ? converted : f_.splat(converted, s.out.lanes));
  }

  void write(const kir::Round& s) { values_.emplace(s.out.id, round_through(f_, read(s.in), s.to)); }

  void write(const kir::Half& s) { values_.emplace(s.out.id, f_.half(read(s.in), s.upper)); }

  void write(const kir::Running& s) {
    const int lanes = std::min(s.in.lanes, kir::kRunningGroup);
    const Type group = value_type(s.out.dtype, lanes);
    const Ir none = constant(group, identity(*combine_of(s.function), {s.out.dtype})[0]);
    values_.emplace(s.out.id,
                    running(f_, read(s.in), read(s.before), none, lanes, [&](const Ir& before, const Ir& here) {
                      return compute(f_, s.function, s.out.dtype, {before, here});
                    }));
  }

  void write(const kir::LastBlock&) { PLAIT_CHECK(false, "a last block in a kernel of a CPU"); }
  void write(const kir::Await&) { PLAIT_CHECK(false, "blocks that wait in a kernel of a CPU"); }
  void write(const kir::Sync&) { PLAIT_CHECK(false, "a sync in a kernel of a CPU"); }
  void write(const kir::CopyAsync&) { PLAIT_CHECK(false, "an asynchronous copy in a kernel of a CPU"); }
  void write(const kir::Commit&) { PLAIT_CHECK(false, "a commit in a kernel of a CPU"); }
  void write(const kir::Wait&) { PLAIT_CHECK(false, "a wait in a kernel of a CPU"); }
  void write(const kir::LoadMatrix&) { PLAIT_CHECK(false, "a load of matrices in a kernel of a CPU"); }
  void write(const kir::Mma&) { PLAIT_CHECK(false, "an mma in a kernel of a CPU"); }
  void write(const kir::LoadOfBlock&) { PLAIT_CHECK(false, "another block in a kernel of a CPU"); }
  void write(const kir::Shuffle&) { PLAIT_CHECK(false, "a shuffle in a kernel of a CPU"); }

  void write(const kir::Transpose& s) {
    std::vector<Ir> in;
    for (const kir::Value& v : s.in) in.push_back(read(v));
    const std::vector<Ir> out = transpose(f_, in);
    for (size_t i = 0; i < out.size(); ++i) values_.emplace(s.out[i].id, out[i]);
  }

  void write(const kir::Random& s) {
    const Ir seed = read(s.seed);
    const int lanes = s.out.lanes;
    const sym::Expr first = kir::at_lane(s.index, 0);
    const bool run = lanes % 4 == 0 && kir::lane_stride(s.index) == 1 && sym::divisor(first) % 4 == 0;
    values_.emplace(s.out.id, run ? uniform_run(f_, seed, index_.value(first), index_.value(s.offset), lanes)
                                  : uniform(f_, seed, lanes_of(s.index, lanes), index_.value(s.offset)));
  }

  // For passes to replace: require_replaced() has refused them.
  void write(const kir::Start&) {}
  void write(const kir::Accumulate&) {}
  void write(const kir::Merge&) {}
  void write(const kir::Fold&) {}
  void write(const kir::Prefix&) {}

  const kir::Kernel& kernel_;
  Module& module_;
  Function f_;
  IndexWriter index_;
  std::vector<Ir> buffers_;
  std::map<uint32_t, Ir> values_, variables_;
  std::vector<std::map<std::pair<const sym::Node*, int>, Ir>> masks_{1};  // by scope; never iterated
  std::string allocas_;
  int64_t stack_bytes_ = 0;
};

// A function of a launch's buffers and integers that passes on those which a body takes.
std::string entry_of(const std::string& name, const std::string& body, const Passed& passed) {
  std::string out = fmt::format("define void @{}{} {{\nentry:\n", name, kParameters);
  const auto pick = [&](std::string_view list, std::string_view type, const std::vector<size_t>& places) {
    out += fmt::format("  %own_{} = alloca [{} x {}], align 8\n", list, std::max<size_t>(places.size(), 1), type);
    for (size_t i = 0; i < places.size(); ++i) {
      out += fmt::format("  %{0}_from{2} = getelementptr inbounds {1}, ptr %{0}, i64 {3}\n", list, type, i, places[i]);
      out += fmt::format("  %{0}_{2} = load {1}, ptr %{0}_from{2}, align 8\n", list, type, i);
      out += fmt::format("  %{0}_to{2} = getelementptr inbounds {1}, ptr %own_{0}, i64 {2}\n", list, type, i);
      out += fmt::format("  store {1} %{0}_{2}, ptr %{0}_to{2}, align 8\n", list, type, i);
    }
  };
  pick("buffers", "ptr", passed.buffers);
  pick("integers", "i64", passed.integers);
  return out +
         fmt::format("  call void @{}(ptr %own_buffers, ptr %own_integers, i64 %begin, i64 %end)\n  ret void\n}}\n",
                     body);
}

}  // namespace

std::string write_llvm(const kir::Kernel& kernel) {
  PLAIT_CHECK(kernel.target == TargetKind::cpu, "kernel {} is not for the CPU", kernel.name);
  kir::require_replaced(kernel);
  Module module;
  std::string functions;
  const std::vector<size_t> waves = kir::waves(kernel);
  if (waves.size() == kernel.phases.size()) {
    for (size_t i = 0; i < kernel.phases.size(); ++i)
      functions += "define void @" + phase_entry(kernel.name, i) + kParameters +
                   Writer(kernel, module).run(kernel.phases[i], all_of(kernel));
    return functions + module.text() + kMetadata;
  }
  functions = fmt::format("; phases at once: {}\n", fmt::join(waves, ", "));  // kernels are told apart by their text
  std::map<std::string, std::string> bodies;                                  // text without notes -> name
  for (size_t i = 0; i < kernel.phases.size(); ++i) {
    Passed passed;
    PassedFinder(kernel, passed).block(kernel.phases[i].body);
    const std::string text = Writer(kernel, module).run(kernel.phases[i], passed);
    const auto [body, fresh] =
        bodies.try_emplace(without_notes(text), fmt::format("{}.body{}", kernel.name, bodies.size()));
    if (fresh) functions += "define internal void @" + body->second + kParameters + " noinline" + text;
    functions += entry_of(phase_entry(kernel.name, i), body->second, passed);
  }
  return functions + module.text() + kMetadata;
}

}  // namespace plait::codegen
