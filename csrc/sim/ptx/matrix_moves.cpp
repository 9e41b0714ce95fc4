// ldmatrix and stmatrix: matrices of 8 rows of 8 elements of 16 bits between shared memory and the registers of a warp.
#include <cstring>
#include <span>

#include "base/error.h"
#include "sim/ptx/addresses.h"
#include "sim/ptx/decoder.h"
#include "sim/ptx/families.h"
#include "sim/ptx/lanes.h"

namespace plait::sim::ptx {
namespace {

constexpr int kRows = 8;
constexpr size_t kRowBytes = 16;

// Element (r, c) is half c % 2 of lane 4 * r + c / 2; transposed, half r % 2 of lane 4 * c + r / 2.
SharedPieces pieces_of_row(int r, bool transposed) {
  SharedPieces out{transposed ? size_t(2) : size_t(4), {}};
  for (size_t k = 0; k < kRowBytes / out.bytes; ++k)
    out.lanes[k] = static_cast<uint8_t>(transposed ? 4 * static_cast<int>(k) + r / 2 : 4 * r + static_cast<int>(k));
  return out;
}

// Rows that a store writes at one place come in no order.
void need_different(Warp& warp, const Instruction& i, std::span<const uint64_t> at) {
  for (size_t one = 0; one < at.size(); ++one)
    for (size_t other = 0; other < one; ++other)
      if (at[one] == at[other])
        fail(warp, i, static_cast<int>(one), kLaunchFailed,
             fmt::format("race: writes a row of 16 bytes where the row of lane {} goes", other));
}

// Lane 8 * m + r gives the address of row r of matrix m, whose elements lie in register m of each lane.
template <bool kStore, bool kTransposed>
void move_matrices(Warp& warp, const Instruction& i) {
  need_warp(warp, i);
  const uint32_t* rows = warp.run->program->rows.data() + i.target;
  const int matrices = static_cast<int>(i.e);
  if (warp.run->meter != nullptr) {
    warp.exec = matrices == 4 ? ~0u : (1u << (kRows * matrices)) - 1;
    count_access(warp, i, Where::shared, kStore);
    warp.exec = ~0u;
  }
  std::array<uint64_t, kLanes> at;  // a result may be the register of addresses
  for (int lane = 0; lane < kLanes; ++lane) at[static_cast<size_t>(lane)] = address_at(warp, i, lane);
  if constexpr (kStore)
    need_different(warp, i, std::span(at).first(static_cast<size_t>(kRows) * static_cast<size_t>(matrices)));
  for (int m = 0; m < matrices; ++m) {
    uint32_t* const lanes = row32(warp, rows[m]);
    for (int r = 0; r < kRows; ++r) {
      const int lane = kRows * m + r;
      const SharedPieces pieces = pieces_of_row(r, kTransposed);
      uint8_t* memory = shared_bytes(warp, i, lane, at[static_cast<size_t>(lane)], kStore, pieces);
      for (size_t k = 0; k < kRowBytes / pieces.bytes; ++k, memory += pieces.bytes) {
        auto* const part = reinterpret_cast<uint8_t*>(lanes + pieces.lanes[k]) + (kTransposed ? 2 * (r % 2) : 0);
        if constexpr (kStore)
          std::memcpy(memory, part, pieces.bytes);
        else
          std::memcpy(part, memory, pieces.bytes);
      }
    }
  }
}

void decode_move(Decoder& d, bool store) {
  d.need_target(store ? 90 : 75);
  if (!d.take("sync") || !d.take("aligned") || !d.take("m8n8")) d.refuse("matrices of this form");
  const int count = d.take_one({"x1", "x2", "x4"});
  const bool transposed = d.take("trans");
  if (count < 0 || !(d.take("shared") || d.take("shared::cta")) || d.take_type() != Type::b16)
    d.refuse("matrices of this form");
  d.need_operands(2);
  const Operand& data = d.operand(store ? 1 : 0);
  const std::vector<Operand> elements = data.kind == Operand::Kind::vector ? data.elements : std::vector<Operand>{data};
  if (elements.size() != size_t(1) << count) d.refuse("a vector of another length");
  std::vector<uint32_t> rows;
  for (const Operand& each : elements) rows.push_back(store ? d.source(each, Type::b32) : d.target(each, Type::b32));
  const Address address = address_of(d, d.operand(store ? 0 : 1), Space::shared, kRowBytes);
  const uint32_t first = d.rows(rows);
  const Handler handler = store ? (transposed ? move_matrices<true, true> : move_matrices<true, false>)
                                : (transposed ? move_matrices<false, true> : move_matrices<false, false>);
  Instruction& added = emit_for_warp(d, handler);
  place_access(added, address, 1, kRowBytes, {.space = Space::shared});
  added.e = 1u << count;
  added.target = first;
}

}  // namespace

void decode_load_matrix(Decoder& d) { decode_move(d, false); }
void decode_store_matrix(Decoder& d) { decode_move(d, true); }

}  // namespace plait::sim::ptx
