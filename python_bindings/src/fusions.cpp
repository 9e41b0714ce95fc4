// Building, printing and reading fusions.
#include "base/error.h"
#include "base/suggest.h"
#include "bindings.h"
#include "session/bind_inputs.h"

namespace plait::python {
namespace {

// ---- What Python gives.

Fusion::Extent extent_of(nb::handle object) {
  if (PyLong_Check(object.ptr())) return nb::cast<int64_t>(object);
  if (nb::isinstance<nb::str>(object)) return nb::cast<std::string>(object);
  throw UserError(fmt::format("{} is no extent", nb::cast<std::string>(nb::repr(object))), "shape",
                  "extents are integers and texts such as \"4*n\"");
}

std::vector<Fusion::Extent> shape_of(nb::handle object) {
  if (nb::isinstance<nb::str>(object) || !nb::hasattr(object, "__iter__"))
    throw UserError(fmt::format("{} is no shape", nb::cast<std::string>(nb::repr(object))), "shape",
                    "a shape is a list of extents, [\"n\", 768]; without dims it is []");
  std::vector<Fusion::Extent> out;
  for (nb::handle extent : object) out.push_back(extent_of(extent));
  return out;
}

void require_dtype(const char* what, const std::string& name, nb::handle dtype) {
  if (dtype.is_none())
    throw nb::type_error(
        fmt::format("{} `{}` has no dtype: give one, {}(\"{}\", shape, plait.f32)", what, name, what, name).c_str());
}

// An extent for Python: an int, or a plait.Size.
nb::object extent_object(sym::Expr extent) {
  if (const auto value = extent.constant()) return nb::int_(*value);
  return size_type()(sym::print(extent));
}

// What a text of sizes is in canonical form.
nb::object size_object(const std::string& text) {
  sym::Pool pool;
  for (const auto& symbol : sym::symbols(sym::parse(pool, text))) pool.symbol(symbol, {.lo = 0});
  return extent_object(sym::parse(pool, text));
}

std::vector<TensorObject> refs(const FusionRef& f, const std::vector<TensorView*>& tensors) {
  std::vector<TensorObject> out;
  for (TensorView* t : tensors) out.push_back(ref(f, t));
  return out;
}

// ---- Tensors and fusions.

void shard(const TensorRef& t, int dim, const std::string& axis, int64_t granule, bool inner) {
  t.tensor->shard(dim, MeshAxisRef{axis}, {.granule = granule, .inner = inner});
}

std::string layout_text(const TensorRef& t) {
  const Fusion& fusion = *t.owner.fusion;
  return fusion.has_mesh() ? print(t.tensor->layout, fusion.mesh()) : "{}";
}

std::string line_of(const TensorRef& t) {
  if (t.tensor->definition) return print(*t.tensor->definition, *t.owner.fusion);
  return fmt::format("%{}: {}", t.tensor->name, type_text(*t.tensor));
}

void bind_tensors(nb::module_& m) {
  nb::class_<TensorRef> tensors(m, "Tensor",
                                "A tensor of a fusion: its name, type and place in the graph, no numbers. Operators and "
                                "comparisons add ops to the fusion; ops of plait.ops whose first operand is `x` are methods.");
  bind_operators(m, tensors);
  tensors.def_prop_ro("name", [](const TensorRef& t) { return t.tensor->name; }, "Name without the %.")
      .def_prop_ro("dtype", [](const TensorRef& t) { return t.tensor->dtype; }, "Element type.")
      .def_prop_ro("shape",
                   [](const TensorRef& t) {
                     nb::list out;
                     for (sym::Expr e : t.tensor->shape()) out.append(extent_object(e));
                     return nb::tuple(out);
                   },
                   nb::for_getter(nb::sig("def shape(self) -> tuple[int | plait.size.Size, ...]")),
                   "Extents: integers, and a plait.Size for each that has a name.")
      .def_prop_ro("rank", [](const TensorRef& t) { return t.tensor->rank(); }, "Number of dims.")
      .def_prop_ro("type", [](const TensorRef& t) { return type_text(*t.tensor); }, "`f32[b, 768]`.")
      .def_prop_ro("layout", layout_text, "`{0: tp}`: how the dims are cut over the mesh.")
      .def_prop_ro("reason", [](const TensorRef& t) { return t.tensor->reason; }, "Why the layout is what it is.")
      .def_prop_ro("fusion", [](const TensorRef& t) { return t.owner; }, "The fusion that it is of.")
      .def("shard", shard, nb::arg("dim"), nb::arg("axis"), nb::kw_only(), nb::arg("granule") = 1,
           nb::arg("inner") = false,
           "Cuts a dim over a mesh axis, at multiples of `granule`; of a parameter storage and compute. `inner`: inside of "
           "the pieces that are there. Raises UserError.")
      .def("pending",
           [](const TensorRef& t, const std::string& axis, const std::string& reduce) {
             const auto* found = std::ranges::find(kReduceOps, reduce, [](ReduceOp op) { return name(op); });
             if (found == std::end(kReduceOps))
               throw UserError(fmt::format("`{}` is no reduction", reduce), "pending",
                               "known: sum, max, min, prod, logsumexp");
             t.tensor->pending(MeshAxisRef{axis}, *found);
           },
           nb::arg("axis"), nb::arg("reduce") = "sum",
           "Ranks along the axis hold parts of a reduction that is still to be done. Raises UserError.")
      .def("replicate", [](const TensorRef& t) { t.tensor->replicate(); }, "Pins the tensor whole on every rank.")
      .def("shard_storage",
           [](const TensorRef& t, int dim, const std::string& axis, int64_t granule, bool inner) {
             t.tensor->storage().shard(dim, MeshAxisRef{axis}, {.granule = granule, .inner = inner});
           },
           nb::arg("dim"), nb::arg("axis"), nb::kw_only(), nb::arg("granule") = 1, nb::arg("inner") = false,
           "Cuts how an input or parameter is stored; it is gathered where it is used. Raises UserError.")
      .def("allocate", [](const TensorRef& t, std::vector<int> order, const std::vector<int>& strided) {
             t.tensor->allocate(std::move(order), strided);
           },
           nb::arg("order"), nb::arg("strided") = std::vector<int>(),
           "How the dims lie in memory, outermost first; a dim of `strided` may have any stride. Raises UserError.")
      .def("__repr__", [](const TensorRef& t) { return fmt::format("plait.Tensor({})", line_of(t)); });
}

FusionRef made(const std::string& name, nb::handle mesh) {
  Mesh over;
  if (!mesh.is_none()) over = parse_mesh(nb::cast<std::string>(nb::str(mesh)), {.file = "<mesh>", .set = {}});
  return {std::make_shared<Fusion>(std::move(over), name)};
}

FusionRef parsed(const std::string& text, const std::string& file, const std::map<std::string, nb::object>& set) {
  ParseOptions options;
  options.file = file;
  for (const auto& [name, value] : set) options.set[name] = nb::cast<std::string>(nb::str(value));
  options.set_place = "set ";
  std::shared_ptr<Fusion> fusion = parse_fusion(text, options);
  let_settings(*fusion, options.set, options.set_place);
  verify(*fusion);
  for (const TensorView* t : fusion->inputs())
    if (fusion->readers(t).empty() && !fusion->is_output(t) &&
        PyErr_WarnEx(PyExc_UserWarning, fmt::format("no op reads input %{}: {}", t->name, type_text(*t)).c_str(), 2) < 0)
      throw nb::python_error();
  return {std::move(fusion)};
}

TensorObject output(const FusionRef& f, const std::string& name, const TensorRef& tensor) {
  return ref(f, f.fusion->output(name, own(f, tensor)));
}

}  // namespace

DType dtype_of(nb::handle object) {
  if (nb::isinstance<DType>(object)) return nb::cast<DType>(object);
  std::string text = nb::cast<std::string>(nb::hasattr(object, "__name__") ? nb::str(object.attr("__name__"))
                                                                          : nb::str(object));
  if (text.starts_with("torch.")) text.erase(0, 6);
  static const std::map<std::string, DType, std::less<>> others = {
      {"bool_", DType::boolean},      {"int8", DType::i8},      {"int16", DType::i16},
      {"int32", DType::i32},          {"int64", DType::i64},    {"uint8", DType::u8},
      {"uint16", DType::u16},         {"uint32", DType::u32},   {"uint64", DType::u64},
      {"float16", DType::f16},        {"float32", DType::f32},  {"float64", DType::f64},
      {"bfloat16", DType::bf16},      {"int", DType::i64},      {"float", DType::f32},
      {"float8_e4m3fn", DType::f8e4m3}, {"float8_e5m2", DType::f8e5m2}};
  if (const auto it = others.find(text); it != others.end()) return it->second;
  if (const auto dtype = parse_dtype(text)) return *dtype;
  std::vector<std::string> known;
  for (int i = 0; i < kDTypeCount; ++i) known.emplace_back(name(static_cast<DType>(i)));
  throw UserError(fmt::format("`{}` is no dtype", text), "", suggestion(text, known));
}

void bind_fusions(nb::module_& m) {
  nb::enum_<DType> dtypes(m, "DType", "Element types.");
#define X(enumerator, text, bits, kind) \
  dtypes.value(DType::enumerator == DType::boolean ? "bool_" : #text, DType::enumerator);
#include "scalar/dtype.def"
#undef X
  m.def("dtype", dtype_of, nb::arg("object"), "The DType of a name, or of a dtype of NumPy or PyTorch. Raises UserError.");
  m.def("_size", size_object, nb::arg("text"), nb::sig("def _size(text: str) -> int | plait.size.Size"),
        "What a text of sizes is in canonical form. Raises UserError.");
  bind_tensors(m);
  nb::class_<FusionRef>(m, "Fusion", "A graph of ops over tensors whose extents may be sizes by name.")
      .def("__init__", [](FusionRef* self, const std::string& name, nb::object mesh) {
             new (self) FusionRef(made(name, mesh));
           },
           nb::arg("name") = "fusion", nb::arg("mesh") = nb::none(),
           "An empty one. `mesh`: a plait.Mesh, or its text `@m (dp = 2, tp = t)`.")
      .def_static("parse", parsed, nb::arg("text"), nb::arg("file") = "<text>",
                  nb::arg("set") = std::map<std::string, nb::object>(),
                  "Reads the text form. `file` is named in errors; `set` overrides lets of sizes and dtypes. Raises "
                  "UserError with the place, and warns of inputs that no op reads.")
      .def_prop_ro("name", [](const FusionRef& f) { return f.fusion->name(); }, "Name without the @.")
      .def("input", [](const FusionRef& f, std::string name, nb::handle shape, nb::handle dtype) {
             require_dtype("input", name, dtype);
             return ref(f, f.fusion->input(std::move(name), shape_of(shape), dtype_of(dtype)));
           },
           nb::arg("name"), nb::arg("shape"), nb::arg("dtype") = nb::none(),
           nb::sig("def input(self, name: str, shape: collections.abc.Sequence[int | str], dtype: object) -> Tensor"),
           "An input: extents are integers and texts of sizes, `[\"b\", 768]`. Raises UserError.")
      .def("parameter", [](const FusionRef& f, std::string name, nb::handle shape, nb::handle dtype) {
             require_dtype("parameter", name, dtype);
             return ref(f, f.fusion->parameter(std::move(name), shape_of(shape), dtype_of(dtype)));
           },
           nb::arg("name"), nb::arg("shape"), nb::arg("dtype") = nb::none(),
           nb::sig("def parameter(self, name: str, shape: collections.abc.Sequence[int | str], dtype: object)"
                   " -> Tensor"),
           "An input whose layout may be stored. Raises UserError.")
      .def("declare", [](const FusionRef& f, const std::string& text) { return ref(f, parse_input(*f.fusion, text)); },
           nb::arg("text"), "An input as text: `param %w: bf16[n, 768] {0: tp}`. Raises UserError.")
      .def("statement",
           [](const FusionRef& f, const std::string& text) -> nb::object {
             const std::vector<TensorView*> results = parse_statement(*f.fusion, text);
             if (results.size() == 1) return nb::cast(ref(f, results[0]));
             nb::list all;
             for (TensorView* t : results) all.append(ref(f, t));
             return nb::tuple(all);
           },
           nb::arg("text"), nb::sig("def statement(self, text: str) -> Tensor | tuple[Tensor, ...]"),
           "One op as text, `%y = softmax(%x, dim = -1)`: its result, or a tuple of several. Raises UserError.")
      .def("let", [](const FusionRef& f, std::string name, int64_t value) { f.fusion->let(std::move(name), value); },
           nb::arg("name"), nb::arg("value"), "Default of a size. Raises UserError.")
      .def("given", [](const FusionRef& f, const std::string& facts) { f.fusion->given(sym::parse_facts(facts)); },
           nb::arg("facts"), "What is known of sizes: `n: 16 in 16..4096`. Raises UserError.")
      .def("owns", [](const FusionRef& f, const TensorRef& t) { return f.fusion == t.owner.fusion; }, nb::arg("tensor"),
           "Whether the tensor is of this fusion.")
      .def("output", output, nb::arg("name"), nb::arg("tensor"), "Names an output. Raises UserError.")
      .def("alias", [](const FusionRef& f, const std::string& output, const std::string& input) { f.fusion->alias(output, input); },
           nb::arg("output"), nb::arg("input"),
           "The output ends in the memory of the input, which each run then writes: `-> (%y aliases %x)`. Raises UserError.")
      .def("find", [](const FusionRef& f, const std::string& name) -> std::optional<TensorObject> {
             TensorView* t = f.fusion->find(name);
             return t ? std::optional(ref(f, t)) : std::nullopt;
           },
           nb::arg("name"), "The tensor of that name, or None.")
      .def_prop_ro("inputs", [](const FusionRef& f) { return refs(f, f.fusion->inputs()); }, "Inputs and parameters.")
      .def_prop_ro("outputs", [](const FusionRef& f) { return refs(f, f.fusion->outputs()); }, "Outputs, in order.")
      .def_prop_ro("tensors", [](const FusionRef& f) { return refs(f, f.fusion->tensors()); },
                   "Inputs, then results in the order of their ops.")
      .def("copy", [](const FusionRef& f) { return FusionRef{clone(*f.fusion)}; },
           "A fusion of its own with the same text.")
      .def("__eq__", [](const FusionRef& a, nb::handle b) {
             return nb::isinstance<FusionRef>(b) && equal(*a.fusion, *nb::cast<FusionRef&>(b).fusion);
           })
      .def("__reduce__",
           [](const FusionRef& f) {
             return nb::make_tuple(nb::module_::import_("plait").attr("parse"), nb::make_tuple(print(*f.fusion)));
           },
           nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"), "For pickle: by the text form.")
      .def("__str__", [](const FusionRef& f) { return print(*f.fusion); })
      .def("__repr__", [](const FusionRef& f) {
        return fmt::format("<plait.Fusion @{}: {} inputs, {} ops, {} outputs>", f.fusion->name(),
                           f.fusion->inputs().size(), f.fusion->ops().size(), f.fusion->outputs().size());
      });
}

}  // namespace plait::python
