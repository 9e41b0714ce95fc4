"""A page for each family of ops, an entry for each op: its line of text from the schema, and the words of docs/ops.md."""
import json
import re

import rst
from op_tables import tables

FAMILIES = {
    "pointwise": "Elementwise", "creation": "Creation", "contraction": "Contractions", "reduction": "Reductions",
    "movement": "Moves", "indexing": "Lookups and scatters", "composite": "Composites", "communication": "Between ranks",
    "local_move": "Within a rank",
}


def written(op):
    """`%y = op(%x, dim = ...)`."""
    arguments = []
    for it in op["parameters"]:
        if it["role"] in ("operand", "optional"):
            text = f"%{it['name']}" + ("..." if it["type"] == "tensors" else "")
        else:
            value = it["initial"] if it.get("initial") else f"%{it['name']}" if it["type"] == "tensor" else it["type"]
            text = f"{it['name']} = {value}"
        arguments.append(text if it["role"] in ("operand", "required") else f"[{text}]")
    return f"{op['name']}({', '.join(arguments)})"


class Pages:
    def __init__(self, root, schema):
        self.ops = json.loads(schema)["ops"]
        self.missing, self.names = [], [op["name"] for op in self.ops]
        text = (root / "docs/ops.md").read_text()
        self.words = {}
        for cells in tables(text, "pointwise_table"):
            for name in re.findall(r"(\w+)\(", cells[0]):
                self.words.setdefault(name, []).append(self.elementwise(cells))
        for cells in tables(text, "op_table"):
            for name in re.findall(r"(\w+)\(", cells[0]):
                self.words.setdefault(name, []).append("\n\n".join(filter(None, cells[1:])))

    @staticmethod
    def elementwise(cells):
        call, rule, meaning, special, error = cells[:5]
        return f"{call}: {meaning}." + (f"\n\nSpecial: {special}." if special else "") + \
            f"\n\nRule of types: {rule}. Error: {error} ulp."

    def pages(self):
        for family, name in FAMILIES.items():
            lines = [*rst.title(f"Ops: {name}")]
            for op in self.ops:
                if op["property"] != family:
                    continue
                words = "\n\n".join(self.words.get(op["name"], []))
                if not words:
                    self.missing.append(f"docs/ops.md: no row for {op['name']}")
                lines += ["", f".. op:: {written(op)}", *rst.body(words, "   "), ""]
                if op["results"] and len(op["results"]) > 1:
                    flag = f" with ``{op['with']}``" if op.get("with") else ""
                    lines += [f"   Results{flag}: {', '.join(f'``%{each}``' for each in op['results'])}.", ""]
            yield family, "\n".join(lines) + "\n"
