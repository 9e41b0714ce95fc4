"""Pages of the Python package: modules, classes, plait.ops, from its sources and the stub of its extension; nothing is
imported."""
import ast
import inspect
import re

import rst

SHOWN = ("__init__", "__call__", "__getitem__", "__len__", "__iter__", "__enter__", "__exit__")  # of what begins with _
ERRORS = ("Error", "UserError", "BoundsError", "InternalError", "MissingError", "OutOfMemoryError", "CommError")


def parse(path):
    return ast.parse(path.read_text())


def public_names(tree):
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__":
            return ast.literal_eval(node.value)
    return []


class Pages:
    def __init__(self, package):
        self.package, self.missing, self.names = package, [], []
        self.init = parse(package / "__init__.py")
        self.public = public_names(self.init)
        self.trees = {"plait._plait": parse(package / "_plait.pyi"), "plait": self.init}
        self.links = {name: f":py:exc:`~plait.{name}`" for name in ERRORS}
        self.classes = {name for name in self.public if name[0].isupper()}
        self.links |= {name: f":py:class:`~plait.{name}`" for name in self.classes - set(ERRORS)}

    def origin(self, name, tree, module):
        """Nodes that define a name, and the module they stand in."""
        for node in tree.body:
            if isinstance(node, ast.ImportFrom) and name in [alias.name for alias in node.names]:
                return self.origin(name, self.tree(node.module), node.module)
        return [node for node in tree.body if getattr(node, "name", None) == name], module

    def tree(self, module):
        if module not in self.trees:
            path = self.package / "/".join(module.split(".")[1:])
            self.trees[module] = parse(path / "__init__.py" if path.is_dir() else path.with_suffix(".py"))
        return self.trees[module]

    def words(self, name, nodes):
        found = next((text for node in nodes if (text := ast.get_docstring(node))), "")
        self.names.append(name)
        if not found:
            self.missing.append(f"Python: {name} has no docstring")
        return inspect.cleandoc(found)

    def typed(self, node):
        """An annotation whose classes of plait are links."""
        text = ast.unparse(node).strip("'\"")
        return re.sub(r"(?<![\w.])(\w+)(?![\w(])", lambda m: f"plait.{m[1]}" if m[1] in self.classes else m[1], text)

    def signature(self, name, node, method):
        arguments = ast.parse(ast.unparse(node)).body[0].args
        for each in ast.walk(arguments):
            if isinstance(each, ast.arg) and each.annotation is not None:
                each.annotation = ast.parse(self.typed(each.annotation), mode="eval").body
        lists = (arguments.posonlyargs, arguments.args)
        static = any(isinstance(each, ast.Name) and each.id == "staticmethod" for each in node.decorator_list)
        if method and not static:
            next(each for each in lists if each).pop(0)
        text = ast.unparse(arguments)
        text = re.sub(r"^/, ?", "", text).removesuffix("/").rstrip(", ") if text.startswith("/") or text == "/" else text
        return f"{name}({text})" + (f" -> {self.typed(node.returns)}" if node.returns is not None else "")

    def function(self, name, nodes, prefix, indent="", directive="py:function", method=False):
        words = self.words(f"{prefix}.{name}", nodes)
        gap = " " * len(f".. {directive}:: ")
        texts = list(dict.fromkeys(self.signature(name, node, method) for node in nodes))
        return ["", f"{indent}.. {directive}:: {texts[0]}", *(f"{indent}{gap}{text}" for text in texts[1:]),
                *rst.body(words, indent + "   ", self.links), ""]

    def members(self, node, prefix):
        out, methods = [], {}
        for each in node.body:
            if isinstance(each, ast.FunctionDef):
                methods.setdefault(each.name, []).append(each)
        for name, nodes in methods.items():
            if name.startswith("_") and not (name in SHOWN and ast.get_docstring(nodes[0])):
                continue
            decorators = {ast.unparse(each) for node in nodes for each in node.decorator_list}
            if "property" in decorators:
                words = self.words(f"{prefix}.{name}", nodes)
                out += ["", f"   .. py:property:: {name}", f"      :type: {self.typed(nodes[0].returns)}",
                        *rst.body(words, "      ", self.links), ""]
            elif not any(each.endswith(".setter") for each in decorators):
                kind = "py:staticmethod" if "staticmethod" in decorators else "py:method"
                out += self.function(name, nodes, prefix, "   ", kind, method=True)
        for each in node.body:
            if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name) and each.targets[0].id[0] != "_":
                self.names.append(f"{prefix}.{each.targets[0].id}")
                out += ["", f"   .. py:attribute:: {each.targets[0].id}", ""]
        return out

    def type(self, name, node, prefix):
        full = f"{prefix}.{name}"
        directive = "py:exception" if name.endswith("Error") else "py:class"
        init = [each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"]
        told = bool(init) and ast.get_docstring(init[0]) is not None  # then it is a member with words of its own
        head = self.signature(name, init[0], True).partition(" -> ")[0] if init and not told else name
        bases = ", ".join(ast.unparse(base) for base in node.bases if ast.unparse(base) != "object")
        lines = ["", f".. {directive}:: {head}", *rst.body(self.words(full, [node]), "   ", self.links), ""]
        lines += [f"   Bases: ``{bases}``", ""] if bases else []
        return lines + self.members(node, full)

    def pages(self):
        """(name, text)."""
        functions, errors, dtypes = [], [], []
        types = {}
        for name in self.public:
            if name == "ops":
                continue
            nodes, _ = self.origin(name, self.init, "plait")
            if nodes and isinstance(nodes[0], ast.ClassDef):
                if name in ERRORS:
                    errors += self.type(name, nodes[0], "plait")
                else:
                    types[name] = self.type(name, nodes[0], "plait")
            elif nodes:
                functions += self.function(name, nodes, "plait")
            else:
                self.names.append(f"plait.{name}")
                dtypes += ["", f".. py:data:: {name}", "   :type: plait.DType", ""]
        head = ["", ".. py:currentmodule:: plait", ""]
        yield "plait", "\n".join([*rst.title("plait"), "", ".. py:module:: plait", "",
                                  *rst.body(ast.get_docstring(self.init, clean=False), "", self.links), "",
                                  *rst.title("Functions", "-"), *functions, *rst.title("Element types", "-"), *dtypes, ""])
        yield "errors", "\n".join([*rst.title("Errors"), *head, *rst.body(ast.get_docstring(self.tree("plait.errors"))), *errors])
        for name, lines in types.items():
            yield name, "\n".join([*rst.title(f"plait.{name}"), *head, *lines])
        yield self.module("plait.ops", [node.name for node in self.tree("plait.ops").body
                                        if isinstance(node, ast.FunctionDef) and node.name[0] != "_"])
        yield self.module("plait.torch", public_names(self.tree("plait.torch")))

    def module(self, module, names):
        tree = self.tree(module)
        lines = [*rst.title(module), "", f".. py:module:: {module}", "", *rst.body(ast.get_docstring(tree) or "", "", self.links)]
        for name in names:
            nodes, _ = self.origin(name, tree, module)
            lines += self.type(name, nodes[0], module) if isinstance(nodes[0], ast.ClassDef) else self.function(name, nodes, module)
        return module.split(".")[-1], "\n".join(lines) + "\n"
