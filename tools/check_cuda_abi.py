#!/usr/bin/env python3
"""csrc/cuda_abi/ says of the interfaces of CUDA's libraries what NVIDIA's headers say: types of functions, sizes, offsets
and types of fields, values of constants, the versions that names mean. Everything declared there is compared, where the
headers are: in a CUDA kit (PLAIT_CUDA_HOME, CUDA_HOME, /usr/local/cuda) or in NVIDIA's wheels (VIRTUAL_ENV, .venv). Exit
status 77 where none of them is, or all are of other versions. usage: check_cuda_abi.py [ROOT]
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import tree

# NVIDIA's header: our files, of which the last includes the others, the headers that it needs to be found, the macro of
# its version.
HEADERS = {
    "cuda.h": (["driver_types.h", "driver.h"], [], "CUDA_VERSION"),
    "nvrtc.h": (["nvrtc.h"], [], None),
    "cublasLt.h": (["cublaslt.h"], ["cuda_runtime_api.h", "crt/host_defines.h", "nv/target"], "CUBLAS_VERSION"),
    "nccl.h": (["nccl.h"], ["cuda_runtime_api.h", "crt/host_defines.h", "nv/target"], "NCCL_VERSION_CODE"),
    "nvtx3/nvToolsExt.h": (["nvtx.h"], [], "NVTX_VERSION"),
}

PROGRAM = r"""
#include HEADER
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <cxxabi.h>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>

template <class T>
std::string type() {
  int status = 0;
  return abi::__cxa_demangle(typeid(T).name(), nullptr, nullptr, &status);
}
template <class T>
std::string value(T of) {
  if constexpr (std::is_pointer_v<T>)
    return std::to_string(reinterpret_cast<unsigned long long>(of));
  else
    return std::to_string(static_cast<long long>(of));
}
template <class T>
std::string bytes(const T& of) {
  std::string out;
  for (size_t i = 0; i < sizeof(T); ++i) out += std::to_string(reinterpret_cast<const unsigned char*>(&of)[i]) + " ";
  return out;
}
void fact(const char* what, const std::string& text) { std::printf("%s: %s\n", what, text.c_str()); }
#define TEXT(name) #name
#define EXPANDED(name) TEXT(name)

int main() {
"""


def folders(root):
    for prefix in (os.environ.get("PLAIT_CUDA_HOME"), os.environ.get("CUDA_HOME"), "/usr/local/cuda"):
        if prefix:
            yield from (pathlib.Path(prefix) / each for each in ("include", "targets/x86_64-linux/include"))
    for environment in (os.environ.get("VIRTUAL_ENV"), root / ".venv"):
        if environment:
            yield from sorted(pathlib.Path(environment).glob("lib/python3*/site-packages/nvidia/*/include"))


def places(root, names):
    """A folder for each header; None where one is missing."""
    found = []
    for name in names:
        places = [folder for folder in folders(root) for folder in (folder, folder / "cccl") if (folder / name).exists()]
        if not places:
            return None
        found += places[:1]
    return found


def fields_of(body, path=""):
    """Paths and types of the fields, those of nested structures without names too."""
    for inner, name, plain in re.findall(r"(?:struct|union) \{(.*?)\} (\w+);|([^;{}]+);", body, re.S):
        if inner:
            yield from fields_of(inner, f"{path}{name}.")
        else:
            function = re.search(r"\(\*(\w+)\)\(", plain)
            yield path + (function[1] if function else re.search(r"(\w+)(?:\[\d+\])*$", plain.strip())[1])


def facts_of(text):
    """Statements that print what the text declares."""
    text = re.sub(r"//.*", "", text).replace("\\\n", " ")
    for name, value in re.findall(r"^#define (\w+) +(\S.*?) *$", text, re.M):
        if re.fullmatch(r"cu\w+", value):
            yield f'fact("{name}", EXPANDED({name}));'
        elif value.startswith("{"):
            structure = re.search(r"sizeof\((\w+)\)", value)[1]
            yield f'{{ {structure} of; std::memset(&of, 0, sizeof of); of = {name}; fact("{name}", bytes(of)); }}'
        else:
            yield f'fact("{name}", value({name}));'
    for name, body in re.findall(r"^enum (\w+) : int \{(.*?)\};", text, re.M | re.S):
        yield f'fact("sizeof {name}", value(sizeof({name})));'
        for constant in re.findall(r"(\w+) =", body):
            yield f'fact("{constant}", type<decltype({constant})>() + " " + value({constant}));'
    for name, body in re.findall(r"^(?:struct|union) (?:alignas\(\d+\) )?(\w+) \{(.*?)^\};", text, re.M | re.S):
        yield f'fact("{name}", value(sizeof({name})) + " aligned to " + value(alignof({name})));'
        for path in fields_of(body):
            of = f"std::declval<{name}&>().{path}"
            yield (f'fact("{name}.{path}", value(offsetof({name}, {path})) + " " + '
                   f'type<std::remove_reference_t<decltype(({of}))>>());')
    for name in re.findall(r"^using (\w+) =", text, re.M):
        yield f'fact("{name}", type<{name}>());'
    functions = re.search(r'^extern "C" \{(.*)^\}', text, re.M | re.S)
    for name in re.findall(r"^[\w ]+?[ *]+(\w+)\([^;]*\);", functions[1] if functions else "", re.M):
        yield f'fact("{name}()", type<decltype(&::{name})>());'


def said(source, folder, header, includes):
    """What the program prints with this header; ValueError where it does not compile."""
    file, program = folder / "facts.cpp", folder / "facts"
    file.write_text(source)
    command = [os.environ.get("CXX", "c++"), "-std=c++20", "-w", "-O0", f"-DHEADER={header}",
               *(f"-I{each}" for each in includes), str(file), "-o", str(program)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise ValueError("\n".join(line for line in done.stderr.splitlines() if "error" in line)[:2000])
    return dict(line.split(": ", 1) for line in subprocess.run([program], capture_output=True, text=True,
                                                               check=True).stdout.splitlines())


def version_of(folder, header, includes, macro):
    program = f'#include HEADER\n#include <cstdio>\nint main() {{ std::printf("of: %d\\n", int({macro})); }}\n'
    return said(program, folder, header, includes)["of"]


def compare(root, files, theirs, includes, version):
    """Problems of our files; None where the header is of another version."""
    facts = [each for file in files for each in facts_of((root / "csrc/cuda_abi" / file).read_text())]
    names = [re.match(r'.*?fact\("([^"]*)"', each)[1] for each in facts]
    source = PROGRAM + "\n".join(facts) + "\n}\n"
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        own = said(source, folder, f'"cuda_abi/{files[-1]}"', [root / "csrc"])
        if set(names) != set(own):
            return [f"csrc/cuda_abi/{files[-1]}: not all of it was compared"]
        try:
            real, error = said(source, folder, f"<{theirs}>", includes), ""
        except ValueError as failure:
            real, error = {}, str(failure)
        if version in own and (here := real.get(version) or version_of(folder, f"<{theirs}>", includes, version)) != own[version]:
            print(f"skipped: {theirs} is of version {here}, csrc/cuda_abi/{files[-1]} of {own[version]}")
            return None
    if error:
        return [f"csrc/cuda_abi/{files[-1]}: {error}"]
    print(f"csrc/cuda_abi/{files[-1]}: {len(own)} facts" + (f" are those of {theirs}" if own == real else ""))
    return [f"csrc/cuda_abi: {name} is {own[name]}, in {theirs} {real[name]}" for name in own if own[name] != real[name]]


def check(root):
    problems, compared = [], 0
    for theirs, (files, needed, version) in HEADERS.items():
        if not all((root / "csrc/cuda_abi" / file).exists() for file in files):
            continue
        includes = places(root, [theirs, *needed])
        if includes is None:
            print(f"skipped: no {' or '.join([theirs, *needed])} here")
            continue
        found = compare(root, files, theirs, includes, version)
        compared += found is not None
        problems += found or []
    listed = {each.name for each in (root / "csrc/cuda_abi").glob("*.h")}
    known = {file for files, _, _ in HEADERS.values() for file in files}
    problems += [f"csrc/cuda_abi/{name}: tools/check_cuda_abi.py does not compare it" for name in listed - known]
    return problems, compared


if __name__ == "__main__":
    problems, compared = check(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else tree.ROOT)
    sys.exit(tree.report(problems) if problems or compared else 77)
