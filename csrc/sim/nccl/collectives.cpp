// The calls that move data: checks of what a caller can get wrong.
#include <fmt/core.h>
#include "cuda_abi/driver.h"

#include <optional>

#include "sim/cuda/engine.h"
#include "sim/nccl/group.h"

namespace plait::sim::nccl {
namespace {

struct Arguments {
  CallKind kind;
  const void* send;
  void* recv;
  size_t count;
  ncclDataType_t type;
  ncclRedOp_t op = ncclSum;
  int root = -1;  // or the peer
};

struct Wrong {
  std::string why;
  ncclResult_t code = ncclInvalidArgument;
};

bool reduces(CallKind kind) {
  return kind == CallKind::all_reduce || kind == CallKind::reduce || kind == CallKind::reduce_scatter;
}

std::optional<Wrong> read_operation(ncclComm& comm, const Arguments& arguments, Call& call) {
  if (!reducible(arguments.type)) {
    return Wrong{fmt::format("a reduction of {} is not simulated", name(arguments.type))};
  }
  const int op = arguments.op;
  if (op < 0) return Wrong{fmt::format("reduction {}", op)};
  if (op < ncclNumOps) {
    call.terms.combine = static_cast<uint32_t>(op);  // Combine lists them in this order
    return std::nullopt;
  }
  const auto index = static_cast<size_t>(op - ncclNumOps);
  const std::lock_guard lock(comm.mutex);
  if (index >= comm.scaled_sums.size()) return Wrong{fmt::format("reduction {}", op)};
  const ScaledSum& scaled = comm.scaled_sums[index];
  if (!scaled.live) return Wrong{fmt::format("reduction {} was destroyed", op)};
  if (scaled.type != arguments.type) {
    return Wrong{fmt::format("reduction {} was made for {}, not for {}", op, name(scaled.type), name(arguments.type))};
  }
  call.terms.combine = static_cast<uint32_t>(Combine::scaled_sum);
  call.terms.scalar = scaled.factor;
  call.device_scalar = scaled.device_scalar;
  return std::nullopt;
}

std::optional<Wrong> read_terms(ncclComm& comm, const Arguments& arguments, Call& call) {
  if (arguments.type < 0 || arguments.type >= ncclNumTypes) return Wrong{fmt::format("type {}", int(arguments.type))};
  const bool has_root = arguments.kind == CallKind::reduce || arguments.kind == CallKind::broadcast ||
                        arguments.kind == CallKind::gather || arguments.kind == CallKind::scatter ||
                        is_pairwise(arguments.kind);
  if (has_root && (arguments.root < 0 || arguments.root >= comm.ranks)) {
    return Wrong{
        fmt::format("{} {} of {} ranks", is_pairwise(arguments.kind) ? "peer" : "root", arguments.root, comm.ranks)};
  }
  if (arguments.count > (uint64_t{1} << 40)) return Wrong{fmt::format("a count of {}", arguments.count)};
  call.terms.kind = arguments.kind;
  call.terms.type = arguments.type;
  call.terms.count = arguments.count;
  call.terms.root = has_root ? arguments.root : -1;
  if (reduces(arguments.kind)) return read_operation(comm, arguments, call);
  return std::nullopt;
}

std::optional<Wrong> check_buffer(const ncclComm& comm, const char* which, uint64_t address, uint64_t bytes) {
  if (bytes == 0) return std::nullopt;
  if (address == 0) return Wrong{fmt::format("the {} is null", which)};
  int device = -1;
  if (cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address) != CUDA_SUCCESS) {
    return Wrong{fmt::format("the {} at {:#x} is in no live allocation", which, address)};
  }
  if (device != comm.device) {
    return Wrong{fmt::format("the {} is on device {}, and rank {} of {} is on device {}", which, device, comm.rank,
                             comm.label, comm.device)};
  }
  return std::nullopt;
}

// Where the output may be in the input's memory: as an offset of the one or the other.
bool in_place(const Call& call, int rank, uint64_t input, uint64_t output) {
  const auto own = static_cast<uint64_t>(rank);
  switch (call.terms.kind) {
    case CallKind::all_reduce:
    case CallKind::reduce:
    case CallKind::broadcast:
      return call.send == call.recv;
    case CallKind::all_gather:
    case CallKind::gather:
      return call.send == call.recv + own * input;
    case CallKind::reduce_scatter:
    case CallKind::scatter:
      return call.recv == call.send + own * output;
    default:
      return false;
  }
}

std::optional<Wrong> check_memory(const ncclComm& comm, const Call& call) {
  const uint64_t input = call.input_bytes(comm.rank, comm.ranks), output = call.output_bytes(comm.rank, comm.ranks);
  if (auto wrong = check_buffer(comm, "send buffer", call.send, input)) return wrong;
  if (auto wrong = check_buffer(comm, "receive buffer", call.recv, output)) return wrong;
  if (input == 0 || output == 0) return std::nullopt;
  const bool disjoint = call.send + input <= call.recv || call.recv + output <= call.send;
  if (disjoint || in_place(call, comm.rank, input, output)) return std::nullopt;
  return Wrong{
      fmt::format("the receive buffer ({:#x}, {} bytes) overlaps the send buffer ({:#x}, {} bytes) and is not "
                  "in place",
                  call.recv, output, call.send, input)};
}

std::optional<Wrong> check_stream(const ncclComm& comm, cudaStream_t stream) {
  const int device = device_of(stream);
  if (device == comm.device) return std::nullopt;
  if (device < 0) return Wrong{{}, ncclUnhandledCudaError};  // the driver's stand-in has said why
  return Wrong{fmt::format("the stream is of device {}, and rank {} of {} is on device {}", device, comm.rank,
                           comm.label, comm.device),
               ncclUnhandledCudaError};
}

ncclResult_t call(const char* function, ncclComm_t comm, const Arguments& arguments, cudaStream_t stream) {
  if (const ncclResult_t result = usable(function, comm); result != ncclSuccess) return note(result);
  Call made;
  made.send = reinterpret_cast<uint64_t>(arguments.send);
  made.recv = reinterpret_cast<uint64_t>(arguments.recv);
  made.stream = stream;
  std::optional<Wrong> wrong = read_terms(*comm, arguments, made);
  if (!wrong) wrong = check_stream(*comm, stream);
  if (!wrong) wrong = check_memory(*comm, made);
  if (wrong && wrong->why.empty()) {
    return note(set_last_error("a context that is not current, or lost", wrong->code));
  }
  if (wrong) {
    return note(misuse(function, fmt::format("{} (rank {} of {})", wrong->why, comm->rank, comm->label), wrong->code));
  }
  return note(submit(function, comm, std::move(made)));
}

}  // namespace
}  // namespace plait::sim::nccl

using namespace plait::sim::nccl;

ncclResult_t ncclAllReduce(const void* send, void* recv, size_t count, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t stream) {
  return call(__func__, comm, {CallKind::all_reduce, send, recv, count, type, op}, stream);
}

ncclResult_t ncclReduce(const void* send, void* recv, size_t count, ncclDataType_t type, ncclRedOp_t op, int root,
                        ncclComm_t comm, cudaStream_t stream) {
  return call(__func__, comm, {CallKind::reduce, send, recv, count, type, op, root}, stream);
}

ncclResult_t ncclBroadcast(const void* send, void* recv, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                           cudaStream_t stream) {
  return call(__func__, comm, {CallKind::broadcast, send, recv, count, type, ncclSum, root}, stream);
}

ncclResult_t ncclBcast(void* memory, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                       cudaStream_t stream) {
  return call(__func__, comm, {CallKind::broadcast, memory, memory, count, type, ncclSum, root}, stream);
}

ncclResult_t ncclAllGather(const void* send, void* recv, size_t count, ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream) {
  return call(__func__, comm, {CallKind::all_gather, send, recv, count, type}, stream);
}

ncclResult_t ncclReduceScatter(const void* send, void* recv, size_t count, ncclDataType_t type, ncclRedOp_t op,
                               ncclComm_t comm, cudaStream_t stream) {
  return call(__func__, comm, {CallKind::reduce_scatter, send, recv, count, type, op}, stream);
}

ncclResult_t ncclAlltoAll(const void* send, void* recv, size_t count, ncclDataType_t type, ncclComm_t comm,
                          cudaStream_t stream) {
  return call(__func__, comm, {CallKind::all_to_all, send, recv, count, type}, stream);
}

ncclResult_t ncclGather(const void* send, void* recv, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                        cudaStream_t stream) {
  return call(__func__, comm, {CallKind::gather, send, recv, count, type, ncclSum, root}, stream);
}

ncclResult_t ncclScatter(const void* send, void* recv, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                         cudaStream_t stream) {
  return call(__func__, comm, {CallKind::scatter, send, recv, count, type, ncclSum, root}, stream);
}

ncclResult_t ncclSend(const void* send, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return call(__func__, comm, {CallKind::send, send, nullptr, count, type, ncclSum, peer}, stream);
}

ncclResult_t ncclRecv(void* recv, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream) {
  return call(__func__, comm, {CallKind::recv, nullptr, recv, count, type, ncclSum, peer}, stream);
}

ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t* op, void* scalar, ncclDataType_t type,
                                      ncclScalarResidence_t residence, ncclComm_t comm) {
  if (const ncclResult_t result = usable(__func__, comm); result != ncclSuccess) return result;
  if (op == nullptr || scalar == nullptr) return misuse(__func__, "the place for the operation or the scalar is null");
  if (type < 0 || type >= ncclNumTypes || !reducible(type)) return misuse(__func__, fmt::format("type {}", int(type)));
  ScaledSum scaled;
  scaled.type = type;
  if (residence == ncclScalarHostImmediate) {
    scaled.factor = factor_of(type, scalar);
  } else {
    scaled.device_scalar = reinterpret_cast<uint64_t>(scalar);
    if (plait::sim::host_address(scaled.device_scalar, size_of(type)) == nullptr) {
      return misuse(__func__, "the scalar is not in device memory");
    }
  }
  const std::lock_guard lock(comm->mutex);
  comm->scaled_sums.push_back(scaled);
  *op = static_cast<ncclRedOp_t>(ncclNumOps + static_cast<int>(comm->scaled_sums.size()) - 1);
  return ncclSuccess;
}

ncclResult_t ncclRedOpDestroy(ncclRedOp_t op, ncclComm_t comm) {
  if (const std::string why = why_dead(comm); !why.empty()) return misuse(__func__, why);
  const int index = op - ncclNumOps;
  bool destroyed = false;
  {
    const std::lock_guard lock(comm->mutex);
    if (index >= 0 && static_cast<size_t>(index) < comm->scaled_sums.size()) {
      destroyed = comm->scaled_sums[index].live;
      comm->scaled_sums[index].live = false;
    }
  }
  return destroyed ? ncclSuccess : misuse(__func__, fmt::format("reduction {} is not one that was made", int(op)));
}
