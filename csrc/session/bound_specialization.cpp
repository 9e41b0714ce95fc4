#include "session/bound_specialization.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "base/bounds_error.h"
#include "comm/local/reduce.h"
#include "compile/emit_program.h"
#include "device/overlap.h"
#include "run/rank_memory.h"
#include "session/bind_inputs.h"
#include "shard/check_pieces.h"
#include "shard/localize.h"

namespace plait {

namespace {

double now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Layout in which the pieces of an input or output stand.
const Layout& piece_layout(const TensorView& t) { return t.stored ? *t.stored : t.layout; }

bool others_hold_ranks(Communicators& comms) { return comms.bootstrap() != nullptr && comms.bootstrap()->size() > 1; }

}  // namespace

BoundSpecialization::BoundSpecialization(const CompiledSpecialization& compiled, const DeviceMesh& mesh,
                                         const sym::Environment& sizes, Device& device,
                                         std::shared_ptr<Communicators> comms, const ExecutorOptions& how)
    : mesh_(mesh), device_(device), comms_(std::move(comms)), lookups_(compiled.lookups), sizes_(sizes) {
  for (size_t i = 0; i < mesh.sizes().size(); ++i)
    if (const std::string& symbol = compiled.sharded->mesh().axes()[i].symbol; !symbol.empty())
      sizes_[symbol] = mesh.sizes()[i];
  const Fusion& sharded = *compiled.sharded;
  check_local_pieces(sharded, mesh, sizes);
  program_ = std::make_unique<BoundProgram>(compiled.program, sizes, device, comms_, how);
  inputs_ = make_side(sharded.inputs(), sizes);
  outputs_ = make_side(sharded.outputs(), sizes);
  for (size_t i = 0; i < outputs_.names.size(); ++i)
    for (const PieceMap& map : outputs_.maps[i]) local_shapes_[outputs_.names[i]].push_back(map.local_shape());
  states_.begin([this] { return make_state(); }, !concurrent());
  downloads_.resize(device.count());
}

std::unique_ptr<BoundSpecialization::RunState> BoundSpecialization::make_state() const {
  auto out = std::make_unique<RunState>();
  const size_t held = program_->held().size();
  out->inputs.resize(held, RankTensors(inputs_.names.size()));
  out->outputs.resize(held, RankTensors(outputs_.names.size()));
  out->home.resize(held, RankTensors(outputs_.names.size()));
  return out;
}

int64_t BoundSpecialization::kept_bytes() const {
  int64_t out = 0;
  const auto held = program_->held();
  for (size_t h = 0; h < held.size(); ++h) {
    const RankBinding& binding = program_->binding(held[h]);
    if (!device_.host_memory()) {
      out += program_->ranks() > 1 ? binding.peak_bytes() : binding.memory.arena_bytes;
      continue;
    }
    const auto add = [&](const Side& side, size_t i) {
      int64_t elements = 1;
      for (int64_t extent : side.maps[i][held[h]].local_shape()) elements *= extent;
      out += elements * int64_t(size_of(side.dtypes[i]));
    };
    for (size_t i = 0; i < inputs_.names.size(); ++i)
      if (!inputs_.is_given(i, held[h])) add(inputs_, i);
    for (size_t i = 0; i < outputs_.names.size(); ++i)
      if ((h > 0 || !is_everywhere(i)) && !in_place_of(i)) add(outputs_, i);
  }
  return out;
}

BoundSpecialization::Side BoundSpecialization::make_side(const std::vector<TensorView*>& tensors,
                                                         const sym::Environment& sizes) const {
  Side side;
  for (const TensorView* t : tensors) {
    side.names.push_back(t->name);
    side.dtypes.push_back(t->dtype);
    auto& shape = side.shapes.emplace_back();
    for (auto e : t->shape()) shape.push_back(sym::evaluate(e, sizes));
    auto& by_rank = side.maps.emplace_back();
    const Layout& layout = piece_layout(*t);
    Team over;
    for (const auto& [axis, reduce] : layout.partial)
      if (mesh_.size(axis) > 1) over.axes.push_back(axis);
    auto& pending = side.pending.emplace_back();
    if (!over.axes.empty()) pending = Pending{layout.partial.begin()->second, over};
    std::vector<bool> uncut;  // by dim; what local pieces must divide is checked
    for (size_t d = 0; d < shape.size(); ++d)
      uncut.push_back(std::all_of(layout.dims[d].pieces.begin(), layout.dims[d].pieces.end(),
                                  [&](const auto& p) { return p.is_local() || mesh_.size(p.mesh_axis) == 1; }));
    for (int64_t r = 0; r < mesh_.ranks(); ++r) {
      std::vector<std::vector<int64_t>> indices(shape.size());
      for (size_t d = 0; d < shape.size(); ++d)
        if (!uncut[d])
          indices[d] = owned_indices(shape[d], layout.dims[d], mesh_, mesh_.coordinates(r),
                                     fmt::format("%{} dim {}", t->name, d));
      by_rank.emplace_back(shape, indices, uncut);
    }
  }
  return side;
}

void BoundSpecialization::shard_inputs(RunState& state, const Tensors& inputs) const {
  const auto held = program_->held();
  for (size_t h = 0; h < held.size(); ++h) {
    RankTensors& pieces = state.inputs[h];
    for (size_t i = 0; i < inputs_.names.size(); ++i) {
      const Tensor& global = inputs.find(inputs_.names[i])->second;
      const PieceMap& map = inputs_.maps[i][held[h]];
      if (inputs_.is_given(i, held[h])) {
        pieces[i] = global;
        continue;
      }
      if (!global.on_host())
        throw UserError("a tensor in a GPU's memory is not sharded here", fmt::format("input `{}`", inputs_.names[i]),
                        "give it in host memory, or the pieces of one rank to run_local()");
      if (!pieces[i].memory) pieces[i] = Tensor::empty(global.dtype, map.local_shape());
      const std::optional<Pending>& pending = inputs_.pending[i];
      if (pending && pending->reduce == ReduceOp::sum && mesh_.position(held[h], pending->over) > 0)
        std::memset(pieces[i].data(), 0, pieces[i].bytes());  // the first one has it; of a max all may
      else
        map.cut(global, pieces[i]);
    }
  }
}

// Inputs belong to the caller: nothing of them is kept.
void BoundSpecialization::drop_inputs(RunState& state) const {
  const auto held = program_->held();
  for (size_t h = 0; h < held.size(); ++h)
    for (size_t i = 0; i < inputs_.names.size(); ++i)
      if (inputs_.is_given(i, held[h])) state.inputs[h][i] = Tensor();
}

void BoundSpecialization::forget(std::vector<RankTensors>& side) {
  for (RankTensors& pieces : side)
    for (Tensor& piece : pieces) piece = Tensor();
}

void BoundSpecialization::execute(RunState& state, const ExecutorRunOptions& how, double& run_ms) {
  const double begin = now_ms();
  const std::optional<IndexOffence> offence = program_->run(state.inputs, state.outputs, how);
  run_ms = now_ms() - begin;
  if (offence) raise(*offence);
}

// BoundsError: an index lay outside of its extent.
void BoundSpecialization::raise(const IndexOffence& offence) const {
  PLAIT_CHECK(size_t(offence.ordinal) < lookups_.size(), "lookup {} of {}", offence.ordinal, lookups_.size());
  const Lookup& lookup = lookups_[size_t(offence.ordinal)];
  std::vector<int64_t> at(lookup.places.size());
  int64_t left = offence.position;
  for (size_t d = at.size(); d-- > 0;) {
    const int64_t extent = std::max<int64_t>(sym::evaluate(lookup.places[d], sizes_), 1);
    at[d] = sym::evaluate(lookup.shape[d], sizes_) == 1 ? 0 : left % extent;
    left /= extent;
  }
  const int64_t extent = sym::evaluate(lookup.extent, sizes_);
  throw BoundsError(fmt::format("index {} at {} of %{} lies outside of the {} places along dim {} of %{}",
                                offence.value, shape_text(at), lookup.index, extent, lookup.dim, lookup.in),
                    lookup.op, extent > 0 ? fmt::format("give indices from 0 to {}", extent - 1) : "give no index");
}

bool BoundSpecialization::stays_on_device(const Tensors& inputs, const Tensors& given,
                                          const ExecutorRunOptions& how) const {
  if (device_.host_memory()) return false;
  bool there = how.stream != nullptr;
  for (const Tensors* tensors : {&inputs, &given})
    for (const auto& [name, tensor] : *tensors) there = there || !tensor.on_host();
  if (!there) return false;
  if (program_->held().size() != 1 || others_hold_ranks(*comms_))
    throw UserError("tensors and streams of a GPU are for programs of one rank", "run",
                    "give tensors in host memory, or each rank's pieces to run_local()");
  return true;
}

// Lets go of what belongs to the caller, however the run ends.
class BoundSpecialization::Leave {
 public:
  Leave(const BoundSpecialization& bound, RunState& state, bool outputs)
      : bound_(bound), state_(state), outputs_(outputs) {}
  ~Leave() {
    bound_.drop_inputs(state_);
    if (outputs_) {
      forget(state_.outputs);
      forget(state_.home);
    }
    bound_.drop_handed_out(state_);
  }

 private:
  const BoundSpecialization& bound_;
  RunState& state_;
  bool outputs_;
};

namespace {

bool dense_and_aligned(const Tensor& tensor, size_t to) {
  return tensor.is_contiguous() && reinterpret_cast<uintptr_t>(tensor.data()) % to == 0;
}

}  // namespace

// UserError where a given tensor is not one that the output can end in.
void BoundSpecialization::check_given(const Tensors& given, const Tensors& inputs, bool pieces, bool on_device) const {
  for (size_t i = 0; i < outputs_.names.size(); ++i) {
    const auto it = given.find(outputs_.names[i]);
    if (it == given.end()) continue;
    const Tensor& tensor = it->second;
    const std::string where = "output %" + it->first;
    const int64_t rank = program_->held()[0];
    const std::vector<int64_t>& shape = pieces ? outputs_.maps[i][rank].local_shape() : outputs_.shapes[i];
    if (tensor.shape != shape)
      throw UserError(
          fmt::format("the given tensor has shape {}, the output {}", shape_text(tensor.shape), shape_text(shape)),
          where, "give a tensor of the output's shape");
    if (tensor.on_host() != !on_device)
      throw UserError(on_device ? "the given tensor is in host memory, the output in the GPU's"
                                : "the given tensor is in a GPU's memory, the output in the host's",
                      where, "give memory of the place where the run leaves its outputs, or none");
    if (!on_device) continue;
    if (!dense_and_aligned(tensor, kBufferAlignment))
      throw UserError("the given tensor is not dense, row-major and aligned to 64 bytes", where,
                      "give one that is, or host memory");
    for (const auto& [name, input] : inputs)
      if (may_overlap(tensor, input))
        throw UserError(fmt::format("the given tensor shares memory with input %{}", name), where,
                        "give memory of its own on a GPU");
  }
}

// Gives the program the tensors that it can write where they lie: those of whole outputs, apart from the inputs, which
// a run on a GPU that brings its outputs home has read by then.
void BoundSpecialization::place_given(RunState& state, const Tensors& given, const Tensors& inputs, bool pieces,
                                      bool on_device) const {
  for (size_t i = 0; i < outputs_.names.size(); ++i) {
    const auto it = given.find(outputs_.names[i]);
    if (it == given.end() || !(pieces || is_everywhere(i)) || in_place_of(i)) continue;
    const bool download = !device_.host_memory() && !on_device;
    bool direct = dense_and_aligned(it->second, size_of(it->second.dtype));
    if (!download)
      for (const auto& [name, input] : inputs) direct = direct && !may_overlap(it->second, input);
    if (direct) (download ? state.home : state.outputs)[0][i] = it->second;
  }
}

// The input in whose memory the program makes an output.
std::optional<size_t> BoundSpecialization::in_place_of(size_t output) const {
  const Program& program = program_->program();
  const auto of = program.value(program.outputs[output]).in_place_of;
  if (!of) return std::nullopt;
  return size_t(std::find(program.inputs.begin(), program.inputs.end(), *of) - program.inputs.begin());
}

// An input that an output replaces, and that other inputs of held ranks share memory with, is read from a copy, where
// the output is then made.
void BoundSpecialization::part_replaced(RunState& state, const ExecutorRunOptions& how) const {
  for (size_t o = 0; o < outputs_.names.size(); ++o) {
    const auto replaced = in_place_of(o);
    if (!replaced) continue;
    for (size_t h = 0; h < state.inputs.size(); ++h) {
      Tensor& tensor = state.inputs[h][*replaced];
      const auto meets = [&](const Tensor& other) { return &other != &tensor && may_overlap(tensor, other); };
      if (std::none_of(state.inputs.begin(), state.inputs.end(),
                       [&](const RankTensors& pieces) { return std::any_of(pieces.begin(), pieces.end(), meets); }))
        continue;
      Tensor copy = Tensor::empty(tensor.dtype, tensor.shape);
      copy_elements(tensor, copy);
      tensor = copy;
      if (how.counts) how.counts->copied_bytes += int64_t(copy.bytes());
    }
  }
}

// Copies to the given tensors what was made elsewhere.
void BoundSpecialization::fill_given(const Tensors& given, Tensors& made, const ExecutorRunOptions& how) {
  for (const auto& [name, tensor] : given) {
    Tensor& out = made.at(name);
    if (!same_elements(out, tensor)) {
      copy_elements(out, tensor);
      if (how.counts) how.counts->copied_bytes += int64_t(tensor.bytes());
    }
    out = tensor;
  }
}

Tensors BoundSpecialization::run(const Tensors& inputs, const Tensors& given, const ExecutorRunOptions& how,
                                 bool check_replicas, double& run_ms) {
  const bool stay = stays_on_device(inputs, given, how);
  check_given(given, inputs, false, stay);
  const Turns<RunState>::Turn state(states_);
  if (stay) forget(state->outputs);
  if (device_.host_memory()) keep_pieces(*state);
  const Leave leave(*this, *state, stay || (how.allocator && !device_.host_memory()));
  place_given(*state, given, inputs, false, stay);
  shard_inputs(*state, inputs);
  part_replaced(*state, how);
  execute(*state, how, run_ms);
  if (stay) return take_outputs(*state);
  static HostAllocator host;
  if (!device_.host_memory()) bring_home(*state);
  Allocator& device = how.allocator ? *how.allocator : device_.allocator();
  Tensors out = gather_outputs(*state, given, device_.host_memory() ? device : host, check_replicas);
  fill_given(given, out, how);
  return out;
}

Tensors BoundSpecialization::run_pieces(const Tensors& pieces, const Tensors& given, const ExecutorRunOptions& how,
                                        double& run_ms) {
  PLAIT_CHECK(program_->held().size() == 1, "pieces of one rank for {}", program_->held().size());
  const int64_t rank = program_->held()[0];
  const Turns<RunState>::Turn state(states_);
  const Leave leave(*this, *state, true);
  bool on_device = how.stream != nullptr;
  for (size_t i = 0; i < inputs_.names.size(); ++i) {
    auto it = pieces.find(inputs_.names[i]);
    const std::string where = fmt::format("input `{}` of rank {}", inputs_.names[i], rank);
    if (it == pieces.end()) throw UserError("the piece is missing", where, "give a piece of every input");
    const std::vector<int64_t>& shape = inputs_.maps[i][rank].local_shape();
    if (it->second.shape != shape || it->second.dtype != inputs_.dtypes[i])
      throw UserError(fmt::format("the piece is {}{}, not {}{}", name(it->second.dtype), shape_text(it->second.shape),
                                  name(inputs_.dtypes[i]), shape_text(shape)),
                      where, "give the piece that the layout of the input says");
    state->inputs[0][i] = it->second;
    on_device = on_device || !it->second.on_host();
  }
  for (const auto& [name, tensor] : given) on_device = on_device || !tensor.on_host();
  on_device = on_device && !device_.host_memory();
  if (on_device || !given.empty()) forget(state->outputs);
  if (pieces.size() != inputs_.names.size())
    throw UserError(fmt::format("{} pieces for {} inputs", pieces.size(), inputs_.names.size()),
                    fmt::format("run_local, rank {}", rank), "give the inputs of the fusion only");
  check_given(given, pieces, true, on_device);
  place_given(*state, given, pieces, true, on_device);
  part_replaced(*state, how);
  execute(*state, how, run_ms);
  forget(state->inputs);  // also the pieces that run() would keep for itself
  if (!device_.host_memory() && !on_device) {
    bring_home(*state);
    Tensors out;
    for (size_t i = 0; i < outputs_.names.size(); ++i)
      out[outputs_.names[i]] = std::exchange(state->home[0][i], Tensor());
    fill_given(given, out, how);
    return out;
  }
  Tensors out = take_outputs(*state);
  if (!on_device) fill_given(given, out, how);
  return out;
}

bool BoundSpecialization::is_everywhere(size_t output) const {
  const auto& maps = outputs_.maps[output];
  return !outputs_.pending[output] &&
         std::all_of(maps.begin(), maps.end(), [](const PieceMap& map) { return map.is_whole(); });
}

// Pieces that are not handed out, in memory of the device that all runs use.
void BoundSpecialization::keep_pieces(RunState& state) const {
  const auto held = program_->held();
  for (size_t h = 0; h < held.size(); ++h)
    for (size_t i = 0; i < outputs_.names.size(); ++i) {
      Tensor& piece = state.outputs[h][i];
      if (piece.memory || (h == 0 && is_everywhere(i)) || in_place_of(i)) continue;
      piece.dtype = outputs_.dtypes[i];
      piece.shape = outputs_.maps[i][held[h]].local_shape();
      piece.strides = row_major_strides(piece.shape);
      piece.memory = device_.allocator().allocate(piece.bytes());
    }
}

// What a run takes from the caller's allocator, where it did not come to be handed out.
void BoundSpecialization::drop_handed_out(RunState& state) const {
  for (size_t i = 0; i < outputs_.names.size(); ++i)
    if (!state.outputs.empty() && is_everywhere(i)) home(state, 0, i) = Tensor();
  for (size_t i = 0; i < outputs_.names.size(); ++i)
    for (RankTensors& pieces : state.outputs)
      if (in_place_of(i)) pieces[i] = Tensor();
}

// The outputs of the one held rank, as they are.
Tensors BoundSpecialization::take_outputs(RunState& state) const {
  Tensors out;
  for (size_t i = 0; i < outputs_.names.size(); ++i)
    out[outputs_.names[i]] = std::exchange(state.outputs[0][i], Tensor());
  return out;
}

// Copies the outputs of GPUs to the host. The program has ended.
void BoundSpecialization::bring_home(RunState& state) {
  const auto held = program_->held();
  for (size_t h = 0; h < held.size(); ++h) {
    auto& stream = downloads_[held[h] % device_.count()];
    if (!stream) stream = device_.make_stream(int(held[h] % device_.count()));
    for (size_t i = 0; i < outputs_.names.size(); ++i) {
      Tensor& target = state.home[h][i];
      if (!target.memory) target = Tensor::empty(outputs_.dtypes[i], outputs_.maps[i][held[h]].local_shape());
      if (target.bytes() > 0) stream->copy(target.data(), state.outputs[h][i].data(), target.bytes());
    }
  }
  for (auto& stream : downloads_)
    if (stream) stream->synchronize();
}

Tensor& BoundSpecialization::home(RunState& state, size_t held, size_t output) const {
  return device_.host_memory() ? state.outputs[held][output] : state.home[held][output];
}

// The pieces of an output by rank; `bytes` holds those of other processes.
RankTensors BoundSpecialization::pieces_of(RunState& state, size_t output, std::vector<std::string>& bytes) const {
  RankTensors out;
  const auto& maps = outputs_.maps[output];
  if (!others_hold_ranks(*comms_)) {  // all ranks are held
    for (size_t r = 0; r < maps.size(); ++r) out.push_back(home(state, r, output));
    return out;
  }
  const Tensor& mine = home(state, 0, output);
  bytes = comms_->bootstrap()->all_gather({static_cast<const char*>(mine.data()), mine.bytes()});
  for (size_t r = 0; r < maps.size(); ++r) {
    Tensor piece = Tensor::wrap(mine.dtype, maps[r].local_shape(), bytes[r].data());
    if (bytes[r].size() != piece.bytes())
      throw CommError(fmt::format("{} bytes of output %{} came from rank {}, not {}", bytes[r].size(),
                                  outputs_.names[output], r, piece.bytes()),
                      "gathering outputs", "");
    out.push_back(std::move(piece));
  }
  return out;
}

// Pieces go straight to a given tensor that is dense.
Tensors BoundSpecialization::gather_outputs(RunState& state, const Tensors& given, Allocator& allocator,
                                            bool check_replicas) const {
  Tensors out;
  for (size_t i = 0; i < outputs_.names.size(); ++i) {
    Tensor& global = out[outputs_.names[i]];
    const bool everywhere = is_everywhere(i);
    if (everywhere && !check_replicas) {  // the first held rank answers
      global = std::exchange(home(state, 0, i), Tensor());
      continue;
    }
    std::vector<std::string> bytes;
    const RankTensors pieces = pieces_of(state, i, bytes);
    if (everywhere) {
      global = home(state, 0, i);
    } else {
      const auto it = given.find(outputs_.names[i]);
      global.dtype = outputs_.dtypes[i];
      global.shape = outputs_.shapes[i];
      global.strides = row_major_strides(global.shape);
      if (it != given.end() && it->second.is_contiguous())
        global = it->second;
      else
        global.memory = allocator.allocate(global.bytes());
      if (outputs_.pending[i]) {
        add_up(i, pieces, global, check_replicas);
        continue;
      }
      for (size_t r = 0; r < pieces.size(); ++r) outputs_.maps[i][r].put(pieces[r], global);
    }
    if (check_replicas) compare_replicas(i, global, pieces);
    if (everywhere) home(state, 0, i) = Tensor();
  }
  return out;
}

// The reduction that is pending, in the order of positions.
void BoundSpecialization::add_up(size_t output, const RankTensors& pieces, Tensor& global, bool check_replicas) const {
  const Pending& pending = *outputs_.pending[output];
  RankTensors parts;  // of all elements, by position
  for (int64_t p = 0; p < mesh_.members(pending.over); ++p) parts.push_back(Tensor::empty(global.dtype, global.shape));
  for (size_t r = 0; r < pieces.size(); ++r)
    outputs_.maps[output][r].put(pieces[r], parts[size_t(mesh_.position(int64_t(r), pending.over))]);
  if (check_replicas)
    for (size_t p = 0; p < parts.size(); ++p) compare_replicas(output, parts[p], pieces, int64_t(p));
  std::vector<CommMember> members;
  for (size_t p = 0; p < parts.size(); ++p) members.push_back({int64_t(p), parts[p].data(), nullptr, nullptr});
  reduce_members(global.dtype, reduce_of(pending.reduce), members, 0, element_count(global.shape), global.data());
}

// What ranks hold of an output more than once must be the same, bit for bit; of one that is pending, those of one
// position.
void BoundSpecialization::compare_replicas(size_t output, const Tensor& global, const RankTensors& pieces,
                                           int64_t position) const {
  for (size_t r = 0; r < pieces.size(); ++r) {
    const std::optional<Pending>& pending = outputs_.pending[output];
    if (pending && mesh_.position(int64_t(r), pending->over) != position) continue;
    Tensor again = Tensor::empty(pieces[r].dtype, pieces[r].shape);
    outputs_.maps[output][r].cut(global, again);
    PLAIT_CHECK(std::memcmp(again.data(), pieces[r].data(), again.bytes()) == 0,
                "output %{}: rank {} holds other numbers than another rank", outputs_.names[output], r);
  }
}

}  // namespace plait
