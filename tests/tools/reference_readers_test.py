#!/usr/bin/env python3
"""Readers of the reference: which words belong to what, what lacks them, and links that lead nowhere."""
import importlib.machinery
import importlib.util
import os
import pathlib
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
sys.dont_write_bytecode = True
sys.path[:0] = [str(TOOLS / "reference"), str(TOOLS)]
import c_pages  # noqa: E402
import cxx_pages  # noqa: E402
import cxx_reader  # noqa: E402
import rst  # noqa: E402

HEADER = """#pragma once
// What the file is.
#include "base/error.h"
namespace plait {

// A box.
// Of two lines.
template <class T>
class Box {
 public:
  Box() = default;
  explicit Box(int size) : size_{size}, other_(1) { fill({1, 2}); }
  // Milliseconds.
  int64_t width() const { return width_; }
  int64_t height() const;
  void open(std::function<void(int)> done = {}, int how = (1 + 2));  // or shut
  void locked();
  bool operator==(const Box&) const = default;

 private:
  int hidden();
  int size_ = 0, other_ = 1;
};

enum class Kind : uint8_t { small, large };  // how big
// Both are one.
int first(int a);
int second(int a, const char* text = "};");

int third();
struct Bare {
  int a = 0, b = 1;  // two
};
}  // namespace plait
"""


def by_name(declarations):
    return {each.name: each for each in declarations}


class Cxx(unittest.TestCase):
    def setUp(self):
        self.words, (space,) = cxx_reader.read(HEADER)
        self.found = by_name(space.members)

    def test_words(self):
        self.assertEqual(self.words, "What the file is.")
        self.assertEqual(list(self.found), ["Box", "Kind", "first", "second", "third", "Bare"])
        box = self.found["Box"]
        self.assertEqual((box.words, box.text), ("A box.\nOf two lines.", "template <class T> class Box"))
        members = by_name(box.members)
        self.assertEqual([members[name].words for name in ("width", "height", "open")], ["Milliseconds.", "", "or shut"])
        self.assertEqual(members["open"].text, "void open(std::function<void(int)> done = {}, int how = (1 + 2))")
        self.assertEqual([name for name, each in members.items() if not each.public], ["hidden", "size_"])
        self.assertEqual(self.found["Kind"].words, "how big")

    def test_what_lacks_words(self):
        with tempfile.TemporaryDirectory() as scratch:
            root = pathlib.Path(scratch)
            (root / "csrc").mkdir()
            (root / "csrc/a.h").write_text(HEADER)
            pages = cxx_pages.Pages(root)
            text = pages.page("a.h")
        self.assertEqual([each.split(": ")[1] for each in pages.missing],
                         ["plait::Box::locked has no words", "plait::third has no words", "plait::Bare has no words"])
        self.assertIn(".. cpp:function:: int first(int a)\n                  int second(int a", text)
        self.assertIn(".. cpp:enumerator:: large", text)
        self.assertIn("   .. cpp:member:: int a = 0\n                   int b = 1\n\n      two\n", text)
        self.assertNotIn("hidden", text)

    def test_public_headers(self):
        headers = cxx_pages.public_headers(TOOLS.parent)
        self.assertIn("plait.h", headers)
        self.assertIn("mesh/mesh.h", headers)
        self.assertNotIn("api/impl.h", headers)


class C(unittest.TestCase):
    def pages(self, text):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch) / "csrc/capi"
            folder.mkdir(parents=True)
            (folder / "plait_c.h").write_text("/* All. */\n#ifndef A\n#endif\n#define PLAIT_API a\n" + text + "#ifdef __cplusplus\n")
            return c_pages.Pages(folder.parents[1])

    def test_groups(self):
        pages = self.pages("""
/* ---- Boxes. Of wood. */
typedef struct plait_box {
  int64_t a, b; /* metres; both */
  int (*open)(void* user, int how); /* or shut */
} plait_box;

/* ---- Doors. */
PLAIT_API void plait_open(const plait_box* box); /* slowly; once */

PLAIT_API void plait_shut(void);
""")
        self.assertEqual([group.name for group in pages.groups], ["Versions and handles", "Boxes", "Doors"])
        self.assertEqual(pages.missing, ["csrc/capi/plait_c.h: plait_shut has no words"])
        text = "\n".join(pages.groups[1].lines)
        for line in ("c:struct:: plait_box", "c:member:: int64_t a", "c:member:: int64_t b",
                     "c:member:: int (*open)(void* user, int how)"):
            self.assertIn(line, text)
        self.assertIn("slowly; once", "\n".join(pages.groups[2].lines))


class Rst(unittest.TestCase):
    def test_inline(self):
        for words, made in [("a *b* `c d`.", "a \\*b\\* ``c d``."), ("x_ and |y|", "x\\_ and \\|y\\|"), ("snake_case", "snake_case"),
                            ("`f()`s", ":py:func:`f`\\ s"),
                            ("UserError: bad", ":py:exc:`UserError`: bad"), ("a plait.UserError", "a :py:exc:`UserError`")]:
            links = {"f": ":py:func:`f`", "UserError": ":py:exc:`UserError`"}
            self.assertEqual(rst.inline(words, links), made)

    def test_blocks(self):
        kinds = [kind for kind, _ in rst.blocks("A text\nof two lines:\n  code\n\n- one\n  more\n- two\n\n  code")]
        self.assertEqual(kinds, ["text", "code", "item", "item", "code"])


def make_reference():
    loader = importlib.machinery.SourceFileLoader("make_reference", str(TOOLS / "make_reference"))
    tool = importlib.util.module_from_spec(importlib.util.spec_from_loader("make_reference", loader))
    loader.exec_module(tool)
    return tool


class Package(unittest.TestCase):
    def test_which_are_current(self):
        is_current = make_reference().is_current
        with tempfile.TemporaryDirectory() as scratch:
            tree, package = pathlib.Path(scratch) / "tree", pathlib.Path(scratch) / "plait"
            files = [tree / "src/a.cpp", tree / "plait/__init__.py", package / "_plait.pyi", package / "__init__.py"]
            self.assertFalse(is_current(package, tree))
            for time, file in enumerate(files):
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text("")
                os.utime(file, (time, time))
            self.assertTrue(is_current(package, tree))
            os.utime(files[0], (9, 9))
            self.assertFalse(is_current(package, tree))
            os.utime(files[0], (0, 0))
            files[1].write_text("new")
            self.assertFalse(is_current(package, tree))
            files[3].unlink()
            self.assertFalse(is_current(package, tree))


class Links(unittest.TestCase):
    def test_broken(self):
        tool = make_reference()
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            (folder / "a.html").write_text('<p id="here"><a href="b.html#x"></a><a href="#here"></a><a href="b.html?q=1"></a>')
            (folder / "b.html").write_text('<a href="#no"></a><a href="c.html"></a><script src="https://b.c/d.js"></script>')
            self.assertEqual(tool.broken_links(folder), [
                "a.html: b.html#x leads nowhere", "b.html: #no leads nowhere", "b.html: c.html leads nowhere",
                "b.html: https://b.c/d.js leaves the reference"])


if __name__ == "__main__":
    unittest.main()
