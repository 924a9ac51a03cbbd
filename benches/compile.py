#!/usr/bin/env python3
"""Measures what the crate costs to compile, beside the same written with ndarray alone.

    python3 benches/compile.py               prints a table in Markdown, after some minutes
    python3 benches/compile.py --only a,d    measures these rows only
    python3 benches/compile.py --check       and fails where a bound is broken
    python3 benches/compile.py --write       and writes README.md's sentence and CONTRIBUTING.md's table

Times are user CPU of cargo and all that it starts: the least of three builds of one crate whose dependencies are built,
in turns with the crate that it is compared with; a build from nothing happens once. All that is built goes into a
temporary folder. Needs Unix.
"""

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NDARRAY = re.search(r'^ndarray = \{ version = "(.+?)"', (ROOT / "Cargo.toml").read_text(encoding="utf-8"), re.M)[1]
CRATE = "ndarray-broadcast"
ROUNDS = 3
MARKS = ("<!-- cost: written by benches/compile.py -->", "<!-- end of cost -->")

TWO = """a + b; a - b; a * b; a / b; a * b + 1.0; (a - b) * (a - b); (a + b).sqrt(); a.max(b); a.min(b); a * b.abs();
a.mul_add(b, a); (a - b).abs(); if a > b { a } else { -b }; a * 0.5 + b * 0.25; a / (1.0 + b * b); a * a - b * b;
1.0 / (a + b); (a * b).floor(); a.hypot(b); a.max(0.0) * b""".replace("\n", " ").split("; ")
THREE = [f"({two}) {'+*-'[k % 3]} c" for k, two in enumerate(TWO)]
AB = "a: &Array2<f32>, b: &Array1<f32>"
OUT_AB = f"out: &mut Array2<f32>, {AB}"
OUT_ABC = f"{OUT_AB}, c: &Array2<f32>"


def library(uses, parameters, call, closures, result="()"):
    """A function for each closure, whose body stands for BODY."""
    calls = enumerate(call.replace("BODY", body) for body in closures)
    functions = "".join(f"pub fn op{k}({parameters}) -> {result} {{ {call} }}\n" for k, call in calls)
    return f"use ndarray::{{Array1, Array2}};\nuse {uses};\n{functions}"


def program(functions, printed):
    """Prints an expression of two arrays whose sizes are not known when it is compiled."""
    return f"""{functions}fn main() {{
    let (m, n) = (std::env::args().count() + 2, 4);
    let (a, b) = (&Array2::from_elem((m, n), 1.5_f32), &Array1::from_elem(n, 0.5_f32));
    println!("{{}}", {printed});
}}
"""


def three_calls(uses, view, total, mapped):
    """A view, a sum and a map."""
    return program(f"use ndarray::{{Array1, Array2}};\nuse {uses};\n", f"{view}.unwrap()[[1, 2]] + {total}[1] + {mapped}[[2, 3]]")


LOOPS = library("ndarray::Zip", OUT_AB, "Zip::from(out).and_broadcast(a).and_broadcast(b).for_each(|o, &a, &b| *o = BODY);", TWO)
SUMS = library("ndarray_broadcast::{fused, prelude::*}", AB, "fused((a, b), |&a, &b| BODY).sum_to(b).unwrap()", TWO, "Array1<f32>")
OURS = three_calls("ndarray_broadcast::{broadcast_map, prelude::*}", "b.broadcast_to([m, n])", "a.sum_to([n]).unwrap()",
                   "broadcast_map((a, b), |&a, &b| a * b + 1.0).unwrap()")


def few(*calls):
    """A function for each call that gives a row."""
    return library("ndarray_broadcast::{fused, prelude::*}", AB, "BODY.unwrap()", calls, "Array1<f32>")


GENERIC = """use ndarray::{Array, Array2, NdFloat, RemoveAxis};
USES
BODY
fn all<A: NdFloat, D: RemoveAxis>(x: &Array<A, D>, y: &Array<A, D>) -> A {
    centred(x) + shares(x) + weighted(x, y) + distance(x, y) + added(x, y) + softmax(x)
}
fn main() {
    let m = std::env::args().count() + 2;
    let (a, b) = (Array2::from_elem((m, 4), 1.5_f32), Array2::from_elem((1, 4), 0.5_f32));
    let (c, d) = (a.mapv(f64::from), b.mapv(f64::from));
    let small = all(&a, &b) + all(&a.into_dyn(), &b.into_dyn());
    println!("{:.3} {:.3}", small, all(&c, &d) + all(&c.clone().into_dyn(), &d.clone().into_dyn()));
}
"""


def generic(uses, bodies):
    """Six functions of three calls for arrays of any number of axes, which are used for two types and for `Ix2` and `IxDyn`. The
    second array has size 1 at axis 0."""
    names = [("centred", "x"), ("shares", "x"), ("weighted", "x y"), ("distance", "x y"), ("added", "x y"), ("softmax", "x")]
    functions = "".join(
        f"fn {name}<A: NdFloat, D: RemoveAxis>({', '.join(f'{a}: &Array<A, D>' for a in arrays.split())}) -> A {{ {body} }}\n"
        for (name, arrays), body in zip(names, bodies))
    return GENERIC.replace("USES", f"use {uses};").replace("BODY", functions)


GENERIC_PLAIN = generic("ndarray::{Axis, Zip}", [
    "let m = x.sum_axis(Axis(0)); (x - &m.broadcast(x.raw_dim()).unwrap()).sum()",
    "let m = x.fold_axis(Axis(0), A::neg_infinity(), |a, b| a.max(*b)); (x / &m.broadcast(x.raw_dim()).unwrap()).sum()",
    "let y = y.broadcast(x.raw_dim()).unwrap(); Zip::from(x).and(&y).map_collect(|&x, &y| x * y).sum_axis(Axis(0)).sum()",
    "let y = y.broadcast(x.raw_dim()).unwrap(); let d = Zip::from(x).and(&y).map_collect(|&x, &y| (x - y) * (x - y)); "
    "d.sum_axis(Axis(0)).mapv(A::sqrt).sum()",
    "let mut z = x.clone(); z += &y.broadcast(x.raw_dim()).unwrap(); z.sum()",
    "let e = x.mapv(A::exp); let s = e.sum_axis(Axis(0)); (&e / &s.broadcast(e.raw_dim()).unwrap()).sum()",
])
GENERIC_OURS = generic("ndarray_broadcast::{broadcast_apply, broadcast_map, fused, keepdims, prelude::*}", [
    "let m = x.sum_axes(keepdims(0)).unwrap(); broadcast_map([x, &m], |&x, &m| x - m).unwrap().sum_axes(..).unwrap().into_scalar()",
    "let m = x.max_axes(keepdims(0)).unwrap(); broadcast_map([x, &m], |&x, &m| x / m).unwrap().sum_axes(..).unwrap().into_scalar()",
    "broadcast_map([x, y], |&x, &y| x * y).unwrap().sum_axes(keepdims(0)).unwrap().sum_axes(..).unwrap().into_scalar()",
    "let d = fused([x, y], |&x, &y| (x - y) * (x - y)).sum_axes(keepdims(0)).unwrap(); "
    "broadcast_map(&d, |d| d.sqrt()).unwrap().sum_axes(..).unwrap().into_scalar()",
    "let mut z = x.broadcast_to(x).unwrap().materialize(); broadcast_apply(&mut z, y, |z, &y| *z += y).unwrap(); "
    "z.sum_axes(..).unwrap().into_scalar()",
    "let e = broadcast_map(x, |x| x.exp()).unwrap(); let s = e.sum_axes(keepdims(0)).unwrap(); "
    "broadcast_map([&e, &s], |&e, &s| e / s).unwrap().sum_axes(..).unwrap().into_scalar()",
])

# The sources of the scratch crates. Those that are called plain know ndarray only, those that are called default have our
# default features, and the others have `rayon` on.
SOURCES = {
    "plain2": LOOPS,
    "apply2": library("ndarray_broadcast::broadcast_apply", OUT_AB,
                      "broadcast_apply(out, (a, b), |o, &a, &b| *o = BODY).unwrap();", TWO),
    "plain3": library("ndarray::Zip", OUT_ABC, "Zip::from(out).and_broadcast(a).and_broadcast(b).and_broadcast(c)"
                      ".for_each(|o, &a, &b, &c| *o = BODY);", THREE),
    "apply3": library("ndarray_broadcast::broadcast_apply", OUT_ABC,
                      "broadcast_apply(out, (a, b, c), |o, &a, &b, &c| *o = BODY).unwrap();", THREE),
    "sum2": SUMS,
    "array_sum": few("a.sum_axes(0)"),
    "maximum": few("a.max_axes(0)"),
    "par": few("a.par().sum_axes(0)", "fused((a, b), |a, b| a * b).par().sum_axes(0)", "a.par().mean_axes(0)"),
    "plain_calls": three_calls("ndarray::{Axis, Zip}", "b.broadcast([m, n])", "a.sum_axis(Axis(0))",
                               "Zip::from(a).and_broadcast(b).map_collect(|&a, &b| a * b + 1.0)"),
    "calls": OURS,
    "default_calls": OURS,
    "plain_loops": program(LOOPS, "{ let (mut out, mut total) = (a.clone(), 0.0); "
                           + " ".join(f"op{k}(&mut out, a, b); total += out[[2, 3]];" for k in range(len(TWO))) + " total }"),
    "sums": program(SUMS, " + ".join(f"op{k}(a, b)[3]" for k in range(len(TWO)))),
    "sum_and_division": program(few("a.sum_axes(0)"), "(op0(a, b) / m as f32)[3]"),
    "mean": program(few("a.mean_axes(0)"), "op0(a, b)[3]"),
    "plain_generic": GENERIC_PLAIN,
    "default_generic": GENERIC_OURS,
}


class Scratch:
    """A workspace of the scratch crates in a folder, and what it costs to build them."""

    def __init__(self, folder):
        self.folder = folder
        self.fresh = {}
        members = ", ".join(f'"{name}"' for name in SOURCES)
        workspace = f'[workspace]\nresolver = "3"\nmembers = [{members}]\n[profile.release]\nstrip = true\n'
        (folder / "Cargo.toml").write_text(workspace, encoding="utf-8")
        for name, source in SOURCES.items():
            rayon = "" if name.startswith("default") else ', features = ["rayon"]'
            ours = "" if name.startswith("plain") else f"{CRATE} = {{ path = '{ROOT}'{rayon} }}\n"
            manifest = f'[package]\nname = "{name}"\nedition = "2024"\n[dependencies]\nndarray = "{NDARRAY}"\n{ours}'
            self.source(name).parent.mkdir(parents=True)
            self.source(name).write_text(source, encoding="utf-8")
            (folder / name / "Cargo.toml").write_text(manifest, encoding="utf-8")

    def source(self, name):
        return self.folder / name / "src" / ("main.rs" if "fn main" in SOURCES[name] else "lib.rs")

    def cargo(self, command, *choice, target="target"):
        """User CPU in seconds, and the crates that were compiled."""
        # A wrapper may have the work done by a server, whose time is not seen.
        own = {"CARGO_INCREMENTAL": "0", "RUSTC_WRAPPER": "", "CARGO_TERM_COLOR": "never", "CARGO_TERM_QUIET": "false"}
        env = os.environ | own | {"CARGO_TARGET_DIR": str(self.folder / target)}
        command = ["cargo", command, *choice]
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        ended = subprocess.run(command, cwd=self.folder, env=env, stderr=subprocess.PIPE, text=True, check=False)
        seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        if ended.returncode != 0:
            sys.exit(ended.stderr)
        return seconds, re.findall(r"^ *Compiling (\S+)", ended.stderr, re.M)

    def rebuild(self, name, profile):
        """User CPU of building one crate."""
        if name in SOURCES:
            self.source(name).touch()
        else:
            self.cargo("clean", "--profile", profile, "-p", name)
        seconds, compiled = self.cargo("build", "--profile", profile, "-p", name)
        if compiled != [name]:
            sys.exit(f"compiled were {compiled}, not {name} alone")
        return seconds

    def from_nothing(self, name):
        """User CPU of a release build of a program, or of the crate's example, in an empty folder."""
        if name not in self.fresh:
            here = ("-p", name) if name in SOURCES else ("--manifest-path", ROOT / "Cargo.toml", "--example", name)
            self.fresh[name] = self.cargo("build", "--release", *here, target=f"fresh-{name}")[0]
        return self.fresh[name]

    def size(self, name, target="target"):
        """Kilobytes of a stripped program, and what it prints."""
        self.cargo("build", "--release", "-p", name, target=target)
        file = self.folder / target / "release" / name
        return file.stat().st_size / 1000, subprocess.run([file], stdout=subprocess.PIPE, check=True).stdout

    def least(self, names, profile):
        """The least user CPU of building each crate."""
        for name in names:
            self.cargo("build", "--profile", profile, "-p", name)
        rounds = [[self.rebuild(name, profile) for name in names] for _ in range(ROUNDS)]
        return map(min, zip(*rounds))


# What a row measures gives lines: what it is, both costs, how they compare, the bound, and whether it holds.
def builds(scratch, names, **bounds):
    """User CPU, with a bound for each profile."""
    for profile, bound in bounds.items():
        plain, ours = scratch.least(names, profile)
        title = "debug" if profile == "dev" else profile
        yield title, f"{plain:.2f} s", f"{ours:.2f} s", f"{ours / plain:.2f}×", f"{bound}×", ours / plain <= bound


def bytes_of(scratch, names, bound, is_same=True):
    """Sizes of programs, which print the same."""
    (plain, printed), (ours, printed_too) = map(scratch.size, names)
    if is_same and printed != printed_too:
        sys.exit(f"the programs print {printed} and {printed_too}")
    more = ours - plain
    yield "stripped", f"{plain:.0f} kB", f"{ours:.0f} kB", f"{more:+.0f} kB", f"{bound} kB", more <= bound


def generic_client(scratch):
    names = ("plain_generic", "default_generic")
    yield from builds(scratch, names, release=1.4)
    yield from bytes_of(scratch, names, round(0.3 * scratch.size(names[0])[0]))


def default_features(scratch):
    yield from bytes_of(scratch, ("plain_calls", "default_calls"), 170)
    plain, ours = map(scratch.from_nothing, ("plain_calls", "default_calls"))
    yield "built from nothing", f"{plain:.2f} s", f"{ours:.2f} s", f"{ours - plain:+.2f} s", "–", True


def example(scratch):
    plain, ours = map(scratch.from_nothing, ("plain_calls", "wine"))
    yield "built from nothing", f"{plain:.2f} s", f"{ours:.2f} s", f"{ours / plain:.2f}×", "3×", ours / plain <= 3


def alone(scratch):
    (seconds,) = scratch.least([CRATE], "release")
    yield "release", "–", f"{seconds:.2f} s", "–", "8 s", seconds <= 8


ROWS = {
    "a": ("20 maps of 2 operands", lambda scratch: builds(scratch, ("plain2", "apply2"), release=1.1, dev=1.2)),
    "b": ("20 maps of 3 operands", lambda scratch: builds(scratch, ("plain3", "apply3"), release=1.8, dev=1.8)),
    "c": ("20 fused sums, to a's loops", lambda scratch: builds(scratch, ("plain2", "sum2"), release=2, dev=2)),
    "d": ("one sum of an array, to a's loops", lambda scratch: builds(scratch, ("plain2", "array_sum"), release=0.6)),
    "e": ("one maximum, to a's loops", lambda scratch: builds(scratch, ("plain2", "maximum"), release=1.1)),
    "f": ("a sum, a fused sum and a mean with `par`, to a's loops",
          lambda scratch: builds(scratch, ("plain2", "par"), release=1.1)),
    "g": ("program of 3 calls", lambda scratch: bytes_of(scratch, ("plain_calls", "calls"), 180)),
    "h": ("program of 20 fused sums, to one of a's loops",
          lambda scratch: bytes_of(scratch, ("plain_loops", "sums"), 300, is_same=False)),
    "i": ("`mean_axes`, to `sum_axes(…) / n`", lambda scratch: bytes_of(scratch, ("sum_and_division", "mean"), 8)),
    "j": ("program of 3 calls, default features", default_features),
    "k": ("the crate alone", alone),
    "l": ("the example wine, to j's ndarray", example),
    "m": ("6 generic functions of 3 calls, for 2 types and 2 numbers of axes", generic_client),
}
HEADING = "| | ndarray | ndarray-broadcast | | bound |\n|---|---:|---:|---:|---:|"


def cells_of(row):
    return f"| {' | '.join(row)} |"


def write(file, text):
    """Puts a text between the marks of a file."""
    path = ROOT / file
    before, rest = path.read_text(encoding="utf-8").split(MARKS[0])
    _, after = rest.split(MARKS[1])
    path.write_text(f"{before}{MARKS[0]}\n\n{text}\n\n{MARKS[1]}{after}", encoding="utf-8")


def sentence(lines):
    """What README says of the rows j and l."""
    _, plain, ours, *_ = lines["j", "built from nothing"]
    larger = lines["j", "stripped"][3].removeprefix("+")
    wine = lines["l", "built from nothing"][2]
    return (f"A program of 3 calls builds from nothing in {ours} of CPU time, with ndarray alone in {plain}, and is {larger} larger.\n"
            f"The example `wine`, which calls more, takes {wine}.")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default=",".join(ROWS), metavar="a,b", help="the rows to measure")
    parser.add_argument("--check", action="store_true", help="fail where a bound is broken")
    parser.add_argument("--write", action="store_true", help="write README.md's sentence and CONTRIBUTING.md's table")
    options = parser.parse_args()
    chosen = options.only.split(",")
    if not ROWS.keys() >= set(chosen):
        parser.error(f"the rows are {', '.join(ROWS)}")
    if options.write and set(chosen) != ROWS.keys():
        parser.error("the tables need all rows: --write goes without --only")
    lines, all_hold, begun = {}, True, time.monotonic()
    print(HEADING, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        scratch = Scratch(Path(folder))
        for number, row in enumerate(chosen, 1):
            label, measure = ROWS[row]
            since = time.monotonic() - begun
            print(f"measuring {row}, {number} of {len(chosen)}, after {since:.0f} s: {label}", file=sys.stderr, flush=True)
            for what, *cells, bound, holds in measure(scratch):
                bound = bound if holds else f"{bound}, broken"
                lines[row, what] = (f"{row}. {label}, {what}", *cells, bound)
                print(cells_of(lines[row, what]), flush=True)
                all_hold &= holds
    if options.write:
        write("CONTRIBUTING.md", "\n".join([HEADING, *map(cells_of, lines.values())]))
        write("README.md", sentence(lines))
    sys.exit(0 if all_hold or not options.check else 1)


if __name__ == "__main__":
    main()
