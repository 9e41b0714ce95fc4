#pragma once
// Tensors of an op that want its mesh axes for different pieces: in what order they come, and what an answer costs.
#include <map>
#include <optional>
#include <vector>

#include "shard/assign.h"

namespace plait {

// Operand by index; -1, -2, ... are the results.
const TensorView& tensor_at(const Op& op, int index);
int dim_in(const Factor& factor, int index);

// A parameter moves where what would move instead costs over so many times as much.
inline constexpr int64_t kParameterWeight = 4;

// Operands and annotated results of an op whose layouts ask for pieces. `op` and `factors` outlive it.
class Claimants {
 public:
  Claimants(const Op& op, const std::vector<Factor>& factors);

  // Those with more bytes first, of a parameter four times these, with those of all that ask for the same; of equals
  // parameters, then operands in order, then results.
  std::vector<int> order() const;
  // Their order behind one of them and those that ask for the same as it.
  std::vector<int> order_behind(int first, std::vector<int> order) const;

  // Bytes of one and of all that go with it; nothing where a size is not known.
  std::optional<int64_t> bytes(int index) const;

  // Whether both ask for the same pieces of every factor that both have; operands of a cat also of what each has alone.
  bool agree(int a, int b) const;
  // Whether two want an axis for different dims, or different pieces of one.
  bool conflict() const;

  static bool is_parameter(const TensorView& t) { return t.role == TensorRole::parameter; }

 private:
  // A dim of a claimant that is in a factor, by the factor's place.
  struct Place {
    size_t factor = 0;
    const std::vector<Piece>* pieces = nullptr;
  };

  std::vector<Place> places_of(int index) const;
  static bool agree(const std::vector<Place>& x, const std::vector<Place>& y);
  bool joined_alike(int a, int b) const;
  bool conflict(int a, int b) const;

  const Op& op_;
  const std::vector<Factor>& factors_;
  std::vector<int> all_;
  std::map<int, std::vector<Place>> places_;  // of all, where there are several
  std::map<int, std::optional<int64_t>> own_bytes_;
};

// What it costs to bring operands to where an assignment needs them, those of parameters four times, and results to
// where they are annotated, or, where they are pending, to do them; infinite where one cannot be as it is annotated;
// nothing where a size is not known.
std::optional<double> cost_of_moves(const Op& op, const Assignment& assignment);

}  // namespace plait
