#include "sim/nccl/control.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

#include "sim/nccl/reduce.h"

namespace plait::sim::nccl {

const char* name(CallKind kind) {
  constexpr const char* kNames[] = {"ncclAllReduce",     "ncclReduce",   "ncclBroadcast", "ncclAllGather",
                                    "ncclReduceScatter", "ncclAlltoAll", "ncclGather",    "ncclScatter",
                                    "ncclSend",          "ncclRecv"};
  return kNames[static_cast<int>(kind)];
}

std::string describe(const Terms& terms) {
  std::string text =
      fmt::format("{}(count {}, {}", name(terms.kind), terms.count, name(static_cast<ncclDataType_t>(terms.type)));
  switch (terms.kind) {
    case CallKind::all_reduce:
    case CallKind::reduce:
    case CallKind::reduce_scatter:
      text += fmt::format(", {}", name(static_cast<Combine>(terms.combine)));
      break;
    default:
      break;
  }
  if (is_pairwise(terms.kind)) {
    text += fmt::format(", {} {}", terms.kind == CallKind::send ? "to" : "from", terms.root);
  } else if (terms.root >= 0) {
    text += fmt::format(", root {}", terms.root);
  }
  return text + ")";
}

std::shared_ptr<Control> Control::open(const std::string& name, int ranks) {
  const int file = shm_open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return nullptr;
  std::shared_ptr<Control> control(new Control);
  control->name_ = name;
  control->ranks_ = ranks;
  // Members of 8-byte alignment follow the header, whose size is a multiple of it.
  control->bytes_ = sizeof(Header) + sizeof(Member) * static_cast<size_t>(ranks);
  // Allocated and not only sized, so that a full file system is an error here and no signal later.
  if (const int error = posix_fallocate(file, 0, static_cast<off_t>(control->bytes_)); error != 0) {
    close(file);
    errno = error;
    return nullptr;
  }
  void* memory = mmap(nullptr, control->bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) return nullptr;
  control->header_ = static_cast<Header*>(memory);
  control->members_ = reinterpret_cast<Member*>(static_cast<std::byte*>(memory) + sizeof(Header));
  uint32_t agreed = 0;
  if (!control->header_->ranks.compare_exchange_strong(agreed, static_cast<uint32_t>(ranks)) &&
      agreed != static_cast<uint32_t>(ranks)) {
    errno = EINVAL;
    return nullptr;
  }
  return control;
}

Control::~Control() {
  if (header_ != nullptr) munmap(header_, bytes_);
}

void Control::unlink() { shm_unlink(name_.c_str()); }

void Control::fail(const Failure& failure) {
  // Another member may be writing: the caller goes on only once `failed` holds. One that died while writing is
  // replaced.
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  uint32_t state = 0;
  while (!header_->failure.compare_exchange_strong(state, 1)) {
    if (state == 2) return;
    if (std::chrono::steady_clock::now() > limit) break;
    std::this_thread::yield();
    state = 0;
  }
  header_->code = failure.code;
  header_->misuse = failure.misuse;
  std::snprintf(header_->text, sizeof header_->text, "%s", failure.text.c_str());
  header_->failure.store(2, std::memory_order_release);
}

Failure Control::failure() const {
  if (!failed()) return {};
  return {static_cast<ncclResult_t>(header_->code), header_->misuse != 0, header_->text};
}

uint64_t process_start(int pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string line;
  if (!std::getline(file, line)) return 0;
  // The name, in parentheses, may hold anything; field 3 follows it.
  const size_t after = line.rfind(')');
  if (after == line.npos) return 0;
  std::istringstream fields(line.substr(after + 1));
  std::string field;
  fields >> field;
  if (field == "Z" || field == "X") return 0;
  for (int number = 4; number <= 22; ++number) fields >> field;
  return std::strtoull(field.c_str(), nullptr, 10);
}

}  // namespace plait::sim::nccl
