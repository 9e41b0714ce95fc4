"""A function of arrays as a compiled program."""

from __future__ import annotations

import functools
import inspect
import itertools
import logging
import numbers
import operator
import threading
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from plait import ops
from plait._emit import nearest, tracing
from plait._plait import Array, DType, Fusion, Program, Tensor, array, compile
from plait._shard import Cuts, checked, cut, spread
from plait.errors import UserError
from plait.mesh import Mesh

Extents = Sequence["int | str | None"]

_COMPILE = ("device", "comm", "ranks", "sizes", "options", "dumps")
_MANY = 8  # programs that differ in one number alone, beyond which a warning tells
_MOST_DIRECT = 1024  # kinds of calls that are looked up at once
_RUN = ("stream", "threads")  # keywords of a program's run
_JIT = ("shapes", "static", "donate", "mesh", "shard")
_PLACES = (tuple, list, dict)
_CONSTANTS = (bool, numbers.Number, str, bytes, type(None), DType)


_LOGGER = logging.getLogger("plait.compile")

# Held while a function is traced: one for all, since one traced function may call another on arrays.
_TRACING = threading.RLock()


class _Leaf:
    """Where an array stood in the arguments, or a tensor in what the function returned."""

    __slots__ = ("index",)

    def __init__(self, index: int):
        self.index = index


def _constant(value: Any) -> Any:
    """A key that is equal for the same constant alone: 1, 1.0 and True differ, and 0.0 and -0.0; NaN is NaN."""
    if isinstance(value, (float, complex)):
        return type(value), repr(value)
    if isinstance(value, (tuple, frozenset)):
        return type(value), tuple(_constant(each) for each in value)
    return type(value), value


def _is_array(value: Any) -> bool:
    if isinstance(value, Array) or hasattr(value, "__dlpack__"):
        return True
    try:
        memoryview(value)
    except TypeError:
        return False
    return not isinstance(value, (bytes, bytearray))


def _facts(value: Any) -> tuple[Any, tuple[int, ...]]:
    """Dtype and shape, as cheaply as the array's library says them."""
    kind, shape = getattr(value, "dtype", None), getattr(value, "shape", None)
    if kind is None or shape is None:
        value = array(value)
        return value.dtype, tuple(value.shape)
    return kind, tuple(shape)


def _leaves(place: Any, name: str) -> list[tuple[str, int]]:
    """Names of the leaves of a structure, x, x_0, x_key, and where they stood."""
    if isinstance(place, _Leaf):
        return [(name, place.index)]
    parts = place.items() if isinstance(place, dict) else enumerate(place) if isinstance(place, (tuple, list)) else ()
    return [each for key, value in parts for each in _leaves(value, f"{name}_{key}")]


def _path(place: Any, name: str, index: int) -> str | None:
    """Where a leaf stands, x['key'][0]; None where it is not in the structure."""
    if isinstance(place, _Leaf):
        return name if place.index == index else None
    parts = place.items() if isinstance(place, dict) else enumerate(place) if isinstance(place, (tuple, list)) else ()
    return next((found for key, value in parts if (found := _path(value, f"{name}[{key!r}]", index))), None)


def _like(place: Any, parts: list[Any]) -> Any:
    """A tuple, named or not, or a list of other parts."""
    return type(place)(*parts) if hasattr(place, "_fields") else type(place)(parts)


def _filled(place: Any, leaves: Sequence[Any]) -> Any:
    """The structure with its leaves."""
    if isinstance(place, _Leaf):
        return leaves[place.index]
    if isinstance(place, dict):
        return {key: _filled(value, leaves) for key, value in place.items()}
    if isinstance(place, (tuple, list)):
        return _like(place, [_filled(value, leaves) for value in place])
    return place


def _match(place: Any, out: Any, name: str, found: list[Any]) -> None:
    """Puts the parts of `out` where the leaves of the structure stand; None: nothing is given there."""
    if out is None:
        return
    if isinstance(place, _Leaf):
        if found[place.index] is not None and found[place.index] is not out:
            raise TypeError(f"{name} is a second array for a tensor that the function returns twice: give it once, and None elsewhere")
        found[place.index] = out
    elif isinstance(place, dict) and isinstance(out, dict):
        for key, value in out.items():
            if key not in place:
                raise TypeError(f"{name} has {key!r}, the result has {', '.join(map(repr, place))}")
            _match(place[key], value, f"{name}[{key!r}]", found)
    elif isinstance(place, (tuple, list)) and isinstance(out, (tuple, list)) and len(place) == len(out):
        for i, each in enumerate(out):
            _match(place[i], each, f"{name}[{i}]", found)
    else:
        what = f"a {type(place).__name__} of {len(place)}" if isinstance(place, _PLACES) else f"{place!r}, no array"
        raise TypeError(f"{name} is a {type(out).__name__}, and what is returned there is {what}: give arrays where the function "
                        "returns tensors, and None for those that shall be made")


class _Entry:
    """What one kind of call was compiled to."""

    def __init__(self, fusion: Fusion, program: Program, outputs: list[str], result: Any, donated: list[str]):
        self.fusion = fusion
        self.program = program
        self.outputs = outputs
        self.result = result  # structure of _Leaf
        self.donated = donated  # inputs whose memory each call gives up
        self.run = program.run
        self.only = outputs[0] if isinstance(result, _Leaf) else None  # the output that is the result

    def targets(self, out: Any) -> Any:
        """What `run` takes as `out`, of what has the structure of the result."""
        if self.only is not None or out is None:
            return out
        found: list[Any] = [None] * len(self.outputs)
        _match(self.result, out, "out", found)
        return found


class Jit:
    """A function that runs as a compiled program. Made by `plait.jit`."""

    def __init__(self, function: Callable[..., Any], *, shapes: Mapping[str, Extents], static: Iterable[str],
                 donate: Iterable[str], mesh: Mesh | str | None, shard: Mapping[str, Any], how: Mapping[str, Any]):
        self._signature = _signature(function)
        functools.update_wrapper(self, function)
        self._function = function
        self._parameters = list(self._signature.parameters)
        by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        plain = all(each.kind in by_place for each in self._signature.parameters.values())
        self._positional = len(self._parameters) if plain else -1  # arguments of a call that need no binding
        self._shapes = {name: tuple(extents) for name, extents in _by_parameter("shapes", shapes, (tuple, list)).items()}
        self._static = frozenset(static)
        self._donate = frozenset(donate)
        self._mesh = mesh
        self._shard = {name: checked(cuts, f"shard[{name!r}]") for name, cuts in _by_parameter("shard", shard, object).items()}
        self._how = dict(how)
        known = set(self._parameters)
        for what, names in (("shapes", self._shapes), ("static", self._static), ("donate", self._donate),
                            ("shard", set(self._shard) - {"return"})):
            for name in names:
                if name not in known:
                    raise TypeError(f"{what} names `{name}`, which is no parameter of {self._name()}{self._signature}"
                                    f"{self._part_of(what, str(name))}")
        both = sorted(self._static & self._donate)
        if both:
            raise TypeError(f"`{both[0]}` of {self._name()} is static, a constant of the program: it has no memory to donate")
        self._known: dict[Any, _Entry] = {}  # by what a library says of its arrays
        self._entries: dict[Any, _Entry] = {}  # by dtypes of plait
        self._alike: dict[Any, int] = {}  # programs by all of a key but one number
        self._told = False
        self._direct: dict[Any, _Entry] = {}  # by types, dtypes and shapes of arguments that are all arrays

    def __call__(self, /, *args: Any, out: Any = None, **named: Any) -> Any:
        kinds = None
        if not named and out is None:  # arrays alone, as most calls are: one look-up
            try:
                kinds = tuple([(type(each), each.dtype, each.shape) for each in args])
                entry = self._direct.get(kinds)
            except (AttributeError, TypeError):
                kinds = entry = None
            if entry is not None:
                made = entry.run(*args)
                return made[entry.only] if entry.only is not None else _filled(entry.result, list(made.values()))
        entry, arrays = self._find(args, named)
        if entry is None:
            with tracing(arrays[0].fusion):
                return self._function(*args, **named)
        if kinds is not None and not entry.donated and len(arrays) == len(args) and all(map(operator.is_, arrays, args)):
            if len(self._direct) >= _MOST_DIRECT:
                self._direct.clear()
            self._direct[kinds] = entry
        if out is None and not entry.donated:
            made = entry.program.run(*arrays)
        else:
            made = entry.program.run(*arrays, out=entry.targets(out), donate=entry.donated)
        return _filled(entry.result, [made[name] for name in entry.outputs])

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __reduce__(self) -> str:
        return self.__qualname__  # by its name, as functions; a copy is the same

    def __repr__(self) -> str:
        return f"<plait.jit {self._name()}{self._signature}: {len(self._entries)} programs>"

    def fusion(self, /, *args: Any, **named: Any) -> Fusion:
        """The graph of such a call, traced where it is not known yet. Nothing runs."""
        return self._entry(args, named).fusion

    def program(self, /, *args: Any, **named: Any) -> Program:
        """The program of such a call: `explain`, `dump`, `report`, `kernels`. It compiles when it is first run or prepared."""
        return self._entry(args, named).program

    def programs(self) -> list[Program]:
        """Those of all kinds of calls so far."""
        return [entry.program for entry in self._entries.values()]

    def clear(self) -> None:
        """Forgets them: the next call traces anew."""
        with _TRACING:
            self._known.clear()
            self._direct.clear()
            self._entries.clear()
            self._alike.clear()

    def _name(self) -> str:
        return getattr(self._function, "__name__", type(self._function).__name__)

    def _part_of(self, what: str, name: str) -> str:
        """What is said of an input's name, of an array that stands in an argument."""
        of = next((each for each in self._parameters if what == "shard" and name.startswith(f"{each}_")), None)
        return f": what stands in `{of}` is named within it, shard={{{of!r}: {{{name[len(of) + 1:]!r}: {{0: \"tp\"}}}}}}" if of else ""

    def _entry(self, args: tuple[Any, ...], named: dict[str, Any]) -> _Entry:
        entry, _ = self._find(args, named)
        if entry is None:
            raise TypeError(f"{self._name()} was called with tensors of a graph: it has a program for arrays only")
        return entry

    def _find(self, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[_Entry | None, list[Any]]:
        """The entry of a call and its arrays; no entry where tensors of a graph were given, and these alone."""
        arrays: list[Any] = []
        key: list[Any] = []
        if not named and len(args) == self._positional:
            given: Mapping[str, Any] = dict(zip(self._parameters, args))
        else:
            given = self._bound(args, named)
        places = {name: self._taken(name, name, value, arrays, key) for name, value in given.items()}
        if any(isinstance(each, Tensor) for each in arrays):
            return None, [each for each in arrays if isinstance(each, Tensor)]
        exact = tuple(key)
        entry = self._known.get(exact)
        if entry is None:
            with _TRACING:
                entry = self._known.get(exact) or self._made(exact, places, arrays)
                self._known[exact] = entry
        return entry, arrays

    def _bound(self, args: tuple[Any, ...], named: dict[str, Any]) -> Mapping[str, Any]:
        """Arguments by parameter, with defaults. TypeError, with a sentence, for those that do not fit."""
        try:
            bound = self._signature.bind(*args, **named)
        except TypeError as error:
            takes_all = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in self._signature.parameters.values())
            wrong = [] if takes_all else [word for word in named if word not in self._signature.parameters]
            text = self._unknown(wrong[0]) if wrong else f"{self._name()}{self._signature}: {error}"
            raise TypeError(text) from None
        bound.apply_defaults()
        return bound.arguments

    def _unknown(self, word: str) -> str:
        """What is said of a keyword that the function does not have."""
        begin = f"{self._name()}() has no parameter `{word}`"
        if word == "donate":
            return f"{begin}: plait.jit(f, donate=[...]) names the parameters whose arrays every call gives up"
        if word == "out":  # of fusion() and program(): a call takes it
            return f"{begin} here: what results are written into is given where it is called, {self._name()}(..., out=y)"
        if word in _RUN:
            return f"{begin}: {self._name()}.program(...).run(..., {word}=...) takes it"
        if word in (*_JIT, *_COMPILE):
            return f"{begin}: give it where the function is made, plait.jit(f, {word}=...)"
        return begin + (nearest(word, self._parameters) if self._parameters else "; there are none")

    def _taken(self, parameter: str, name: str, value: Any, arrays: list[Any], key: list[Any]) -> Any:
        """The structure of an argument; its arrays, and what the program depends on, are appended."""
        if parameter in self._static:
            try:
                key.append(_constant(value))
                hash(key[-1])
            except TypeError:
                raise TypeError(f"static argument `{name}` of {self._name()} cannot be hashed: {type(value).__name__}"
                                ) from None
            return value
        if hasattr(value, "__dlpack__"):  # most arguments are
            return self._array(parameter, value, arrays, key)
        if isinstance(value, Tensor):
            arrays.append(value)
            return _Leaf(len(arrays) - 1)
        if isinstance(value, _PLACES):
            key.append((type(value), tuple(value) if isinstance(value, dict) else len(value)))
            if isinstance(value, dict):
                return {each: self._taken(parameter, f"{name}[{each!r}]", value[each], arrays, key) for each in value}
            taken = [self._taken(parameter, f"{name}[{i}]", each, arrays, key) for i, each in enumerate(value)]
            return _like(value, taken)
        if isinstance(value, _CONSTANTS):
            key.append(_constant(value))
            return value
        if not _is_array(value):
            raise TypeError(f"argument `{name}` of {self._name()} is no array, number or text: {type(value).__name__}; "
                            f"name `{parameter}` in static= where programs shall depend on the object itself")
        return self._array(parameter, value, arrays, key)

    def _array(self, parameter: str, value: Any, arrays: list[Any], key: list[Any]) -> _Leaf:
        kind, shape = _facts(value)
        key.append((kind, self._extents(parameter, shape)))
        arrays.append(value)
        return _Leaf(len(arrays) - 1)

    def _extents(self, parameter: str, shape: tuple[int, ...]) -> tuple[int | str, ...]:
        """What the program knows of a shape."""
        given = self._shapes.get(parameter)
        if given is None:
            return shape
        if len(given) != len(shape):
            raise TypeError(f"`{parameter}` of {self._name()} has {len(shape)} dims, shapes= says {list(given)}")
        return tuple(extent if want is None else want for want, extent in zip(given, shape))

    def _made(self, exact: tuple[Any, ...], places: dict[str, Any], arrays: list[Any]) -> _Entry:
        kinds = self._shared(places, arrays)
        types_of = iter(each.dtype for each in kinds)
        key = tuple((next(types_of), part[1]) if self._speaks_of_array(part) else part for part in exact)
        if key not in self._entries:
            self._entries[key] = self._traced(places, kinds)
            self._count(key, places)
        return self._entries[key]

    def _shared(self, places: dict[str, Any], arrays: list[Any]) -> list[Array]:
        """The arrays as plait's. UserError, of the argument, for what is none."""
        made = []
        for i, each in enumerate(arrays):
            try:
                made.append(array(each))
            except UserError as error:
                name = next(found for parameter, place in places.items() if (found := _path(place, parameter, i)))
                raise type(error)(error.what, f"argument `{name}` of {self._name()}", error.remedy) from None
        return made

    @staticmethod
    def _speaks_of_array(part: tuple[Any, Any]) -> bool:
        return not isinstance(part[0], type)

    def _count(self, key: tuple[Any, ...], places: dict[str, Any]) -> None:
        """Tells once of many programs that differ in one number."""
        names = [each for parameter, place in places.items() for each in self._names(parameter, parameter, place)]
        for i, (kind, _) in enumerate(key):
            if not isinstance(kind, type) or not issubclass(kind, numbers.Number) or kind is bool or names[i] in self._static:
                continue
            others = (i, kind, key[:i], key[i + 1:])
            self._alike[others] = self._alike.get(others, 0) + 1
            if self._alike[others] > _MANY and not self._told:
                self._told = True
                _LOGGER.warning("%s has %d programs that differ in the number `%s` alone, each compiled for its value: give an "
                                "array without dims, np.array(%s, np.float32) say, for one program of all values",
                                self._name(), self._alike[others], names[i], names[i])

    def _names(self, parameter: str, name: str, place: Any) -> list[str]:
        """Of the parts of a key, which _taken() appends in this order."""
        if parameter in self._static or not isinstance(place, _PLACES):
            return [name]
        parts = place.items() if isinstance(place, dict) else enumerate(place)
        return [name, *(each for key, value in parts for each in self._names(parameter, f"{name}[{key!r}]", value))]

    def _traced(self, places: dict[str, Any], kinds: list[Array]) -> _Entry:
        fusion = Fusion(_word(self._name(), set()) if self._name().isidentifier() else "f", mesh=self._mesh)
        tensors: list[Tensor] = [None] * len(kinds)  # type: ignore[list-item]
        taken: set[str] = set()
        donated: list[str] = []
        cuts: dict[int, Cuts] = {}
        for parameter, place in places.items():
            spread(self._shard.get(parameter), place, f"shard[{parameter!r}]", _Leaf, lambda leaf, each, _: cuts.update({leaf.index: each}))
            for name, index in _leaves(place, parameter):
                extents = self._extents(parameter, tuple(kinds[index].shape))
                tensors[index] = fusion.input(_word(name, taken), list(extents), kinds[index].dtype)
                cut(tensors[index], cuts.get(index, {}))
                if parameter in self._donate:
                    donated.append(tensors[index].name)
        result = self._call(fusion, places, tensors)
        names: list[str] = []
        seen: dict[int, tuple[_Leaf, Tensor]] = {}
        shape = self._returned(result, "return", fusion, tensors, names, seen, taken, self._cuts_of(result))
        if not names:
            raise TypeError(f"{self._name()} returned no tensor: {result!r}{self._instead(result, tensors)}")
        return _Entry(fusion, compile(fusion, **self._how), names, shape, donated)

    @staticmethod
    def _instead(result: Any, tensors: Sequence[Tensor]) -> str:
        if not tensors:
            return ": no argument is an array, and numbers are constants of the program; np.array(3, np.float32) is an input"
        return f"; did you mean to call it, {result.__name__}()?" if isinstance(result, (types.MethodType, types.BuiltinMethodType)) else ""

    def _cuts_of(self, result: Any) -> dict[int, Cuts]:
        """Of the tensors of a result, by identity."""
        cuts: dict[int, Cuts] = {}

        def put(tensor: Tensor, each: Cuts, path: str) -> None:
            if cuts.setdefault(id(tensor), each) != each:
                raise TypeError(f"{path} cuts a tensor that {self._name()} returns twice, and another way than before: cut it alike")

        spread(self._shard.get("return"), result, "shard['return']", Tensor, put)
        return cuts

    def _call(self, fusion: Fusion, places: dict[str, Any], tensors: Sequence[Tensor]) -> Any:
        bound = self._signature.bind_partial()
        for name, place in places.items():
            bound.arguments[name] = _filled(place, tensors)
        with tracing(fusion):
            return self._function(*bound.args, **bound.kwargs)

    def _returned(self, value: Any, name: str, fusion: Fusion, inputs: Sequence[Tensor], names: list[str],
                  seen: dict[int, tuple[_Leaf, Tensor]], taken: set[str], cuts: Mapping[int, Cuts]) -> Any:
        """The structure of a result; its tensors become outputs, each once."""
        if isinstance(value, dict):
            return {key: self._returned(each, f"{name}_{key}", fusion, inputs, names, seen, taken, cuts)
                    for key, each in value.items()}
        if isinstance(value, (tuple, list)):
            parts = [self._returned(each, f"{name}_{i}", fusion, inputs, names, seen, taken, cuts)
                     for i, each in enumerate(value)]
            return _like(value, parts)
        if not isinstance(value, Tensor):
            if _is_array(value) and not isinstance(value, _CONSTANTS):
                raise TypeError(f"{self._name()} returned an array, not a tensor of its graph: give it as an argument")
            return value
        if id(value) not in seen:
            is_input = any(value is each for each in inputs)
            given = ops.cast(value, value.dtype) if is_input else value  # an output has a name of its own
            cut(given, cuts.get(id(value), {}))
            names.append(_word(name, taken))
            fusion.output(names[-1], given)
            seen[id(value)] = (_Leaf(len(names) - 1), value)
        return seen[id(value)][0]


def _signature(function: Any) -> inspect.Signature:
    """TypeError for what is no function of arrays."""
    if not callable(function):
        raise TypeError(f"plait.jit takes a function, not {function!r}: arguments of its own are keywords, @plait.jit(static=...)")
    name = getattr(function, "__name__", type(function).__name__)
    for is_it, what in ((inspect.iscoroutinefunction, "a coroutine"), (inspect.isasyncgenfunction, "an asynchronous generator"),
                        (inspect.isgeneratorfunction, "a generator")):
        if is_it(function):
            raise TypeError(f"{name} is {what}: plait.jit takes a function that returns tensors")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        raise TypeError(f"{name} does not say its parameters: plait.jit(lambda x: {name}(x)) does") from None
    out = signature.parameters.get("out")
    if out is not None and out.kind in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY):
        raise TypeError(f"{name}{signature} has a parameter `out`, which is the call's own keyword: f(x, out=y) writes the result "
                        "into y. Give the parameter another name, or leave it out")
    return signature


def _by_parameter(what: str, given: Any, kind: Any) -> Mapping[str, Any]:
    """TypeError for anything but a dict of `kind`, in which parameters name what is theirs."""
    example = {"shapes": '{"x": ["rows", None]}, an entry for each dim', "shard": '{"x": {0: "tp"}}, axes of the mesh by dim'}[what]
    if not isinstance(given, Mapping):
        raise TypeError(f"{what} is {given!r}: give {what}={example}")
    for name, each in given.items():
        if not isinstance(each, kind):
            raise TypeError(f"{what}[{name!r}] is {each!r}: give {what}={example}")
    return given


def _names_of(what: str, given: Any) -> list[str]:
    """Of `static` and `donate`. TypeError for anything but names."""
    names = [given] if isinstance(given, str) else list(given) if isinstance(given, Iterable) else [given]
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"{what} has {name!r}: name parameters, {what}=[\"x\"]")
    return names


def _word(name: str, taken: set[str]) -> str:
    """As the text form writes names, each once."""
    word = "".join(each if each.isascii() and (each.isalnum() or each == "_") else "_" for each in name)
    word = word if word and not word[0].isdigit() else f"_{word}"
    out = word
    for number in itertools.count(1):
        if out not in taken:
            break
        out = f"{word}_{number}"
    taken.add(out)
    return out


def jit(function: Callable[..., Any] | None = None, *, shapes: Mapping[str, Extents] | None = None,
        static: Iterable[str] = (), donate: Iterable[str] = (), mesh: Mesh | str | None = None,
        shard: Mapping[str, Any] | None = None, **how: Any) -> Any:
    """Makes of a function of arrays one that runs as a compiled program.

        @plait.jit
        def attend(q, k, scale=1.0):
            return plait.ops.softmax(q @ k.permute([1, 0]) * scale)

    The function is called once for each kind of call, with tensors of a graph in place of arrays, which may stand in
    tuples, lists and dicts; what it returns, in any structure of these, is what the program gives, as `plait.Array`.
    Numbers, texts and None are constants of the program, and so are the arguments that `static` names: each value is a
    program of its own (an array without dims, `np.array(0.5, np.float32)`, is an input). Each shape is a
    kind of call of its own, but for extents that `shapes` names: `shapes={"q": ["rows", None]}` has one program for any
    number of rows. `shard={"q": {0: "dp"}, "return": {0: "dp"}}` cuts dims over axes of `mesh`; what is said of
    a tuple, list or dict holds for all arrays in it, or has its structure: `{"p": {"w": {0: "tp"}}}`. `how` goes to
    `plait.compile`: device, comm, ranks, sizes, options, dumps. `f(..., out=y)` writes the result into `y`, as `run`
    does; of several tensors `out` has the structure of the result, with None where nothing is given. Arrays of the parameters that `donate` names are given up in each call: results take their memory where they
    fit, and a `plait.Array` says so when it is read afterwards.

    The result has `fusion(*args)`, `program(*args)` (explain, dump, report), `programs()` and `clear()`. Called with
    tensors, inside of another such function, it adds its ops to theirs. Threads may share it.
    Raises TypeError for arguments that are neither, and for keywords that it does not have; what `plait.compile` and
    `run` raise.
    """
    for word in how:
        if word not in _COMPILE:
            raise TypeError(f"jit() has no parameter `{word}`{nearest(word, [*_JIT, *_COMPILE])}")
    if function is None:
        return functools.partial(jit, shapes=shapes, static=static, donate=donate, mesh=mesh, shard=shard, **how)
    return Jit(function, shapes={} if shapes is None else shapes, static=_names_of("static", static), donate=_names_of("donate", donate),
               mesh=mesh, shard={} if shard is None else shard, how=how)
