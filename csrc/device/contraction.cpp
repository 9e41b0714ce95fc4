#include "device/contraction.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "base/error.h"

namespace plait {
namespace {

constexpr size_t kFixed = 12;  // m, n, k, then row, column and offset of each operand
constexpr size_t kLists = 4;   // the batch extents, then the batch strides of each operand

// A contraction that is being simplified.
struct Lists {
  ContractionArguments numbers;
  std::vector<int64_t> batch;
  std::array<std::vector<int64_t>, 3> strides;  // of a, b, out along batch

  void erase(size_t dim) {
    batch.erase(batch.begin() + ptrdiff_t(dim));
    for (auto& list : strides) list.erase(list.begin() + ptrdiff_t(dim));
  }

  void drop_ones() {
    for (size_t d = batch.size(); d-- > 0;)
      if (batch[d] == 1) erase(d);
  }

  void merge_neighbours() {
    for (size_t d = batch.size(); d-- > 1;) {
      const auto one = [&](const std::vector<int64_t>& list) { return list[d - 1] == list[d] * batch[d]; };
      if (!std::all_of(strides.begin(), strides.end(), one)) continue;
      batch[d - 1] *= batch[d];
      for (auto& list : strides) list[d - 1] = list[d];
      erase(d);
    }
  }

  // Dims along which both operands repeat come first.
  void repeated_first() {
    for (size_t d = 0, end = 0; d < batch.size(); ++d) {
      if (strides[0][d] != 0 || strides[1][d] != 0) continue;
      for (auto* list : {&batch, &strides[0], &strides[1], &strides[2]})
        std::rotate(list->begin() + ptrdiff_t(end), list->begin() + ptrdiff_t(d), list->begin() + ptrdiff_t(d) + 1);
      ++end;
    }
  }

  // The last batch dim as rows of a and out.
  bool merge_into_rows() {
    if (batch.empty() || strides[1].back() != 0) return false;
    ContractionOperand &a = numbers.a, &out = numbers.out;
    if (numbers.m == 1) {  // one row lies with any stride
      a.row = strides[0].back();
      out.row = strides[2].back();
    }
    if (strides[0].back() != numbers.m * a.row || strides[2].back() != numbers.m * out.row) return false;
    numbers.m *= batch.back();
    erase(batch.size() - 1);
    return true;
  }
};

}  // namespace

std::string form_text(const LibraryContraction& contraction) { return contraction.linear ? "linear" : "matmul"; }

int64_t ContractionOperand::matrix(int64_t index, std::span<const int64_t> extents) const {
  int64_t at = 0;
  for (size_t d = extents.size(); d-- > 0; index /= extents[d]) at += index % extents[d] * batch[d];
  return at;
}

ContractionArguments::ContractionArguments(std::span<const int64_t> integers) {
  PLAIT_CHECK(integers.size() >= kFixed && (integers.size() - kFixed) % kLists == 0,
              "a contraction does not take {} integers", integers.size());
  for (int64_t integer : integers) PLAIT_CHECK(integer >= 0, "a contraction with extent or stride {}", integer);
  const size_t dims = (integers.size() - kFixed) / kLists;
  m = integers[0], n = integers[1], k = integers[2];
  batch = integers.subspan(kFixed, dims);
  size_t at = 3, list = kFixed + dims;
  for (ContractionOperand* operand : {&a, &b, &out}) {
    operand->row = integers[at], operand->column = integers[at + 1], operand->offset = integers[at + 2];
    operand->batch = integers.subspan(list, dims);
    at += 3, list += dims;
  }
}

int64_t ContractionArguments::matrices() const {
  return std::accumulate(batch.begin(), batch.end(), int64_t{1}, std::multiplies<>());
}

std::vector<int64_t> ContractionArguments::integers() const {
  std::vector<int64_t> list = {m, n, k};
  for (const ContractionOperand* operand : {&a, &b, &out})
    list.insert(list.end(), {operand->row, operand->column, operand->offset});
  for (const std::span<const int64_t> part : {batch, a.batch, b.batch, out.batch}) {
    PLAIT_CHECK(part.size() == batch.size(), "{} strides of {} batch dims", part.size(), batch.size());
    list.insert(list.end(), part.begin(), part.end());
  }
  return list;
}

std::string ContractionArguments::text() const {
  std::string extents;
  for (int64_t extent : batch) extents += fmt::format("{}{}", extents.empty() ? "" : " x ", extent);
  return fmt::format("batch {}, m {}, n {}, k {}", extents.empty() ? "1" : extents, m, n, k);
}

std::vector<int64_t> simplify_contraction(std::span<const int64_t> integers) {
  Lists lists{ContractionArguments(integers), {}, {}};
  const auto copy = [](std::span<const int64_t> list) { return std::vector<int64_t>(list.begin(), list.end()); };
  lists.batch = copy(lists.numbers.batch);
  lists.strides = {copy(lists.numbers.a.batch), copy(lists.numbers.b.batch), copy(lists.numbers.out.batch)};
  lists.drop_ones();
  do lists.merge_neighbours();
  while (lists.merge_into_rows());
  lists.repeated_first();
  ContractionArguments& out = lists.numbers;
  out.batch = lists.batch;
  out.a.batch = lists.strides[0], out.b.batch = lists.strides[1], out.out.batch = lists.strides[2];
  return out.integers();
}

void zero_result(const ContractionArguments& contraction, void* out, DType dtype) {
  const size_t size = size_of(dtype);
  const ContractionOperand& to = contraction.out;
  const int64_t run = to.column == 1 ? contraction.n : 1;  // elements that lie together
  for (int64_t i = 0; i < contraction.matrices(); ++i)
    for (int64_t row = 0; row < contraction.m; ++row)
      for (int64_t column = 0; column < contraction.n; column += run) {
        const int64_t at = to.matrix(i, contraction.batch) + row * to.row + column * to.column;
        std::memset(static_cast<std::byte*>(out) + size_t(at) * size, 0, size_t(run) * size);
      }
}

}  // namespace plait
