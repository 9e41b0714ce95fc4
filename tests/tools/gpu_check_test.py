#!/usr/bin/env python3
"""Shows what tools/gpu_check does without a GPU, and, with programs that only pretend, what it does with one."""
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TOOL = ROOT / "tools/gpu_check"


def load():
    loader = importlib.machinery.SourceFileLoader("gpu_check", str(TOOL))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("gpu_check", loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


gpu_check = load()

# A test program: a test passes, is skipped, fails, or ends the process, by its name.
FAKE_TESTS = """#!/usr/bin/python3
import sys
names = ["Good", "Skipped", "Bad", "Crash", "After"]
if "--gtest_list_tests" in sys.argv:
    print("Cuda.\\n" + "\\n".join("  " + n for n in names) + "\\nOther.\\n  Plain\\n  WithCuda/0  # GetParam() = 1")
    sys.exit(0)
wanted = [w for w in sys.argv if w.startswith("--gtest_filter=")][0].split("=")[1].split(":")
for name in wanted:
    print(f"[ RUN      ] {name}", flush=True)
    kind = name.split(".")[1]
    if kind == "Crash":
        sys.exit(139)
    if kind == "Skipped":
        print("a_test.cpp:3: Skipped\\nno peer access\\n")
    if kind == "Bad":
        print("a_test.cpp:5: Failure\\n1 is not 2")
    word = {"Skipped": " SKIPPED", "Bad": " FAILED "}.get(kind, "      OK")
    print(f"[ {word} ] {name} (0 ms)")
"""

# The command: writes outputs of equal bits, but those named WRONG, which depend on the device. NCCL is not there.
FAKE_PLAIT = """#!/usr/bin/python3
import sys
words = sys.argv[1:]
if words[0] in ("doctor", "--version"):
    print("plait 0.1.0")
    sys.exit(0)
device = words[words.index("--device") + 1]
if "--comm" in words:
    print("error: NCCL is not there", file=sys.stderr)
    sys.exit(3)
for name, value in (w.split("=", 1) for w in words if ".npy" in w):
    head = b"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\\n"
    data = b"\\0\\0\\x80\\x3f" + (b"\\0\\0\\0\\x40" if device == "cuda" or name != "WRONG" else b"\\1\\0\\0\\x40")
    open(value, "wb").write(b"\\x93NUMPY\\1\\0" + len(head).to_bytes(2, "little") + head + data)
"""


class Without(unittest.TestCase):
    def run_tool(self, *words):
        return subprocess.run([sys.executable, str(TOOL), *words], capture_output=True, text=True)

    def test_no_gpu(self):
        gpu, why_not = gpu_check.find_gpu()
        if gpu:
            self.skipTest("this machine has a GPU")
        with tempfile.TemporaryDirectory() as folder:
            result = self.run_tool("--results", f"{folder}/out.json")
            self.assertEqual((result.returncode, result.stdout), (3, ""))
            self.assertEqual(result.stderr, f"gpu_check: no GPU: {why_not}\n")
            self.assertFalse(pathlib.Path(f"{folder}/out.json").exists())

    def test_dry_run(self):
        result = self.run_tool("--dry-run")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        for words in ("compare: ", "--device sim:sm_90a", "compute-sanitizer --tool memcheck", "benchmarks/gpu/driver.py",
                      "NCCL_MULTI_RANK_GPU_ENABLE=1", "kernels: ",
                      "run tests/fusions/softmax.plait --device cuda --set T=bf16 --set rows=5 --set n=37 --check",
                      "--tool racecheck --error-exitcode 86"):
            self.assertIn(words, result.stdout)
        raced = [line for line in result.stdout.splitlines() if "racecheck" in line and "tests/fusions" in line]
        self.assertEqual(len(raced), len(gpu_check.COOPERATING) + 3)  # three dtypes of contractions

    def test_only(self):
        self.assertEqual(self.run_tool("--dry-run", "--only", "ranks,compare").returncode, 0)
        result = self.run_tool("--only", "rank")
        self.assertEqual(result.returncode, 2)
        self.assertIn("there is no part rank", result.stderr)

    def test_a_library_that_is_no_driver(self):
        self.assertEqual(gpu_check.find_gpu("libnowhere.so")[1], "libnowhere.so is not there")


class Pretended(unittest.TestCase):
    GPU = gpu_check.Gpu("NVIDIA Pretended", (9, 0), 141 << 30, 13000, 1)

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        for name, text in (("plait", FAKE_PLAIT), ("plait_test_unit_backend_cuda", FAKE_TESTS),
                           ("plait_test_unit_program", FAKE_TESTS)):
            (self.folder / name).write_text(text)
            (self.folder / name).chmod(0o755)

    def items(self, part):
        return list(gpu_check.Check(self.folder, self.GPU).part(part))

    def test_tests(self):
        found = {i["name"]: i for i in self.items("tests")}
        # Of the second program only those that name cuda.
        self.assertEqual(set(found), {f"unit_backend_cuda/Cuda.{n}" for n in ("Good", "Skipped", "Bad", "Crash", "After")}
                         | {"unit_backend_cuda/Other.Plain", "unit_backend_cuda/Other.WithCuda/0"}
                         | {f"unit_program/Cuda.{n}" for n in ("Good", "Skipped", "Bad", "Crash", "After")}
                         | {"unit_program/Other.WithCuda/0"})
        by_name = {name.split(".")[1]: i for name, i in found.items() if name.startswith("unit_backend_cuda/Cuda")}
        self.assertEqual({name: i["status"] for name, i in by_name.items()},
                         {"Good": "ok", "Skipped": "skipped", "Bad": "failed", "Crash": "failed", "After": "ok"})
        self.assertEqual(by_name["Skipped"]["reason"], "no peer access")
        self.assertIn("1 is not 2", by_name["Bad"]["reason"])
        self.assertIn("exit status 139", by_name["Crash"]["reason"])

    def test_compare(self):
        items = self.items("compare")
        self.assertTrue(items)
        self.assertEqual({i["status"] for i in items}, {"ok"})
        self.assertEqual([i["equal_elements"] for i in items if i["name"] == "simple_add exact integers"], [{"c": 1.0}])
        plait = self.folder / "plait"
        plait.write_text(plait.read_text().replace("WRONG", "c"))
        wrong = [i for i in self.items("compare") if i["status"] == "failed"]
        self.assertEqual([i["name"] for i in wrong], ["simple_add exact integers", "simple_add"])
        self.assertEqual((wrong[0]["reason"], wrong[0]["equal_elements"]), ("other bits: c", {"c": 0.5}))

    def test_kernels(self):
        done = gpu_check.Result(0, "", 0)
        items = list(gpu_check.Check(self.folder, self.GPU, runner=lambda *_: done).part("kernels"))
        files = list((ROOT / "tests/fusions").glob("*.plait"))
        own = [i for i in items if i["name"].endswith(" own contractions")]
        self.assertEqual(len(own), 3 * len(gpu_check.CONTRACTING))
        self.assertEqual((len(items) - len(own), {i["status"] for i in items}), (3 * len(files), {"ok"}))

    def test_simulated(self):
        (self.folder / "hardware").mkdir()
        (self.folder / "hardware/libplait_sim_cuda.so").write_text("the driver of the machine")
        names = ["OnSim.A", "Of.sim_80", "Of.cpu", "MetersOnSim.B", "OnSim.LongRun", *(f"OnSim.C{n}" for n in range(20))]
        suites = "".join(f"{name.split('.')[0]}.\n  {name.split('.')[1]}\n" for name in names)
        ran = []

        def runner(command, limit, environment=None):
            if command[1:] == ["doctor"]:
                return gpu_check.Result(0, "cuBLASLt            13.1.1           /opt/libcublasLt.so.13 (CUDA_HOME)\n", 0)
            if "--gtest_list_tests" in command:
                return gpu_check.Result(0, suites, 0)
            there = pathlib.Path(command[0]).parent
            self.assertEqual((there / "libplait_sim_cuda.so").read_text(), "the driver of the machine")
            self.assertEqual((there / "libplait_sim_cublaslt.so").readlink(), pathlib.Path("/opt/libcublasLt.so.13"))
            tests = command[1].removeprefix("--gtest_filter=").split(":")
            self.assertLessEqual(len(tests), gpu_check.FEW)
            ran.extend(tests)
            return gpu_check.Result(0, "".join(f"[ RUN      ] {t}\n[       OK ] {t} (0 ms)\n" for t in tests), 0)

        check = gpu_check.Check(self.folder, self.GPU, runner=runner, jobs=3)
        self.assertEqual([i["status"] for i in check.part("simulated")], ["skipped"])  # no such tests
        for name in ("numerics", "fuzz"):
            (self.folder / f"plait_test_{name}").write_text("")
        items = list(check.part("simulated"))
        wanted = ["OnSim.A", "Of.sim_80", *(f"OnSim.C{n}" for n in range(20))]
        self.assertEqual(sorted(ran), sorted(2 * wanted))
        self.assertEqual((len(items), {i["status"] for i in items}), (2 * len(wanted), {"ok"}))

    def test_other_hardware_is_not_compared(self):
        other = gpu_check.Gpu("NVIDIA Other", (12, 0), 1 << 30, 13000, 1)
        items = list(gpu_check.Check(self.folder, other).part("compare"))
        self.assertEqual([i["status"] for i in items], ["skipped"])

    def test_programs(self):
        items = self.items("programs")
        self.assertEqual({i["status"] for i in items}, {"ok"})
        self.assertIn("tp_mlp f64 cuda_graph=true", [i["name"] for i in items])

    def test_missing_parts_are_skips(self):
        items = self.items("ranks")
        self.assertEqual({i["status"] for i in items}, {"skipped"})
        self.assertEqual({i["reason"] for i in items}, {"error: NCCL is not there"})

    def test_written(self):
        items = self.items("tests") + self.items("compare")
        bench = {"rows": [{"row": "copy", "plait_gb_s": 4300.0}]}
        out = gpu_check.report(items, self.GPU, {"clocks.sm": "345 MHz"}, None, {"plait": "0.1.0"}, 12.34, bench)
        file = self.folder / "results/2026-11-21_gpu.json"
        gpu_check.machine.write_json(file, out)
        read = json.loads(file.read_text())
        self.assertEqual(read, json.loads(json.dumps(out)))
        self.assertEqual(list(file.parent.iterdir()), [file])
        self.assertEqual(read["gpu"], {"name": "NVIDIA Pretended", "compute_capability": "9.0", "count": 1,
                                       "memory_mib": 141 << 10, "driver_cuda": "13.0"})
        self.assertEqual(read["clocks"], {"before": {"clocks.sm": "345 MHz"}, "after": None})
        self.assertEqual(sum(read["summary"].values()), len(items))
        self.assertEqual(read["benchmarks"], bench)
        for key in ("date", "commit", "machine", "versions", "seconds", "parts"):
            self.assertIn(key, read)

    def run_whole(self, file, parts):
        printed = io.StringIO()
        find_gpu, gpu_check.find_gpu = gpu_check.find_gpu, lambda: (self.GPU, "")
        try:
            with contextlib.redirect_stdout(printed):
                status = gpu_check.main(["--binary-dir", str(self.folder), "--results", str(file), "--only", parts])
        finally:
            gpu_check.find_gpu = find_gpu
        return status, printed.getvalue()

    def test_whole_run(self):
        file = self.folder / "out.json"
        status, printed = self.run_whole(file, "compare,ranks")
        self.assertEqual(status, 0, printed)
        read = json.loads(file.read_text())
        self.assertEqual(read["versions"]["plait"], "plait 0.1.0")
        self.assertEqual((read["summary"]["failed"], read["summary"]["skipped"]), (0, 6))
        self.assertIn("skipped  ranks: tp_mlp f32, 2 ranks: error: NCCL is not there", printed)

    def test_parts_by_several_calls(self):
        file = self.folder / "out.json"
        self.run_whole(file, "compare")
        compared = json.loads(file.read_text())["parts"]
        self.assertEqual(self.run_whole(file, "tests")[0], 1)
        both = json.loads(file.read_text())
        self.assertEqual([i for i in both["parts"] if i["part"] == "compare"], compared)
        self.assertGreater(both["summary"]["failed"], 0)
        self.run_whole(file, "tests")  # again: its own items are new ones
        self.assertEqual(len(json.loads(file.read_text())["parts"]), len(both["parts"]))
        file.write_text(file.read_text().replace('"commit": "', '"commit": "another'))
        self.run_whole(file, "ranks")
        self.assertEqual({i["part"] for i in json.loads(file.read_text())["parts"]}, {"ranks"})


class Texts(unittest.TestCase):
    def test_one_rank(self):
        self.assertEqual(gpu_check.on_one_rank("mesh @m (dp = 2, tp = t)\nfusion @f on @m ("),
                         "mesh @m (dp = 1, tp = 1)\nfusion @f on @m (")
        self.assertEqual(gpu_check.on_one_rank("# mesh\nlet s = 4\n"), "# mesh\nlet s = 4\n")

    def test_outputs(self):
        examples = ROOT / "docs/examples"
        self.assertEqual(gpu_check.outputs_of(examples / "tp_mlp.plait"), ["linear1", "gelu", "linear2", "dropout"])
        self.assertEqual(gpu_check.outputs_of(examples / "sp_toy.plait"), ["y"])

    def test_unfinished_test(self):
        found, unfinished = gpu_check.read_test_output(
            "[ RUN      ] A.B\n[       OK ] A.B (1 ms)\n[ RUN      ] A.C/1\nterminate called\n")
        self.assertEqual((found, unfinished), ({"A.B": ("ok", "")}, "A.C/1"))
        found, unfinished = gpu_check.read_test_output(
            "[ RUN      ] A.C/1\nx.cpp:1: Failure\n[  FAILED  ] A.C/1, where GetParam() = (1, 2) (3 ms)\n[  FAILED  ] A.C/1\n")
        self.assertEqual((found["A.C/1"][0], unfinished), ("failed", None))


if __name__ == "__main__":
    unittest.main()
