// One pass over the plan of a kernel. Text names: bN buffers, nN integers, bx by bz tx ty tz block and thread indices,
// iN serial loops, mN bound symbols, kN named index expressions, vN values, j the lane.
#include "codegen/cuda/write.h"

#include <fmt/format.h>

#include <set>

#include "base/error.h"
#include "codegen/cuda/helpers.h"
#include "codegen/cuda/index_text.h"
#include "codegen/cuda/naming.h"
#include "codegen/cuda/plan.h"
#include "codegen/cuda/spelling.h"
#include "kir/lane.h"
#include "kir/shared_memory.h"
#include "kir/statements.h"

namespace plait {
namespace {

using namespace kir;
using namespace codegen::cuda;

// Printable ASCII without a backslash, so that a comment ends where its line ends.
std::string comment_text(const std::string& text) {
  std::string out;
  for (const unsigned char c : text) {
    if (c >= 32 && c < 127 && c != '\\') {
      out += char(c);
    } else {
      out += fmt::format("<{:02x}>", c);
    }
  }
  return out;
}

constexpr int64_t kMostStep = 1 << 20;  // from lane to lane, for which the text of a product is an `int`
constexpr int64_t kMostUnrolled = 64;   // iterations of a loop over elements of a buffer of registers, and these

class Writer {
 public:
  // `kernel` has one phase, the entry function of this name.
  Writer(const Kernel& kernel, std::string entry, bool follows, Helpers& helpers)
      : kernel_(kernel),
        follows_(follows),
        entry_(std::move(entry)),
        helpers_(helpers),
        plan_(kernel),
        names_(plan_names(kernel)),
        shared_(places_in_shared(kernel, kernel.phases[0].body)),
        ranges_(kernel),
        index_(helpers_, kernel.narrow ? &ranges_ : nullptr) {}

  std::string function() {
    for (size_t i = 0; i < kernel_.integers.size(); ++i)
      index_.set_name(kernel_.integers[i], fmt::format("n{}", i), !index_.is_narrow(kernel_.integers[i]));
    if (const sym::Expr lane = kernel_.pool->find_symbol(kLane)) index_.set_name(lane, kLaneVariable);
    indent_ = 1;
    find_await(kernel_.phases[0].body);
    if (follows_) {
      helpers_.need("follow_launch");
      line("follow_launch();");
    }
    if (shared_.bytes > 0) line("extern __shared__ __align__(16) unsigned char shared[];");
    block(kernel_.phases[0].body);
    if (await_ != nullptr) line("end_turns(b{});", await_->buffer);
    return fmt::format("{} {{\n{}}}\n", signature(), body_);
  }

 private:
  // ---- the entry

  // Arguments in lines of at most 120 columns.
  std::string signature() {
    std::vector<std::string> arguments;
    std::set<uint32_t> written;
    find_written(kernel_.phases[0].body, written);
    for (size_t i = 0; i < passed_buffers(kernel_); ++i) {
      const Buffer& buffer = kernel_.buffers[i];
      arguments.push_back(fmt::format("{}{}* {}b{}", written.contains(uint32_t(i)) ? "" : "const ",
                                      memory_type(buffer.dtype, helpers_), follows_ ? "" : "__restrict__ ", i));
    }
    for (size_t i = 0; i < kernel_.integers.size(); ++i)
      arguments.push_back(fmt::format("{} n{}", index_.is_narrow(kernel_.integers[i]) ? "unsigned" : "long long", i));
    std::string out = fmt::format("extern \"C\" __global__ void {}{}{}(", cluster_extent(), launch_bounds(), entry_);
    size_t column = 120;
    for (size_t i = 0; i < arguments.size(); ++i) {
      const std::string text = arguments[i] + (i + 1 < arguments.size() ? "," : "");
      const bool breaks = column + text.size() + 4 > 120;
      column = breaks ? 4 + text.size() : column + 1 + text.size();
      out += (breaks ? "\n    " : " ") + text;
    }
    return out + ")";
  }

  static void find_written(const Block& body, std::set<uint32_t>& out) {
    for (const auto& stmt : body) {
      if (const Store* s = as<Store>(*stmt)) out.insert(s->buffer);
      if (const Atomic* s = as<Atomic>(*stmt)) out.insert(s->buffer);
      if (const LastBlock* s = as<LastBlock>(*stmt)) out.insert(s->buffer);
      if (const Await* s = as<Await>(*stmt)) out.insert(s->buffer);
      if (const Block* inner = body_of(*stmt)) find_written(*inner, out);
    }
  }

  void find_await(const Block& body) {
    for (const auto& stmt : body) {
      if (const Await* s = as<Await>(*stmt)) await_ = s;
      if (const Block* inner = body_of(*stmt)) find_await(*inner);
    }
  }

  std::string cluster_extent() const {
    const For* loop = cluster_loop(kernel_.phases[0].body);
    return loop != nullptr ? fmt::format("__cluster_dims__(1, {}, 1) ", loop->extent.value()) : "";
  }

  std::string launch_bounds() const {
    int64_t threads = 1;
    for (sym::Expr extent : launch_extents(kernel_).block) {
      if (!extent.is_constant()) return "";
      threads *= extent.value();
    }
    PLAIT_CHECK(threads >= 1 && threads <= 1024, "kernel {} has blocks of {} threads", kernel_.name, threads);
    return fmt::format("__launch_bounds__({}) ", threads);
  }

  // ---- lines and names

  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    body_.append(2 * size_t(indent_), ' ').append(fmt::format(format, std::forward<Args>(args)...)).append("\n");
  }

  // The expression's name; gives it one, in a line of its own, unless it is a number or has a name.
  std::string named(sym::Expr expr) {
    if (!expr.is_constant() && !index_.has_name(expr)) {
      const std::string name = fmt::format("k{}", named_++);
      const auto [text, subtracted] = index_.noting([&] { return index_.text(expr); });
      line("const {} {} = {};", index_.type(), name, text);
      index_.set_name(expr, name, false, subtracted);
    }
    return index_.text(expr, true);
  }

  std::string value(const Value& value) const {
    const ValueForm& form = plan_.value(value);
    if (form.literal != nullptr) return literal(form.literal->constant);
    return fmt::format("v{}{}", value.id, form.array ? "[j]" : "");
  }

  // Start of a statement that gives `out` its value: a definition, or an assignment to an element declared before.
  std::string defined(const Value& out) const {
    if (plan_.value(out).array) return fmt::format("v{}[j] = ", out.id);
    return fmt::format("const {} v{} = ", value_type(out.dtype), out.id);
  }

  void declare_array(const Value& out) {
    if (plan_.value(out).vector) {
      helpers_.need("vector");
      line("Vec<{}, {}> v{};", value_type(out.dtype), out.lanes, out.id);
    } else {
      line("{} v{}[{}];", value_type(out.dtype), out.id, out.lanes);
    }
  }

  // ---- control

  void name_before(const Stmt& stmt) {
    const auto found = names_.find(&stmt);
    if (found == names_.end()) return;
    for (sym::Expr expr : found->second)
      if (index_.in_scope(expr)) named(expr);
  }

  void block(const Block& body) {
    for (const Run& run : plan_.runs(body)) {
      for (const Stmt* stmt : run.statements) name_before(*stmt);
      if (run.form == Form::lanes || run.form == Form::lane_store) {
        lane_loop(run);
      } else if (run.form == Form::wide) {
        wide(*run.statements[0]);
      } else {
        single(*run.statements[0]);
      }
    }
  }

  template <class Fn>
  void scoped(Fn&& fn) {
    index_.open_scope();
    indent_ += 1;
    fn();
    indent_ -= 1;
    index_.close_scope();
  }

  void loop(const For& s) {
    if (s.loop == LoopKind::serial) {
      if (!s.extent.is_constant()) named(s.extent);
      const std::string var = fmt::format("i{}", serial_++);
      const bool narrow = index_.is_narrow(s.var);
      const bool as_int = narrow && !index_.is_narrow(s.extent) && index_.is_signed(s.extent);
      const std::string goes_on = index_.above((as_int ? "int(" + var + ")" : var).c_str(), s.extent);
      if (s.extent.constant().value_or(kMostUnrolled + 1) <= kMostUnrolled && indexes_stack(kernel_, s))
        line("#pragma unroll");
      else if (s.extent.is_constant() && carries_memory(kernel_, s))
        line("#pragma unroll 1");
      line("for ({0} {1} = 0; {2}; ++{1}) {{", narrow ? "unsigned" : "long long", var, goes_on);
      scoped([&] {
        index_.set_name(s.var, var, !narrow);
        block(s.body);
      });
      line("}}");
      return;
    }
    const Binding bound = binding(s.loop);
    const bool in_turn = await_ != nullptr && s.loop == LoopKind::block_x;
    if (in_turn) helpers_.need("turns");
    line("const {} {} = {};", index_.type(), bound.variable,
         in_turn ? fmt::format("take_turn(b{})", await_->buffer) : std::string(bound.index));
    index_.open_scope();
    index_.set_name(s.var, bound.variable);
    index_.set_short(s.var);  // a grid has fewer than 2^31 blocks a dimension
    block(s.body);
    index_.close_scope();
  }

  void branch(const If& s) {
    line("if ({}) {{", index_.text(s.condition));
    scoped([&] { block(s.body); });
    line("}}");
  }

  void last_block(const LastBlock& s) {
    helpers_.need("last_block");
    const std::string at = address(s.buffer, s.index), blocks = named(s.blocks);
    line("if (last_block({}, {})) {{", at, blocks);
    scoped([&] { block(s.body); });
    line("}}");
  }

  void variable(const Variable& s) {
    const std::string initial = literal(s.initial);
    if (!plan_.value(s.out).array) {
      line("{} v{} = {};", value_type(s.out.dtype), s.out.id, initial);
      return;
    }
    declare_array(s.out);
    line("#pragma unroll");
    line("for (int j = 0; j < {}; ++j) v{}[j] = {};", s.out.lanes, s.out.id, initial);
  }

  void alloc(const Alloc& s) {
    const Buffer& buffer = kernel_.buffers[s.buffer];
    if (plan_.is_fragment(s.buffer)) return line("unsigned b{}[{}];", s.buffer, buffer.extent.value() / 2);
    // Compilers read elements of registers in front of the condition that says whether anything wrote them.
    const bool registers = buffer.space == Space::stack && buffer.extent.value() <= kMostUnrolled;
    const std::string_view type = memory_type(buffer.dtype, helpers_);
    if (const auto found = shared_.begin.find(s.buffer); found != shared_.begin.end())
      return line("{}* const b{} = reinterpret_cast<{}*>(shared + {});", type, s.buffer, type, found->second);
    line("{}{} b{}[{}]{};", buffer.space == Space::shared ? "__shared__ __align__(16) " : "", type, s.buffer,
         buffer.extent.value(), registers ? " = {}" : "");
  }

  // As one where both sides are aligned and so many bytes go at once; else lane by lane.
  void copy_async(const CopyAsync& s) {
    helpers_.need("copy_async");
    const auto bytes = int64_t(s.lanes) * int64_t(size_of(kernel_.buffers[s.from].dtype));
    const bool aligned = s.access == Access::aligned && s.to_access == Access::aligned;
    if (s.lanes == 1 || (aligned && (bytes == 4 || bytes == 8 || bytes % 16 == 0))) {
      const std::string to = address(s.to, s.to_index), from = address(s.from, s.index);
      std::string active = fmt::to_string(s.lanes);
      if (s.active && s.lanes == 1) active = index_.text(s.active) + " ? 1 : 0";
      if (s.active && s.lanes > 1) active = fmt::format("int({})", index_.text(s.active));
      line("copy_async<{}>({}, {}, {});", s.lanes, to, from, active);
    } else {
      const std::string to = element(s.to, s.to_index, s.lanes), from = element(s.from, s.index, s.lanes);
      const std::string active = s.active ? is_active(s.active, s.lanes) + " ? 1 : 0" : "1";
      head_of_lanes(s.lanes, fmt::format("copy_async<1>(&{}, &{}, {});", to, from, active));
    }
  }

  void bind(const Bind& s) {
    const std::string name = fmt::format("m{}", bound_++);
    line("const long long {} = {};", name, value(s.in));
    index_.set_name(s.var, name, true);
  }

  void single(const Stmt& stmt) {
    if (const For* s = as<For>(stmt)) return loop(*s);
    if (const If* s = as<If>(stmt)) return branch(*s);
    if (const LastBlock* s = as<LastBlock>(stmt)) return last_block(*s);
    if (const Variable* s = as<Variable>(stmt)) return variable(*s);
    if (const Bind* s = as<Bind>(stmt)) return bind(*s);
    if (const Await* s = as<Await>(stmt)) return line("await_turns(b{}, bx, {});", s->buffer, named(s->from));
    if (const Alloc* s = as<Alloc>(stmt)) return alloc(*s);
    if (const CopyAsync* s = as<CopyAsync>(stmt)) return copy_async(*s);
    const std::string text = statement(stmt, 1);
    line("{}", text);
  }

  // ---- vectors

  void head_of_lanes(int lanes, const std::string& rest) {
    line("#pragma unroll");
    line("for (int j = 0; j < {}; ++j) {}", lanes, rest);
  }

  void lane_loop(const Run& run) {
    std::vector<std::string> lines;
    for (const Stmt* stmt : run.statements) {
      lines.push_back(statement(*stmt, run.lanes));
      declare_result(*stmt);
    }
    if (lines.size() == 1) return head_of_lanes(run.lanes, lines[0]);
    head_of_lanes(run.lanes, "{");
    indent_ += 1;
    for (const std::string& text : lines) line("{}", text);
    indent_ -= 1;
    line("}}");
  }

  // Declares the array of a result that is read outside of its lane loop.
  void declare_result(const Stmt& stmt) {
    for (const Value& out : results(stmt))
      if (plan_.value(out).array) declare_array(out);
  }

  // Whether indices of the buffer that are right modulo 2^32 are right, and fit `int`.
  bool holds_narrow(uint32_t buffer) const {
    const Buffer& b = kernel_.buffers[buffer];
    return !kernel_.narrow || b.space == Space::argument || index_.is_signed(b.extent);
  }

  // The text of an index as what is added to an address. NVRTC 13.0 takes a constant out of a sum over `unsigned` that
  // it has proven not to wrap, and widens what is left as if that did not wrap either, which a subtraction may. As
  // `int` what is left is right.
  template <class Fn>
  std::string as_place(uint32_t buffer, sym::Expr index, Fn&& write) {
    const auto [text, subtracted] = index_.noting(write);
    if (!subtracted || !kernel_.narrow) return text;
    if (holds_narrow(buffer)) return "int(" + text + ")";
    return index_.is_narrow(index) ? "(" + index_.wide(index) + ")" : text;  // or it is wide already
  }

  // buffer + first index of a vector.
  std::string address(uint32_t buffer, sym::Expr index) {
    const sym::Expr first = place_in_banks(kernel_.buffers[buffer], at_lane(index, 0));
    const std::string offset =
        as_place(buffer, first, [&] { return holds_narrow(buffer) ? named(first) : "(" + index_.whole(first) + ")"; });
    return first.constant() == 0 ? fmt::format("b{}", buffer) : fmt::format("b{} + {}", buffer, offset);
  }

  void need_vector(DType dtype) {
    if (dtype == DType::boolean || is_narrow(dtype))
      helpers_.need(fmt::format("{}_vector", name(dtype)));
    else
      helpers_.need(compute_type(dtype) == dtype ? "vector" : "integer_vector");
  }

  void wide(const Stmt& stmt) {
    if (const Load* s = as<Load>(stmt)) {
      need_vector(kernel_.buffers[s->buffer].dtype);
      const std::string from = address(s->buffer, s->index);
      declare_array(s->out);
      const std::string when = s->active ? ", " + index_.text(s->active.operands()[0]) : "";
      line("load_vector(v{}, {}{});", s->out.id, from, when);
    } else if (const Random* s = as<Random>(stmt)) {
      helpers_.need("philox_vector");
      const std::string first = whole_index(at_lane(s->index, 0), 1), offset = whole_index(s->offset, 1);
      declare_array(s->out);
      line("uniform_vector(v{}, {}, {}, {});", s->out.id, value(s->seed), first, offset);
    } else {
      const Store& store = static_cast<const Store&>(stmt);
      if (plan_.is_fragment(store.buffer)) return pairs(store);
      need_vector(kernel_.buffers[store.buffer].dtype);
      const std::string to = address(store.buffer, store.index);
      line("store_vector({}, {});", to, whole_array(store.in));
    }
  }

  // Into words of a fragment.
  void pairs(const Store& s) {
    const std::string_view dtype = name(kernel_.buffers[s.buffer].dtype);
    PLAIT_CHECK(s.access == Access::aligned && !s.active && s.in.dtype == DType::f32 && s.in.lanes % 2 == 0,
                "kernel {} stores halves of words: {}", kernel_.name, print(kernel_, s));
    helpers_.need(fmt::format("{}_vector", dtype));
    const std::string in = whole_array(s.in);
    for (int j = 0; j < s.in.lanes; j += 2)
      line("*({}) = {}_pair({}[{}], {}[{}]);", fragment(s.buffer, at_lane(s.index, j)), dtype, in, j, in, j + 1);
  }

  // Name of an array with all lanes of a value; a scalar is spread first.
  std::string whole_array(const Value& in) {
    if (plan_.value(in).array) return fmt::format("v{}", in.id);
    const std::string name = fmt::format("s{}", spread_++);
    line("Vec<{}, {}> {};", value_type(in.dtype), in.lanes, name);
    head_of_lanes(in.lanes, fmt::format("{}[j] = {};", name, value(in)));
    return name;
  }

  // ---- statements that are one line; `lanes` > 1 within a lane loop

  // What lane j adds to the index of lane 0; empty where lanes are not evenly spaced.
  std::string lane_step(sym::Expr index) const {
    const std::optional<int64_t> stride = lane_stride(index);
    if (!stride) return "";
    return *stride == 1 ? "j" : index_.text(index - at_lane(index, 0));
  }

  // An index at lane j (at lane 0 where there is one lane), from named parts.
  std::string lane_index(sym::Expr index, int lanes) {
    const sym::Expr first = at_lane(index, 0);
    if (lanes == 1 || !depends_on_lane(index)) return named(first);
    const std::string step = lane_step(index);
    if (step.empty()) return index_.text(index);
    return first.constant() == 0 ? step : fmt::format("{} + {}", named(first), step);
  }

  // The same for what takes all of its value.
  std::string whole_index(sym::Expr index, int lanes) {
    return !kernel_.narrow || index_.is_narrow(index) ? lane_index(index, lanes) : index_.whole(index);
  }

  std::string element(uint32_t buffer, sym::Expr index, int lanes) {
    index = place_in_banks(kernel_.buffers[buffer], index);
    if (!holds_narrow(buffer))
      return fmt::format("b{}[{}]", buffer, as_place(buffer, index, [&] { return whole_index(index, lanes); }));
    // Sums of `unsigned` may wrap for all that a compiler knows: lanes are apart from one address.
    const bool in_memory = kernel_.narrow && !kernel_.buffers[buffer].is_local();
    if (in_memory && lanes > 1 && depends_on_lane(index) && at_lane(index, 0).constant() != 0)
      if (const auto stride = lane_stride(index); stride && *stride > -kMostStep && *stride < kMostStep)
        return fmt::format("({})[{}]", address(buffer, index), lane_step(index));
    return fmt::format("b{}[{}]", buffer, as_place(buffer, index, [&] { return lane_index(index, lanes); }));
  }

  // The condition that a lane is active.
  std::string is_active(sym::Expr active, int lanes) {
    named(active);
    return index_.above(lanes == 1 ? "0" : "j", active);
  }

  std::string text_of(const Load& s, int lanes) {
    const DType stored = kernel_.buffers[s.buffer].dtype;
    std::string read = element(s.buffer, s.index, lanes);
    read = stored == DType::boolean ? read + " != 0" : convert(read, stored, s.out.dtype, helpers_);
    if (!s.active) return fmt::format("{}{};", defined(s.out), read);
    const std::string when = s.out.lanes == 1 ? index_.text(s.active) : is_active(s.active, lanes);
    return fmt::format("{}{} ? {} : {};", defined(s.out), when, read, literal(Constant{s.out.dtype, 0}));
  }

  std::string text_of(const Store& s, int lanes) {
    const std::string to = element(s.buffer, s.index, lanes);
    const std::string rounded = convert(value(s.in), s.in.dtype, kernel_.buffers[s.buffer].dtype, helpers_);
    const std::string condition = s.active ? fmt::format("if ({}) ", is_active(s.active, lanes)) : "";
    return fmt::format("{}{} = {};", condition, to, rounded);
  }

  std::string text_of(const Atomic& s, int) {
    const char* function = s.op == AtomicOp::min ? "atomicMin" : s.op == AtomicOp::max ? "atomicMax" : "atomicAdd";
    std::string to = address(s.buffer, s.index), in = value(s.in);
    if (s.op == AtomicOp::add && s.in.dtype == DType::i64) {  // modulo 2^64 either way
      to = fmt::format("(unsigned long long*)({})", to);
      in = fmt::format("(unsigned long long)({})", in);
    }
    return fmt::format("{}({}, {});", function, to, in);
  }

  // Two elements of 2 bytes are a word of a fragment.
  std::string fragment(uint32_t buffer, sym::Expr index) {
    const sym::Expr word = sym::floordiv(index, 2);
    return word.constant() == 0 ? fmt::format("b{}", buffer) : fmt::format("b{} + {}", buffer, index_.text(word));
  }

  std::string text_of(const LoadMatrix& s, int) {
    helpers_.need("matrices");
    const std::string at = named(place_in_banks(kernel_.buffers[s.from], s.index));
    return fmt::format("load_matrices<{}, {}>({}, b{}, {});", s.count, s.transposed, fragment(s.to, s.to_index), s.from,
                       at);
  }

  std::string text_of(const Mma& s, int) {
    helpers_.need("matrices");
    const bool half = kernel_.buffers[s.a].dtype == DType::f16;
    return fmt::format("multiply_matrices<{}>({}, {}, {});", half, address(s.sums, s.sums_index),
                       fragment(s.a, s.a_index), fragment(s.b, s.b_index));
  }

  std::string text_of(const Commit&, int) {
    helpers_.need("copy_async");
    return "commit_copies();";
  }

  std::string text_of(const Wait& s, int) {
    helpers_.need("copy_async");
    return fmt::format("wait_for_copies<{}>();", s.left);
  }

  std::string text_of(const Sync& s, int) {
    if (s.scope == SyncScope::cluster) helpers_.need("cluster");
    return s.scope == SyncScope::block  ? "__syncthreads();"
           : s.scope == SyncScope::warp ? "__syncwarp();"
                                        : "sync_cluster();";
  }

  std::string text_of(const LoadOfBlock& s, int) {
    helpers_.need("cluster");
    return fmt::format("{}load_of_block(&{}, {});", defined(s.out), element(s.buffer, s.index, 1),
                       index_.text(s.block));
  }

  std::string text_of(const Shuffle& s, int) {
    const bool truth = s.in.dtype == DType::boolean;
    const std::string in = truth ? fmt::format("static_cast<int>({})", value(s.in)) : value(s.in);
    return fmt::format("{}__shfl_xor_sync(0xffffffffu, {}, {}){};", defined(s.out), in, s.by, truth ? " != 0" : "");
  }

  std::string text_of(const Half& s, int lanes) {
    if (!plan_.value(s.in).array) return fmt::format("{}{};", defined(s.out), value(s.in));
    const int first = s.upper ? s.out.lanes : 0;
    const std::string at = lanes == 1 ? fmt::to_string(first) : first == 0 ? "j" : fmt::format("j + {}", first);
    return fmt::format("{}v{}[{}];", defined(s.out), s.in.id, at);
  }

  std::string text_of(const Compute& s, int) {
    std::vector<std::string> operands;
    for (const Value& in : s.in) operands.push_back(value(in));
    return fmt::format("{}{};", defined(s.out), spell(s.function, s.in.back().dtype, operands, helpers_));
  }

  std::string text_of(const Convert& s, int) {
    return fmt::format("{}{};", defined(s.out), convert(value(s.in), s.in.dtype, s.out.dtype, helpers_));
  }

  std::string text_of(const Round& s, int) {
    const std::string narrow = convert(value(s.in), s.in.dtype, s.to, helpers_);
    return fmt::format("{}{};", defined(s.out), convert(narrow, s.to, s.out.dtype, helpers_));
  }

  std::string text_of(const Coordinate& s, int lanes) {
    return fmt::format("{}{};", defined(s.out), whole_index(s.index, lanes));
  }

  std::string text_of(const Random& s, int lanes) {
    helpers_.need("philox");
    return fmt::format("{}uniform({}, {}, {});", defined(s.out), value(s.seed), whole_index(s.index, lanes),
                       whole_index(s.offset, 1));
  }

  std::string text_of(const Assign& s, int) { return fmt::format("{} = {};", value(s.variable), value(s.in)); }

  std::string statement(const Stmt& stmt, int lanes) {
    return visit(stmt, [&](const auto& s) -> std::string {
      if constexpr (requires { text_of(s, lanes); }) {
        return text_of(s, lanes);
      } else {
        PLAIT_CHECK(false, "a {} statement among lanes", name(s.kind));
        return "";
      }
    });
  }

  const Kernel& kernel_;
  const bool follows_;
  const std::string entry_;
  Helpers& helpers_;
  Plan plan_;
  std::map<const Stmt*, std::vector<sym::Expr>> names_;
  SharedPlaces shared_;           // where the launch asks for the memory
  const Await* await_ = nullptr;  // where blocks have their numbers by turns
  IndexRanges ranges_;
  IndexText index_;
  std::string body_;
  int indent_ = 0, named_ = 0, serial_ = 0, spread_ = 0, bound_ = 0;
};

}  // namespace

std::string write_cuda(const Kernel& kernel, bool follows) {
  PLAIT_CHECK(kernel.target == TargetKind::cuda, "kernel {} is not for CUDA", kernel.name);
  require_replaced(kernel);
  for (const Buffer& buffer : kernel.buffers)
    PLAIT_CHECK(!buffer.is_local() || buffer.extent.is_constant(),
                "kernel {} has the {} buffer {} of {} elements, which a CUDA kernel has not", kernel.name,
                name(buffer.space), buffer.name, sym::print(buffer.extent));
  Helpers helpers;
  std::string functions;
  for (size_t i = 0; i < kernel.phases.size(); ++i) {
    const Kernel phase = phase_kernel(kernel, i);
    functions += (i > 0 ? "\n" : "") + Writer(phase, phase_entry(kernel.name, i), follows, helpers).function();
  }
  return fmt::format("// {}\n{}{}", comment_text(kernel.name + ": " + kernel.schedule), helpers.text(), functions);
}

}  // namespace plait
