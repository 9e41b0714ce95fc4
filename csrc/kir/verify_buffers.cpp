#include "kir/verify_buffers.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"

namespace plait::kir {
namespace {

class BufferVerifier {
 public:
  explicit BufferVerifier(const Kernel& kernel) : kernel_(kernel) {}

  void run() {
    std::set<std::string> names;
    for (const Buffer& buffer : kernel_.buffers) {
      require(is_identifier(buffer.name), "buffer name {} is not an identifier", buffer.name);
      require(names.insert(buffer.name).second, "two buffers are called {}", buffer.name);
      require(buffer.written || !buffer.updated, "buffer {} is updated and not written", buffer.name);
      require(!buffer.replaced || (!buffer.written && buffer.space == Space::argument),
              "buffer {} is replaced and no argument that is read", buffer.name);
      check_space(buffer);
      check_turned(buffer);
    }
  }

 private:
  template <class... Args>
  void require(bool condition, fmt::format_string<Args...> format, Args&&... args) const {
    if (!condition)
      throw InternalError(fmt::format("kernel IR: {}", fmt::format(format, std::forward<Args>(args)...)),
                          fmt::format("kernel @{}", kernel_.name), "");
  }

  void check_space(const Buffer& buffer) {
    require(buffer.space >= space_ || (buffer.is_local() && space_ >= Space::stack),
            "buffer {} of space {} stands behind others", buffer.name, name(buffer.space));
    space_ = buffer.space;
    require(buffer.space == Space::argument || !buffer.written, "buffer {} of space {} is marked as written",
            buffer.name, name(buffer.space));
    const bool of_gpus = buffer.space == Space::shared || buffer.space == Space::counter;
    require(!of_gpus || kernel_.target == TargetKind::cuda, "buffer {} is {} on a CPU", buffer.name,
            name(buffer.space));
    require(buffer.space != Space::counter || buffer.dtype == DType::u32, "counter {} is not u32", buffer.name);
    if (buffer.space != Space::stack) return;
    require(
        sym::bounds(buffer.extent).hi <= most_stack_bytes(kernel_.target) / static_cast<int64_t>(size_of(buffer.dtype)),
        "stack buffer {} is not proven to have at most {} bytes", buffer.name, most_stack_bytes(kernel_.target));
  }

  void check_turned(const Buffer& buffer) const {
    const int64_t bytes = buffer.turned * static_cast<int64_t>(size_of(buffer.dtype)), pieces = bytes / kBankBytes;
    const bool turns = bytes % kBankBytes == 0 && (pieces & (pieces - 1)) == 0;
    require(buffer.turned == 0 || (kernel_.target == TargetKind::cuda && buffer.is_local() && turns),
            "rows of {} elements of {} are not turned", buffer.turned, buffer.name);
  }

  const Kernel& kernel_;
  Space space_ = Space::argument;  // of the buffer before
};

}  // namespace

bool is_identifier(const std::string& text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto fits = [&](char c) { return letter(c) || (c >= '0' && c <= '9'); };
  return !text.empty() && letter(text[0]) && std::ranges::all_of(text, fits);
}

namespace {

std::string fragment_problem(const Kernel& kernel, uint32_t buffer, DType dtype) {
  if (buffer >= kernel.buffers.size()) return fmt::format("there is no buffer {}", buffer);
  const Buffer& b = kernel.buffers[buffer];
  if (b.space == Space::stack && b.dtype == dtype) return "";
  return fmt::format("fragment {} is not on the stack, of {}", b.name, name(dtype));
}

}  // namespace

std::string fragments_problem(const Kernel& kernel, const Stmt& stmt) {
  if (kernel.target != TargetKind::cuda) return "matrices on a CPU";
  if (const auto* s = as<LoadMatrix>(stmt)) {
    if (s->from >= kernel.buffers.size()) return fmt::format("there is no buffer {}", s->from);
    const Buffer& from = kernel.buffers[s->from];
    if (from.space != Space::shared) return fmt::format("matrices of {} are not in shared memory", from.name);
    if (size_of(from.dtype) != 2) return fmt::format("matrices of {}", name(from.dtype));
    if (s->count != 2 && s->count != 4) return fmt::format("{} matrices at once", s->count);
    return fragment_problem(kernel, s->to, from.dtype);
  }
  const auto& s = static_cast<const Mma&>(stmt);
  if (s.a >= kernel.buffers.size()) return fmt::format("there is no buffer {}", s.a);
  const DType dtype = kernel.buffers[s.a].dtype;
  if (dtype != DType::bf16 && dtype != DType::f16) return fmt::format("an mma of {}", name(dtype));
  for (const auto& [buffer, of] : {std::pair(s.sums, DType::f32), {s.a, dtype}, {s.b, dtype}})
    if (std::string problem = fragment_problem(kernel, buffer, of); !problem.empty()) return problem;
  return "";
}

void verify_buffers(const Kernel& kernel) { BufferVerifier(kernel).run(); }

}  // namespace plait::kir
