#!/usr/bin/env python3
"""Shows that every check of tools/ accepts a good tree and refuses each kind of bad one."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parent.parent.parent / "tools"
sys.dont_write_bytecode = True
sys.path.insert(0, str(TOOLS))
import check_layers  # noqa: E402


class Tree(unittest.TestCase):
    """A tree of files in a scratch folder."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)

    def write(self, files):
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())

    def run_tool(self, script, *args):
        return subprocess.run([sys.executable, str(script), *map(str, args)], capture_output=True, text=True)

    def accepts(self, check, files):
        self.write(files)
        result = self.run_tool(TOOLS / check, self.root)
        self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)

    def refuses(self, check, file, text, message):
        """The tree is good without `file`, and refused with it by a line that names the file."""
        self.write({file: text})
        result = self.run_tool(TOOLS / check, self.root)
        (self.root / file).unlink()
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertIn(message, result.stdout)
        self.assertIn(file.split("/")[-1], result.stdout)


class Layers(Tree):
    CHECK = "check_layers.py"

    def setUp(self):
        super().setUp()
        self.write({f"csrc/{folder}/all.h": "".join(f'#include "{used}/all.h"\n' for used in names)
                    for folder, names in check_layers.USES.items()})

    def test_allowed(self):
        self.accepts(self.CHECK, {
            "csrc/base/a.h": "#include <vector>\n",
            "csrc/lower/a.cpp": '#include "base/a.h"\n#include "ir/a.h"\n#include "kir/a.h"\n#include <fmt/core.h>\n',
            "csrc/compile/pipeline.cpp": '#include "shard/a.h"\n',
            "csrc/api/compiled.cpp": '#include "session/a.h"\n#include "plait.h"\n',
            "csrc/capi/a.cpp": '#include "plait.h"\n#include "ir/a.h"\n',
            "csrc/backend/cpu/llvm_plugin/a.cpp": '#include "backend/cpu/llvm_plugin/a.h"\n#include "llvm/IR/Type.h"\n',
            "csrc/backend/cuda/a.cpp": '#include "cuda_abi/nvrtc.h"\n',
            "csrc/sim/a.cpp": '#include "cuda_abi/driver.h"\n',
        })

    def test_refused(self):
        for file, line, message in [
            ("csrc/ir/bad.h", '#include "build/a.h"\n', "ir may not use build"),
            ("csrc/base/bad.h", '#include "sym/a.h"\n', "base may not use sym"),
            ("csrc/kir/bad.h", '#include "ir/a.h"\n', "kir may not use ir"),
            ("csrc/shard/bad.cpp", '#include "schedule/a.h"\n', "shard may not use schedule"),
            ("csrc/ir/bad.h", '#include "plait.h"\n', "ir may not use api"),
            ("csrc/compile/bad.cpp", '#include "session/a.h"\n', "compile may not use session"),
            ("csrc/bad.h", "\n", "no folder of the layers"),
            ("csrc/ir/bad.h", "#include <sym/a.h>\n", "with quotes"),
            ("csrc/ir/bad.h", '#include "sibling.h"\n', "no folder of the layers"),
            ("csrc/ir/bad.h", '#include "nowhere/a.h"\n', "no folder of the layers"),
            ("csrc/extra/bad.h", "\n", "no folder of the layers"),
            ("csrc/backend/cpu/bad.cpp", '#include "llvm/IR/Type.h"\n', "may not be included here"),
            ("csrc/backend/cpu/bad.cpp", "#include <oneapi/dnnl/dnnl.h>\n", "may not be included here"),
            ("csrc/backend/cpu/llvm_plugin/bad.cpp", '#include "base/error.h"\n', "its own headers only"),
            ("csrc/backend/cuda/bad.cpp", "#include <cuda.h>\n", "may not be included here"),
            ("csrc/sim/bad.cpp", "#include <nvtx3/nvToolsExt.h>\n", "may not be included here"),
            ("csrc/device/bad.h", '#include "cuda_abi/driver.h"\n', "device may not use cuda_abi"),
            ("csrc/base/bad.h", "#include <nlohmann/json.hpp>\n", "may not be included here"),
            ("csrc/base/bad.cpp", "#include <gtest/gtest.h>\n", "may not be included here"),
            ("csrc/build/bad.h", '#include "graph/a.h"\n', "build may not use graph"),
        ]:
            with self.subTest(line):
                self.refuses(self.CHECK, file, line, message)

    def test_what_is_named_is_used(self):
        for folder, names in check_layers.USES.items():
            for name in names:
                with self.subTest(f"{folder} {name}"):
                    text = (self.root / f"csrc/{folder}/all.h").read_text()
                    self.write({f"csrc/{folder}/all.h": text.replace(f'#include "{name}/all.h"\n', "")})
                    result = self.run_tool(TOOLS / self.CHECK, self.root)
                    self.write({f"csrc/{folder}/all.h": text})
                    self.assertEqual((result.returncode, len(result.stdout.splitlines())), (1, 1), result.stdout)
                    self.assertIn(f"no file of {folder} includes one of {name},", result.stdout)


class Sizes(Tree):
    CHECK = "check_sizes.py"

    def body(self, lines):
        """A function's braces over that many lines."""
        return "{\n" + "  f();\n" * (lines - 2) + "}\n"

    def test_allowed(self):
        self.accepts(self.CHECK, {
            "csrc/a.cpp": "int f(int a = g()) " + self.body(60) + "struct S {\n" + "  int x;\n" * 100 + "};\n",
            "csrc/b.cpp": "namespace a {\n" + "int f();\n" * 100 + "}\nconst int t[] = {\n" + "  1,\n" * 100 + "};\n",
            "csrc/c.cpp": "void f() {\n" + "}\nvoid g() { h(R\"({{{)\"); k('{'); /* { */\n" * 70 + "}\n",
            "tests/d.cpp": "\n" * 600,
        })

    def test_refused(self):
        for header in [
            "int f() ", "TEST(Suite, Name) ", "namespace n {\nstatic auto f(std::vector<int> v = {}) -> int ",
            "struct S {\n  S() : a_(1), b_{2} ", "S::S(int x) noexcept(true) : S{x} ", "template <class T, int n = 3>\nT f(T x) ",
            "bool operator==(const S& a, const S& b) ", "auto f = [](int x) ", 'extern "C" int f(struct S* s) ',
            "template <class T>\n  requires(sizeof(T) > 4)\nvoid f() ",
        ]:
            with self.subTest(header):
                self.refuses(self.CHECK, "csrc/bad.cpp", header + self.body(61), "has 61 lines, 60 allowed")
        self.refuses(self.CHECK, "csrc/bad.h", "\n" * 601, "has 601 lines, 600 allowed")
        self.refuses(self.CHECK, "tools/bad.py", "\n" * 601, "has 601 lines, 600 allowed")


class Text(Tree):
    CHECK = "check_text.py"

    def test_allowed(self):
        self.accepts(self.CHECK, {
            "csrc/base/environment.cpp": "auto x = get" + "env(name);\n",
            "csrc/a.cpp": "// get" + "env and dynamic_cast are words here\n#ifdef __GNUC__\n#endif\n",
            "csrc/backend/cuda/a.cpp": "#if CUDA_VERSION >= 13000\n#endif\n",
            "docs/a.md": "text of `kir/a.h`, `csrc/a.cpp`, `docs/empty.md`, `b/c.md`, old/gone.h; `include/plait_c.h`\n",
            "docs/empty.md": "",
            "docs/b/c.md": "",
            "csrc/kir/a.h": "// As kir/a.h and csrc/kir/*.h, docs/a.md; support/a.h (a.h), `FOLDER/a.h`, {}/gone/a.h.\n"
                            "const char* text = \"kir/gone.h\";\n",
            "tests/support/a.h": "/* csrc/a.cpp:\n kir/a.h */\n",
            "build/a.md": "`kir/gone.h`\n",
        })

    def test_refused(self):
        for file, text, message in [
            ("docs/bad.md", "a \u2192 b\n", "not ASCII"),
            ("docs/bad.md", b"\xff\n", "not text"),
            ("docs/bad.md", "a\tb\n", "a tab"),
            ("docs/bad.md", "a \n", "trailing blanks"),
            ("docs/bad.md", "a\r\n", "trailing blanks"),
            ("docs/bad.md", "a", "no newline"),
            ("csrc/bad.cpp", "// TO" + "DO later\n", "unfinished"),
            ("tools/bad.py", "# FIX" + "ME\n", "unfinished"),
            ("csrc/bad.cpp", "x = std::get" + "env(y);\n", "environment"),
            ("tools/bad.cpp", "x = std::get" + "env(y);\n", "environment"),
            ("csrc/bad.h", "x = dynamic_cast<T*>(y);\n", "dynamic_cast"),
            ("csrc/bad.h", "x = typeid(y);\n", "dynamic_cast"),
            ("csrc/bad.h", "#ifdef PLAIT_CUDA\n", "no #if by backend"),
            ("csrc/bad.h", "#  if defined(USE_LLVM)\n", "no #if by backend"),
            ("csrc/bad.h", "\n// As in (kir/gone.cpp).\n", "bad.h:2: kir/gone.cpp is not there"),
            ("csrc/bad.h", "/* a\n * docs/gone.md */\n", "bad.h:2: docs/gone.md is not there"),
            ("csrc/build/bad.def", "// kir/gone.h\n", "kir/gone.h is not there"),
            ("tests/bad.cpp", "int x;  // tools/gone.py: how\n", "tools/gone.py is not there"),
            ("docs/bad.md", "a\n`kir/gone.h`\n", "bad.md:2: kir/gone.h is not there"),
        ]:
            with self.subTest(text):
                self.refuses(self.CHECK, file, text, message)


class Format(Tree):
    def test_both(self):
        if shutil.which("clang-format-19") is None:
            self.skipTest("clang-format-19 is not installed")
        self.accepts("check_format.py", {"csrc/a.cpp": "int f() { return 1; }\n"})
        self.write({"csrc/a.cpp": "int f( ) { return 1; }\n"})
        self.assertEqual(self.run_tool(TOOLS / "check_format.py", self.root).returncode, 1)
        self.assertEqual(self.run_tool(TOOLS / "check_format.py", "--fix", self.root).returncode, 0)
        self.accepts("check_format.py", {})


class Tidy(Tree):
    def test_both(self):
        if shutil.which("clang-tidy-19") is None:
            self.skipTest("clang-tidy-19 is not installed")
        source = self.root / "a.cpp"
        self.write({".clang-tidy": (TOOLS.parent / ".clang-tidy").read_text(), "a.h": "int twice(int x);\n",
                    "a.cpp": '#include "a.h"\nint twice(int x) { return 2 * x; }\n'})
        (self.root / "compile_commands.json").write_text(json.dumps(
            [{"directory": str(self.root), "file": "a.cpp", "command": f"c++ -Werror -Wno-error=maybe-uninitialized -o a.o -c {source}"}]))

        def run():
            return self.run_tool(TOOLS / "check_tidy.py", "--build", self.root, source)

        first = run()
        self.assertEqual((first.returncode, first.stdout.splitlines()[0]), (0, "1 sources in 1 units, 0 known to be clean"))
        self.assertIn("1 known", run().stdout)
        self.write({"a.h": "int twice(int x);\ninline int Thrice(int x) { return 3 * x; }\n"})
        self.write({"a.cpp": '#include "a.h"\nint twice(int x) { return Thrice(x) - x; }\n'})
        bad = run()
        self.assertEqual(bad.returncode, 0, bad.stdout)  # the header is not below csrc, tests, benchmarks or tools
        self.write({"a.cpp": "int twice(int X) { return 2 * X; }\n"})
        bad = run()
        self.assertEqual(bad.returncode, 1)
        self.assertIn("readability-identifier-naming", bad.stdout)
        self.assertEqual(run().returncode, 1)
        self.assertEqual(self.run_tool(TOOLS / "check_tidy.py", "--build", self.root, self.root / "b").returncode, 2)

    def test_united(self):
        if shutil.which("clang-tidy-19") is None:
            self.skipTest("clang-tidy-19 is not installed")
        first, second, united = self.root / "csrc/a.cpp", self.root / "csrc/b.cpp", self.root / "u.cxx"
        good = "int one();\nint one() { return 1; }\n"
        self.write({".clang-tidy": (TOOLS.parent / ".clang-tidy").read_text(), "csrc/a.cpp": good, "csrc/b.cpp": "",
                    "u.cxx": f'#include "{first}"\n\n#include "{second}"\n'})
        (self.root / "compile_commands.json").write_text(json.dumps(
            [{"directory": str(self.root), "file": "u.cxx", "command": f"c++ -o u.o -c {united}"}]))

        def says(text, *messages):
            self.write({"csrc/b.cpp": text})
            run = self.run_tool(TOOLS / "check_tidy.py", "--build", self.root, second)
            self.assertEqual(run.returncode, 1 if messages else 0, run.stdout)
            for message in messages:
                self.assertIn(message, run.stdout)

        says("int two();\nint two() { return 2; }\n")
        says("int two();\nint two() { return 2 * one(); }\n", "was not declared in this scope")
        says("int Two();\nint Two() { return 2; }\n", "readability-identifier-naming")
        says("int two(bool no);\nint two(bool no) {\n  int x = 1;\n  int* p = no ? nullptr : &x;\n  return *p;\n}\n",
             "clang-analyzer-core.NullDereference")


class FileLists(Tree):
    def test_both(self):
        script = self.root / "tools/check_file_lists.py"
        self.write({"csrc/base/a.cpp": "", "tests/unit/base/a_test.cpp": "", "tools/check_file_lists.py":
                    (TOOLS / "check_file_lists.py").read_text()})
        self.assertEqual(self.run_tool(script).returncode, 1)
        self.assertEqual(self.run_tool(script, "--fix").returncode, 0)
        self.assertEqual(self.run_tool(script).returncode, 0)
        self.write({"tests/unit/base/b_test.cpp": ""})
        self.assertEqual(self.run_tool(script).returncode, 1)


class Docs(Tree):
    def check(self, text, *args):
        self.write({"a.md": text, "bin/tool": "#!/bin/sh\necho one\necho two\n",
                    "bin/plait": "#!/bin/sh\necho well\n",
                    "bin/plait_with_bugs": "#!/bin/sh\necho wrong >&2\necho $PLAIT_TEST_BUG\nexit 2\n"})
        for program in ("tool", "plait", "plait_with_bugs"):
            (self.root / "bin" / program).chmod(0o755)
        return self.run_tool(TOOLS / "check_docs.py", *args, "--binary-dir", self.root / "bin", self.root / "a.md")

    def test_allowed(self):
        for text in [
            "```sh\ntool\n```\n```output\none\ntwo\n```\n", "```sh\nbuild/release/tool\n```\n\n```output\n...\ntwo\n```\n",
            "```sh no-run: needs a GPU\nfalse\n```\n", "```cpp\nfalse\n```\n",
            "<!-- generated: tool -->\none\ntwo\n<!-- end -->\n",
            "<!-- checked: exit 3 -->\n```sh\nfalse\ntool\nexit 3\n```\n```output\none\ntwo\n```\n",
            "<!-- checked: filter tail -n 1; cat -->\n```sh\ntool\n```\n```output\ntwo\n```\n",
            "<!-- checked: bug b; exit 2 -->\n```sh\nplait\n```\n```output\nb\n```\n```sh\nplait\n```\n```output\nwell\n```\n",
            "<!-- checked: exit 2; bug b; stderr; filter sort -->\n```sh\nplait\n```\n```output\nb\nwrong\n```\n",
        ]:
            with self.subTest(text):
                result = self.check(text)
                self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_refused(self):
        for text, message in [
            ("```sh\nfalse\ntrue\n```\n", "exit status 1"),
            ("```sh\nno-such-command\n```\n", "exit status 127"),
            ("```sh\ntool\n```\n```output\none\n```\n", "printed something else"),
            ("```sh no-run\ntool\n```\n", "needs a reason"),
            ("<!-- checked: exit 1 -->\n```sh\ntool\n```\n", "exit status 0"),
            ("<!-- checked: filter tail -n 1 -->\n```sh\ntool\n```\n```output\none\n```\n", "printed something else"),
            ("<!-- checked: quietly -->\n```sh\ntool\n```\n", "knows no `quietly`"),
            ("<!-- checked: exit 1 -->\n```cpp\nfalse\n```\n", "above a block that is not run"),
            ("<!-- generated: tool -->\none\n<!-- end -->\n", "prints something else"),
            ("<!-- generated: false -->\n<!-- end -->\n", "exit status 1"),
        ]:
            with self.subTest(text):
                result = self.check(text)
                self.assertEqual(result.returncode, 1, result.stderr)
                self.assertIn(message, result.stdout)

    def test_fix(self):
        self.assertEqual(self.check("<!-- generated: tool -->\n<!-- end -->\n", "--fix").returncode, 0)
        self.assertEqual((self.root / "a.md").read_text(), "<!-- generated: tool -->\none\ntwo\n<!-- end -->\n")


class Grammars(Tree):
    """A word that is new in a list or a parser is asked for, and every file that is made is compared."""
    TOOL = TOOLS / "make_grammars.py"

    def setUp(self):
        super().setUp()
        for folder in ("csrc", "editors"):
            shutil.copytree(TOOLS.parent / folder, self.root / folder)
        self.write({name: (TOOLS.parent / name).read_text() for name in ("pyproject.toml", "python_bindings/plait/_pygments.py")})

    def check(self):
        result = self.run_tool(self.TOOL, "--check", self.root)
        return result.returncode, result.stdout

    def check_changed(self, file, old, new):
        """The check with a file that says `new`, and then says `old` again."""
        path = self.root / file
        text = path.read_text()
        self.assertIn(old, text)
        path.write_text(text.replace(old, new))
        status, said = self.check()
        path.write_text(text)
        self.assertEqual(status, 1)
        return said

    def test_new_words(self):
        self.assertEqual(self.check(), (0, ""))
        for file, old, new in [
            ("csrc/ir/ops.def", "PLAIT_OP(Flip, flip, movement)", "PLAIT_OP(Turn, turn, movement)"),
            ("csrc/scalar/dtype.def", "X(f64, f64, 64, floating)", "X(f64, f65, 64, floating)"),
            ("csrc/kir/stmts.def", "PLAIT_STMT(Bind, bind, none)", "PLAIT_STMT(Bind, tie, none)"),
            ("csrc/ir/parse.cpp", 'accept("joins")', 'accept("meets")'),
            ("csrc/ir/schedule.h", 'fn("inline"', 'fn("within"'),
        ]:
            with self.subTest(file):
                said = self.check_changed(file, old, new)
                for made in ("plait.tmLanguage.json", "vim/syntax/plait.vim", "_pygments.py"):
                    self.assertIn(made, said)

    def test_sources_that_are_read_no_longer(self):
        for file, old, new in [
            ("csrc/ir/ops.def", "PLAIT_OP(", "PLAIT_NODE("),
            ("csrc/kir/kernel.cpp", "string_view name(Space ", "string_view text(Space "),
            ("csrc/ir/parse.cpp", '("', '( "'),
            ("csrc/ir/schedule.h", "struct ManualTensor {", "struct Placement {"),
            ("csrc/ir/schedule.h", 'fn("', 'fn( "'),
            ("csrc/sym/pool.cpp", "> kWords = {", "> kNames = {"),
        ]:
            with self.subTest(new):
                said = self.check_changed(file, old, new)
                self.assertRegex(said, f"^{file}: nothing matches .*; editors/grammar.py reads words there\n$")

    def test_made_by_hand(self):
        path = self.root / "editors/vim/ftplugin/plait.vim"
        path.write_text(path.read_text() + "setlocal spell\n")
        self.assertIn("ftplugin/plait.vim is not what editors/grammar.py says", self.check()[1])
        self.assertEqual(self.run_tool(self.TOOL, self.root).returncode, 0)
        self.assertEqual(self.check(), (0, ""))


class Report(Tree):
    CASES = {
        "passed": '<testcase name="a" status="run"/>',
        "failed": '<testcase name="b" status="fail"><failure/></testcase>',
        "absent": '<testcase name="c" status="notrun"><skipped message="Unable to find executable"/></testcase>',
        "skipped": '<testcase name="d" status="notrun"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/></testcase>',
    }

    def report(self, cases, *args):
        self.write({"ci/junit.xml": "<testsuite>" + "".join(self.CASES[c] for c in cases) + "</testsuite>"})
        result = self.run_tool(TOOLS / "test_report.py", *args, self.root / "ci/junit.xml")
        return result.returncode, result.stdout.splitlines()

    def test_counts(self):
        for cases, status, last in [
            (["passed"], 0, "1 passed, 0 failed, 0 skipped"),
            (["passed", "skipped"], 0, "1 passed, 0 failed, 1 skipped"),
            (["passed", "failed"], 1, "1 passed, 1 failed, 0 skipped"),
            (["passed", "absent"], 1, "1 passed, 1 failed, 0 skipped"),
            (["skipped"], 1, "0 passed, 0 failed, 1 skipped"),
            ([], 1, "0 passed, 0 failed, 0 skipped"),
        ]:
            with self.subTest(cases):
                got, lines = self.report(cases)
                self.assertEqual((got, lines[-1]), (status, last))
        self.assertIn("failed: ci: b", self.report(["passed", "failed"])[1])

    def test_cut_off(self):
        self.write({"asan/junit.xml": "<testsuite><testcase name="})
        status, lines = self.report(["passed"], self.root / "asan/junit.xml")
        self.assertEqual((status, lines[-1]), (1, "1 passed, 1 failed, 0 skipped"))

    def test_broken_preset(self):
        self.write({"skipped.txt": "wheel: no index\n"})
        status, lines = self.report(["passed"], "--skipped", self.root / "skipped.txt", "--broken", "asan", "--")
        self.assertEqual((status, lines[-1]), (1, "1 passed, 1 failed, 0 skipped"))
        self.assertIn("not installed: wheel: no index", lines)


if __name__ == "__main__":
    unittest.main()
