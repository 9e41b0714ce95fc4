// Recurrent layers, loops, scans and branches of ONNX: as many copies as there are steps.
#include <algorithm>

#include "base/error.h"
#include "conformance/importer.h"

namespace plait::conformance {
namespace {

// Part i of `count` equal ones of a dim.
TensorView* part(TensorView* t, int64_t dim, int64_t i, int64_t count) {
  const int64_t size = extent(t, dim) / count;
  return slice(t, dim, i * size, (i + 1) * size);
}

// Operands of a layer of one direction, and its state: x[time, batch, in], w[gates h, in], r[gates h, h], b.
struct Recurrent {
  Call& c;
  int64_t gates, hidden, time, batch;
  TensorView *x, *w, *r, *bias_w = nullptr, *bias_r = nullptr;

  Recurrent(Call& call, int64_t gates) : c(call), gates(gates) {
    const bool batch_first = c.integer("layout", 0) != 0;
    x = batch_first ? permute(c.in(), {1, 0, 2}) : c.in();
    w = squeeze(c.in(1), {0}), r = squeeze(c.in(2), {0});
    hidden = extent(r, 1), time = extent(x, 0), batch = extent(x, 1);
    PLAIT_CHECK(extent(c.in(1), 0) == 1, "{} in both directions", c.node.op);
    if (c.has(4))
      for (int64_t length : c.integers(4)) PLAIT_CHECK(length == time, "{} of {} steps of {}", c.node.op, length, time);
    if (!c.has(3)) return;
    TensorView* both = squeeze(c.in(3), {0});
    bias_w = part(both, 0, 0, 2), bias_r = part(both, 0, 1, 2);
  }
  TensorView* input(int64_t t) const { return squeeze(slice(x, 0, t, t + 1), {0}); }
  TensorView* state(size_t operand) const {
    if (!c.has(operand)) return full(c.importer.fusion(), {batch, hidden}, 0, x->dtype);
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

const Graph& body(const Call& c, const char* name) { return *c.node.attributes.find(name)->second.graph; }

ValuePtr number_of(DType dtype, double value) { return Importer::constant(Tensor::from_doubles(dtype, {}, {value})); }

// What steps gave one after another, along a new first dim.
TensorView* collected(Call& c, const std::vector<ValuePtr>& steps) {
  PLAIT_CHECK(!steps.empty(), "no step of {} gives its scanned output", c.node.op);
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
  const size_t outputs = body(c, "body").outputs.size() - 1;
  std::vector<std::vector<ValuePtr>> scanned(outputs - carried.size());
  ValuePtr condition = c.has(1) ? c.value(1) : number_of(DType::boolean, 1);
  for (int64_t i = 0; i < trips && c.importer.known(*condition).at(0) != 0; ++i) {
    PLAIT_CHECK(i < kMost, "{} trips of a loop", i);
    std::vector<ValuePtr> in = {number_of(DType::i64, static_cast<double>(i)), condition};
    in.insert(in.end(), carried.begin(), carried.end());
    const std::vector<ValuePtr> out = c.importer.run(body(c, "body"), in, &c.scope);
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
  const Graph& graph = body(c, "body");
  std::vector<std::vector<ValuePtr>> collects(graph.outputs.size() - states.size());
  for (int64_t t = 0; t < extent(scanned.at(0), 0); ++t) {
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
  const size_t first = batched ? 1 : 0, count = static_cast<size_t>(c.integer("num_scan_inputs", 0));
  PLAIT_CHECK(!batched || !c.has(0), "lengths of sequences in {}", c.node.op);
  std::vector<std::vector<TensorView*>> runs;
  for (int64_t b = 0; b < (batched ? extent(c.in(first), 0) : 1); ++b) {
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
  const auto out = c.importer.run(body(c, c.integer(0) ? "then_branch" : "else_branch"), {}, &c.scope);
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

}  // namespace plait::conformance
