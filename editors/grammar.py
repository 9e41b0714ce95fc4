"""How the text forms of docs/ir.md and docs/kernel_ir.md are highlighted: the one source of what tools/make_grammars.py
writes. Words come from the lists and the readers of csrc/, so that a new op, dtype, statement or keyword is known here.

Rules of a context are tried in their order where the text stands. Their expressions use what Python, Oniguruma and (after
a translation) Vim understand: no groups that capture, no classes within brackets, nothing that crosses a line.
"""
import dataclasses
import re

NAME, SCOPE, SUFFIXES = "plait", "source.plait", (".plait", ".kir")
COMMENT = "#"
BRACKETS = ("{}", "[]", "()")

# class: (token of Pygments, scope of TextMate, group of Vim).
CLASSES = {
    "comment": ("Comment.Single", "comment.line.number-sign", "Comment"),
    "directive": ("Comment.Special", "comment.line.directive", "SpecialComment"),
    "string": ("String.Double", "string.quoted.double", "String"),
    "number": ("Number", "constant.numeric", "Number"),
    "constant": ("Keyword.Constant", "constant.language", "Boolean"),
    "keyword": ("Keyword", "keyword.other", "Keyword"),
    "statement": ("Keyword.Reserved", "keyword.control", "Statement"),
    "dtype": ("Keyword.Type", "storage.type", "Type"),
    "op": ("Name.Builtin", "support.function", "Function"),
    "function": ("Name.Function", "entity.name.function", "Macro"),
    "transform": ("Name.Decorator", "support.function.transform", "PreProc"),
    "schedule": ("Name.Class", "entity.name.type.schedule", "Structure"),
    "tensor": ("Name.Variable", "variable.other", "Identifier"),
    "global": ("Name.Label", "entity.name.section", "Label"),
    "attribute": ("Name.Attribute", "variable.parameter", "Tag"),
    "axis": ("Name.Namespace", "entity.name.namespace", "Special"),
    "choice": ("Name.Constant", "support.constant", "Constant"),
    "word_operator": ("Operator.Word", "keyword.operator.word", "Operator"),
    "operator": ("Operator", "keyword.operator", "Operator"),
    "punctuation": ("Punctuation", "punctuation", "Delimiter"),
    "name": ("Name", "variable.other.constant", "Normal"),
}

READERS = ("csrc/ir/parse.cpp", "csrc/ir/type_parser.cpp", "csrc/kir/parse.cpp", "csrc/kir/parse_symbols.cpp",
           "csrc/program/parse.cpp")
QUIET_READERS = ("csrc/ir/head_parser.h", "csrc/ir/manual_schedule.cpp", "csrc/sym/facts.cpp")  # which need no keyword
CHOICES = (("csrc/ir/tensor_view.cpp", "ParallelType"), ("csrc/kir/kernel.cpp", "Space"), ("csrc/kir/kernel.cpp", "Access"),
           ("csrc/kir/kernel.cpp", "LoopKind"), ("csrc/kir/kernel.cpp", "SyncScope"),
           ("csrc/program/program.cpp", "ProgramStream"))
CONSTANTS = ["false", "inf", "nan", "null", "true"]


class NotFound(Exception):
    """A source no longer holds what is read from it."""


@dataclasses.dataclass(frozen=True)
class Rule:
    """Text that the expression matches is of the class; with `inside`, up to a match of `end` that context holds."""
    kind: str
    pattern: str
    inside: str = ""
    end: str = ""


def read_words(root):
    """Lists of words by name, sorted; all come from files below the root. NotFound where one of them has none."""
    def found(file, pattern, quiet=False):
        words = re.findall(pattern, (root / file).read_text(), re.M)
        if not words and not quiet:
            raise NotFound(f"{file}: nothing matches {pattern}")
        return words

    def words_within(file, pattern, word=r'"(\w+)"'):  # of the one text that the pattern's group is
        text, = found(file, f"(?s){pattern}")[:1]
        words = re.findall(word, text)
        if not words:
            raise NotFound(f"{file}: nothing matches {word} within {pattern}")
        return words

    def names(file, type_name):  # what `name(TYPE)` returns
        return words_within(file, rf"string_view name\({type_name} \w+\) \{{(.*?\}}$|.*?^\}}$)", r'"([a-z_]+)"')

    ops = found("csrc/ir/ops.def", r"^PLAIT_OP\(\w+, (\w+),") + found("csrc/ir/reductions.def", r"^X\((\w+)\)")
    ops += found("csrc/scalar/pointwise.def", r"^X\((\w+),") + ["gelu"]
    statements = found("csrc/kir/stmts.def", r"^PLAIT_STMT\(\w+, (\w+),")
    statements += found("csrc/program/steps.def", r"^PLAIT_STEP\(\w+, (\w+)\)")
    statements += found("csrc/mesh/collectives.def", r"^X\((\w+),")
    choices = [word for file, type_name in CHOICES for word in names(file, type_name)]
    of_kernels = "\n".join(found("csrc/kir/parse.cpp", r"^.*(?:\buse [!=]=|TargetKind::cpu \?).*$"))  # buffers, targets
    choices += re.findall(r'"(\w+)"', of_kernels)
    keyword = r'(?:accept|expect)\("([a-z]\w*)"|\bword == "(\w+)"'
    keywords = [word for file in READERS + QUIET_READERS for word in found(file, keyword, file in QUIET_READERS)]
    placement = words_within("csrc/ir/schedule.h", r"(struct ManualTensor \{.*?\n\};)", r'fn\("(\w+)"')
    keywords = {"".join(word) for word in keywords} | set(placement)
    expression = words_within("csrc/sym/pool.cpp", r"> kWords = \{(.*?)\}")
    logical = [word for word in expression if word in ("and", "or", "not")]
    lists = {
        "ops": set(ops) - {"pointwise", "reduce"},
        "dtypes": found("csrc/scalar/dtype.def", r"^X\(\w+, (\w+),"),
        "statements": set(statements) - {"compute", "collective"} - set(choices),
        "choices": choices,
        "keywords": keywords - set(statements) - set(choices) - set(CONSTANTS),
        "transforms": found("csrc/ir/type_parser.cpp", r'kind [!=]= "(\w+)"'),
        "functions": set(expression) - set(logical),
        "logical": logical,
        "constants": CONSTANTS,
    }
    return {name: sorted(set(words)) for name, words in lists.items()}


def contexts(words):
    """Rules by context, that of a file first."""
    def any_of(name):
        return "(?:" + "|".join(words[name]) + ")"

    word, call, blanks = "[A-Za-z_]\\w*", "(?=[ \\t]*\\()", "[ \\t]*"
    comments = [Rule("directive", "# (?:RUN:|EXPECT\\b).*"), Rule("comment", "#.*")]
    number = Rule("number", "\\b\\d+(?:\\.(?!\\.)\\d*)?(?:[eE][-+]?\\d+)?\\b|\\.\\d+(?:[eE][-+]?\\d+)?\\b")
    operators = Rule("operator", "\\.\\.|->|[<>!=]=|[-+*<>=.]")
    logical = Rule("word_operator", f"\\b{any_of('logical')}\\b")
    function = Rule("function", f"\\b{any_of('functions')}{call}")
    constant = Rule("constant", f"\\b{any_of('constants')}\\b")
    name = Rule("name", f"\\b{word}(?:\\.{word})*")
    tensor = Rule("tensor", "%\\w+")
    brackets = Rule("punctuation", "\\[", "extents", "\\]")
    loops = "(?:(?<=\\bloops)|(?<=\\bloops ))\\("
    partial = "(?:(?<=\\bpartial)|(?<=\\bpartial ))\\("
    return {
        "file": [
            *comments,
            Rule("string", '"[ !#-~]*"'),
            tensor,
            Rule("global", "@\\w+"),
            Rule("tensor", "\\b_\\b"),
            Rule("dtype", f"\\b{any_of('dtypes')}(?:x\\d+)?\\b"),
            Rule("attribute", f"\\b{word}(?={blanks}=(?!=))"),
            Rule("dtype", f"\\b{word}(?=\\[)"),  # of a let
            Rule("schedule", "(?<=\\bschedule )[a-z]\\w*"),
            Rule("op", f"\\b{any_of('ops')}{call}"),
            function,
            Rule("punctuation", loops, "loops", "\\)"),
            Rule("punctuation", partial, "partial", "\\)"),
            constant,
            Rule("statement", f"\\b{any_of('statements')}\\b"),
            Rule("choice", f"\\b{any_of('choices')}\\b"),
            Rule("keyword", f"\\b{any_of('keywords')}\\b"),
            logical,
            number,
            name,
            Rule("punctuation", f"\\{{(?={blanks}(?:\\d+{blanks}:|\\}}))", "layout", "\\}"),
            brackets,
            operators,
            Rule("punctuation", "[(){}:,;\\]]"),
        ],
        "layout": [*comments, number, Rule("keyword", "\\b(?:granule|local)\\b"), Rule("axis", f"\\b{word}"),
                   Rule("punctuation", "[:,\\[\\]]")],
        "extents": [*comments, tensor, function, logical, constant, number, name, brackets, operators,
                    Rule("punctuation", "[(),:]")],
        "loops": [*comments, Rule("transform", f"\\b{any_of('transforms')}{call}"), function,
                  Rule("choice", f"\\b{any_of('choices')}\\b"), number, name, operators,
                  Rule("punctuation", "\\(", "loops", "\\)"), Rule("punctuation", ",")],
        "partial": [*comments, Rule("choice", "(?<=: )[a-z]\\w*"), Rule("axis", f"\\b{word}"), Rule("punctuation", "[:,]")],
    }
