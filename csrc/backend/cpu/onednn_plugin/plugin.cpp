#include "backend/cpu/onednn_plugin/plugin.h"

#include <oneapi/dnnl/dnnl.h>

#include <array>
#include <cstring>
#include <map>
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
using Engine = Handle<dnnl_engine_t, dnnl_engine_destroy>;
using Stream = Handle<dnnl_stream_t, dnnl_stream_destroy>;

struct FreeAligned {
  void operator()(void* data) const { ::operator delete(data, std::align_val_t{64}); }
};
using Scratch = std::unique_ptr<void, FreeAligned>;
Scratch allocate(size_t bytes) { return Scratch(bytes == 0 ? nullptr : ::operator new(bytes, std::align_val_t{64})); }

// The calling thread's OpenMP team has this size while the object lives.
class Threads {
 public:
  explicit Threads(int threads) {
    if (omp_set_num_threads == nullptr || omp_get_max_threads == nullptr) return;
    before_ = omp_get_max_threads();
    if (before_ != threads) omp_set_num_threads(threads);
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

// A matrix, or a batch of them, as oneDNN sees it.
dnnl_memory_desc_t describe(dnnl_data_type_t type, int64_t batch, int64_t rows, int64_t columns, bool transposed) {
  dnnl_memory_desc_t desc;
  const int rank = batch > 1 ? 3 : 2;
  const dnnl_dims_t dims3 = {batch, rows, columns}, dims2 = {rows, columns};
  const int64_t row = transposed ? 1 : columns, column = transposed ? rows : 1;
  const dnnl_dims_t strides3 = {rows * columns, row, column}, strides2 = {row, column};
  check(dnnl_memory_desc_init_by_strides(&desc, rank, rank == 3 ? dims3 : dims2, type, rank == 3 ? strides3 : strides2),
        "memory descriptor");
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

// Everything one run of one shape needs; used by one thread at a time.
struct Plan {
  Primitive product, repack;  // repack: b as oneDNN wants it; may be null
  MemoryHandle a, b, packed_b, out, scratchpad;
  Scratch scratch, packed;
  std::string implementation;
};

struct PlaitOneDnnProduct {
  PlaitOneDnnType in, out;
  bool linear;
  int threads;
  Engine engine;
  Stream stream;
  std::mutex mutex;                                                           // guards idle
  std::map<std::array<int64_t, 4>, std::vector<std::unique_ptr<Plan>>> idle;  // plans not running, by shape
};

namespace {

// The first implementation that is no reference, or null.
PrimitiveDesc find_implementation(const PlaitOneDnnProduct& p, const dnnl_memory_desc_t& a, const dnnl_memory_desc_t& b,
                                  const dnnl_memory_desc_t& out) {
  dnnl_matmul_desc_t desc;
  if (dnnl_matmul_desc_init(&desc, &a, &b, nullptr, &out) != dnnl_success) return nullptr;
  dnnl_primitive_attr_t attributes_handle;
  check(dnnl_primitive_attr_create(&attributes_handle), "attributes");
  const Attributes attributes(attributes_handle);
  check(dnnl_primitive_attr_set_scratchpad_mode(attributes.get(), dnnl_scratchpad_mode_user), "scratchpad mode");
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

void add_repack(const PlaitOneDnnProduct& p, Plan& plan, const dnnl_memory_desc_t& from, const dnnl_memory_desc_t& to) {
  dnnl_primitive_desc_t handle;
  check(dnnl_reorder_primitive_desc_create(&handle, &from, p.engine.get(), &to, p.engine.get(), nullptr),
        "description of a reorder");
  const PrimitiveDesc desc(handle);
  plan.repack = primitive(desc);
  plan.packed = allocate(dnnl_memory_desc_get_size(&to));
  plan.packed_b = memory(p.engine.get(), to, plan.packed.get());
}

std::unique_ptr<Plan> make_plan(const PlaitOneDnnProduct& p, const PlaitOneDnnShape& shape) {
  const int64_t batch = p.linear ? 1 : shape.batch, m = p.linear ? shape.batch * shape.m : shape.m;
  const dnnl_data_type_t in = data_type(p.in);
  const dnnl_memory_desc_t a = describe(in, batch, m, shape.k, false);
  const dnnl_memory_desc_t b = describe(in, batch, shape.k, shape.n, p.linear);
  const dnnl_memory_desc_t out = describe(data_type(p.out), batch, m, shape.n, false);
  auto plan = std::make_unique<Plan>();
  PrimitiveDesc desc = find_implementation(p, a, b, out);
  if (desc == nullptr && p.linear) {  // b row-major instead
    const dnnl_memory_desc_t packed = describe(in, batch, shape.k, shape.n, false);
    desc = find_implementation(p, a, packed, out);
    if (desc != nullptr) add_repack(p, *plan, b, packed);
  }
  if (desc == nullptr) throw std::runtime_error("oneDNN has only its reference implementation of this product");
  plan->implementation = implementation_name(desc.get());
  plan->product = primitive(desc);
  plan->a = memory(p.engine.get(), a, nullptr);
  plan->b = memory(p.engine.get(), b, nullptr);
  plan->out = memory(p.engine.get(), out, nullptr);
  const dnnl_memory_desc_t* scratchpad = dnnl_primitive_desc_query_md(desc.get(), dnnl_query_scratchpad_md, 0);
  plan->scratch = allocate(dnnl_memory_desc_get_size(scratchpad));
  plan->scratchpad = memory(p.engine.get(), *scratchpad, plan->scratch.get());
  return plan;
}

// A plan of the shape for one run; goes back when the lease ends.
class PlanLease {
 public:
  PlanLease(PlaitOneDnnProduct& product, const PlaitOneDnnShape& shape)
      : product_(product), key_{shape.batch, shape.m, shape.n, shape.k} {
    {
      const std::lock_guard lock(product_.mutex);
      auto& plans = product_.idle[key_];
      plans.reserve(plans.size() + 1);
      if (!plans.empty()) {
        plan_ = std::move(plans.back());
        plans.pop_back();
      }
    }
    if (plan_ == nullptr) plan_ = make_plan(product_, shape);
  }
  ~PlanLease() {
    const std::lock_guard lock(product_.mutex);
    if (plan_ != nullptr) product_.idle[key_].push_back(std::move(plan_));
  }
  PlanLease(const PlanLease&) = delete;
  Plan& operator*() const { return *plan_; }

 private:
  PlaitOneDnnProduct& product_;
  const std::array<int64_t, 4> key_;
  std::unique_ptr<Plan> plan_;
};

void run_plan(PlaitOneDnnProduct& p, Plan& plan, const void* a, const void* b, void* out) {
  check(dnnl_memory_set_data_handle(plan.a.get(), const_cast<void*>(a)), "binding of memory");
  check(dnnl_memory_set_data_handle(plan.b.get(), const_cast<void*>(b)), "binding of memory");
  check(dnnl_memory_set_data_handle(plan.out.get(), out), "binding of memory");
  dnnl_memory_t weights = plan.b.get();
  if (plan.repack != nullptr) {
    const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, plan.b.get()}, {DNNL_ARG_TO, plan.packed_b.get()}};
    check(dnnl_primitive_execute(plan.repack.get(), p.stream.get(), 2, arguments), "repacking of an operand");
    weights = plan.packed_b.get();
  }
  const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_SRC, plan.a.get()},
                                       {DNNL_ARG_WEIGHTS, weights},
                                       {DNNL_ARG_DST, plan.out.get()},
                                       {DNNL_ARG_SCRATCHPAD, plan.scratchpad.get()}};
  check(dnnl_primitive_execute(plan.product.get(), p.stream.get(), 4, arguments), "the product");
  check(dnnl_stream_wait(p.stream.get()), "the wait for the product");
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

PlaitOneDnnProduct* create(PlaitOneDnnType in, PlaitOneDnnType out, int linear, int threads, char* why_not,
                           size_t error_size) {
  auto product = std::make_unique<PlaitOneDnnProduct>();
  product->in = in;
  product->out = out;
  product->linear = linear != 0;
  product->threads = threads;
  const int failed = guarded(why_not, error_size, [&] {
    dnnl_engine_t engine;
    check(dnnl_engine_create(&engine, dnnl_cpu, 0), "creation of an engine");
    product->engine.reset(engine);
    dnnl_stream_t stream;
    check(dnnl_stream_create(&stream, engine, dnnl_stream_default_flags), "creation of a stream");
    product->stream.reset(stream);
    const Threads team(threads);
    make_plan(*product, {1, 64, 64, 64});  // a plain shape tells whether the types are supported at all
  });
  return failed ? nullptr : product.release();
}

int run(PlaitOneDnnProduct* product, const void* a, const void* b, void* out, const PlaitOneDnnShape* shape,
        char* error, size_t error_size) {
  return guarded(error, error_size, [&] {
    const Threads team(product->threads);
    const PlanLease lease(*product, *shape);
    run_plan(*product, *lease, a, b, out);
  });
}

int implementation(PlaitOneDnnProduct* product, const PlaitOneDnnShape* shape, char* name, size_t name_size) {
  return guarded(name, name_size, [&] {
    const Threads team(product->threads);
    const PlanLease lease(*product, *shape);
    write_text((*lease).implementation + ((*lease).repack ? " after repacking" : ""), name, name_size);
  });
}

constexpr PlaitOneDnnInterface kInterface{
    kPlaitOneDnnVersion, create, [](PlaitOneDnnProduct* product) { delete product; }, run, implementation,
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const PlaitOneDnnInterface* plait_onednn_interface(void) {
  return &kInterface;
}
