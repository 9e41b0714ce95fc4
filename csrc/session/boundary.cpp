#include "session/boundary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "base/error.h"
#include "base/suggest.h"
#include "device/overlap.h"
#include "scalar/convert.h"

namespace plait {

namespace {

std::string list(const std::vector<int64_t>& values) {
  std::string out;
  for (int64_t v : values) out += fmt::format("{}{}", out.empty() ? "" : ", ", v);
  return "[" + out + "]";
}

// `(1 strided, 0)`, as the text form has it.
std::string allocation_text(const Domain& domain) {
  std::string out;
  for (size_t i = 0; i < domain.allocation.size(); ++i)
    out += fmt::format("{}{}{}", i ? ", " : "", domain.allocation[i],
                       !domain.strided.empty() && domain.strided[i] ? " strided" : "");
  return "(" + out + ")";
}

std::string found(const TensorView& t, const Tensor& tensor, const char* side) {
  return fmt::format("{} %{}: {}, found shape {} with strides {}", side, t.name, type_text(t), list(tensor.shape),
                     list(tensor.strides));
}

// Whether every element lies in the tensor's memory. Overflow is outside.
bool within_memory(const Tensor& tensor) {
  if (tensor.elements() == 0) return true;
  __int128 lowest = 0, highest = 0;
  for (size_t d = 0; d < tensor.shape.size(); ++d) {
    const __int128 reach = static_cast<__int128>(tensor.shape[d] - 1) * tensor.strides[d];
    (reach < 0 ? lowest : highest) += reach;
  }
  const __int128 offset = tensor.byte_offset, size = static_cast<__int128>(size_of(tensor.dtype));
  return offset + lowest * size >= 0 && offset + (highest + 1) * size <= static_cast<__int128>(tensor.memory->bytes());
}

// Position of a row-major element.
std::vector<int64_t> index_of(int64_t element, const std::vector<int64_t>& shape) {
  std::vector<int64_t> index(shape.size());
  for (size_t d = shape.size(); d-- > 0; element /= shape[d]) index[d] = element % shape[d];
  return index;
}

// UserError where elements lie outside of the tensor's memory, or not as the fusion says.
void check_place(const TensorView& t, const Tensor& tensor, const char* side) {
  if (tensor.strides.size() != tensor.shape.size())
    throw UserError(fmt::format("{} strides for {} dims", tensor.strides.size(), tensor.shape.size()),
                    found(t, tensor, side), "give a stride, in elements, for every dim");
  if (!within_memory(tensor))
    throw UserError(fmt::format("elements lie outside of the tensor's {} bytes of memory", tensor.memory->bytes()),
                    found(t, tensor, side), "give strides in elements and an offset in bytes that stay inside");
  if (!is_row_major(t.domain) && tensor.shape.size() == t.rank() &&
      !tensor.lies_in(t.domain.allocation, t.domain.strided))
    throw UserError("the dims do not lie in memory as allocation " + allocation_text(t.domain) + " says",
                    found(t, tensor, side),
                    "give a tensor that does, or drop the allocation: then it may lie in any way");
}

const TensorView& find_output(const Fusion& fusion, const std::string& name) {
  std::vector<std::string> names;
  for (const TensorView* t : fusion.outputs()) {
    if (t->name == name) return *t;
    names.push_back(t->name);
  }
  throw UserError(fmt::format("the fusion has no output `{}`", name), fmt::format("fusion @{}", fusion.name()),
                  suggestion(name, names));
}

}  // namespace

void check_outputs(const Fusion& fusion, const Tensors& outputs) {
  for (auto it = outputs.begin(); it != outputs.end(); ++it) {
    const Tensor& tensor = it->second;
    const TensorView& t = find_output(fusion, it->first);
    if (!tensor.memory)
      throw UserError("the tensor has no memory", fmt::format("output %{}: {}", t.name, type_text(t)),
                      "give a tensor, or leave the output out");
    if (tensor.dtype != t.dtype)
      throw UserError(fmt::format("dtype {} does not fit", name(tensor.dtype)), found(t, tensor, "output"),
                      fmt::format("give a tensor of {}", name(t.dtype)));
    if (tensor.shape.size() != t.rank())
      throw UserError(fmt::format("expected {} dims, got {}", t.rank(), tensor.shape.size()),
                      found(t, tensor, "output"), "give a tensor with as many dims");
    check_place(t, tensor, "output");
    if (may_overlap_itself(tensor))
      throw UserError("elements of the tensor share memory", found(t, tensor, "output"),
                      "give a tensor that has a place for every element");
    for (auto other = outputs.begin(); other != it; ++other)
      if (may_overlap(tensor, other->second))
        throw UserError(fmt::format("the tensor shares memory with that of output %{}", other->first),
                        found(t, tensor, "output"), "give every output memory of its own");
  }
}

InputOrders orders_of(const Fusion& fusion, const Tensors& inputs) {
  InputOrders out;
  std::set<std::string> replaced;
  for (const auto& [output, input] : fusion.aliases) replaced.insert(input);
  for (const TensorView* t : fusion.inputs()) {
    const auto it = inputs.find(t->name);
    if (it == inputs.end() || !it->second.memory || fusion.is_output(t) || replaced.contains(t->name)) continue;
    const Tensor& tensor = it->second;
    if (tensor.shape.size() != t->rank() || tensor.is_contiguous() || !tensor.on_host()) continue;
    std::vector<int> order;
    for (size_t d = 0; d < t->rank(); ++d) order.push_back(static_cast<int>(d));
    // Dims of one element in front: their strides say nothing.
    const auto stride = [&](int d) { return tensor.shape[size_t(d)] == 1 ? INT64_MAX : tensor.strides[size_t(d)]; };
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return stride(a) > stride(b); });
    if (tensor.lies_in(order)) out[t->name] = std::move(order);
  }
  return out;
}

std::map<std::string, std::string> called_aliases(const Fusion& fusion, const Tensors& inputs, const Tensors& outputs) {
  std::map<std::string, std::string> out;
  std::set<std::string> taken;
  for (const auto& [output, input] : fusion.aliases) taken.insert(input);
  for (const auto& [name, tensor] : outputs) {
    const TensorView* y = fusion.find(name);
    if (!y || y->role != TensorRole::intermediate || !tensor.memory || fusion.aliases.contains(name)) continue;
    for (const TensorView* x : fusion.inputs()) {
      const auto it = inputs.find(x->name);
      if (it == inputs.end() || !it->second.memory || x->dtype != y->dtype || x->shape() != y->shape()) continue;
      if (!same_elements(it->second, tensor) || !taken.insert(x->name).second) continue;
      out[name] = x->name;
      break;
    }
  }
  return out;
}

void check_donated(const Fusion& fusion, const Tensors& inputs, const Tensors& given,
                   const std::set<std::string, std::less<>>& donated) {
  for (const std::string& name : donated) {
    const auto it = inputs.find(name);
    const std::string where = fmt::format("fusion @{}, donated input %{}", fusion.name(), name);
    if (it == inputs.end()) {
      std::vector<std::string> names;
      for (const TensorView* t : fusion.inputs()) names.push_back(t->name);
      throw UserError(fmt::format("the fusion has no input `{}`", name), where, suggestion(name, names));
    }
    for (const auto& [other, tensor] : inputs)
      if (other != name && may_overlap(it->second, tensor))
        throw UserError(fmt::format("it shares memory with input %{}", other), where,
                        "give it memory of its own, or keep it");
    for (const auto& [output, tensor] : given) {
      const auto alias = fusion.aliases.find(output);
      if ((alias == fusion.aliases.end() || alias->second != name) && may_overlap(it->second, tensor))
        throw UserError(fmt::format("it shares memory with what is given for output %{}", output), where,
                        "give the input up, or memory for the output, not both");
    }
  }
}

std::set<std::string, std::less<>> free_donations(const Tensors& inputs, const Tensors& given,
                                                  const std::set<std::string, std::less<>>& donated) {
  std::set<std::string, std::less<>> out = donated;
  std::erase_if(out, [&](const std::string& name) {
    const Tensor& input = inputs.find(name)->second;
    return std::ranges::any_of(given, [&](const auto& output) { return may_overlap(input, output.second); });
  });
  return out;
}

std::map<std::string, std::string> donated_aliases(const Fusion& fusion, const Tensors& inputs, const Tensors& given,
                                                   const std::set<std::string, std::less<>>& donated,
                                                   const std::map<std::string, std::string>& taken,
                                                   const std::set<std::pair<std::string, std::string>>& refused) {
  std::map<std::string, std::string> out;
  for (const TensorView* x : fusion.inputs()) {
    if (!donated.contains(x->name) || fusion.is_output(x)) continue;
    const auto uses = [&](const auto& aliases) {
      return std::any_of(aliases.begin(), aliases.end(), [&](const auto& a) { return a.second == x->name; });
    };
    const auto it = inputs.find(x->name);
    if (uses(fusion.aliases) || uses(taken) || it == inputs.end() || !it->second.memory) continue;
    if (!it->second.on_host() || !it->second.is_contiguous()) continue;
    if (reinterpret_cast<uintptr_t>(it->second.data()) % size_of(x->dtype) != 0) continue;
    for (const TensorView* y : fusion.outputs()) {
      const bool free = y->role == TensorRole::intermediate && !given.contains(y->name) &&
                        !fusion.aliases.contains(y->name) && !out.contains(y->name);
      if (!free || x->dtype != y->dtype || x->shape() != y->shape() || refused.contains({y->name, x->name})) continue;
      out[y->name] = x->name;
      break;
    }
  }
  return out;
}

std::string print(const CallPlaces& places) {
  std::string out;
  for (const auto& [name, order] : places.orders) out += fmt::format(" %{} in ({})", name, fmt::join(order, ", "));
  for (const auto& [output, input] : places.aliases) out += fmt::format(" %{} in place of %{}", output, input);
  return out;
}

Tensors in_orders(const Tensors& inputs, const InputOrders& orders) {
  Tensors out = inputs;
  for (const auto& [name, order] : orders) {
    Tensor& tensor = out.at(name);
    const std::vector<int64_t> shape = tensor.shape, strides = tensor.strides;
    for (size_t i = 0; i < order.size(); ++i) {
      tensor.shape[i] = shape[size_t(order[i])];
      tensor.strides[i] = strides[size_t(order[i])];
    }
  }
  return out;
}

Tensors given_outputs(const Fusion& fusion, const Tensors& inputs, const Tensors& outputs) {
  Tensors out = outputs;
  for (const auto& [output, input] : fusion.aliases) {
    const auto it = inputs.find(input);
    if (it == inputs.end() || !it->second.memory) continue;  // other checks name it
    const auto [at, fresh] = out.emplace(output, it->second);
    if (!fresh && (!at->second.memory || !same_elements(at->second, it->second)))
      throw UserError(fmt::format("output %{} ends in input %{}, and is given other memory", output, input),
                      fmt::format("fusion @{}, output %{} aliases %{}", fusion.name(), output, input),
                      "give that input's tensor, or none");
  }
  check_outputs(fusion, out);
  return out;
}

Tensors with_own_copies(const Fusion& fusion, const Tensors& inputs) {
  Tensors out = inputs;
  for (const auto& [output, input] : fusion.aliases)
    if (const auto it = out.find(input); it != out.end() && it->second.memory && it->second.on_host()) {
      const Memory& from = *it->second.memory;
      HostAllocator host;
      const auto copy = host.allocate(from.bytes());
      std::memcpy(copy->data(), from.data(), from.bytes());
      it->second.memory = copy;
    }
  return out;
}

void check_allocations(const Fusion& fusion) {
  for (const TensorView* t : fusion.tensors()) {
    if (is_row_major(t->domain)) continue;
    const std::string where = fmt::format("%{}: {}", t->name, type_text(*t));
    if (t->role == TensorRole::intermediate && !fusion.is_output(t) && fusion.segments.empty())
      throw UserError(fmt::format("%{} is neither input nor output and has an allocation", t->name), where,
                      "drop it: inside of a run tensors are dense and row-major");
    if (!t->domain.strided.empty() && fusion.is_output(t))
      throw UserError(fmt::format("output %{} is strided", t->name), where,
                      "drop `strided`: outputs are made dense, in the order of their allocation");
  }
}

void check_inputs(const Fusion& fusion, const Tensors& inputs) {
  for (const TensorView* t : fusion.inputs()) {
    const auto it = inputs.find(t->name);
    if (it == inputs.end() || !it->second.memory) continue;  // other checks name it
    const Tensor& tensor = it->second;
    check_place(*t, tensor, "input");
  }
}

void check_ranges(const Fusion& fusion, const Sizes& sizes, const Tensors& inputs) {
  sym::Environment values;
  for (const TensorView* t : fusion.inputs()) {
    if (!t->range) continue;
    if (values.empty()) values.insert(sizes.begin(), sizes.end());
    const auto it = inputs.find(t->name);
    if (it == inputs.end() || !it->second.on_host()) continue;
    const int64_t begin = sym::evaluate(t->range->begin, values), end = sym::evaluate(t->range->end, values);
    const Tensor dense = it->second.contiguous();
    const auto* bytes = static_cast<const std::byte*>(dense.data());
    for (int64_t i = 0; i < dense.elements(); ++i) {
      const int64_t value = load_int64(t->dtype, bytes + static_cast<size_t>(i) * size_of(t->dtype));
      const bool past = t->dtype == DType::u64 && value < 0;  // beyond every i64
      if (value >= begin && value < end && !past) continue;
      throw UserError(
          fmt::format("element {} is {}, outside of {}..{}", list(index_of(i, dense.shape)),
                      past ? fmt::to_string(static_cast<uint64_t>(value)) : fmt::to_string(value), begin, end),
          fmt::format("input %{}: {} in {}..{}", t->name, type_text(*t), sym::print(t->range->begin),
                      sym::print(t->range->end)),
          begin < end ? fmt::format("give values from {} to {}", begin, end - 1) : "set sizes that leave values");
    }
  }
}

int64_t order_outputs(const Fusion& fusion, Tensors& outputs, Allocator& allocator) {
  int64_t copied = 0;
  for (const TensorView* t : fusion.outputs()) {
    const auto it = outputs.find(t->name);
    if (is_row_major(t->domain) || it == outputs.end() || it->second.lies_in(t->domain.allocation)) continue;
    if (!it->second.on_host())
      throw UserError(fmt::format("allocation {} of a tensor in a GPU's memory", allocation_text(t->domain)),
                      fmt::format("output %{}: {}", t->name, type_text(*t)),
                      "drop the allocation, or give inputs in host memory and no stream");
    it->second = it->second.in_order(t->domain.allocation, allocator);
    copied += static_cast<int64_t>(it->second.bytes());
  }
  return copied;
}

}  // namespace plait
