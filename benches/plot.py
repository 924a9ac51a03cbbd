#!/usr/bin/env python3
"""Draws src/guide/speed.svg and writes the tables of src/guide/speed.md and README.md, from what criterion measured.

    python3 benches/plot.py --run      measures the cases below first, for about three minutes
    python3 benches/plot.py            takes what is in target/criterion
    python3 benches/plot.py FOLDER     takes what is in another criterion folder

A case of which nothing was measured is left out, and said so. Times are criterion's medians.
"""

import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "src" / "guide" / "speed.svg"
GUIDE = ROOT / "src" / "guide" / "speed.md"
README = ROOT / "README.md"
MARKS = ("<!-- speed: written by benches/plot.py -->", "<!-- end of speed -->")
WAYS = ("crate", "ndarray", "obvious loop", "good loop")

# Criterion's names of the loops: as they are compiled, and for AVX2. Where no other loop gains anything, the obvious one is good.
OBVIOUS = ("plain", "plain_avx2")
GOOD = (*OBVIOUS, "good")


def sums(label, case):
    return (label, *([f"f32/{case}/{way}" for way in ways] for ways in (["crate"], ["ndarray"], OBVIOUS, GOOD)))


def maps(label, case, good=()):
    good = (*OBVIOUS, *good)
    return (label, *([f"map/{case}/{way}" for way in ways] for ways in (["fixed"], ["ndarray"], OBVIOUS, good)))


def batches(label, group, case, ndarray=(), obvious=(), good=("good_into",)):
    obvious = ("loop_into", *obvious)
    return (label, *([f"{group}/{way}/{case}" for way in ways] for ways in (["fused_into"], ndarray, obvious, (*obvious, *good))))


# What is shown: a label, and criterion's ids of the crate, of ndarray's own way and of the loops. The least of each counts.
GROUPS = [
    ("Views", [
        ("to a shape, 2 axes", ["view/broadcast_to/fixed/2"], ["view/ndarray_broadcast/fixed/2"], [], []),
        ("to a shape, 4 dynamic axes", ["view/broadcast_to/dynamic/4"], ["view/ndarray_broadcast/dynamic/4"], [], []),
        ("two to their joint shape, 2 axes", ["view/broadcast_to_match/fixed/2"],
         ["view/ndarray_match_by_hand/fixed/2"], [], []),
    ]),
    ("Sums (f32)", [
        sums("256×256 over 0", "sq256/0"),
        sums("131072×8 over 1", "131072x8/1"),
        sums("65536×64×3 over 2", "65536x64x3/2"),
        sums("32×64×56×56 over 0, 2, 3", "nchw/023"),
        sums("4096×4096, transposed, over 0", "t4096/0"),
    ]),
    ("Evaluation (f32)", [
        maps("a · row + column, 256×256", "a_times_row_plus_column/256"),
        maps("a += row, 256×256 in F order", "accumulate_row_f/256"),
    ]),
    ("Fused sums (f32)", [
        maps("a · row over 0, 4096×256", "sum_of_products/4096_256", ["good"]),
        maps("a · column over 1, 4096×256", "sum_of_products/4096_256_to_4096_1", ["good"]),
        maps("(x − y)² over 2, 5000×1×13 and 16×13", "distances/5000_16_13", ["good", "good_turned"]),
    ]),
    ("Copies (f32)", [
        maps("256×1×64 to 256×64×64", "copy_256_1_64_to_256_64_64"),
        maps("2048×2048, transposed", "copy_transposed/2048", ["good"]),
    ]),
    ("Batches (f64)", [
        batches("(2; 6, 6) times (1000, 2; 6)", "matvec", "(2;6,6)x(1000,2;6)"),
        batches("(1000; 3, 3) times (1000; 3, 3)", "matmul", "(1000;3,3)x(1000;3,3)"),
        batches("(16, 1; 64, 64) times (8; 64, 64)", "large_products", "(16,1;64,64)x(8;64,64)",
                ["ndarray_into"], ["loop_avx2_into"]),
        batches("(2; 6) plus (1000, 2; 6)", "element_wise", "(2;6)+(1000,2;6)", good=[]),
    ]),
]

# The cases that README shows.
SHOWN = [
    "two to their joint shape, 2 axes",
    "32×64×56×56 over 0, 2, 3",
    "a · row + column, 256×256",
    "a · row over 0, 4096×256",
    "2048×2048, transposed",
    "(2; 6, 6) times (1000, 2; 6)",
]


def run():
    """Has criterion measure the cases, and nothing else."""
    ids = sorted({name for _, cases in GROUPS for _, *ways in cases for ids in ways for name in ids})
    benches = [part for bench in ("view", "adjoint", "map", "batch") for part in ("--bench", bench)]
    only = "^(" + "|".join(map(re.escape, ids)) + ")$"
    command = ["cargo", "bench", *benches, "--", only]
    subprocess.run(command, cwd=ROOT, check=True)


def measured(folder):
    """Nanoseconds by criterion's id."""
    times = {}
    for described in folder.glob("**/new/benchmark.json"):
        name = json.loads(described.read_text(encoding="utf-8"))["full_id"]
        estimates = json.loads(described.with_name("estimates.json").read_text(encoding="utf-8"))
        times[name] = estimates["median"]["point_estimate"]
    return times


def found(times):
    """The groups with times for ids, without the cases of which one is missing."""
    groups = []
    for title, cases in GROUPS:
        rows = []
        for label, *ways in cases:
            missing = [name for ids in ways for name in ids if name not in times]
            if missing:
                print(f"not measured, left out: {label} ({', '.join(missing)})", file=sys.stderr)
            else:
                rows.append((label, [min((times[name] for name in ids), default=None) for ids in ways]))
        if rows:
            groups.append((title, rows))
    return groups


def shown(ns):
    """A time with its unit, in two or three digits, or none."""
    if ns is None:
        return "–"
    for unit, size in (("ns", 1), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)):
        value = ns / size
        if value < 999.5 or unit == "s":
            return f"{value:.0f} {unit}" if value >= 9.95 else f"{value:.1f} {unit}"


HEADING = ["| | " + " | ".join(WAYS) + " |", "|---" + "|---:" * len(WAYS) + "|"]


def cells(label, times):
    return f"| {label} | " + " | ".join(map(shown, times)) + " |"


def table(groups):
    """All cases, below the titles of their groups."""
    lines = HEADING[:]
    for title, rows in groups:
        lines.append(f"| **{title}** |" + " |" * len(WAYS))
        lines += [cells(*row) for row in rows]
    return "\n".join(lines)


def short_table(groups):
    """README's cases, each behind the title of its group."""
    rows = [(f"{title}: {label}", times) for title, rows in groups for label, times in rows if label in SHOWN]
    return "\n".join([*HEADING, *(cells(*row) for row in rows)])


def write(path, text):
    """Puts a text between the marks of a file."""
    before, rest = path.read_text(encoding="utf-8").split(MARKS[0])
    _, after = rest.split(MARKS[1])
    path.write_text(f"{before}{MARKS[0]}\n\n{text}\n\n{MARKS[1]}{after}", encoding="utf-8")


STYLE = """
.speed-ground{fill:#fff;stroke:#d0d7de}.speed-text{fill:#1f2328;font:13px sans-serif}
.speed-title{font-weight:bold}.speed-small{fill:#59636e;font-size:11px}.speed-line{stroke:#d0d7de}
.speed-crate{fill:#0969da}.speed-ndarray{fill:none;stroke:#bc4c00;stroke-width:2}.speed-loop{stroke:#1a7f37;stroke-width:2.5}
@media(prefers-color-scheme:dark){.speed-ground{fill:#0d1117;stroke:#3d444d}.speed-text{fill:#f0f6fc}
.speed-small{fill:#9198a1}.speed-line{stroke:#3d444d}.speed-crate{fill:#4493f8}.speed-ndarray{stroke:#f0883e}.speed-loop{stroke:#3fb950}}
"""
LABELS, WIDTH, ROW, TOP = 280, 860, 24, 62


def mark(way, x, y):
    """A dot, a ring, a bar or a broken bar, for the eye that does not see colours too."""
    if way == 0:
        return f'<circle class="speed-crate" cx="{x:.1f}" cy="{y}" r="5.5"/>'
    if way == 1:
        return f'<circle class="speed-ndarray" cx="{x:.1f}" cy="{y}" r="5"/>'
    bar = "v16" if way == 2 else "v6m0 4v6"
    return f'<path class="speed-loop" d="M{x:.1f} {y - 8}{bar}"/>'


def words(text, x, y, kinds="", anchor="start"):
    names = " ".join(["speed-text", *kinds.split()])
    return f'<text class="{names}" x="{x:.1f}" y="{y}" text-anchor="{anchor}">{text}</text>'


def picture(groups):
    """Without an empty line, so that Markdown takes it as it is."""
    all_times = [ns for _, rows in groups for _, times in rows for ns in times if ns]
    low, high = math.floor(math.log10(min(all_times))), math.ceil(math.log10(max(all_times)))
    scale = (WIDTH - 30 - LABELS) / (high - low)
    height = TOP + ROW * sum(1 + len(rows) for _, rows in groups) + 16

    def at(ns):
        return LABELS + (math.log10(ns) - low) * scale

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="100%" role="img">',
        "<title>Time of the crate, of ndarray, of an obvious and of a good loop on a logarithmic scale; less is better</title>",
        "<style>" + STYLE.strip() + "</style>",
        f'<rect class="speed-ground" x=".5" y=".5" width="{WIDTH - 1}" height="{height - 1}" rx="6"/>',
    ]
    for way, name in enumerate(WAYS):
        x = LABELS + 130 * way
        out += [mark(way, x + 8, 20), words(name, x + 20, 25)]
    out.append(words("time on a logarithmic scale, less is better", 14, TOP - 14, "speed-small"))
    for power in range(low, high + 1):
        x = at(10**power)
        out.append(f'<path class="speed-line" d="M{x:.1f} {TOP - 8}V{height - 12}"/>')
        out.append(words(shown(10**power).replace(".0", ""), x, TOP - 14, "speed-small", "middle"))
    y = TOP
    for title, rows in groups:
        out.append(words(title, 14, y + 16, "speed-title"))
        y += ROW
        for label, times in rows:
            middle = y + ROW // 2
            ends = [at(ns) for ns in times if ns]
            out.append(words(label, 24, middle + 4))
            out.append(f'<path class="speed-line" d="M{min(ends):.1f} {middle}H{max(ends):.1f}"/>')
            # The crate last, so that it is seen where others are as fast.
            out += [mark(way, at(times[way]), middle) for way in (3, 2, 1, 0) if times[way]]
            y += ROW
    return "\n".join([*out, "</svg>", ""])


def main(arguments):
    if arguments == ["--run"]:
        run()
        arguments = []
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    folder = Path(arguments[0]) if arguments else target / "criterion"
    groups = found(measured(folder))
    if not groups:
        sys.exit(f"nothing measured in {folder}: run `python3 benches/plot.py --run`")
    PICTURE.write_text(picture(groups), encoding="utf-8")
    write(GUIDE, table(groups))
    write(README, short_table(groups))
    print(table(groups))


if __name__ == "__main__":
    main(sys.argv[1:])
