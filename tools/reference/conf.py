"""Sphinx's settings of the reference; tools/make_reference gives the version."""
import importlib.util
import os
import pathlib

from sphinx import addnodes

project = "plait"
version = release = os.environ["PLAIT_VERSION"]
copyright = "the authors of plait"
extensions = []
html_theme = "alabaster"
html_theme_options = {"description": f"Reference of version {version}", "fixed_sidebar": True, "page_width": "1100px",
                      "show_powered_by": False}
html_sidebars = {"**": ["about.html", "searchbox.html", "navigation.html"]}
html_copy_source = html_show_sourcelink = False
html_title = f"plait {version}"
html_show_copyright = False
html_last_updated_fmt = None
python_use_unqualified_type_names = True
add_module_names = smartquotes = False
toc_object_entries = False
highlight_language = "text"
maximum_signature_line_length = 100


def read_op(environment, signature, node):
    name, _, rest = signature.partition("(")
    node += addnodes.desc_name(name, name)
    node += addnodes.desc_annotation(rest, "(" + rest)
    return name


def setup(app):
    app.add_object_type("op", "op", objname="op", parse_node=read_op)
    lexer = pathlib.Path(os.environ["PLAIT_ROOT"]) / "python_bindings/plait/_pygments.py"
    spec = importlib.util.spec_from_file_location("plait_lexer", lexer)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    app.add_lexer("plait", module.PlaitLexer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
