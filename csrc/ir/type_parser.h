#pragma once
// The part of the Fusion parser that reads the mesh, types, layouts and loop transforms. Private to csrc/ir.
#include "base/error.h"
#include "ir/text_limits.h"
#include "sym/text_reader.h"

namespace plait {

class TypeParser {
 protected:
  TypeParser(std::string_view text, const std::string& file) : in_(text, file) {}

  // Goes on with a fusion that exists.
  void adopt(Fusion& fusion) {
    fusion_ = &fusion;
    sizes_ = fusion.size_lets;
    dtypes_ = fusion.dtype_lets;
  }

  // Runs fn; a UserError gets the position of `at` in front of its own place.
  template <class Fn>
  auto guarded(size_t at, Fn&& fn) -> decltype(fn()) {
    try {
      return fn();
    } catch (const UserError& e) {
      std::string where = in_.position(at);
      if (!e.where().empty()) where += ": " + e.where();
      throw UserError(e.message(), where, in_.with_line(at, e.remedy()));
    }
  }

  struct Type {
    DType dtype;
    std::string alias;
    std::vector<sym::Expr> shape;
  };

  static constexpr size_t kMaxExtents = kMaxDims;  // and the numbers of a list, one for a dim

  Mesh read_mesh();
  Type read_type();
  bool is_dtype_let(std::string_view name) const;
  // An expression over sizes; `rank.AXIS` must be an axis of the mesh.
  sym::Expr read_expression(std::string_view what);
  int mesh_axis(const std::string& axis);                  // index; UserError where the mesh has none of that name
  Team mesh_team(const std::string& name);                 // of an axis or a group; UserError likewise
  std::vector<sym::Expr> read_extents(bool open = false);  // open: -1 is one
  void read_pieces(std::vector<Piece>& pieces);            // one, or those of a group's axes
  Layout read_layout(const TensorView& t);
  void read_partial(Layout& layout);
  ReduceOp read_reduce();
  void check_layout(const TensorView& t, Layout& layout, size_t at);
  void read_annotation(TensorView& t);
  void read_range(TensorView& t);
  void read_allocation(TensorView& t);
  int read_position();
  void read_loops(Domain& domain);
  ParallelType read_parallel();
  DType read_dtype();

  TextReader in_;
  Fusion* fusion_ = nullptr;  // what is read goes there
  std::vector<SizeLet> sizes_;
  std::vector<DTypeLet> dtypes_;
};

}  // namespace plait
