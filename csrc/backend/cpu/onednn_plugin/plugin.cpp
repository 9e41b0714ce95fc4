#include "backend/cpu/onednn_plugin/plugin.h"

#include <oneapi/dnnl/dnnl.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <list>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

// oneDNN runs on OpenMP threads where it is built so; other builds have no such functions.
extern "C" __attribute__((weak)) void omp_set_num_threads(int);
extern "C" __attribute__((weak)) int omp_get_max_threads(void);

namespace {

void check(dnnl_status_t status, const char* what) {
  if (status != dnnl_success) throw std::runtime_error(std::string("oneDNN: ") + what + " failed");
}

// Owners of oneDNN's handles.
template <class T, dnnl_status_t (*destroy)(T)>
struct Deleter {
  using pointer = T;
  void operator()(T handle) const { destroy(handle); }
};
template <class T, dnnl_status_t (*destroy)(T)>
using Handle = std::unique_ptr<std::remove_pointer_t<T>, Deleter<T, destroy>>;
using PrimitiveDesc = Handle<dnnl_primitive_desc_t, dnnl_primitive_desc_destroy>;
using Primitive = Handle<dnnl_primitive_t, dnnl_primitive_destroy>;
using MemoryHandle = Handle<dnnl_memory_t, dnnl_memory_destroy>;
using Iterator = Handle<dnnl_primitive_desc_iterator_t, dnnl_primitive_desc_iterator_destroy>;
using Attributes = Handle<dnnl_primitive_attr_t, dnnl_primitive_attr_destroy>;
using PostOps = Handle<dnnl_post_ops_t, dnnl_post_ops_destroy>;
using Engine = Handle<dnnl_engine_t, dnnl_engine_destroy>;
using Stream = Handle<dnnl_stream_t, dnnl_stream_destroy>;

struct FreeAligned {
  void operator()(void* data) const { ::operator delete(data, std::align_val_t{64}); }
};
using Scratch = std::unique_ptr<void, FreeAligned>;
Scratch allocate(size_t bytes) { return Scratch(bytes == 0 ? nullptr : ::operator new(bytes, std::align_val_t{64})); }

// A forked process has none of the threads of its parent's OpenMP teams, and using those would hang: there contractions
// run on one thread, by plans of their own, which oneDNN makes for a number of threads.
std::atomic<int> forked{0};

// The calling thread's OpenMP team has this size while the object lives, or its own where that is smaller: teams that
// change their size end threads and start others.
class Threads {
 public:
  explicit Threads(int threads) {
    if (omp_set_num_threads == nullptr || omp_get_max_threads == nullptr) return;
    before_ = omp_get_max_threads();
    if (forked != 0) threads = 1;
    if (threads < before_) omp_set_num_threads(threads);
  }
  ~Threads() {
    if (before_ > 0) omp_set_num_threads(before_);
  }

 private:
  int before_ = 0;
};

dnnl_data_type_t data_type(PlaitOneDnnType type) {
  return type == kPlaitOneDnnF32 ? dnnl_f32 : type == kPlaitOneDnnBf16 ? dnnl_bf16 : dnnl_f16;
}

constexpr int kBatchDims = 2;

// Matrices in memory.
struct Matrices {
  int dims;
  int64_t batch[kBatchDims];  // 1: all share one
  int64_t rows, columns;
  PlaitOneDnnOperand strides;
};

// Of one row, or one column, or one matrix, the stride may be any: it is written so that rows or columns are dense.
Matrices matrices(const PlaitOneDnnShape& shape, const PlaitOneDnnOperand& operand, int64_t rows, int64_t columns) {
  Matrices out{shape.dims, {1, 1}, rows, columns, operand};
  PlaitOneDnnOperand& strides = out.strides;
  if (columns == 1) strides.column = 1;
  if (rows == 1) strides.row = strides.column == 1 ? columns : 1;
  int64_t end = std::max(rows * strides.row, columns * strides.column);
  for (int d = shape.dims; d-- > 0;) {
    if (strides.batch[d] != 0) out.batch[d] = shape.batch[d];
    if (out.batch[d] == 1) strides.batch[d] = end;
    end = std::max(end, out.batch[d] * strides.batch[d]);
  }
  return out;
}

// The same matrices row-major, or where `keep` is set column-major if they are so, without holes.
Matrices packed(Matrices of, bool keep) {
  const bool by_columns = keep && of.strides.column != 1;
  of.strides.row = by_columns ? 1 : of.columns;
  of.strides.column = by_columns ? of.rows : 1;
  int64_t end = of.rows * of.columns;
  for (int d = of.dims; d-- > 0; end *= of.batch[d]) of.strides.batch[d] = end;
  return of;
}

dnnl_memory_desc_t describe(dnnl_data_type_t type, const Matrices& of) {
  dnnl_memory_desc_t desc;
  dnnl_dims_t dims = {}, strides = {};
  for (int d = 0; d < of.dims; ++d) dims[d] = of.batch[d], strides[d] = of.strides.batch[d];
  dims[of.dims] = of.rows, strides[of.dims] = of.strides.row;
  dims[of.dims + 1] = of.columns, strides[of.dims + 1] = of.strides.column;
  check(dnnl_memory_desc_init_by_strides(&desc, of.dims + 2, dims, type, strides), "memory descriptor");
  return desc;
}

std::string implementation_name(const_dnnl_primitive_desc_t desc) {
  const char* name = nullptr;
  check(dnnl_primitive_desc_query(desc, dnnl_query_impl_info_str, 0, &name), "query of the implementation");
  return name;
}

MemoryHandle memory(dnnl_engine_t engine, const dnnl_memory_desc_t& desc, void* data) {
  dnnl_memory_t handle;
  check(dnnl_memory_create(&handle, &desc, engine, data), "memory object");
  return MemoryHandle(handle);
}

Primitive primitive(const PrimitiveDesc& desc) {
  dnnl_primitive_t handle;
  check(dnnl_primitive_create(&handle, desc.get()), "creation of a primitive");
  return Primitive(handle);
}

}  // namespace

// An operand as it is given, or packed into a plan's room as oneDNN wants it.
struct Operand {
  MemoryHandle given, packed;
  Primitive pack;                // null: as given
  size_t bytes = 0, offset = 0;  // of the packed one; of the first element in what is given
  size_t place = 0;              // of the packed one in the plan's room
};

// The contraction of k .. k + length of both operands, added to what parts before it have left.
struct Part {
  Primitive contraction;
  Operand a, b;
  MemoryHandle scratchpad;
  Scratch scratch;
};

// Everything one run of one shape needs; used by one thread at a time.
struct Plan {
  std::vector<Part> parts;
  MemoryHandle out;
  Scratch room;      // for the packed operands of one part
  size_t bytes = 0;  // of room and scratchpads
  std::string implementation;
};

// Plans that do not run are kept for their shape and threads, of which a plan must not see another number than when it
// was made, the one used last first. A shape that is new again is planned again.
constexpr size_t kIdlePlans = 256, kIdleBytes = size_t{256} << 20;  // of one contraction
using PlanKey = std::array<int64_t, 19>;
struct IdlePlan {
  PlanKey key;
  std::unique_ptr<Plan> plan;
};

struct PlaitOneDnnContraction {
  PlaitOneDnnType in, out;
  bool weight;  // b is one
  int threads;
  Engine engine;
  Stream stream;
  // Plans that are not running. A forked process has others: a lock of its parent's may be held for good.
  struct Idle {
    std::mutex mutex;  // guards the rest
    std::list<IdlePlan> plans;
    size_t bytes = 0;
  };
  std::array<Idle, 2> idle;
};

namespace {

// Into how many contractions along k. A kernel adds all k terms one after another, and the rounding error grows with
// them. A sum that is long for what it gives, like the gradient of a weight, is cut; parts of a are packed for it, and
// b, of which each part lies in one piece, needs none. A weight that a linear reads, or a matmul by columns, is whole.
int64_t count_parts(const PlaitOneDnnContraction& p, const PlaitOneDnnShape& shape) {
  constexpr int64_t kTerms = 192, kMost = 4;
  const bool cut = p.out == kPlaitOneDnnF32 && !p.weight && shape.b.column == 1 && shape.dims == 0 &&
                   shape.k >= 4 * std::max(shape.m, shape.n);
  return cut ? std::clamp<int64_t>(shape.k / kTerms, 1, kMost) : 1;
}

// The first implementation that is no reference, or null. `adds`: to what `out` holds.
PrimitiveDesc find_implementation(const PlaitOneDnnContraction& p, const dnnl_memory_desc_t& a,
                                  const dnnl_memory_desc_t& b, const dnnl_memory_desc_t& out, bool adds) {
  dnnl_matmul_desc_t desc;
  if (dnnl_matmul_desc_init(&desc, &a, &b, nullptr, &out) != dnnl_success) return nullptr;
  dnnl_primitive_attr_t attributes_handle;
  check(dnnl_primitive_attr_create(&attributes_handle), "attributes");
  const Attributes attributes(attributes_handle);
  check(dnnl_primitive_attr_set_scratchpad_mode(attributes.get(), dnnl_scratchpad_mode_user), "scratchpad mode");
  if (adds) {
    dnnl_post_ops_t handle;
    check(dnnl_post_ops_create(&handle), "post-ops");
    const PostOps ops(handle);
    check(dnnl_post_ops_append_sum(ops.get(), 1.0F), "sum");
    check(dnnl_primitive_attr_set_post_ops(attributes.get(), ops.get()), "post-ops");
  }
  dnnl_primitive_desc_iterator_t iterator_handle;
  if (dnnl_primitive_desc_iterator_create(&iterator_handle, &desc, attributes.get(), p.engine.get(), nullptr) !=
      dnnl_success) {
    return nullptr;
  }
  const Iterator iterator(iterator_handle);
  do {
    PrimitiveDesc found(dnnl_primitive_desc_iterator_fetch(iterator.get()));
    if (found && implementation_name(found.get()).find("ref") == std::string::npos) return found;
  } while (dnnl_primitive_desc_iterator_next(iterator.get()) == dnnl_success);
  return nullptr;
}

Operand operand(const PlaitOneDnnContraction& p, const dnnl_memory_desc_t& given, const dnnl_memory_desc_t& used,
                size_t offset) {
  Operand out;
  out.offset = offset;
  out.given = memory(p.engine.get(), given, nullptr);
  if (dnnl_memory_desc_equal(&given, &used)) return out;
  dnnl_primitive_desc_t handle;
  check(dnnl_reorder_primitive_desc_create(&handle, &given, p.engine.get(), &used, p.engine.get(), nullptr),
        "description of a reorder");
  const PrimitiveDesc desc(handle);
  out.pack = primitive(desc);
  out.bytes = dnnl_memory_desc_get_size(&used);
  out.packed = memory(p.engine.get(), used, nullptr);
  return out;
}

// The parts of a contraction, with both operands packed row-major where asked for; none where oneDNN has no
// implementation.
void add_parts(const PlaitOneDnnContraction& p, Plan& plan, const PlaitOneDnnShape& shape, int64_t count,
               bool row_major) {
  const dnnl_data_type_t in = data_type(p.in);
  const int64_t size = p.in == kPlaitOneDnnF32 ? 4 : 2;
  const dnnl_memory_desc_t out = describe(data_type(p.out), matrices(shape, shape.out, shape.m, shape.n));
  plan.out = memory(p.engine.get(), out, nullptr);
  const int64_t length = count == 1 ? shape.k : ((shape.k + count - 1) / count + 15) / 16 * 16;
  for (int64_t at = 0; at < shape.k; at += length) {
    const int64_t here = std::min(length, shape.k - at);
    const Matrices of_a = matrices(shape, shape.a, shape.m, here), of_b = matrices(shape, shape.b, here, shape.n);
    const dnnl_memory_desc_t a = describe(in, count > 1 || row_major ? packed(of_a, !row_major) : of_a);
    const dnnl_memory_desc_t b = describe(in, row_major ? packed(of_b, false) : of_b);
    const PrimitiveDesc desc = find_implementation(p, a, b, out, at > 0);
    if (desc == nullptr) return plan.parts.clear();
    plan.implementation = implementation_name(desc.get());
    Part& part = plan.parts.emplace_back();
    part.contraction = primitive(desc);
    part.a = operand(p, describe(in, of_a), a, static_cast<size_t>(at * shape.a.column * size));
    part.b = operand(p, describe(in, of_b), b, static_cast<size_t>(at * shape.b.row * size));
    part.b.place = (part.a.bytes + 63) / 64 * 64;
    const dnnl_memory_desc_t* scratchpad = dnnl_primitive_desc_query_md(desc.get(), dnnl_query_scratchpad_md, 0);
    part.scratch = allocate(dnnl_memory_desc_get_size(scratchpad));
    plan.bytes += dnnl_memory_desc_get_size(scratchpad);
    part.scratchpad = memory(p.engine.get(), *scratchpad, part.scratch.get());
  }
}

std::unique_ptr<Plan> make_plan(const PlaitOneDnnContraction& p, const PlaitOneDnnShape& shape) {
  const int64_t count = count_parts(p, shape);
  auto plan = std::make_unique<Plan>();
  add_parts(p, *plan, shape, count, false);
  if (plan->parts.empty() && count > 1) add_parts(p, *plan, shape, 1, false);
  if (plan->parts.empty()) add_parts(p, *plan, shape, 1, true);
  if (plan->parts.empty()) throw std::runtime_error("oneDNN has only its reference implementation of this contraction");
  size_t most = 0;
  for (const Part& part : plan->parts) most = std::max(most, part.b.place + part.b.bytes);
  plan->room = allocate(most);
  plan->bytes += most;
  return plan;
}

PlanKey key_of(const PlaitOneDnnShape& s, int threads) {
  PlanKey key = {s.dims, s.m, s.n, s.k, threads};
  size_t at = 5;
  const auto add = [&](const int64_t* batch) {
    for (int d = 0; d < kBatchDims; ++d) key[at++] = d < s.dims ? batch[d] : 1;
  };
  add(s.batch);
  for (const PlaitOneDnnOperand* operand : {&s.a, &s.b, &s.out}) {
    add(operand->batch);
    key[at++] = operand->row;
    key[at++] = operand->column;
  }
  return key;
}

// A plan of the shape for one run; goes back when the lease ends.
class PlanLease {
 public:
  PlanLease(PlaitOneDnnContraction& contraction, const PlaitOneDnnShape& shape, int threads)
      : idle_(contraction.idle[size_t(forked)]), key_(key_of(shape, threads)) {
    {
      const std::lock_guard lock(idle_.mutex);
      std::list<IdlePlan>& idle = idle_.plans;
      const auto found = std::find_if(idle.begin(), idle.end(), [&](const IdlePlan& i) { return i.key == key_; });
      if (found != idle.end()) {
        idle_.bytes -= found->plan->bytes;
        own_.splice(own_.begin(), idle, found);
      }
    }
    if (!own_.empty()) return;
    own_.push_back({key_, make_plan(contraction, shape)});
    made_ = true;
  }
  ~PlanLease() {
    std::list<IdlePlan> dropped;  // freed behind the lock
    const std::lock_guard lock(idle_.mutex);
    std::list<IdlePlan>& idle = idle_.plans;
    if (own_.empty()) return;
    idle_.bytes += own_.front().plan->bytes;
    idle.splice(idle.begin(), own_);
    while (idle.size() > 1 && (idle.size() > kIdlePlans || idle_.bytes > kIdleBytes)) {
      idle_.bytes -= idle.back().plan->bytes;
      dropped.splice(dropped.begin(), idle, std::prev(idle.end()));
    }
  }
  PlanLease(const PlanLease&) = delete;
  Plan& operator*() const { return *own_.front().plan; }
  bool made() const { return made_; }  // for this lease

 private:
  PlaitOneDnnContraction::Idle& idle_;
  const PlanKey key_;
  std::list<IdlePlan> own_;  // one
  bool made_ = false;
};

void bind(const MemoryHandle& target, const void* data) {
  check(dnnl_memory_set_data_handle(target.get(), const_cast<void*>(data)), "binding of memory");
}

dnnl_memory_t bound(const PlaitOneDnnContraction& p, const Plan& plan, const Operand& operand, const void* data) {
  bind(operand.given, static_cast<const char*>(data) + operand.offset);
  if (operand.pack == nullptr) return operand.given.get();
  bind(operand.packed, static_cast<const char*>(plan.room.get()) + operand.place);
  const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, operand.given.get()}, {DNNL_ARG_TO, operand.packed.get()}};
  check(dnnl_primitive_execute(operand.pack.get(), p.stream.get(), 2, arguments), "packing of an operand");
  return operand.packed.get();
}

void run_plan(const PlaitOneDnnContraction& p, const Plan& plan, const void* a, const void* b, void* out) {
  bind(plan.out, out);
  for (const Part& part : plan.parts) {
    const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_SRC, bound(p, plan, part.a, a)},
                                         {DNNL_ARG_WEIGHTS, bound(p, plan, part.b, b)},
                                         {DNNL_ARG_DST, plan.out.get()},
                                         {DNNL_ARG_SCRATCHPAD, part.scratchpad.get()}};
    check(dnnl_primitive_execute(part.contraction.get(), p.stream.get(), 4, arguments), "the contraction");
  }
  check(dnnl_stream_wait(p.stream.get()), "the wait for the contraction");
}

void write_text(const std::string& text, char* target, size_t size) {
  if (size == 0) return;
  const size_t length = std::min(text.size(), size - 1);
  std::memcpy(target, text.data(), length);
  target[length] = 0;
}

// Runs body; 0, or 1 with the error's text.
template <class Body>
int guarded(char* error, size_t error_size, Body&& body) {
  try {
    body();
    return 0;
  } catch (const std::exception& failure) {
    write_text(failure.what(), error, error_size);
    return 1;
  }
}

PlaitOneDnnContraction* create(PlaitOneDnnType in, PlaitOneDnnType out, int weight, int threads, char* why_not,
                               size_t error_size) {
  [[maybe_unused]] static const int registered = pthread_atfork(nullptr, nullptr, [] { forked = 1; });
  auto contraction = std::make_unique<PlaitOneDnnContraction>();
  contraction->in = in;
  contraction->out = out;
  contraction->weight = weight != 0;
  contraction->threads = threads;
  const int failed = guarded(why_not, error_size, [&] {
    dnnl_engine_t engine;
    check(dnnl_engine_create(&engine, dnnl_cpu, 0), "creation of an engine");
    contraction->engine.reset(engine);
    dnnl_stream_t stream;
    check(dnnl_stream_create(&stream, engine, dnnl_stream_default_flags), "creation of a stream");
    contraction->stream.reset(stream);
    const Threads team(threads);
    const PlaitOneDnnOperand square = {{0, 0}, 64, 1};
    make_plan(
        *contraction,
        {0, {1, 1}, 64, 64, 64, square, square, square});  // a plain shape tells whether the types are supported at all
  });
  return failed ? nullptr : contraction.release();
}

int run(PlaitOneDnnContraction* contraction, const void* a, const void* b, void* out, const PlaitOneDnnShape* shape,
        int threads, int* prepared, char* error, size_t error_size) {
  return guarded(error, error_size, [&] {
    const Threads team(threads);
    const PlanLease lease(*contraction, *shape, threads);
    *prepared = lease.made() ? 1 : 0;
    run_plan(*contraction, *lease, a, b, out);
  });
}

int implementation(PlaitOneDnnContraction* contraction, const PlaitOneDnnShape* shape, char* name, size_t name_size) {
  return guarded(name, name_size, [&] {
    const Threads team(contraction->threads);
    const PlanLease lease(*contraction, *shape, contraction->threads);
    const Plan& plan = *lease;
    const bool packs = plan.parts.front().a.pack != nullptr || plan.parts.front().b.pack != nullptr;
    std::string text = plan.implementation + (packs ? " after packing" : "");
    if (plan.parts.size() > 1) text += " in " + std::to_string(plan.parts.size()) + " parts";
    write_text(text, name, name_size);
  });
}

constexpr PlaitOneDnnInterface kInterface{
    kPlaitOneDnnVersion, create, [](PlaitOneDnnContraction* contraction) { delete contraction; }, run, implementation,
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const PlaitOneDnnInterface* plait_onednn_interface(void) {
  return &kInterface;
}
