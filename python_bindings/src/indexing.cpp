// Parts of a tensor of a graph by Python's indices, as ops.
#include <algorithm>

#include "base/error.h"
#include "bindings.h"

namespace plait::python {
namespace {

std::string described(const TensorView& t) { return fmt::format("%{}: {}", t.name, type_text(t)); }

// An integer, one in an array without dims too, or a size.
bool is_whole(nb::handle object) {
  if (is_size(object)) return true;
  if (!PyIndex_Check(object.ptr()) || PyBool_Check(object.ptr())) return false;
  const nb::object number = nb::steal(PyNumber_Index(object.ptr()));
  if (!number.is_valid() && !PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
  PyErr_Clear();
  return number.is_valid();
}

int64_t number_of(nb::handle index) {
  const int64_t out = PyNumber_AsSsize_t(index.ptr(), PyExc_IndexError);
  if (out == -1 && PyErr_Occurred()) throw nb::python_error();
  return out;
}

// What indices leave of a tensor, dim by dim. Dims that integers take away have an extent of 1 until the end.
class TensorPart {
 public:
  explicit TensorPart(TensorView* from) : from_(*from), x_(from) {}

  void take(nb::handle index) {
    if (index.is_none()) {
      fresh_.push_back(rank_++);
      return;
    }
    if (dim_ == int64_t(from_.rank()))
      throw nb::index_error(fmt::format("too many indices: {} has {} dims", described(from_), from_.rank()).c_str());
    if (PySlice_Check(index.ptr())) {
      take_slice(index);
      ++rank_;
    } else if (is_whole(index)) {
      take_one(index);
      gone_.push_back(dim_);
    } else {
      throw nb::type_error(fmt::format("indices of {} are integers, sizes, slices, None and `...`: "
                                       "plait.ops.index_select and gather take those of a tensor, plait.ops.where takes conditions",
                                       described(from_))
                               .c_str());
    }
    ++dim_;
  }
  void take_rest(int64_t left) {  // all dims but as many as further indices need
    for (; dim_ + left < int64_t(from_.rank()); ++dim_) ++rank_;
  }
  TensorView* done() {
    if (!gone_.empty()) x_ = squeeze(x_, gone_);
    return fresh_.empty() ? x_ : unsqueeze(x_, fresh_);
  }

 private:
  sym::Expr extent() const { return from_.extent(size_t(dim_)); }

  void take_one(nb::handle index) {
    sym::Expr at;
    if (is_size(index)) {
      at = Fusion::Extent(nb::cast<std::string>(index)).resolve(*from_.fusion);
    } else {
      const int64_t given = number_of(index);
      at = given < 0 ? extent() + given : from_.fusion->pool().constant(given);
      if (sym::proven(sym::lt(at, 0)) || sym::proven(sym::ge(at, extent())))
        throw nb::index_error(fmt::format("index {} is out of bounds for dim {} of {}", given, dim_, described(from_)).c_str());
    }
    if (sym::proven(sym::ge(at, 0)) && sym::proven(sym::lt(at, extent())))
      x_ = slice(x_, dim_, at, at + 1);
    else  // as a run tells
      x_ = slice_at(x_, size(*from_.fusion, at), dim_, 1);
  }

  void take_slice(nb::handle index) {
    const nb::object start = index.attr("start"), stop = index.attr("stop"), step = index.attr("step");
    const int64_t by = step.is_none() ? 1 : number_of(step);
    if (by == 0) throw nb::value_error("the step of a slice is not 0");
    if (by < 0) return take_backwards(index, start.is_none() && stop.is_none(), by);
    if (start.is_none() && stop.is_none() && by == 1) return;
    x_ = slice(x_, dim_, end(start), end(stop), by);
  }

  void take_backwards(nb::handle index, bool all, int64_t by) {
    if (by == std::numeric_limits<int64_t>::min()) throw nb::value_error("the step of a slice is too large");
    if (all) {
      x_ = flip(x_, {dim_});
      if (by != -1) x_ = slice(x_, dim_, {}, {}, -by);
      return;
    }
    const auto known = extent().constant();
    if (!known || is_size(index.attr("start")) || is_size(index.attr("stop")))
      throw nb::type_error(fmt::format("a slice with a step below 0 and ends needs numbers, and dim {} of {} is {}: take "
                                       "x[start:stop] first, and x[::-1] of that",
                                       dim_, described(from_), sym::print(extent()))
                               .c_str());
    Py_ssize_t start = 0, stop = 0, step = 0;
    if (PySlice_Unpack(index.ptr(), &start, &stop, &step) != 0) throw nb::python_error();
    const Py_ssize_t count = PySlice_AdjustIndices(*known, &start, &stop, step);
    const int64_t last = start + (count - 1) * by;
    x_ = count == 0 ? slice(x_, dim_, 0, 0) : flip(slice(x_, dim_, last, start + 1, -by), {dim_});
  }

  // Of a slice: a number, from the end where it is negative, or a size.
  std::optional<Fusion::Extent> end(nb::handle given) const {
    if (given.is_none()) return {};
    if (is_size(given)) return Fusion::Extent(nb::cast<std::string>(given));
    if (!is_whole(given))
      throw nb::type_error(fmt::format("ends of a slice of {} are integers and sizes, not {}: plait.ops.slice_at takes "
                                       "those of a tensor",
                                       described(from_), nb::cast<std::string>(nb::repr(given)))
                               .c_str());
    return Fusion::Extent(number_of(given));
  }

  const TensorView& from_;
  TensorView* x_;
  int64_t dim_ = 0, rank_ = 0;  // of the tensor, and of what is made
  Dims gone_, fresh_;
};

TensorView* part(TensorView* x, nb::handle key) {
  const std::vector<nb::object> indices = indices_of(key);
  TensorPart out(x);
  for (auto it = indices.begin(); it != indices.end(); ++it) {
    if (is_rest(*it))
      out.take_rest(std::count_if(it + 1, indices.end(), [](const nb::object& each) { return !each.is_none(); }));
    else
      out.take(*it);
  }
  out.take_rest(0);
  return out.done();
}

TensorObject indexed(const TensorRef& t, nb::handle key) {
  return all_or_nothing(*t.owner.fusion, [&] { return ref(t.owner, part(t.tensor, key)); });
}

// All dims in reverse, or the last two.
TensorObject transposed(const TensorRef& t, bool last_two) {
  const auto rank = int64_t(t.tensor->rank());
  if (last_two && rank < 2)
    throw nb::type_error(fmt::format("{} has no matrices to transpose: mT takes 2 dims or more", described(*t.tensor)).c_str());
  if (rank < 2) return ref(t.owner, t.tensor);
  Dims dims(static_cast<size_t>(rank));
  for (int64_t d = 0; d < rank; ++d) dims[size_t(d)] = last_two ? d : rank - 1 - d;
  if (last_two) std::swap(dims[size_t(rank) - 1], dims[size_t(rank) - 2]);
  return ref(t.owner, permute(t.tensor, dims));
}

}  // namespace

void bind_indexing(nb::class_<TensorRef>& tensors) {
  tensors
      .def("__getitem__", indexed, nb::arg("index").none(), nb::sig("def __getitem__(self, index: object, /) -> Tensor"),
           "A part, as NumPy takes it: integers, slices, None, `...`, and sizes for numbers. Whether an integer is within a "
           "dim that has a name is seen by the run, which raises BoundsError. Raises IndexError, TypeError for other "
           "indices, UserError.")
      .def_prop_ro("T", [](const TensorRef& t) { return transposed(t, false); }, "plait.ops.permute of all dims in reverse.")
      .def_prop_ro("mT", [](const TensorRef& t) { return transposed(t, true); },
                   "plait.ops.permute that swaps the last two dims. Raises TypeError for fewer.")
      .def("astype", [](const TensorRef& t, nb::handle dtype) { return ref(t.owner, cast(t.tensor, dtype_of(dtype))); },
           nb::arg("dtype"), nb::sig("def astype(self, dtype: object) -> Tensor"),
           "plait.ops.cast of the tensor. Raises UserError for what is no dtype.");
}

}  // namespace plait::python
