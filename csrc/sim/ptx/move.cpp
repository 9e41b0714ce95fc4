// Moves, packing, special registers, and addresses.
#include "base/error.h"
#include "sim/ptx/decoder.h"
#include "sim/ptx/families.h"
#include "sim/ptx/lanes.h"

namespace plait::sim::ptx {
namespace {

template <class T>
void copy_lanes(Warp& warp, const Instruction& i) {
  const Slot<T>* a = row<T>(warp, i.a);
  for_lanes(warp, row<T>(warp, i.d), [=](int lane) { return a[lane]; });
}

void copy_predicate(Warp& warp, const Instruction& i) { set_predicate(warp, i.d, warp.predicates[i.a]); }

// Elements from the lowest bits on; `bytes` of each.
template <class T>
void pack_lanes(Warp& warp, const Instruction& i) {
  const uint32_t* rows = warp.run->program->rows.data() + i.target;
  for_lanes(warp, row<T>(warp, i.d), [&](int lane) {
    T out = 0;
    for (int k = 0; k < i.count; ++k) out |= static_cast<T>(row32(warp, rows[k])[lane]) << (8 * i.bytes * k);
    return out;
  });
}

template <class T>
void unpack_lanes(Warp& warp, const Instruction& i) {
  const uint32_t* rows = warp.run->program->rows.data() + i.target;
  T from[kLanes];  // an element may be the source itself
  for (int lane = 0; lane < kLanes; ++lane) from[lane] = row<T>(warp, i.a)[lane];
  const uint32_t mask = i.bytes == 2 ? 0xffff : 0xffffffff;
  for (int k = 0; k < i.count; ++k)
    for_lanes(warp, row32(warp, rows[k]),
              [&](int lane) { return static_cast<uint32_t>(from[lane] >> (8 * i.bytes * k)) & mask; });
}

FixedRow special(const Decoder& d, std::string_view name) {
  FixedRow out;
  using Kind = FixedRow::Kind;
  static const std::map<std::string_view, Kind> alone = {{"%laneid", Kind::lane},
                                                         {"%warpid", Kind::warp},
                                                         {"%cluster_ctarank", Kind::cluster_rank},
                                                         {"%cluster_nctarank", Kind::cluster_size}};
  if (const auto found = alone.find(name); found != alone.end()) {
    out.kind = found->second;
    return out;
  }
  constexpr std::string_view kMasks[] = {"%lanemask_eq", "%lanemask_le", "%lanemask_lt", "%lanemask_ge",
                                         "%lanemask_gt"};
  for (uint64_t i = 0; i < std::size(kMasks); ++i)
    if (name == kMasks[i]) {
      out.kind = FixedRow::Kind::lane_mask;
      out.value = i;
      return out;
    }
  const size_t dot = name.find('.');
  const std::string_view base = name.substr(0, dot), dimension = dot == name.npos ? "" : name.substr(dot);
  static const std::map<std::string_view, Kind> by_dimension = {
      {"%tid", Kind::thread},          {"%ctaid", Kind::block},
      {"%ntid", Kind::threads},        {"%nctaid", Kind::blocks},
      {"%clusterid", Kind::cluster},   {"%cluster_ctaid", Kind::cluster_block},
      {"%nclusterid", Kind::clusters}, {"%cluster_nctaid", Kind::cluster_blocks}};
  if (const auto found = by_dimension.find(base); found != by_dimension.end()) out.kind = found->second;
  out.value = dimension == ".x" ? 0 : dimension == ".y" ? 1 : 2;
  if (out.kind == FixedRow::Kind::value || (out.value == 2 && dimension != ".z"))
    d.refuse(fmt::format("`{}` is not modelled", name));
  return out;
}

}  // namespace

uint32_t shared_address_row(Decoder& d, const Operand& operand, bool wide) {
  const Variable* variable = d.variable(operand.name);
  if (variable == nullptr || variable->space != Space::shared)
    d.refuse(fmt::format("the address of `{}` is not modelled", operand.name));
  return d.constant(variable->offset + static_cast<uint64_t>(operand.offset), wide);
}

namespace {

// The row of a variable's address in its own space; `wide`: 64 bits.
uint32_t address_row(Decoder& d, const Operand& operand, bool wide = true) {
  FixedRow out;
  out.wide = true;
  if (const int global = d.global(operand.name); wide && global >= 0) {
    out.kind = FixedRow::Kind::global;
    out.global = global;
    out.value = static_cast<uint64_t>(operand.offset);
    return d.fixed(out);
  }
  const Variable* variable = d.variable(operand.name);
  if (!wide || variable == nullptr || variable->space != Space::local) return shared_address_row(d, operand, wide);
  return d.constant(variable->offset + static_cast<uint64_t>(operand.offset), true);
}

void decode_packing(Decoder& d, Type type, bool packs) {
  const Operand& vector = d.operand(packs ? 1 : 0);
  const size_t count = vector.elements.size();
  const int bits = bits_of(type) / static_cast<int>(count);
  if (class_of(type) != TypeClass::bits || (count != 2 && count != 4) || bits < 16) d.refuse("packing of this form");
  const Type element = bits == 16 ? Type::b16 : Type::b32;
  std::vector<uint32_t> rows;
  for (const Operand& each : vector.elements) rows.push_back(packs ? d.source(each, element) : d.target(each, element));
  const uint32_t first = d.rows(rows);
  const bool wide = bits_of(type) == 64;
  Instruction& added = packs ? d.emit(wide ? pack_lanes<uint64_t> : pack_lanes<uint32_t>, d.target(0, type))
                             : d.emit(wide ? unpack_lanes<uint64_t> : unpack_lanes<uint32_t>, 0, d.source(1, type));
  added.target = first;
  added.count = static_cast<uint8_t>(count);
  added.bytes = static_cast<uint8_t>(bits / 8);
}

}  // namespace

void decode_move(Decoder& d) {
  const Type type = d.take_type();
  d.need_operands(2);
  const Operand& from = d.operand(1);
  if (type == Type::pred) {
    d.emit(copy_predicate, d.predicate_target(d.operand(0)), d.predicate(from));
    return;
  }
  if (d.operand(0).kind == Operand::Kind::vector || from.kind == Operand::Kind::vector)
    return decode_packing(d, type, from.kind == Operand::Kind::vector);
  const uint32_t target = d.target(0, type);
  uint32_t source = 0;
  if (from.kind != Operand::Kind::name)
    source = d.source(from, type);
  else if (from.name[0] == '%')
    source = bits_of(type) == 32 ? d.fixed(special(d, from.name)) : (d.refuse("a special register of this size"), 0);
  else if (bits_of(type) == 64 || bits_of(type) == 32)
    source = address_row(d, from, bits_of(type) == 64);
  else
    d.refuse("an address of this size");
  const Handler handler = bits_of(type) == 64   ? Handler(copy_lanes<uint64_t>)
                          : bits_of(type) >= 16 ? Handler(copy_lanes<uint32_t>)
                                                : nullptr;
  d.emit(handler, target, source);
}

// Global and constant addresses are generic ones; local and shared memory have windows of them.
void decode_cvta(Decoder& d) {
  const bool to = d.take("to");
  const int space = d.take_one({"global", "const", "local", "shared", "shared::cta", "shared::cluster"});
  if (space < 0) d.refuse("a state space that is not modelled");
  const Type type = d.take_type();
  d.need_operands(2);
  if (type != Type::u64) d.refuse("an address that is not .u64");
  const Operand& from = d.operand(1);
  const uint32_t source = from.kind == Operand::Kind::name ? address_row(d, from) : d.source(1, type);
  using U = uint64_t;
  const Handler handler = space < 2    ? Handler(copy_lanes<U>)
                          : space == 2 ? (to ? Handler(unary<[](U a) { return a - kLocalWindow; }, U, U>)
                                             : Handler(unary<[](U a) { return a + kLocalWindow; }, U, U>))
                          : to         ? Handler(unary<[](U a) { return a - kSharedWindow; }, U, U>)
                                       : Handler(unary<[](U a) { return a + kSharedWindow; }, U, U>);
  d.emit(handler, d.target(0, type), source);
}

}  // namespace plait::sim::ptx
