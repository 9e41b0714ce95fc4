#include "support/awkward_calls.h"
#include "base/sanitizers.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <set>

#include "base/bounds_error.h"
#include "base/error.h"
#include "ir/op.h"
#include "ir/op_fields.h"

namespace plait::testing {

namespace {

constexpr int kTroubled = 77;  // exit status of a child whose outputs differ

bool same_bits(const Tensor& a, const Tensor& b) {
  const Tensor x = a.contiguous(), y = b.contiguous();
  return x.dtype == y.dtype && x.shape == y.shape &&
         (x.bytes() == 0 || std::memcmp(x.data(), y.data(), x.bytes()) == 0);
}

std::string difference(const Tensors& got, const Tensors& want) {
  for (const auto& [name, tensor] : want)
    if (!same_bits(got.at(name), tensor)) return fmt::format("%{} differs", name);
  return "";
}

// The same elements, at an address that is a multiple of the element's size alone.
Tensor off_by_one(const Tensor& tensor) {
  const Tensor dense = tensor.contiguous();
  const size_t size = size_of(dense.dtype);
  Tensor out = Tensor::empty(DType::u8, {static_cast<int64_t>(dense.bytes() + size)});
  out.dtype = dense.dtype;
  out.shape = dense.shape;
  out.strides = dense.strides;
  out.byte_offset = size;
  if (dense.bytes() > 0) std::memcpy(out.data(), dense.data(), dense.bytes());
  return out;
}

// The same elements, each followed by a gap.
Tensor spread(const Tensor& tensor) {
  const Tensor dense = tensor.contiguous();
  const size_t size = size_of(dense.dtype);
  Tensor out = Tensor::empty(DType::u8, {static_cast<int64_t>(2 * dense.bytes())});
  out.dtype = dense.dtype;
  out.shape = dense.shape;
  out.strides = dense.strides;
  for (int64_t& stride : out.strides) stride *= 2;
  for (int64_t i = 0; i < dense.elements(); ++i)
    std::memcpy(static_cast<char*>(out.data()) + 2 * size * static_cast<size_t>(i),
                static_cast<const char*>(dense.data()) + size * static_cast<size_t>(i), size);
  return out;
}

template <class Change>
Tensors changed(const Tensors& inputs, Change change) {
  Tensors out;
  for (const auto& [name, tensor] : inputs) out.emplace(name, change(tensor));
  return out;
}

std::string in_child(Compiled& program, const Tensors& inputs, const Tensors& outputs) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);  // threads that are not there would be waited for without end
    try {
      _exit(difference(program.run(inputs), outputs).empty() ? 0 : kTroubled);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s\n", e.what());
      _exit(kTroubled + 1);
    }
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return "";
  if (!WIFEXITED(status)) return fmt::format("signal {} ended it", WTERMSIG(status));
  return WEXITSTATUS(status) == kTroubled ? "its outputs differ" : "it threw";
}

// Inputs that lookups read as their indices or positions.
std::set<const TensorView*> index_inputs(const Fusion& fusion) {
  std::set<const TensorView*> out;
  for (const Op* op : fusion.ops())
    for_each_field(*op, [&](const FieldRef& field, const auto& value) {
      if constexpr (std::is_convertible_v<decltype(value), const TensorView*>)
        if ((field.name == "index" || field.name == "at") && value != nullptr && value->definition == nullptr)
          out.insert(value);
    });
  return out;
}

// Whether some op may leave out elements of what another one computed: no kernel need look those up.
bool leaves_out(const Fusion& fusion) {
  static const std::set<OpKind> kinds = {OpKind::Slice,       OpKind::SliceAt,   OpKind::SliceUpdate, OpKind::Gather,
                                         OpKind::IndexSelect, OpKind::TakeAlong, OpKind::TopK};
  for (const Op* op : fusion.ops())
    if (kinds.contains(op->kind) && inputs(*op)[0]->definition != nullptr) return true;
  return false;
}

template <class Call>
bool meets_bounds(Call call) {
  try {
    call();
  } catch (const BoundsError&) {
    return true;
  }
  return false;
}

// With an index out of range, input by input until one is refused.
std::string with_wrong_index(const Fusion& fusion, Compiled& program, const Tensors& inputs, AwkwardCalls& calls,
                             bool all_stored) {
  const std::set<const TensorView*> indices = index_inputs(fusion);
  for (const TensorView* index : fusion.inputs()) {
    if (!indices.contains(index) || inputs.at(index->name).elements() == 0 || size_of(index->dtype) < 4) continue;
    Tensors wrong = inputs;
    std::vector<double> values = inputs.at(index->name).to_doubles();
    values[values.size() / 2] = 1 << 30;
    wrong.at(index->name) = Tensor::from_doubles(index->dtype, inputs.at(index->name).shape, values);
    const bool want = meets_bounds([&] { compile(fusion, {.device = "reference", .one_rank = true}).run(wrong); });
    const bool got = meets_bounds([&] { program.run(wrong); });
    calls.refused += got;
    if (want != got && !(want && !all_stored))
      return fmt::format("%{} with an index out of range is {} by the device reference alone", index->name,
                         want ? "refused" : "taken");
    if (got) break;
  }
  return "";
}

}  // namespace

std::string call_awkwardly(const Fusion& fusion, Compiled& program, const Tensors& inputs, const Tensors& outputs,
                           AwkwardCalls& calls, bool all_stored) {
  const auto failed = [](const char* what, const std::string& how) {
    return how.empty() ? how : fmt::format("{}: {}", what, how);
  };
  calls.moved += 2;
  if (auto bad = failed("inputs at odd addresses", difference(program.run(changed(inputs, off_by_one)), outputs));
      !bad.empty())
    return bad;
  if (auto bad = failed("strided inputs", difference(program.run(changed(inputs, spread)), outputs)); !bad.empty())
    return bad;
#if !PLAIT_TSAN  // it allows no threads in forked processes
  ++calls.forked;
  if (auto bad = failed("in a child process", in_child(program, inputs, outputs)); !bad.empty()) return bad;
#endif
  if (!program.device().code_needs().empty()) {
    ++calls.saved;
    const std::string bytes = program.serialize();
    Compiled again = deserialize(bytes);
    if (auto bad = failed("as a file", difference(again.run(inputs), outputs)); !bad.empty()) return bad;
    if (again.classes() != program.classes() || again.serialize() != bytes) return "as a file: it is another program";
  }
  if (auto bad = with_wrong_index(fusion, program, inputs, calls, all_stored && !leaves_out(fusion)); !bad.empty())
    return bad;
  return failed("at the end", difference(program.run(inputs), outputs));
}

}  // namespace plait::testing
