#include "sim/ptx/addresses.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

#include "base/error.h"
#include "sim/ptx/cluster.h"
#include "sim/ptx/launch_memory.h"
#include "sim/ptx/meter.h"
#include "sim/ptx/thread_block.h"

namespace plait::sim::ptx {
namespace {

size_t bytes_of(const Instruction& i) { return size_t(i.count) * i.bytes; }
const char* verb(bool write) { return write ? "writes" : "reads"; }

Region* reach(Warp& warp, const Instruction& i, const Stretch& at, bool write, Misuse* misuse) {
  const Run& run = *warp.run;
  Region*& known = warp.regions[i.statement % warp.regions.size()];
  if (known != nullptr && known->contains(at.address, at.bytes)) return known;
  Region* region = run.space->reach(*run.actor, at.address, at.bytes, write, misuse);
  if (region != nullptr) known = region;
  return region;
}

// Bounds and alignment of an access to memory of a block or a thread.
void check_place(Warp& warp, const Instruction& i, int lane, uint64_t offset, size_t size, const char* memory,
                 bool write) {
  const size_t bytes = bytes_of(i);
  if (offset > size || bytes > size - offset)
    fail(warp, i, lane, kIllegalAddress,
         fmt::format("out of bounds: {} {} bytes at offset {} of {} bytes of {} memory", verb(write), bytes,
                     static_cast<int64_t>(offset), size, memory));
  if (offset % bytes != 0)
    fail(warp, i, lane, kMisalignedAddress,
         fmt::format("misaligned: {} {} bytes at offset {} of {} memory", verb(write), bytes, offset, memory));
}

// `where`: "offset 16 of local", without the last word.
[[noreturn]] void refuse_unwritten(Warp& warp, const Instruction& i, int lane, const std::string& where, size_t byte) {
  fail(warp, i, lane, kLaunchFailed,
       fmt::format("uninitialised: reads {} bytes at {} memory, of which byte {} was never written", bytes_of(i), where,
                   byte));
}

// The name of a variable in the CUDA text: "_ZZ1kE4tile" is `tile` of a function.
std::string source_name(std::string name) {
  if (const size_t part = name.find("_$_"); part != name.npos) name.resize(part);  // an element by itself
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  if (status != 0) return name;
  const std::string full = text.get();
  const size_t at = full.rfind("::");
  return at == full.npos ? full : full.substr(at + 2);
}

// "`tile` + 16", of the kernel's variables.
std::string shared_text(const Warp& warp, size_t offset) {
  for (const Variable& each : warp.run->kernel->variables)
    if (each.space == Space::shared && offset >= each.offset && (offset < each.offset + each.bytes || each.bytes == 0))
      return fmt::format("`{}` + {}", source_name(each.name), offset - each.offset);
  return fmt::format("offset {}", offset);
}

// `how`: what is not there between the two.
[[noreturn]] void refuse_race(Warp& warp, const Instruction& i, int lane, bool write, const std::string& where,
                              const Race& other, const char* how) {
  const Run& run = *warp.run;
  const bool same = other.block == warp.of->number();
  fail(warp, i, lane, kLaunchFailed,
       fmt::format("race: {} {} bytes at {}, which {}thread {} {} {}\n  the other: {}", verb(write), bytes_of(i), where,
                   same ? "" : fmt::format("block {}, ", text_of(block_index(run, other.block))),
                   thread_text(run, other.warp, other.lane), verb(other.write), how,
                   describe(*run.module, run.kernel->statements[other.statement])));
}

[[noreturn]] void refuse_in_flight(Warp& warp, const Instruction& i, int lane, bool write, const std::string& where,
                                   const AsyncCopy& copy) {
  const Run& run = *warp.run;
  fail(warp, i, lane, kLaunchFailed,
       fmt::format("in flight: {} {} bytes at {}, where a copy by thread {} is under way, which it has not waited for\n"
                   "  the copy: {}",
                   verb(write), bytes_of(i), where, thread_text(run, copy.warp, copy.lane),
                   describe(*run.module, run.kernel->statements[copy.by->statement])));
}

// Of a launch that may begin before what is in front of it has ended: what griddepcontrol.wait does not order. Fault.
void refuse_early(Warp& warp, const Instruction& i, int lane, const Stretch& at, bool write) {
  if ((warp.behind >> lane & 1) == 0)
    fail(warp, i, lane, kLaunchFailed,
         fmt::format("too early: {} {} bytes at {} before griddepcontrol.wait, in a launch that may begin before what "
                     "is in front of it has ended",
                     verb(write), at.bytes, warp.run->space->describe(at.address)));
  if (i.constant != 0)
    fail(warp, i, -1, kLaunchFailed,
         "too early: a load of what nobody writes during the launch (.nc), which griddepcontrol.wait does not order");
}

// Enters what a lane does into the launch's memory. Fault: a race.
void order_lane(Warp& warp, const Instruction& i, int lane, const Stretch& at, bool write) {
  const Run& run = *warp.run;
  if (run.launch->programmatic) refuse_early(warp, i, lane, at, write);
  const DeviceAccess access{.warp = warp.number,
                            .lane = lane,
                            .statement = i.statement,
                            .address = at.address,
                            .bytes = at.bytes,
                            .write = write,
                            .strong = i.strong != 0,
                            .constant = i.constant != 0,
                            .update = i.update != 0,
                            .scope = i.scope,
                            .acquires = i.acquires,
                            .releases = i.releases};
  const auto race = run.memory->enter(access, warp.of->order());
  if (!race) return;
  const bool same = race->block == warp.of->number();
  refuse_race(warp, i, lane, write, run.space->describe(at.address), *race,
              same ? "without a barrier between them" : "in the same launch, unordered");
}

// Where a lane's stretch is by itself; null with the misuse.
uint8_t* one_stretch(Warp& warp, const Instruction& i, const Stretch& at, bool write, Misuse* misuse) {
  const Run& run = *warp.run;
  if (at.address % bytes_of(i) != 0) {
    *misuse = {kMisalignedAddress, at.address,
               fmt::format("misaligned: {} {} bytes at {}, which is no multiple of {}", verb(write), at.bytes,
                           run.space->describe(at.address), bytes_of(i))};
    return nullptr;
  }
  Region* region = reach(warp, i, at, write, misuse);
  if (region == nullptr) return nullptr;
  *misuse = run.space->enter(*run.actor, *region, at.address, at.bytes, write);
  return *misuse ? nullptr : region->data + (at.address - region->address);
}

}  // namespace

void check_device_lane(Warp& warp, const Instruction& i, int lane, uint64_t address, bool write) {
  Misuse misuse;
  if (one_stretch(warp, i, {address, bytes_of(i)}, write, &misuse) == nullptr)
    fail(warp, i, lane, misuse.code, misuse.text);
}

const uint8_t* device_source(Warp& warp, const Instruction& i, int lane, const Stretch& at) {
  Misuse misuse;
  const uint8_t* out = one_stretch(warp, i, at, false, &misuse);
  if (out == nullptr) fail(warp, i, lane, misuse.code, misuse.text);
  order_lane(warp, i, lane, at, false);
  return out;
}

uint8_t* device_bytes(Warp& warp, const Instruction& i, const Stretch& at, uint32_t lanes, bool write) {
  Misuse misuse;
  const Run& run = *warp.run;
  Region* region = reach(warp, i, at, write, &misuse);
  if (region != nullptr) {
    misuse = run.space->enter(*run.actor, *region, at.address, at.bytes, write);
    if (!misuse) {
      for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
        const int lane = std::countr_zero(rest);
        order_lane(warp, i, lane, {address_at(warp, i, lane), bytes_of(i)}, write);
      }
      return region->data + (at.address - region->address);
    }
  }
  for (; lanes != 0; lanes &= lanes - 1) {
    const int lane = std::countr_zero(lanes);
    check_device_lane(warp, i, lane, address_at(warp, i, lane), write);
  }
  fail(warp, i, -1, misuse.code, misuse.text);
}

// Bytes of each lane, one lane's after the other's.
uint8_t* local_bytes(Warp& warp, const Instruction& i, int lane, uint64_t offset, bool write) {
  const size_t bytes = bytes_of(i), size = warp.run->kernel->info.local_bytes;
  check_place(warp, i, lane, offset, size, "local", write);
  const size_t at = static_cast<size_t>(lane) * size + offset;
  for (size_t k = 0; k < bytes; ++k) {
    if (!write && warp.local_written[at + k] == 0)
      refuse_unwritten(warp, i, lane, fmt::format("offset {} of local", offset), k);
    if (write) warp.local_written[at + k] = 1;
  }
  return warp.local + at;
}

uint8_t* shared_bytes(Warp& warp, const Instruction& i, int lane, uint64_t offset, bool write) {
  return shared_bytes(warp, i, lane, offset, write, {bytes_of(i), {static_cast<uint8_t>(lane)}});
}

uint8_t* shared_bytes(Warp& warp, const Instruction& i, int lane, uint64_t offset, bool write,
                      const SharedPieces& pieces) {
  ThreadBlock& block = block_of_address(warp, i, lane, &offset);
  SharedMemory& shared = block.shared();
  const size_t bytes = bytes_of(i);
  check_place(warp, i, lane, offset, shared.bytes(), "shared", write);
  const auto where = [&] {
    const std::string whose = &block == warp.of ? "" : fmt::format(" of block {}", text_of(block.index()));
    return fmt::format("{} of shared memory{}", shared_text(warp, offset), whose);
  };
  if (const uint32_t copy = shared.in_flight(offset, bytes); copy != 0)
    refuse_in_flight(warp, i, lane, write, where(), *block.copies().find(copy));
  if (!write)
    if (const auto missing = shared.first_unwritten(offset, bytes))
      refuse_unwritten(warp, i, lane, shared_text(warp, offset) + " of shared", *missing - offset);
  SharedAccess access{
      .warp = warp.number, .statement = i.statement, .bytes = pieces.bytes, .write = write, .strong = i.strong != 0};
  for (size_t at = 0; at < bytes; at += pieces.bytes) {
    access.lane = pieces.lanes[at / pieces.bytes];
    access.offset = offset + at;
    if (const auto race = shared.enter(access, warp.of->order()))
      refuse_race(warp, i, access.lane, write, where(), *race, "without a barrier between them");
  }
  return shared.data() + offset;
}

void count_access(Warp& warp, const Instruction& i, Where where, bool write) {
  uint64_t at[kLanes] = {};
  uint32_t device = 0, shared = 0;
  for (uint32_t rest = warp.exec; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    at[lane] = address_at(warp, i, lane);
    const uint64_t window = where == Where::generic ? at[lane] >> 56 << 56 : 0;
    const bool is_shared = where == Where::shared || window == kSharedWindow;
    if (where == Where::local || window == kLocalWindow) continue;
    (is_shared ? shared : device) |= 1u << lane;
    if (is_shared) at[lane] = (at[lane] - window) & kSharedOffset;
  }
  if (device != 0) warp.run->meter->device(at, device, bytes_of(i), write);
  if (shared != 0) warp.run->meter->shared(at, shared, bytes_of(i));
}

AccessWords take_access_words(Decoder& d) {
  AccessWords out;
  out.cluster = d.take("shared::cluster");
  const bool shared = out.cluster || d.take("shared") || d.take("shared::cta");
  if (out.cluster) {
    d.need_target(90);
    d.clusters_wait();
  }
  const int space = d.take_one({"param", "global", "const", "local"});
  constexpr Space spaces[] = {Space::param, Space::global, Space::constant, Space::local};
  out.space = shared ? Space::shared : space < 0 ? Space::generic : spaces[space];
  d.take("weak");
  const bool volatile_access = d.take("volatile"), relaxed = d.take("relaxed"), both = d.take("acq_rel");
  out.acquires = d.take("acquire") || both;
  out.releases = d.take("release") || both;
  out.strong = volatile_access || relaxed || out.acquires || out.releases;
  if (out.acquires || out.releases) d.has_fences();
  out.scope = take_scope(d).value_or(volatile_access ? Scope::system : Scope::device);
  return out;
}

Address address_of(Decoder& d, const Operand& operand, Space space, size_t bytes) {
  if (operand.kind != Operand::Kind::address || operand.elements.empty()) d.refuse("an address of this form");
  const Operand& base = operand.elements[0];
  Address out;
  out.offset = operand.offset;
  if (base.kind == Operand::Kind::reg) {
    if (space == Space::param) d.refuse("a parameter's address in a register");
    out.narrow = space == Space::shared && d.register_bits(base) == 32;
    out.row = d.source(base, out.narrow ? Type::u32 : Type::u64);
    return out;
  }
  if (const int global = d.global(base.name); global >= 0 && (space == Space::global || space == Space::constant)) {
    FixedRow row;
    row.kind = FixedRow::Kind::global;
    row.wide = true;
    row.global = global;
    out.row = d.fixed(row);
    return out;
  }
  const Variable* variable = d.variable(base.name);
  if (variable == nullptr || variable->space != space) d.refuse(fmt::format("no variable {} in this space", base.name));
  const bool unknown = variable->bytes == 0;  // what the launch asks for
  if (operand.offset < 0 || (!unknown && static_cast<size_t>(operand.offset) + bytes > variable->bytes))
    d.refuse(fmt::format("an access beyond {}", base.name));
  out.offset += static_cast<int64_t>(variable->offset);
  if (space != Space::param) out.row = d.constant(0, true);
  return out;
}

std::optional<Scope> take_scope(Decoder& d) {
  constexpr Scope kScopes[] = {Scope::block, Scope::cluster, Scope::device, Scope::device, Scope::system};
  const int scope = d.take_one({"cta", "cluster", "gpu", "gl", "sys"});
  return scope < 0 ? std::nullopt : std::optional(kScopes[scope]);
}

void place_access(Instruction& instruction, const Address& address, int count, int bytes, const AccessWords& words) {
  instruction.a = address.row;
  instruction.narrow = address.narrow ? 1 : 0;
  instruction.immediate = address.offset;
  instruction.count = static_cast<uint8_t>(count);
  instruction.bytes = static_cast<uint8_t>(bytes);
  instruction.strong = words.strong ? 1 : 0;
  instruction.cluster = words.cluster || words.space == Space::generic;
  instruction.scope = words.scope;
  instruction.acquires = words.acquires;
  instruction.releases = words.releases;
}

}  // namespace plait::sim::ptx
