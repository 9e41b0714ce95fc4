// Recurrent layers, loops, scans and branches of ONNX: as many copies as there are steps.
#include <algorithm>

#include "import/onnx/importer.h"

namespace plait::onnx {
namespace {

constexpr int64_t kMostSteps = 1000;

// Part i of `count` equal ones of a dim.
TensorView* part(TensorView* t, int64_t dim, int64_t i, int64_t count) {
  const int64_t size = extent(t, dim) / count;
  return slice(t, dim, i * size, (i + 1) * size);
}

// Operands of a layer of one direction, and its state: x[time, batch, in], w[gates h, in], r[gates h, h], b.
struct Recurrent {
  Call& c;
  int64_t gates, hidden, time;
  sym::Expr batch;
  TensorView *x, *w, *r, *bias_w = nullptr, *bias_r = nullptr;

  Recurrent(Call& call, int64_t gates) : c(call), gates(gates) {
    const bool batch_first = c.integer("layout", 0) != 0;
    require(c.in()->rank() == 3 && c.in(1)->rank() == 3 && c.in(2)->rank() == 3, "operands of other than 3 dims");
    require(extent(c.in(1), 0) == 1, "both directions");
    require(!c.has(3) || c.in(3)->rank() == 2, "biases of other than 2 dims");
    x = batch_first ? permute(c.in(), {1, 0, 2}) : c.in();
    w = squeeze(c.in(1), {0}), r = squeeze(c.in(2), {0});
    hidden = extent(r, 1), time = extent(x, 0), batch = size_of_dim(x, 1);
    require(time >= 1 && time <= kMostSteps, "{} steps", time);
    if (c.has(4))
      for (int64_t length : c.integers(4)) require(length == time, "{} of {} steps", length, time);
    if (!c.has(3)) return;
    TensorView* both = squeeze(c.in(3), {0});
    bias_w = part(both, 0, 0, 2), bias_r = part(both, 0, 1, 2);
  }
  TensorView* input(int64_t t) const { return squeeze(slice(x, 0, t, t + 1), {0}); }
  TensorView* state(size_t operand) const {
    if (!c.has(operand)) return full(c.fusion(), {batch, hidden}, 0, x->dtype);
    return squeeze(c.in(operand), {c.integer("layout", 0) ? 1 : 0});
  }
  // A gate's share of the input, and of the state.
  TensorView* of_input(TensorView* in, int64_t gate) const {
    return linear(in, part(w, 0, gate, gates), bias_w ? part(bias_w, 0, gate, gates) : nullptr);
  }
  TensorView* of_state(TensorView* h, int64_t gate) const {
    return linear(h, part(r, 0, gate, gates), bias_r ? part(bias_r, 0, gate, gates) : nullptr);
  }
  TensorView* both(TensorView* in, TensorView* h, int64_t gate) const {
    return add(of_input(in, gate), of_state(h, gate));
  }
  // Outputs: all states, and the last.
  void give(const std::vector<TensorView*>& states) const {
    const bool batch_first = c.integer("layout", 0) != 0;
    TensorView* all = unsqueeze(stack(states, batch_first ? 1 : 0), {batch_first ? 2 : 1});
    c.give(all);
    give_state(states.back(), 1);
  }
  void give_state(TensorView* h, size_t output) const {
    c.give(unsqueeze(h, {c.integer("layout", 0) ? 1 : 0}), output);
  }
};

void rnn(Call& c) {
  const Recurrent layer(c, 1);
  TensorView* h = layer.state(5);
  std::vector<TensorView*> states;
  for (int64_t t = 0; t < layer.time; ++t) states.push_back(h = tanh(layer.both(layer.input(t), h, 0)));
  layer.give(states);
}

void gru(Call& c) {
  const Recurrent layer(c, 3);
  TensorView* h = layer.state(5);
  std::vector<TensorView*> states;
  for (int64_t t = 0; t < layer.time; ++t) {
    TensorView* x = layer.input(t);
    TensorView *update = sigmoid(layer.both(x, h, 0)), *reset = sigmoid(layer.both(x, h, 1));
    TensorView* fresh = tanh(layer.both(x, mul(reset, h), 2));
    states.push_back(h = add(mul(sub(1, update), fresh), mul(update, h)));
  }
  layer.give(states);
}

void lstm(Call& c) {
  const Recurrent layer(c, 4);
  TensorView *h = layer.state(5), *cell = layer.state(6);
  TensorView* peepholes = c.has(7) ? squeeze(c.in(7), {0}) : nullptr;
  auto gate = [&](TensorView* x, int64_t i, TensorView* seen) {
    TensorView* sum = layer.both(x, h, i);
    return sigmoid(peepholes ? add(sum, mul(part(peepholes, 0, i, 3), seen)) : sum);
  };
  std::vector<TensorView*> states;
  for (int64_t t = 0; t < layer.time; ++t) {
    TensorView* x = layer.input(t);
    TensorView *in = gate(x, 0, cell), *forget = gate(x, 2, cell), *fresh = tanh(layer.both(x, h, 3));
    cell = add(mul(forget, cell), mul(in, fresh));
    states.push_back(h = mul(gate(x, 1, cell), tanh(cell)));
  }
  layer.give(states);
  layer.give_state(cell, 2);
}

ValuePtr number_of(DType dtype, double value) { return Importer::constant(Tensor::from_doubles(dtype, {}, {value})); }

// What steps gave one after another, along a new first dim.
TensorView* collected(Call& c, const std::vector<ValuePtr>& steps) {
  require(!steps.empty(), "no step gives its scanned output");
  std::vector<TensorView*> views;
  for (const ValuePtr& each : steps) views.push_back(c.importer.view(*each));
  return stack(views, 0);
}

// Operands: trips, condition, carried values; the body gives a condition, the carried values and what is collected.
void loop(Call& c) {
  constexpr int64_t kMost = 1000;
  const int64_t trips = c.has(0) ? c.integer(0) : kMost + 1;
  std::vector<ValuePtr> carried;
  for (size_t i = 2; i < c.count(); ++i) carried.push_back(c.value(i));
  const size_t outputs = std::max<size_t>(c.body("body").outputs.size(), 1) - 1;
  require(carried.size() <= outputs, "its body gives {} values and carries {}", outputs, carried.size());
  std::vector<std::vector<ValuePtr>> scanned(outputs - carried.size());
  ValuePtr condition = c.has(1) ? c.value(1) : number_of(DType::boolean, 1);
  for (int64_t i = 0; i < trips && c.importer.known(*condition).at(0) != 0; ++i) {
    require(i < kMost, "more than {} trips of a loop", kMost);
    c.importer.builder().check_growth();
    std::vector<ValuePtr> in = {number_of(DType::i64, static_cast<double>(i)), condition};
    in.insert(in.end(), carried.begin(), carried.end());
    const std::vector<ValuePtr> out = c.importer.run(c.body("body"), in, &c.scope);
    condition = out[0];
    for (size_t k = 0; k < outputs; ++k)
      if (k < carried.size())
        carried[k] = out[k + 1];
      else
        scanned[k - carried.size()].push_back(out[k + 1]);
  }
  for (size_t k = 0; k < carried.size(); ++k) c.give(carried[k], k);
  for (size_t k = 0; k < scanned.size(); ++k) c.give(collected(c, scanned[k]), carried.size() + k);
}

// One run over the first dims of the scanned values: the last states, then what is collected.
std::vector<TensorView*> scan_once(Call& c, std::vector<ValuePtr> states, const std::vector<TensorView*>& scanned) {
  const Graph& graph = c.body("body");
  require(graph.outputs.size() >= states.size() && !scanned.empty(), "its body gives {} values and carries {}",
          graph.outputs.size(), states.size());
  std::vector<std::vector<ValuePtr>> collects(graph.outputs.size() - states.size());
  for (int64_t t = 0, steps = extent(scanned[0], 0); t < steps; ++t) {
    require(steps <= kMostSteps, "{} steps", steps);
    c.importer.builder().check_growth();
    std::vector<ValuePtr> in = states;
    for (TensorView* each : scanned) in.push_back(Importer::result(squeeze(slice(each, 0, t, t + 1), {0})));
    const std::vector<ValuePtr> out = c.importer.run(graph, in, &c.scope);
    for (size_t k = 0; k < out.size(); ++k)
      if (k < states.size())
        states[k] = out[k];
      else
        collects[k - states.size()].push_back(out[k]);
  }
  std::vector<TensorView*> out;
  for (const ValuePtr& each : states) out.push_back(c.importer.view(*each));
  for (const auto& each : collects) out.push_back(collected(c, each));
  return out;
}

// Opset 8 has lengths in front and a batch around everything.
void scan(Call& c) {
  const bool batched = c.importer.opset() < 9;
  const int64_t scans = c.integer("num_scan_inputs", 0);
  const size_t first = batched ? 1 : 0, count = static_cast<size_t>(scans);
  require(scans >= 1 && count + first <= c.count(), "{} scanned of {} operands", scans, c.count());
  c.has(c.count() - 1);
  require(!batched || !c.has(0), "lengths of sequences");
  std::vector<std::vector<TensorView*>> runs;
  const int64_t batches = batched ? extent(c.in(first), 0) : 1;
  require(batches >= 1 && batches <= kMostSteps, "{} batches", batches);
  for (int64_t b = 0; b < batches; ++b) {
    auto of_batch = [&](size_t i) { return batched ? squeeze(slice(c.in(i), 0, b, b + 1), {0}) : c.in(i); };
    std::vector<ValuePtr> states;
    std::vector<TensorView*> scanned;
    for (size_t i = first; i < c.count(); ++i) {
      if (i < c.count() - count)
        states.push_back(Importer::result(of_batch(i)));
      else
        scanned.push_back(of_batch(i));
    }
    runs.push_back(scan_once(c, states, scanned));
  }
  for (size_t k = 0; k < runs[0].size(); ++k) {
    std::vector<TensorView*> all;
    for (const auto& run : runs) all.push_back(run[k]);
    c.give(batched ? stack(all, 0) : all[0], k);
  }
}

void branch(Call& c) {
  const auto out = c.importer.run(c.body(c.integer(0) ? "then_branch" : "else_branch"), {}, &c.scope);
  for (size_t k = 0; k < out.size(); ++k) c.give(out[k], k);
}

}  // namespace

std::vector<OpRow> loop_rows() {
  return {
      {"GRU", gru, "hidden_size layout"},
      {"If", branch, "then_branch else_branch"},
      {"Loop", loop, "body"},
      {"LSTM", lstm, "hidden_size layout"},
      {"RNN", rnn, "hidden_size layout"},
      {"Scan", scan, "body num_scan_inputs"},
  };
}

}  // namespace plait::onnx
