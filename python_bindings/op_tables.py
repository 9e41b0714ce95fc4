"""Tables of docs/ops.md."""
import re


def tables(text, mark):
    """Rows of the tables behind a mark, cells by column."""
    part = text.split(f"<!-- generated: tests/docs/{mark} -->")[1].split("<!-- end -->")[0]
    for line in part.splitlines():
        cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if cells and cells[0].startswith("`"):
            yield cells
