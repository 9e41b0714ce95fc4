// What the lanes of a warp exchange: shuffles, votes, reductions, bar.warp.sync.
#include "base/error.h"
#include "sim/ptx/decoder.h"
#include "sim/ptx/families.h"
#include "sim/ptx/lanes.h"
#include "sim/ptx/thread_block.h"

namespace plait::sim::ptx {
namespace {

// The block has brought together all lanes that an instruction names; they are those that execute.

enum class Shuffle : uint8_t { up, down, butterfly, index };

template <Shuffle kMode>
void shuffle(Warp& warp, const Instruction& i) {
  const uint32_t *from = row32(warp, i.a), *b = row32(warp, i.b), *c = row32(warp, i.c);
  uint32_t values[kLanes], inside = 0;  // the result may be the operand
  for (uint32_t rest = warp.exec; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const int by = static_cast<int>(b[lane] & 31), clamp = static_cast<int>(c[lane] & 31);
    const int segment = static_cast<int>(c[lane] >> 8 & 31);
    const int most = (lane & segment) | (clamp & ~segment), least = lane & segment;
    const int at = kMode == Shuffle::up          ? lane - by
                   : kMode == Shuffle::down      ? lane + by
                   : kMode == Shuffle::butterfly ? lane ^ by
                                                 : least | (by & ~segment);
    const bool within = kMode == Shuffle::up ? at >= most : at <= most;
    const int source = within ? at : lane;
    if ((warp.exec >> source & 1) == 0)
      fail(warp, i, lane, kLaunchFailed,
           fmt::format("a shuffle reads lane {}, which does not take part (the lanes that do: {:#010x})", source,
                       warp.exec));
    values[lane] = from[source];
    inside |= static_cast<uint32_t>(within) << lane;
  }
  for_lanes(warp, row32(warp, i.d), [&](int lane) { return values[lane]; });
  set_predicate(warp, i.e, inside);
}

enum class Vote : uint8_t { all, any, uniform, ballot };

template <Vote kMode>
void vote(Warp& warp, const Instruction& i) {
  const uint32_t holds = (warp.predicates[i.a] ^ static_cast<uint32_t>(i.immediate)) & warp.exec;
  if constexpr (kMode == Vote::ballot)
    for_lanes(warp, row32(warp, i.d), [=](int) { return holds; });
  else
    set_predicate(warp, i.d,
                  (kMode == Vote::all   ? holds == warp.exec
                   : kMode == Vote::any ? holds != 0
                                        : holds == warp.exec || holds == 0)
                      ? ~0u
                      : 0);
}

void active_mask(Warp& warp, const Instruction& i) {
  for_lanes(warp, row32(warp, i.d), [mask = warp.exec](int) { return mask; });
}

template <class T>
void match_any(Warp& warp, const Instruction& i) {
  const Slot<T>* a = row<T>(warp, i.a);
  uint32_t masks[kLanes] = {};
  for (uint32_t rest = warp.exec; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    masks[lane] = mask_of([&](int other) { return a[other] == a[lane]; }) & warp.exec;
  }
  for_lanes(warp, row32(warp, i.d), [&](int lane) { return masks[lane]; });
}

template <class T>
void match_all(Warp& warp, const Instruction& i) {
  const Slot<T>* a = row<T>(warp, i.a);
  const Slot<T> first = a[std::countr_zero(warp.exec)];
  const bool all = (mask_of([&](int lane) { return a[lane] == first; }) & warp.exec) == warp.exec;
  for_lanes(warp, row32(warp, i.d), [mask = all ? warp.exec : 0](int) { return mask; });
  set_predicate(warp, i.e, all ? ~0u : 0);
}

template <auto kFn, class T>
void reduce_lanes(Warp& warp, const Instruction& i) {
  const uint32_t* a = row32(warp, i.a);
  uint32_t rest = warp.exec;
  T out = from_slot<T>(a[std::countr_zero(rest)]);
  for (rest &= rest - 1; rest != 0; rest &= rest - 1) out = kFn(out, from_slot<T>(a[std::countr_zero(rest)]));
  for_lanes(warp, row32(warp, i.d), [=](int) { return to_slot<T>(out); });
}

// The lowest lane is elected.
void elect(Warp& warp, const Instruction& i) {
  const uint32_t lowest = static_cast<uint32_t>(std::countr_zero(warp.exec));
  for_lanes(warp, row32(warp, i.d), [=](int) { return lowest; });
  set_predicate(warp, i.e, 1u << lowest);
}

void meet_lanes(Warp& warp, const Instruction& i) {
  (void)i;
  warp.of->order().meet(warp.number, warp.exec, warp.exec == warp.of->live(warp.number));
}

// `d|p` or `d`: the row of d; the predicate goes to `predicate`.
uint32_t target_with_predicate(Decoder& d, Type type, uint32_t* predicate) {
  const Operand& out = d.operand(0);
  *predicate = kNowhere;
  if (out.kind != Operand::Kind::predicates) return d.target(out, type);
  *predicate = d.predicate_target(out.elements[1]);
  return d.target(out.elements[0], type);
}

Instruction& emit_meeting(Decoder& d, Handler handler, size_t mask, uint32_t to, uint32_t a = 0, uint32_t b = 0,
                          uint32_t c = 0) {
  const uint32_t members = d.source(mask, Type::u32);
  Instruction& added = d.emit(handler, to, a, b, c);
  added.control = Control::meet;
  added.members = members;
  return added;
}

}  // namespace

Instruction& emit_for_warp(Decoder& d, Handler handler) {
  const uint32_t all = d.constant(~uint32_t(0), false);
  Instruction& added = d.emit(handler);
  added.control = Control::meet;
  added.members = all;
  return added;
}

void need_warp(Warp& warp, const Instruction& i) {
  if (warp.exec != ~0u)
    fail(warp, i, -1, kLaunchFailed,
         fmt::format("it takes all 32 lanes of a warp, of which only {:#010x} execute it", warp.exec));
}

void decode_shuffle(Decoder& d) {
  if (!d.take("sync")) d.refuse("a shuffle that is not .sync");
  const int mode = d.take_one({"up", "down", "bfly", "idx"});
  if (mode < 0 || d.take_type() != Type::b32) d.refuse("a shuffle of this form");
  d.need_operands(5);
  constexpr Handler kHandlers[] = {shuffle<Shuffle::up>, shuffle<Shuffle::down>, shuffle<Shuffle::butterfly>,
                                   shuffle<Shuffle::index>};
  uint32_t inside = kNowhere;
  const uint32_t to = target_with_predicate(d, Type::b32, &inside);
  const uint32_t a = d.source(1, Type::b32), b = d.source(2, Type::b32), c = d.source(3, Type::b32);
  emit_meeting(d, kHandlers[mode], 4, to, a, b, c).e = inside;
}

void decode_vote(Decoder& d) {
  if (!d.take("sync")) d.refuse("a vote that is not .sync");
  const int mode = d.take_one({"all", "any", "uni", "ballot"});
  const Type type = d.take_type();
  if (mode < 0 || type != (mode == 3 ? Type::b32 : Type::pred)) d.refuse("a vote of this form");
  d.need_operands(3);
  constexpr Handler kHandlers[] = {vote<Vote::all>, vote<Vote::any>, vote<Vote::uniform>, vote<Vote::ballot>};
  const uint32_t to = mode == 3 ? d.target(0, Type::b32) : d.predicate_target(d.operand(0));
  const uint32_t from = d.predicate(d.operand(1));
  emit_meeting(d, kHandlers[mode], 2, to, from).immediate = d.operand(1).negated ? 0xffffffff : 0;
}

void decode_active_mask(Decoder& d) {
  if (d.take_type() != Type::b32) d.refuse("a mask of this type");
  d.need_operands(1);
  d.emit(active_mask, d.target(0, Type::b32));
}

void decode_match(Decoder& d) {
  const int mode = d.take_one({"any", "all"});
  if (mode < 0 || !d.take("sync")) d.refuse("a match of this form");
  const Type type = d.take_type();
  d.need_operands(3);
  if (type != Type::b32 && type != Type::b64) d.refuse("a match of this type");
  const bool wide = type == Type::b64;
  uint32_t all = kNowhere;
  const uint32_t to = target_with_predicate(d, Type::b32, &all), from = d.source(1, type);
  const Handler handler = mode == 0 ? (wide ? match_any<uint64_t> : match_any<uint32_t>)
                                    : (wide ? match_all<uint64_t> : match_all<uint32_t>);
  emit_meeting(d, handler, 2, to, from).e = all;
}

void decode_warp_reduction(Decoder& d) {
  if (!d.take("sync")) d.refuse("a reduction that is not .sync");
  const int op = d.take_one({"add", "min", "max", "and", "or", "xor"});
  const Type type = d.take_type();
  d.need_operands(3);
  using U = uint32_t;
  using S = int32_t;
  constexpr auto add = [](U a, U b) { return a + b; };
  constexpr auto least = [](auto a, auto b) { return std::min(a, b); };
  constexpr auto most = [](auto a, auto b) { return std::max(a, b); };
  const bool bits = type == Type::b32, number = type == Type::u32 || type == Type::s32;
  const Handler handler = op < 0 || (op < 3 ? !number : !bits) ? nullptr
                          : op == 0                            ? Handler(reduce_lanes<add, U>)
                          : op == 1 ? (type == Type::s32 ? Handler(reduce_lanes<least, S>) : reduce_lanes<least, U>)
                          : op == 2 ? (type == Type::s32 ? Handler(reduce_lanes<most, S>) : reduce_lanes<most, U>)
                          : op == 3 ? Handler(reduce_lanes<[](U a, U b) { return a & b; }, U>)
                          : op == 4 ? Handler(reduce_lanes<[](U a, U b) { return a | b; }, U>)
                                    : Handler(reduce_lanes<[](U a, U b) { return a ^ b; }, U>);
  const uint32_t to = d.target(0, type), from = d.source(1, type);
  emit_meeting(d, handler, 2, to, from);
}

void decode_elect(Decoder& d) {
  if (!d.take("sync")) d.refuse("an election that is not .sync");
  d.need_operands(2);
  uint32_t elected = kNowhere;
  const uint32_t to = target_with_predicate(d, Type::b32, &elected);
  emit_meeting(d, elect, 1, to).e = elected;
}

void decode_warp_barrier(Decoder& d) {
  d.need_operands(1);
  emit_meeting(d, meet_lanes, 0, 0);
}

}  // namespace plait::sim::ptx
