"""What plait raises: what is wrong, where in the caller's words, and what to do."""


class Error(Exception):
    """Of all errors. `what`, `where` and `remedy` are its parts; the last two may be empty."""

    def __init__(self, what: str, where: str = "", remedy: str = ""):
        super().__init__(what, where, remedy)
        self.what = what
        self.where = where
        self.remedy = remedy

    def __str__(self) -> str:
        out = self.what
        if self.where:
            out += "\n  at: " + self.where
        if self.remedy:
            out += "\n  help: " + self.remedy
        return out


class UserError(Error, ValueError):
    """The caller's mistake."""


class BoundsError(UserError, IndexError, RuntimeError):
    """An index of a lookup or scatter lies outside of its extent; outputs of the run are undefined."""


class InternalError(Error, RuntimeError):
    """plait's mistake."""


class MissingError(Error, RuntimeError):
    """The machine lacks a part: a GPU, a library."""


class OutOfMemoryError(MissingError, MemoryError):
    """Memory of the host or of a GPU does not suffice."""


class CommError(Error, RuntimeError):
    """A rank or a collective failed."""
