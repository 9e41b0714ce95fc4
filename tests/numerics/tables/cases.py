"""Cases of the tables: the call of an op, its operands, and what it must give."""
import json
import math
import re

import numpy as np
import torch

DTYPES = {
    "bool": torch.bool,
    "i8": torch.int8,
    "i16": torch.int16,
    "i32": torch.int32,
    "i64": torch.int64,
    "u8": torch.uint8,
    "u16": torch.uint16,
    "u32": torch.uint32,
    "u64": torch.uint64,
    "f8e4m3": torch.float8_e4m3fn,
    "f8e5m2": torch.float8_e5m2,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f32": torch.float32,
    "f64": torch.float64,
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}


def tensor(values, dtype="f64"):
    """A tensor of a dtype by its name; integers beyond 2^53 stay exact."""
    if isinstance(values, torch.Tensor):
        return values.to(DTYPES[dtype])
    if dtype in ("u16", "u32", "u64"):
        return torch.from_numpy(np.array(values, dtype="uint" + dtype[1:]))
    return torch.tensor(values, dtype=DTYPES[dtype])


def elements(t):
    """Numbers of a tensor as JSON has them; what it lacks as words."""
    name = NAMES[t.dtype]
    if name == "bool":
        return [int(v) for v in t.reshape(-1).tolist()]
    if not name.startswith(("f", "bf")):
        return [int(v) for v in t.contiguous().numpy().reshape(-1)]
    wide = t.reshape(-1).to(torch.float64).numpy()
    shortest = {"f64": np.float64, "f16": np.float16}.get(name, np.float32)
    out = []
    for v in wide:
        if math.isnan(v) or math.isinf(v):
            out.append(str(float(v)))
        else:
            value = float(str(shortest(v)))
            out.append(int(value) if value == int(value) and abs(value) < 1e6 and math.copysign(1, value) * value > 0
                       else value)
    return out


class Table:
    """Collects cases; equal tensors are stored once."""

    def __init__(self):
        self.tensors, self.cases, self.places = [], [], {}

    def place(self, t):
        line = json.dumps([NAMES[t.dtype], list(t.shape), elements(t)], separators=(",", ":"))
        if line not in self.places:
            self.places[line] = len(self.tensors)
            self.tensors.append(line)
        return self.places[line]

    def case(self, call, *operands, want, shapes=None, signs=False):
        """Operands are %a, %b ... of the call. shapes: their extents as text, by name, where they have symbols.
        signs: zeros of the result have the sign that is wanted."""
        row = {"call": call, "in": [self.place(t) for t in operands], "want": self.place(want)}
        if shapes:
            row["shapes"] = shapes
        if signs:
            row["signs"] = True
        self.cases.append(json.dumps(row, separators=(",", ":")))

    def write(self, path):
        text = '{"tensors":[\n' + ",\n".join(self.tensors) + '\n],"cases":[\n' + ",\n".join(self.cases) + "\n]}\n"
        path.write_text(text)
        print(f"{path.name}: {len(self.cases)} cases, {len(self.tensors)} tensors, {len(text)} bytes")

    def calls(self):
        """First words of all calls, with `approx` where it is told."""
        found = set()
        for case in self.cases:
            call = json.loads(case)["call"]
            name = re.search(r"(\w+)\(", call).group(1)
            approx = re.search(r"approx = (\w+)", call)
            found.add(name + ("_" + approx.group(1) if approx else ""))
        return found
