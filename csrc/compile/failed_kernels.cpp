#include "compile/failed_kernels.h"

#include <algorithm>

#include "base/environment.h"
#include "base/error.h"
#include "base/file_writer.h"

namespace plait {

namespace {

bool may_be_taken_again(const Segment& segment, const PipelineContext& context) {
  if (context.options.options.on_internal_error != "nest") return false;
  return !std::all_of(segment.ops.begin(), segment.ops.end(),
                      [&](const Op* op) { return context.as_nests.contains(op->results[0]->name); });
}

// A file says what the segment's kernel is.
bool is_written(const Segment& segment, const PipelineContext& context) {
  return std::any_of(context.file_segments.begin(), context.file_segments.end(), [&](const FileSegment& written) {
    return !is_open(written.schedule) && std::find(written.tensors.begin(), written.tensors.end(),
                                                   segment.ops[0]->results[0]->name) != written.tensors.end();
  });
}

FailedKernel failed_kernel(const Fusion& fusion, const Segment& segment, const Error& error) {
  FailedKernel out{segment.name, print(segment.schedule), {}, "", error.message(), error.where()};
  for (const Op* op : segment.ops)
    for (const TensorView* t : op->results) out.tensors.push_back(t->name);
  out.text = print(*clone_segment(fusion, segment));
  return out;
}

uint32_t hash_of(const std::string& text) {
  uint32_t hash = 2166136261u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

std::string comment(std::string_view key, const std::string& text) {
  std::string out = fmt::format("# {}: ", key);
  for (const char c : text) out += c == '\n' ? std::string("\n#   ") : std::string(1, c);
  return out + "\n";
}

// The name of the file, or why there is none.
std::string write_reproducer(const FailedKernel& failed, const PipelineContext& context) {
  const std::string& folder = context.options.options.reproducers;
  const std::string text = comment("message", failed.message) + comment("at", failed.where) +
                           comment("schedule", failed.schedule) + comment("device", context.device.name()) +
                           failed.text;
  std::string path = fmt::format("{}plait_kernel_{:08x}.plait", folder.empty() ? "" : folder + "/", hash_of(text));
  try {
    write_whole_file(path, "# Left by a kernel that plait made and could not use.\n" + text, "the reproducer");
  } catch (const UserError& error) {
    return error.message();
  }
  return "reproducer: " + path;
}

}  // namespace

void on_kernel(const Fusion& fusion, const Segment& segment, const PipelineContext& context,
               const std::function<void()>& work) {
  const bool again = may_be_taken_again(segment, context);
  try {
    work();
  } catch (const InternalError& error) {
    if (!again) throw;
    throw failed_kernel(fusion, segment, error);
  } catch (const UserError& error) {
    if (is_written(segment, context)) throw;
    if (again) throw failed_kernel(fusion, segment, error);
    throw InternalError(
        fmt::format("the schedule {} that plait chose does not do: {}", print(segment.schedule), error.message()),
        error.where(), "take --option on_internal_error=nest until it is mended");
  }
}

std::string take_as_nests(const FailedKernel& failed, PipelineContext& context) {
  context.as_nests.insert(failed.tensors.begin(), failed.tensors.end());
  std::string out = fmt::format("the kernel of %{} ({}) failed and is a kernel per op now: {}", failed.tensors.back(),
                                failed.schedule, failed.message);
  if (!environment("PLAIT_NO_REPRODUCER")) out += "; " + write_reproducer(failed, context);
  return out;
}

}  // namespace plait
