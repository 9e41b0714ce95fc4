// Blocks of one tensor that members send each other, by NCCL's sends and receives.
#include <vector>

#include "base/error.h"
#include "comm/nccl/nccl_team.h"

namespace plait {
namespace {

// Where a part begins in a block's memory, in elements, where it is one range of it.
std::optional<int64_t> place_of(const CommBlocks& blocks, const CommBlock& block, const CommBlock& part) {
  std::optional<int64_t> out;
  bool one = true;
  copy_part(blocks, block, part, part, [&](const CommRows& rows) {
    one = one && !out && (rows.rows == 1 || rows.from_pitch == rows.length);
    out = rows.from;
  });
  return one ? out : std::nullopt;
}

}  // namespace

// What goes to each member and comes from it, by position; nothing for the member itself.
struct NcclTeam::Moves {
  std::vector<CommBlock> sends, takes;
  std::vector<const void*> from;
  std::vector<void*> to;
  std::vector<char> packed;  // what comes is unpacked
};

// What is not one range of `in` is packed into memory of its own, and what is not one of `out` comes into such.
NcclTeam::Moves NcclTeam::pack(const CommBlocks& blocks, Part& part) const {
  const auto unit = int64_t(size_of(blocks.dtype));
  const auto own = size_t(part.held->position);
  const CommBlock &held = blocks.held[own], &taken = blocks.taken[own];
  Moves out;
  int64_t going = 0, coming = 0;
  std::vector<std::optional<int64_t>> from, to;
  for (size_t p = 0; p < ranks_.size(); ++p) {
    out.sends.push_back(p == own ? CommBlock{} : common(held, blocks.taken[p]));
    out.takes.push_back(p == own ? CommBlock{} : common(blocks.held[p], taken));
    from.push_back(place_of(blocks, held, out.sends[p]));
    to.push_back(place_of(blocks, taken, out.takes[p]));
    if (!from[p]) going += blocks.elements(out.sends[p]);
    if (!to[p]) coming += blocks.elements(out.takes[p]);
    out.packed.push_back(!to[p]);
  }
  if (going > 0) part.staging = allocate(part, going * unit);
  if (coming > 0) part.padded = allocate(part, coming * unit);
  going = coming = 0;
  for (size_t p = 0; p < ranks_.size(); ++p) {
    const int64_t sends = blocks.elements(out.sends[p]) * unit, takes = blocks.elements(out.takes[p]) * unit;
    if (from[p] || sends == 0) {
      out.from.push_back(at(part.member->in, from[p].value_or(0) * unit));
    } else {
      void* place = at(part.staging->data(), going);
      copy_part(*part.member->stream, blocks, held, part.member->in, out.sends[p], place, out.sends[p]);
      out.from.push_back(place);
      going += sends;
    }
    if (to[p] || takes == 0) {
      out.to.push_back(at(part.member->out, to[p].value_or(0) * unit));
    } else {
      out.to.push_back(at(part.padded->data(), coming));
      coming += takes;
    }
  }
  copy_part(*part.member->stream, blocks, held, part.member->in, taken, part.member->out, common(held, taken));
  return out;
}

void NcclTeam::unpack(const CommBlocks& blocks, const Part& part, const Moves& moves) const {
  const CommBlock& taken = blocks.taken[size_t(part.held->position)];
  for (size_t p = 0; p < ranks_.size(); ++p)
    if (moves.packed[p])
      copy_part(*part.member->stream, blocks, moves.takes[p], moves.to[p], taken, part.member->out, moves.takes[p]);
}

// One send and one receive for each other member that has something, in one group.
void NcclTeam::all_to_all(const CommBlocks& blocks, std::span<const CommMember> members) {
  PLAIT_CHECK(blocks.held.size() == ranks_.size() && blocks.taken.size() == ranks_.size(), "{} blocks for {} members",
              blocks.held.size(), size());
  const CommCall call{Collective::all_to_all, CommReduce::sum, {}, blocks};
  run(call, members, [&](Parts& parts) {
    const ncclDataType_t type = nccl_type(blocks.dtype);
    std::vector<Moves> moves;
    for (Part& part : parts) moves.push_back(pack(blocks, part));
    if (size() > 1)
      group(parts, [&](Part& part, const Note& note) {
        const auto stream = static_cast<cudaStream_t>(part.member->stream->native());
        const Moves& mine = moves[size_t(&part - parts.data())];
        for (size_t p = 0; p < ranks_.size(); ++p) {
          const auto sends = size_t(blocks.elements(mine.sends[p])), takes = size_t(blocks.elements(mine.takes[p]));
          if (sends > 0) note(nccl_.ncclSend(mine.from[p], sends, type, int(p), part.held->comm, stream), "ncclSend");
          if (takes > 0) note(nccl_.ncclRecv(mine.to[p], takes, type, int(p), part.held->comm, stream), "ncclRecv");
        }
      });
    for (size_t i = 0; i < parts.size(); ++i) unpack(blocks, parts[i], moves[i]);
    count(parts, call, false);
  });
}

}  // namespace plait
