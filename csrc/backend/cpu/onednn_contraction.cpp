#include "backend/cpu/onednn_contraction.h"

#include <algorithm>
#include <optional>

#include "backend/cpu/onednn_plugin/plugin.h"
#include "backend/cpu/widened_contraction.h"
#include "base/error.h"
#include "base/forks.h"
#include "base/plugin_loader.h"

namespace plait {
namespace {

std::optional<PlaitOneDnnType> type_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return kPlaitOneDnnF32;
    case DType::bf16:
      return kPlaitOneDnnBf16;
    case DType::f16:
      return kPlaitOneDnnF16;
    case DType::boolean:
    case DType::i8:
    case DType::i16:
    case DType::i32:
    case DType::i64:
    case DType::u8:
    case DType::u16:
    case DType::u32:
    case DType::u64:
    case DType::f8e4m3:
    case DType::f8e5m2:
    case DType::f64:
      return std::nullopt;
  }
  __builtin_unreachable();
}

std::string text_of(const LibraryContraction& contraction) {
  return fmt::format("{} {} x {} -> {}", form_text(contraction), name(contraction.in), name(contraction.in),
                     name(contraction.out));
}

// Whether oneDNN describes the matrices of an operand along the batch dims from `first` on: sorted by stride, each dim
// steps over all of the ones inside of it.
bool is_nested(const ContractionOperand& operand, std::span<const int64_t> batch, size_t first, int64_t rows,
               int64_t columns) {
  std::vector<std::pair<int64_t, int64_t>> dims = {{operand.row, rows}, {operand.column, columns}};
  for (size_t d = first; d < batch.size(); ++d) dims.emplace_back(operand.batch[d], batch[d]);
  std::erase_if(dims, [](const auto& dim) { return dim.first == 0 || dim.second == 1; });
  std::sort(dims.begin(), dims.end());
  for (size_t i = 1; i < dims.size(); ++i)
    if (dims[i].first < dims[i - 1].first * dims[i - 1].second) return false;
  return true;
}

class OneDnnExecutable : public Executable {
 public:
  OneDnnExecutable(const PlaitOneDnnInterface* interface, PlaitOneDnnContraction* handle,
                   const LibraryContraction& contraction, int threads, std::shared_ptr<ContractionTeams> teams)
      : interface_(interface), handle_(handle), product_(contraction), threads_(threads), teams_(std::move(teams)) {}
  ~OneDnnExecutable() override { interface_->destroy(handle_); }

  void launch(const LaunchArguments& arguments) const override {
    PLAIT_CHECK(arguments.buffers.size() == 3, "a contraction takes 3 buffers, given are {}", arguments.buffers.size());
    const ContractionArguments all(arguments.integers);
    const int64_t matrices = all.matrices();
    if (matrices * all.m * all.n == 0) return;
    if (all.k == 0) return zero_result(all, arguments.buffers[2], product_.out);
    const double multiplications = double(matrices) * double(all.m) * double(all.n) * double(all.k);
    const int most = arguments.threads > 0 ? std::min(arguments.threads, threads_) : threads_;
    const int threads = lost_openmp() ? 1 : teams_->threads(multiplications, most);
    const auto start = std::chrono::steady_clock::now();
    const bool prepared = run(all, arguments.buffers, threads);
    if (threads > 1 && !prepared) teams_->note(multiplications, std::chrono::steady_clock::now() - start);
  }

 private:
  // Of one call: oneDNN repeats one operand along a dim, not both. A loop runs over the dims before them, and over
  // those along which matrices interleave.
  static constexpr size_t kBatchDims = 2;

  // Whether a call had to prepare its shape.
  bool run(const ContractionArguments& all, std::span<void* const> buffers, int threads) const {
    size_t loops = all.batch.size() - std::min(all.batch.size(), kBatchDims);
    while (loops < all.batch.size() && all.a.batch[loops] == 0 && all.b.batch[loops] == 0) ++loops;
    while (loops < all.batch.size() &&
           !(is_nested(all.a, all.batch, loops, all.m, all.k) && is_nested(all.b, all.batch, loops, all.k, all.n)))
      ++loops;
    PlaitOneDnnShape shape{int32_t(all.batch.size() - loops), {1, 1}, all.m, all.n, all.k, {}, {}, {}};
    std::copy(all.batch.begin() + ptrdiff_t(loops), all.batch.end(), shape.batch);
    const auto fill = [&](const ContractionOperand& from, PlaitOneDnnOperand& to) {
      to.row = from.row, to.column = from.column;
      std::copy(from.batch.begin() + ptrdiff_t(loops), from.batch.end(), to.batch);
    };
    fill(all.a, shape.a), fill(all.b, shape.b), fill(all.out, shape.out);
    const std::span<const int64_t> outer = all.batch.first(loops);
    int64_t count = 1;
    for (int64_t extent : outer) count *= extent;
    bool any_prepared = false;
    for (int64_t i = 0; i < count; ++i) {
      const auto at = [&](size_t buffer, const ContractionOperand& operand, DType dtype) {
        return static_cast<std::byte*>(buffers[buffer]) + size_t(operand.matrix(i, outer)) * size_of(dtype);
      };
      char error[256] = "";
      int prepared = 0;
      if (interface_->run(handle_, at(0, all.a, product_.in), at(1, all.b, product_.in), at(2, all.out, product_.out),
                          &shape, threads, &prepared, error, sizeof error) != 0)
        throw UserError(error, fmt::format("{}, {}", text_of(product_), all.text()),
                        "ask for the schedule nest at this contraction");
      any_prepared = any_prepared || prepared != 0;
    }
    return any_prepared;
  }

  const PlaitOneDnnInterface* interface_;
  PlaitOneDnnContraction* handle_;
  LibraryContraction product_;
  int threads_;
  std::shared_ptr<ContractionTeams> teams_;
};

std::shared_ptr<Executable> refuse(std::string* why_not, std::string reason) {
  if (why_not != nullptr) *why_not = std::move(reason);
  return nullptr;
}

// Else oneDNN's kernels of bf16 take more than three times as long as those of f32.
bool multiplies_bf16() { return __builtin_cpu_supports("avx512bf16"); }

// Of one thread, far from what a quiet machine does: below it others have the cores.
constexpr double kSlowest = 2e9;      // multiplications a second
constexpr double kWorthThread = 1e6;  // multiplications that a thread of a team is worth
constexpr double kWorthTeam = 200e6;  // that a team is worth where others have the cores
constexpr std::chrono::milliseconds kLate{2}, kAlone{500};

int64_t now() { return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

int ContractionTeams::threads(double multiplications, int most) const {
  const int worth = int(std::clamp(multiplications / kWorthThread, 1.0, double(std::max(most, 1))));
  if (worth == 1 || multiplications >= kWorthTeam) return worth;
  return now() < alone_until_.load(std::memory_order_relaxed) ? 1 : worth;
}

void ContractionTeams::note(double multiplications, std::chrono::nanoseconds duration) {
  const std::chrono::duration<double> foreseen(multiplications / kSlowest);
  if (duration > kLate + foreseen)
    alone_until_.store(now() + std::chrono::nanoseconds(kAlone).count(), std::memory_order_relaxed);
}

std::shared_ptr<Executable> OneDnn::contraction(const LibraryContraction& contraction, std::string* why_not) {
  std::shared_ptr<Executable>& known = products_[contraction];
  if (known != nullptr) return known;
  const auto in = type_of(contraction.in), out = type_of(contraction.out);
  if (!in || !out) return refuse(why_not, "oneDNN has no contraction " + text_of(contraction) + " on CPUs");
  if (*out != *in && *out != kPlaitOneDnnF32) {
    return refuse(why_not, "oneDNN is not used for " + text_of(contraction) + ", whose result is not f32");
  }
  const PlaitOneDnnInterface* interface;
  try {
    interface = load_interface<PlaitOneDnnInterface>("libplait_onednn.so", "plait_onednn_interface",
                                                     kPlaitOneDnnVersion, plugin_folder_, "libdnnl-dev");
  } catch (const MissingError& missing) {
    is_missing_ = true;
    return refuse(why_not, fmt::format("oneDNN is not here: {} ({})", missing.message(), missing.remedy()));
  }
  char reason[256] = "";
  const int threads = lost_openmp() ? 1 : pool_->threads();
  PlaitOneDnnContraction* handle = nullptr;
  if (contraction.in != DType::bf16 || multiplies_bf16())
    handle = interface->create(*in, *out, contraction.linear ? 1 : 0, threads, reason, sizeof reason);
  if (handle != nullptr)
    return known = std::make_shared<OneDnnExecutable>(interface, handle, contraction, threads, teams_);
  if (contraction.in == DType::f32)
    return refuse(why_not, fmt::format("{} on this CPU: {}", text_of(contraction), reason));
  LibraryContraction wide = contraction;
  wide.in = wide.out = DType::f32;
  std::shared_ptr<Executable> multiply = this->contraction(wide, why_not);
  if (multiply == nullptr) return nullptr;
  return products_[contraction] = widen_contraction(std::move(multiply), contraction, scratch_, pool_);
}

}  // namespace plait
