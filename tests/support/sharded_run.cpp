#include "support/sharded_run.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/error.h"
#include "shard/conflicts.h"
#include "shard/own_cost.h"
#include "shard/reshard_plan.h"

namespace plait::test {

namespace {

int64_t product(const std::vector<int64_t>& shape) {
  int64_t out = 1;
  for (int64_t e : shape) out *= e;
  return out;
}

// Calls fn(index, ordinal) for every index, row-major.
void for_each(const std::vector<int64_t>& shape, const std::function<void(const std::vector<int64_t>&, size_t)>& fn) {
  int64_t count = product(shape);
  std::vector<int64_t> index(shape.size());
  for (int64_t i = 0; i < count; ++i) {
    fn(index, static_cast<size_t>(i));
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
}

uint64_t at(const Array& a, const std::vector<int64_t>& index) {
  size_t shift = index.size() - a.shape.size();
  int64_t linear = 0;
  for (size_t d = 0; d < a.shape.size(); ++d) {
    int64_t i = a.shape[d] == 1 ? 0 : index[d + shift];
    EXPECT_TRUE(i >= 0 && i < a.shape[d]);
    linear = linear * a.shape[d] + i;
  }
  return a.data.at(static_cast<size_t>(linear));
}

class Machine {
 public:
  Machine(const DeviceMesh& mesh, const sym::Environment& sizes, std::vector<Arrays> inputs)
      : mesh_(mesh), ranks_(std::move(inputs)) {
    for (int64_t r = 0; r < mesh.ranks(); ++r) environments_.push_back(sizes);
  }

  std::vector<Arrays> run(const Fusion& fusion) {
    for (size_t r = 0; r < ranks_.size(); ++r) {
      auto coordinates = mesh_.coordinates(static_cast<int64_t>(r));
      for (size_t a = 0; a < coordinates.size(); ++a)
        environments_[r][rank_symbol(fusion.mesh(), static_cast<int>(a))] = coordinates[a];
      for (const TensorView* t : fusion.inputs()) EXPECT_EQ(ranks_[r].at(t->name).shape, shape(*t, r)) << t->name;
    }
    for (const Op* op : fusion.ops()) visit(*op, [&](const auto& node) { step(node); });
    return std::move(ranks_);
  }

 private:
  int64_t value(sym::Expr e, size_t r) const { return sym::evaluate(e, environments_[r]); }
  std::vector<int64_t> shape(const TensorView& t, size_t r) const {
    std::vector<int64_t> out;
    for (size_t d = 0; d < t.rank(); ++d) out.push_back(value(t.extent(d), r));
    return out;
  }
  const Array& get(const TensorView* t, size_t r) const { return ranks_[r].at(t->name); }

  // Fills the result of every rank by fn(rank, index).
  template <class Fn>
  void fill(const Op& op, Fn&& fn) {
    for (size_t r = 0; r < ranks_.size(); ++r) {
      Array out{shape(*op.out(), r), {}};
      out.data.resize(static_cast<size_t>(product(out.shape)));
      for_each(out.shape, [&](const auto& index, size_t i) { out.data[i] = fn(r, index); });
      ranks_[r][op.out()->name] = std::move(out);
    }
  }

  void step(const PointwiseOp& op) {
    fill(op, [&](size_t r, const auto& index) {
      uint64_t a = at(get(op.in[0], r), index), b = op.in.size() > 1 ? at(get(op.in[1], r), index) : 0;
      switch (op.function) {
        case Pointwise::add:
          return a + b;
        case Pointwise::sub:
          return a - b;
        case Pointwise::mul:
          return a * b;
        case Pointwise::neg:
          return ~a + 1;
        default:
          return a * a + 7 * b + 1;  // any function that is not linear
      }
    });
  }
  void step(const Reshape& op) {
    for (size_t r = 0; r < ranks_.size(); ++r) {
      const Array& in = get(op.in, r);
      EXPECT_EQ(product(in.shape), product(shape(*op.out(), r)));
      put(op, r, [&](int64_t i) { return in.data.at(static_cast<size_t>(i)); });
    }
  }
  void step(const Full& op) {
    fill(op, [&](size_t, const auto&) { return static_cast<uint64_t>(op.value.to_double()); });
  }
  void step(const Uniform& op) {
    fill(op, [&](size_t r, const auto& index) {
      uint64_t linear = 0;
      const auto& extents = op.global.empty() ? op.shape : op.global;
      for (size_t d = 0; d < index.size(); ++d) {
        int64_t start = op.start.empty() ? 0 : value(op.start[d], r);
        linear = linear * static_cast<uint64_t>(value(extents[d], r)) + static_cast<uint64_t>(start + index[d]);
      }
      return linear * 31 + at(get(op.seed, r), {}) * 17;
    });
  }
  void step(const Linear& op) {
    fill(op, [&](size_t r, std::vector<int64_t> index) {
      const Array &x = get(op.x, r), &w = get(op.w, r);
      uint64_t sum = 0;
      int64_t n = index.back();
      EXPECT_EQ(x.shape.back(), w.shape[1]);
      for (int64_t k = 0; k < w.shape[1]; ++k) {
        index.back() = x.shape.back() == 1 ? 0 : k;
        sum += at(x, index) * w.data[static_cast<size_t>(n * w.shape[1] + k)];
      }
      return sum;
    });
  }
  void step(const Matmul& op) {
    fill(op, [&](size_t r, const std::vector<int64_t>& index) {
      const Array &a = get(op.a, r), &b = get(op.b, r);
      uint64_t sum = 0;
      size_t last = index.size() - 1;
      auto ia = index, ib = index;
      EXPECT_EQ(a.shape.back(), b.shape[b.shape.size() - 2]);
      for (int64_t k = 0; k < a.shape.back(); ++k) {
        ia[last] = k;
        ib[last - 1] = k;
        sum += at(a, ia) * at(b, ib);
      }
      return sum;
    });
  }
  void step(const Reduce& op) {
    EXPECT_TRUE(op.function == Reduction::sum && op.dims == std::vector<int64_t>{0} && !op.keepdim);
    fill(op, [&](size_t r, std::vector<int64_t> index) {
      const Array& in = get(op.in, r);
      uint64_t sum = 0;
      index.insert(index.begin(), 0);
      for (index[0] = 0; index[0] < in.shape[0]; ++index[0]) sum += at(in, index);
      return sum;
    });
  }
  void step(const AllReduce& op) {
    fill(op, [&](size_t r, const auto& index) {
      uint64_t sum = 0;
      for (int64_t m : mesh_.team(static_cast<int64_t>(r), op.team))
        sum += at(get(op.in, static_cast<size_t>(m)), index);
      return sum;
    });
  }

  struct Middle {
    int64_t outer, count, total, inner;
  };
  template <class Node>
  Middle middle(const Node& op, size_t r) const {
    return {value(op.outer, r), value(op.count, r), value(op.total, r), value(op.inner, r)};
  }
  void put(const Op& op, size_t r, const std::function<uint64_t(int64_t)>& fn) {
    Array out{shape(*op.out(), r), {}};
    for (int64_t i = 0; i < product(out.shape); ++i) out.data.push_back(fn(i));
    ranks_[r][op.out()->name] = std::move(out);
  }

  void step(const AllGather& op) {
    for (size_t r = 0; r < ranks_.size(); ++r) {
      Middle m = middle(op, r);
      std::vector<uint64_t> data(static_cast<size_t>(m.outer * m.total * m.inner));
      int64_t start = 0;
      for (int64_t member : mesh_.team(static_cast<int64_t>(r), op.team)) {
        Middle part = middle(op, static_cast<size_t>(member));
        EXPECT_EQ(part.outer, m.outer);
        EXPECT_EQ(part.inner, m.inner);
        EXPECT_EQ(part.total, m.total);
        const Array& in = get(op.in, static_cast<size_t>(member));
        EXPECT_EQ(product(in.shape), part.outer * part.count * part.inner);
        for (int64_t o = 0; o < m.outer; ++o)
          for (int64_t c = 0; c < part.count; ++c)
            for (int64_t i = 0; i < m.inner; ++i)
              data.at(static_cast<size_t>((o * m.total + start + c) * m.inner + i)) =
                  in.data.at(static_cast<size_t>((o * part.count + c) * m.inner + i));
        start += part.count;
      }
      EXPECT_EQ(start, m.total);
      EXPECT_EQ(product(shape(*op.out(), r)), static_cast<int64_t>(data.size()));
      put(op, r, [&](int64_t i) { return data[static_cast<size_t>(i)]; });
    }
  }
  void step(const ReduceScatter& op) {
    for (size_t r = 0; r < ranks_.size(); ++r) {
      Middle m = middle(op, r);
      int64_t start = 0, all = 0;
      auto team = mesh_.team(static_cast<int64_t>(r), op.team);
      for (int64_t member : team) {
        int64_t count = middle(op, static_cast<size_t>(member)).count;
        if (member == static_cast<int64_t>(r)) start = all;
        all += count;
        EXPECT_EQ(product(get(op.in, static_cast<size_t>(member)).shape), m.outer * m.total * m.inner);
      }
      EXPECT_EQ(all, m.total);
      EXPECT_EQ(product(shape(*op.out(), r)), m.outer * m.count * m.inner);
      put(op, r, [&](int64_t i) {
        int64_t o = i / (m.count * m.inner), c = i / m.inner % m.count, in = i % m.inner;
        uint64_t sum = 0;
        for (int64_t member : team)
          sum += get(op.in, static_cast<size_t>(member))
                     .data.at(static_cast<size_t>((o * m.total + start + c) * m.inner + in));
        return sum;
      });
    }
  }
  // Element i of a rank's part of [outer, first, middle, second, inner] is at (o, f, m, s, n) of it.
  void step(const AllToAll& op) {
    for (size_t r = 0; r < ranks_.size(); ++r) {
      const int64_t outer = value(op.outer, r), middle = value(op.middle, r), inner = value(op.inner, r);
      const int64_t total = value(op.total, r), scattered_total = value(op.scattered_total, r);
      const auto linear = [&](int64_t o, int64_t g, int64_t gathered, int64_t m, int64_t s, int64_t scattered,
                              int64_t n) {
        return op.scattered_first ? (((o * scattered + s) * middle + m) * gathered + g) * inner + n
                                  : (((o * gathered + g) * middle + m) * scattered + s) * inner + n;
      };
      int64_t start = 0, all_scattered = 0, gathered = 0;
      const auto team = mesh_.team(static_cast<int64_t>(r), op.team);
      for (int64_t member : team) {
        if (member == static_cast<int64_t>(r)) start = all_scattered;
        all_scattered += value(op.scattered, static_cast<size_t>(member));
      }
      EXPECT_EQ(all_scattered, scattered_total);
      const int64_t own = value(op.scattered, r);
      std::vector<uint64_t> data(static_cast<size_t>(outer * total * middle * own * inner));
      for (int64_t member : team) {
        const auto from = static_cast<size_t>(member);
        const int64_t count = value(op.count, from);
        EXPECT_EQ(value(op.outer, from), outer);
        EXPECT_EQ(value(op.middle, from), middle);
        EXPECT_EQ(value(op.inner, from), inner);
        const Array& in = get(op.in, from);
        EXPECT_EQ(product(in.shape), outer * count * middle * scattered_total * inner);
        for (int64_t o = 0; o < outer; ++o)
          for (int64_t g = 0; g < count; ++g)
            for (int64_t m = 0; m < middle; ++m)
              for (int64_t s = 0; s < own; ++s)
                for (int64_t n = 0; n < inner; ++n)
                  data.at(static_cast<size_t>(linear(o, gathered + g, total, m, s, own, n))) =
                      in.data.at(static_cast<size_t>(linear(o, g, count, m, start + s, scattered_total, n)));
        gathered += count;
      }
      EXPECT_EQ(gathered, total);
      put(op, r, [&](int64_t i) { return data.at(static_cast<size_t>(i)); });
    }
  }
  void step(const GatherRange& op) {
    for (size_t r = 0; r < ranks_.size(); ++r) {
      const Middle m = middle(op, r);
      std::vector<uint64_t> whole(static_cast<size_t>(m.outer * m.total * m.inner));
      int64_t start = 0;
      for (int64_t member : mesh_.team(static_cast<int64_t>(r), op.team)) {
        const Middle part = middle(op, static_cast<size_t>(member));
        const Array& in = get(op.in, static_cast<size_t>(member));
        EXPECT_EQ(product(in.shape), part.outer * part.count * part.inner);
        for (int64_t o = 0; o < m.outer; ++o)
          for (int64_t i = 0; i < part.count * m.inner; ++i)
            whole.at(static_cast<size_t>((o * m.total + start) * m.inner + i)) =
                in.data.at(static_cast<size_t>(o * part.count * m.inner + i));
        start += part.count;
      }
      EXPECT_EQ(start, m.total);
      const int64_t begin = value(op.start, r), taken = value(op.taken, r);
      EXPECT_TRUE(begin >= 0 && taken >= 0 && begin + taken <= m.total);
      put(op, r, [&](int64_t i) {
        const int64_t o = i / (taken * m.inner), rest = i % (taken * m.inner);
        return whole.at(static_cast<size_t>((o * m.total + begin) * m.inner + rest));
      });
    }
  }
  void step(const GatherBlock& op) {
    for (size_t r = 0; r < ranks_.size(); ++r) {
      const int64_t outer = value(op.outer, r), middle = value(op.middle, r), inner = value(op.inner, r);
      const int64_t rows = value(op.totals[0], r), columns = value(op.totals[1], r);
      const auto each = [&](const std::vector<sym::Expr>& block, size_t of, auto&& fn) {
        const int64_t first = value(block[0], of), count = value(block[1], of), second = value(block[2], of),
                      width = value(block[3], of);
        EXPECT_TRUE(first >= 0 && count >= 0 && first + count <= rows);
        EXPECT_TRUE(second >= 0 && width >= 0 && second + width <= columns);
        size_t i = 0;
        for (int64_t o = 0; o < outer; ++o)
          for (int64_t f = first; f < first + count; ++f)
            for (int64_t m = 0; m < middle; ++m)
              for (int64_t s = second; s < second + width; ++s)
                for (int64_t n = 0; n < inner; ++n)
                  fn(i++, static_cast<size_t>((((o * rows + f) * middle + m) * columns + s) * inner + n));
        return i;
      };
      std::map<size_t, uint64_t> whole;
      for (int64_t member : mesh_.team(static_cast<int64_t>(r), op.team)) {
        const Array& in = get(op.in, static_cast<size_t>(member));
        const size_t held = each(op.held, static_cast<size_t>(member), [&](size_t i, size_t place) {
          EXPECT_TRUE(whole.emplace(place, in.data.at(i)).second);
        });
        EXPECT_EQ(held, in.data.size());
      }
      EXPECT_EQ(static_cast<int64_t>(whole.size()), outer * rows * middle * columns * inner);
      std::vector<uint64_t> data;
      each(op.wanted, r, [&](size_t, size_t place) { data.push_back(whole.at(place)); });
      put(op, r, [&](int64_t i) { return data.at(static_cast<size_t>(i)); });
    }
  }
  void step(const LocalSlice& op) {
    for (size_t r = 0; r < ranks_.size(); ++r) {
      Middle m = middle(op, r);
      int64_t start = value(op.start, r);
      EXPECT_TRUE(start >= 0 && start + m.count <= m.total);
      EXPECT_EQ(product(get(op.in, r).shape), m.outer * m.total * m.inner);
      EXPECT_EQ(product(shape(*op.out(), r)), m.outer * m.count * m.inner);
      put(op, r, [&](int64_t i) {
        int64_t o = i / (m.count * m.inner), c = i / m.inner % m.count, in = i % m.inner;
        return get(op.in, r).data.at(static_cast<size_t>((o * m.total + start + c) * m.inner + in));
      });
    }
  }
  void step(const Op& op) { FAIL() << "this machine does not know " << describe(op); }

  const DeviceMesh& mesh_;
  std::vector<sym::Environment> environments_;
  std::vector<Arrays> ranks_;
};

}  // namespace

Array cut(const Array& global, const Layout& layout, const DeviceMesh& mesh, const std::vector<int64_t>& coordinates,
          const std::string& name) {
  std::vector<std::vector<int64_t>> held;
  Array out;
  for (size_t d = 0; d < global.shape.size(); ++d) {
    held.push_back(owned_indices(global.shape[d], layout.dims[d], mesh, coordinates, name));
    out.shape.push_back(static_cast<int64_t>(held.back().size()));
  }
  for_each(out.shape, [&](const auto& index, size_t) {
    int64_t linear = 0;
    for (size_t d = 0; d < index.size(); ++d)
      linear = linear * global.shape[d] + held[d][static_cast<size_t>(index[d])];
    out.data.push_back(global.data[static_cast<size_t>(linear)]);
  });
  return out;
}

std::vector<Arrays> run(const Fusion& fusion, const DeviceMesh& mesh, const sym::Environment& sizes,
                        std::vector<Arrays> inputs) {
  return Machine(mesh, sizes, std::move(inputs)).run(fusion);
}

Arrays run_whole(const Fusion& fusion, const sym::Environment& sizes, const Arrays& inputs) {
  return Machine(DeviceMesh(), sizes, {inputs}).run(fusion).front();
}

Array iota(const std::vector<int64_t>& shape, uint64_t seed) {
  Array out{shape, {}};
  for (int64_t i = 0; i < product(shape); ++i)
    out.data.push_back((static_cast<uint64_t>(i) + 1) * 0x9e3779b97f4a7c15u + seed * 0xbf58476d1ce4e5b9u);
  return out;
}

std::unique_ptr<Fusion> parsed(const std::string& text) {
  auto fusion = parse_fusion(text);
  verify(*fusion);
  return fusion;
}

std::string layout_of(const Fusion& fusion, const std::string& name) {
  const TensorView* t = fusion.find(name);
  return t ? print(t->layout, fusion.mesh()) : "no %" + name;
}

std::vector<std::string> reshards(const Fusion& fusion) {
  std::vector<std::string> out;
  for (const Op* op : fusion.ops())
    if (const auto* r = as<Reshard>(*op)) {
      auto step = planned_step(*r);
      out.push_back(step ? fmt::format("{} {} %{} -> %{}", name(step->kind), print(step->team, fusion.mesh()),
                                       r->in->name, r->out()->name)
                         : "more than one step");
    }
  return out;
}

size_t collectives(const Fusion& fusion) {
  size_t out = 0;
  for (const auto& r : reshards(fusion)) out += r.rfind("slice", 0) != 0;
  return out;
}

double plan_cost(const Fusion& fusion) {
  double out = 0;
  for (const Op* op : fusion.ops()) {
    const auto* reshard = as<Reshard>(*op);
    if (!reshard)
      out += own_cost(*op, assign(*op));
    else if (reshard->step)
      out += reshard_cost(held_layout(*reshard->in), reshard->out()->layout, reshard_sizes(*reshard->in)) *
             static_cast<double>(reshard->in->role == TensorRole::parameter ? kParameterWeight : 1);
  }
  return out;
}

}  // namespace plait::test
