"""The files of the source tree, for the checks."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
SKIPPED_FOLDERS = {".git", ".venv", "__pycache__"}
SKIPPED_AT_ROOT = {"build", "out", "third_party"}
CXX = {".h", ".cpp", ".cuh", ".def"}
BINARY = {".npy", ".onnx", ".png", ".gz", ".zip", ".o", ".so", ".pyc", ".cubin"}


def files(root, folders=("",), suffixes=None):
    """Paths below root/folder, sorted, of the given suffixes (default: all that hold text)."""
    found = []
    for folder in folders:
        for path in (root / folder).rglob("*"):
            parts = path.relative_to(root).parts
            skipped = SKIPPED_FOLDERS.intersection(parts) or parts[0] in SKIPPED_AT_ROOT
            if skipped or not path.is_file() or path.suffix in BINARY:
                continue
            if suffixes is None or path.suffix in suffixes:
                found.append(path)
    return sorted(found)


TOKEN = re.compile(
    r'R"(?P<mark>[^\s()\\]{0,16})\((?:.|\n)*?\)(?P=mark)"'  # raw string
    r"|//(?:\\\n|[^\n])*|/\*(?:.|\n)*?\*/"  # comments
    r'|"(?:\\.|[^"\\\n])*"'  # string
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'"  # character, not a digit separator
)


def strip_cxx(text):
    """C++ text with comments and the insides of literals blanked; lines keep their numbers."""

    def blank(match):
        token = match.group(0)
        lines = "\n" * token.count("\n")
        return '""' + lines if token[0] in 'R"' else "' '" if token[0] == "'" else " " + lines

    return TOKEN.sub(blank, text)


def report(problems):
    """Prints the problems; returns the exit status."""
    for problem in problems:
        print(problem)
    return 1 if problems else 0
