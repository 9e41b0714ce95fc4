#include "backend/cuda/cublaslt/cublaslt.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>

#include "backend/cuda/cublaslt/plan.h"
#include "backend/cuda/cuda_parts.h"
#include "base/error.h"

namespace plait {
namespace {

constexpr size_t kPlans = 1024;
constexpr size_t kMegabyte = size_t(1) << 20;

std::string text_of(const MatmulProblem& p) {
  return fmt::format("cuBLASLt contraction {}{} x {}{} -> {}, batch {}, m {}, n {}, k {}", name(p.in),
                     p.transpose_a ? "^T" : "", name(p.in), p.transpose_b ? "^T" : "", name(p.out), p.batch, p.m, p.n,
                     p.k);
}

bool refuse(std::string* why_not, std::string reason) {
  if (why_not != nullptr) *why_not = std::move(reason);
  return false;
}

// The largest power of two up to 256 that divides an address.
unsigned alignment_of(const void* pointer) {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  return unsigned(std::min<uintptr_t>(address & -address, 256) + (address == 0 ? 256 : 0));
}

// Dense strides where none are given.
MatmulProblem spelled_out(MatmulProblem p) {
  const auto dense = [](int64_t& given, int64_t value) {
    if (given == 0) given = std::max<int64_t>(value, 1);
  };
  dense(p.a_row, p.transpose_a ? p.m : p.k);
  dense(p.b_row, p.transpose_b ? p.k : p.n);
  dense(p.out_row, p.n);
  if (p.batch <= 1) p.a_batch = p.b_batch = p.out_batch = 0;
  return p;
}

void check_problem(const MatmulProblem& p) {
  for (int64_t extent : {p.batch, p.m, p.n, p.k}) PLAIT_CHECK(extent >= 0, "{} with extent {}", text_of(p), extent);
  PLAIT_CHECK(p.a_row >= (p.transpose_a ? p.m : p.k), "{} with rows of a {} apart", text_of(p), p.a_row);
  PLAIT_CHECK(p.b_row >= (p.transpose_b ? p.k : p.n), "{} with rows of b {} apart", text_of(p), p.b_row);
  PLAIT_CHECK(p.out_row >= p.n, "{} with rows of out {} apart", text_of(p), p.out_row);
  PLAIT_CHECK(p.batch <= 1 || p.m * p.n == 0 || p.out_batch >= (p.m - 1) * p.out_row + p.n,
              "{} with matrices of out {} apart", text_of(p), p.out_batch);
}

class Lt : public CublasLt, public std::enable_shared_from_this<Lt> {
 public:
  Lt(std::shared_ptr<CudaParts> parts, const CublasLtLibrary& library, bool allow_tf32)
      : parts_(std::move(parts)),
        library_(library),
        tf32_(allow_tf32),
        workspace_bytes_(parts_->attribute(0, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) >= 9 ? 32 * kMegabyte
                                                                                                 : 4 * kMegabyte),
        handles_(new std::atomic<cublasLtHandle_t>[size_t(parts_->count())]()) {}
  ~Lt() override {
    for (int i = 0; i < parts_->count(); ++i) {
      const cublasLtHandle_t handle = handles_[size_t(i)].load();
      if (handle == nullptr) continue;
      try {
        const ContextScope scope(parts_->driver(), parts_->context(i));
        library_.cublasLtDestroy(handle);
      } catch (const Error&) {  // the driver is shutting down, and the handle with it
      }
    }
  }

  size_t workspace_bytes() const override { return workspace_bytes_; }
  size_t cached_plans() const override {
    const std::shared_lock lock(mutex_);
    return plans_.size();
  }

  std::shared_ptr<Executable> contraction(const LibraryContraction& contraction, std::string* why_not) override;
  // Whether there is an algorithm for the contraction on device 0, with operands that are aligned as these addresses
  // are, which are not read.
  bool accepts(const MatmulProblem& given, const MatmulPointers& pointers, std::string* why_not);
  bool matmul(Stream& stream, const MatmulProblem& given, const MatmulPointers& pointers,
              std::string* why_not) override;

 private:
  // Of this ordinal, whose context is current.
  cublasLtHandle_t handle(int ordinal) {
    std::atomic<cublasLtHandle_t>& known = handles_[size_t(ordinal)];
    if (cublasLtHandle_t handle = known.load(std::memory_order_acquire)) return handle;
    const std::unique_lock lock(mutex_);
    if (cublasLtHandle_t handle = known.load(std::memory_order_relaxed)) return handle;
    const RelaxedCapture relaxed(parts_->driver());
    cublasLtHandle_t handle = nullptr;
    library_.check(library_.cublasLtCreate(&handle), "cublasLtCreate");
    known.store(handle, std::memory_order_release);
    return handle;
  }

  std::shared_ptr<const Plan> plan(const PlanKey& key, const void* bias, std::string* why_not) {
    {
      const std::shared_lock lock(mutex_);
      const auto found = plans_.find(key);
      if (found != plans_.end()) return found->second;
    }
    auto made = make_plan(library_, handle(key.ordinal), key, bias, why_not);
    if (made == nullptr) return nullptr;
    const std::unique_lock lock(mutex_);
    if (!plans_.emplace(key, made).second) return made;
    order_.push_back(key);
    if (order_.size() > kPlans) {
      plans_.erase(order_.front());
      order_.pop_front();
    }
    return made;
  }

  PlanKey key_of(const MatmulProblem& problem, const MatmulPointers& pointers, int ordinal) const {
    PlanKey key{problem, problem.beta != 0, tf32_, ordinal, workspace_bytes_};
    key.problem.alpha = 1, key.problem.beta = 0;
    key.align_a = alignment_of(pointers.a);
    key.align_b = alignment_of(pointers.b);
    key.align_out = alignment_of(pointers.out);
    key.align_bias = alignment_of(pointers.bias);
    return key;
  }

  void zero(Stream& stream, const MatmulProblem& problem, void* out) const;
  cublasStatus_t run(const Plan& plan, cublasLtMatmulDesc_t operation, const MatmulProblem& problem,
                     const MatmulPointers& pointers, Stream& stream);

  const std::shared_ptr<CudaParts> parts_;
  const CublasLtLibrary& library_;
  const bool tf32_;
  const size_t workspace_bytes_;
  std::unique_ptr<std::atomic<cublasLtHandle_t>[]> handles_;  // by ordinal, null until first used
  mutable std::shared_mutex mutex_;                           // guards what follows
  std::map<PlanKey, std::shared_ptr<const Plan>> plans_;
  std::deque<PlanKey> order_;                                         // as they came: the oldest goes first
  std::map<LibraryContraction, std::weak_ptr<Executable>> products_;  // they hold this object
};

void Lt::zero(Stream& stream, const MatmulProblem& p, void* out) const {
  const DriverLibrary& driver = parts_->driver();
  const size_t element = size_of(p.out);
  for (int64_t i = 0; i < p.batch; ++i) {
    const auto at = reinterpret_cast<CUdeviceptr>(out) + size_t(i * p.out_batch) * element;
    driver.check(driver.cuMemsetD2D8Async(at, size_t(p.out_row) * element, 0, size_t(p.n) * element, size_t(p.m),
                                          static_cast<CUstream>(stream.native())),
                 "cuMemsetD2D8Async", text_of(p));
  }
}

cublasStatus_t Lt::run(const Plan& plan, cublasLtMatmulDesc_t operation, const MatmulProblem& problem,
                       const MatmulPointers& pointers, Stream& stream) {
  const float alpha = float(problem.alpha), beta = float(problem.beta);
  const void* const scale = plan.wide ? static_cast<const void*>(&problem.alpha) : &alpha;
  const void* const add = plan.wide ? static_cast<const void*>(&problem.beta) : &beta;
  const auto native = static_cast<CUstream>(stream.native());
  void* workspace = pointers.workspace;
  if (workspace == nullptr) workspace = parts_->workspace(stream.ordinal(), native, workspace_bytes_);
  cublasStatus_t status = CUBLAS_STATUS_NOT_SUPPORTED;
  for (const cublasLtMatmulAlgo_t& algorithm : plan.algorithms) {
    status = library_.cublasLtMatmul(handle(stream.ordinal()), operation, scale, pointers.b, plan.a.get(), pointers.a,
                                     plan.b.get(), add, pointers.out, plan.out.get(), pointers.out, plan.out.get(),
                                     &algorithm, workspace, workspace_bytes_, native);
    if (status != CUBLAS_STATUS_NOT_SUPPORTED) break;  // the next one may do
  }
  return status;
}

bool Lt::matmul(Stream& stream, const MatmulProblem& given, const MatmulPointers& pointers, std::string* why_not) {
  const MatmulProblem problem = spelled_out(given);
  check_problem(problem);
  if (!has_dtypes(problem.in, problem.out))
    return refuse(why_not,
                  fmt::format("cuBLASLt is not used for contractions {} -> {}", name(problem.in), name(problem.out)));
  if (problem.batch == 0 || problem.m == 0 || problem.n == 0) return true;
  const ContextScope scope(parts_->driver(), parts_->context(stream.ordinal()));
  if (problem.k == 0) {
    if (problem.bias || problem.beta != 0)
      return refuse(why_not, "cuBLASLt has no empty sums, and this one has a bias or is added to what is there");
    zero(stream, problem, pointers.out);
    return true;
  }
  const PlanKey key = key_of(problem, pointers, stream.ordinal());
  const std::shared_ptr<const Plan> plan = this->plan(key, pointers.bias, why_not);
  if (plan == nullptr) return false;
  cublasStatus_t status;
  if (problem.bias) {  // the pointer is part of the operation
    status = run(*plan, make_operation(library_, key, pointers.bias).get(), problem, pointers, stream);
  } else {
    status = run(*plan, plan->operation.get(), problem, pointers, stream);
  }
  if (status == CUBLAS_STATUS_NOT_SUPPORTED) return refuse(why_not, "cublasLtMatmul: " + library_.text(status));
  if (status != CUBLAS_STATUS_SUCCESS) library_.fail(status, ("cublasLtMatmul for " + text_of(problem)).c_str());
  return true;
}

bool Lt::accepts(const MatmulProblem& given, const MatmulPointers& pointers, std::string* why_not) {
  const MatmulProblem problem = spelled_out(given);
  if (problem.batch == 0 || problem.m == 0 || problem.n == 0 || problem.k == 0) return true;
  const ContextScope scope(parts_->driver(), parts_->context(0));
  return plan(key_of(problem, pointers, 0), nullptr, why_not) != nullptr;
}

// A matrix as the library takes it: rows apart, or columns where it lies transposed.
struct LtMatrix {
  bool transposed = false;
  int64_t apart = 0;
};

// Nothing where neither its rows nor its columns are dense, or where they overlap.
std::optional<LtMatrix> lt_matrix(const ContractionOperand& operand, int64_t rows, int64_t columns) {
  const bool by_rows = operand.column == 1 || (operand.row != 1 && columns == 1);
  if (!by_rows && operand.row != 1 && rows != 1) return std::nullopt;
  const int64_t lines = by_rows ? rows : columns, length = by_rows ? columns : rows;
  const int64_t apart = lines == 1 ? length : by_rows ? operand.row : operand.column;
  if (apart < length) return std::nullopt;
  return LtMatrix{!by_rows, apart};
}

// A contraction as calls of one batch dim each, the longest; the rest of the batch is a loop.
struct LtCalls {
  MatmulProblem problem;
  std::vector<int64_t> extents;    // of the loop
  std::vector<int64_t> a, b, out;  // strides along them
  int64_t count = 1;

  ContractionOperand along(const std::vector<int64_t>& strides) const { return {0, 0, 0, strides}; }
};

// Nothing with the reason where a matrix is none for the library.
std::optional<LtCalls> lt_calls(const LibraryContraction& contraction, const ContractionArguments& all,
                                std::string* why_not) {
  const auto a = lt_matrix(all.a, all.m, all.k), b = lt_matrix(all.b, all.k, all.n),
             out = lt_matrix(all.out, all.m, all.n);
  if (!a || !b || !out || out->transposed) {
    refuse(why_not,
           fmt::format("cuBLASLt takes matrices of dense rows or columns, and operand {} has none", !a   ? "a"
                                                                                                    : !b ? "b"
                                                                                                         : "out"));
    return std::nullopt;
  }
  LtCalls calls;
  MatmulProblem& p = calls.problem;
  p.in = contraction.in, p.out = contraction.out;
  p.transpose_a = a->transposed, p.transpose_b = b->transposed;
  p.m = all.m, p.n = all.n, p.k = all.k;
  p.a_row = a->apart, p.b_row = b->apart, p.out_row = out->apart;
  const size_t longest = size_t(std::max_element(all.batch.begin(), all.batch.end()) - all.batch.begin());
  for (size_t d = 0; d < all.batch.size(); ++d) {
    if (d == longest) {
      p.batch = all.batch[d];
      p.a_batch = all.a.batch[d], p.b_batch = all.b.batch[d], p.out_batch = all.out.batch[d];
      continue;
    }
    calls.extents.push_back(all.batch[d]);
    calls.a.push_back(all.a.batch[d]), calls.b.push_back(all.b.batch[d]), calls.out.push_back(all.out.batch[d]);
    calls.count *= all.batch[d];
  }
  return calls;
}

// An address that is as little aligned as the first element of any of the calls is.
const void* least_aligned(const ContractionOperand& operand, const std::vector<int64_t>& strides, DType dtype) {
  uintptr_t address = uintptr_t{256} | uintptr_t(operand.offset) * size_of(dtype);
  for (int64_t stride : strides) address |= uintptr_t(stride) * size_of(dtype);
  return reinterpret_cast<const void*>(address);
}

// A contraction of the pipeline.
class LtExecutable : public Executable {
 public:
  LtExecutable(std::shared_ptr<Lt> library, const LibraryContraction& contraction)
      : library_(std::move(library)), contraction_(contraction) {}

  size_t workspace_bytes() const override { return library_->workspace_bytes(); }

  bool accepts(std::span<const int64_t> integers, std::string* why_not) const override {
    const ContractionArguments all(integers);
    const std::optional<LtCalls> calls = lt_calls(contraction_, all, why_not);
    if (!calls) return false;
    void* const out = const_cast<void*>(least_aligned(all.out, calls->out, contraction_.out));
    const MatmulPointers pointers{least_aligned(all.a, calls->a, contraction_.in),
                                  least_aligned(all.b, calls->b, contraction_.in), out, nullptr, nullptr};
    return library_->accepts(calls->problem, pointers, why_not);
  }

  void launch(const LaunchArguments& arguments) const override {
    PLAIT_CHECK(arguments.buffers.size() == 3, "a contraction takes 3 buffers, given are {}", arguments.buffers.size());
    PLAIT_CHECK(arguments.stream != nullptr, "a contraction is launched without a stream");
    const ContractionArguments all(arguments.integers);
    if (all.matrices() * all.m * all.n == 0) return;
    std::string why_not;
    const std::optional<LtCalls> calls = lt_calls(contraction_, all, &why_not);
    bool done = calls.has_value();
    for (int64_t i = 0; done && i < calls->count; ++i) {
      const auto at = [&](size_t buffer, const std::vector<int64_t>& strides, DType dtype) {
        const int64_t matrix = calls->along(strides).matrix(i, calls->extents);
        return static_cast<std::byte*>(arguments.buffers[buffer]) + size_t(matrix) * size_of(dtype);
      };
      const MatmulPointers pointers{at(0, calls->a, contraction_.in), at(1, calls->b, contraction_.in),
                                    at(2, calls->out, contraction_.out), nullptr, arguments.workspace};
      done = library_->matmul(*arguments.stream, calls->problem, pointers, &why_not);
    }
    if (done) return;
    const std::string where =
        fmt::format("cuBLASLt contraction {} -> {}, {}", name(contraction_.in), name(contraction_.out), all.text());
    throw UserError(why_not, where, "ask for the schedule nest at this contraction");
  }

 private:
  std::shared_ptr<Lt> library_;
  LibraryContraction contraction_;
};

std::shared_ptr<Executable> Lt::contraction(const LibraryContraction& contraction, std::string* why_not) {
  if (!has_dtypes(contraction.in, contraction.out)) {
    refuse(why_not,
           fmt::format("cuBLASLt is not used for contractions {} -> {}", name(contraction.in), name(contraction.out)));
    return nullptr;
  }
  const std::unique_lock lock(mutex_);
  std::weak_ptr<Executable>& known = products_[contraction];
  std::shared_ptr<Executable> out = known.lock();
  if (out == nullptr) known = out = std::make_shared<LtExecutable>(shared_from_this(), contraction);
  return out;
}

}  // namespace

std::shared_ptr<CublasLt> make_cublaslt(std::shared_ptr<CudaParts> parts, const std::string& path, bool allow_tf32,
                                        std::string* why_not) {
  const CublasLtLibrary* library = cublaslt_library(path, why_not);
  if (library == nullptr) return nullptr;
  return std::make_shared<Lt>(std::move(parts), *library, allow_tf32);
}

}  // namespace plait
