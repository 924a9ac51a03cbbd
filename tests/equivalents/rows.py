"""The rows of the tables of equivalents in README.md and the guide, and the calls in them.

A row of a system has calls on its left, which cases run as they are written, and expressions on its right, which the
tests of the crate run as they are written. The run fails if a row has one that no case with a result has run.
"""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
# In README's tables, a call belongs to the system that the cell names before it; NumPy, where it names none.
SYSTEMS = ["NumPy", "PyTorch", "JAX", "XLA", "nGraph", "Poplar", "MindSpore", "ONNX", "TensorFlow", "einops", "NEML2", "MLIR"]
SYSTEMS += ["ndarray-stats", "hand-written"]
OF_NUMPY = ["NumPy", "hand-written", None]
# The rows of these tables are compared with PyTorch's gradients.
AUTOGRAD = "autograd"


def cells(line):
    """The cells of a table's line, in which a bar that is no border is escaped."""
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def tables():
    """Each table's file, first line, header and rows."""
    for path in [ROOT / "README.md", *sorted((ROOT / "src/guide").glob("*.md"))]:
        table = []
        for number, line in enumerate([*path.read_text().splitlines(), ""], 1):
            if line.startswith("|"):
                table.append((number, cells(line)))
            elif table:
                (_, header), _, *rows = table
                yield path.relative_to(ROOT), header, rows
                table = []


def code(cell):
    return re.findall(r"`([^`]+)`", cell)


def calls_of(cell):
    """The calls of a cell, each with the system it belongs to."""
    system = None
    for name, text in re.findall(rf"({'|'.join(SYSTEMS)})|`([^`]+)`", cell):
        system = name or system
        if text:
            yield system, text


def without_prefix(call):
    """README names the system in words, the guide by a prefix."""
    return re.sub(r"^(np|numpy|torch)\.", "", call)


def rows_of(system):
    """The rows of `NumPy` or `PyTorch`: where each stands, its calls and its expressions."""
    rows = []
    for path, header, lines in tables():
        for number, (left, *right) in lines:
            here = [text for cell in right for text in code(cell)]
            if header[0] == system:
                calls = code(left)
            elif header[0] == "you know":
                wanted = OF_NUMPY if system == "NumPy" else [system]
                calls = [call for of, call in calls_of(left) if of in wanted]
                if not calls:
                    continue
            elif header[0] == "forward" and system == "PyTorch":
                calls, here = [AUTOGRAD], code(left) + here
            else:
                continue
            calls = [without_prefix(call) for call in calls]
            if not calls or not here:
                raise SystemExit(f"{path}:{number}: this row has nothing to run: write a call and an expression")
            rows.append({"at": f"{path}:{number}", "calls": calls, "here": here})
    return rows
