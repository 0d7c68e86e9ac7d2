"""The figures of a run. Prints each, and writes those of the page into docs/benchmarks.md, between `<!-- figures: SECTION -->` and
`<!-- end -->`, with a plot for some sections. The rest of the page is written by hand."""

import os
import re
import statistics
import subprocess
import textwrap
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

ROOT = Path(__file__).resolve().parent.parent
PLOTS = ("binding", "service", "command")
FIGURES = []
HOW = {}  # section -> how it was measured


@dataclass
class Figure:
    """What was measured for a row of a table in one of its columns, which is mostly a kind of bus. A ratio has no unit."""

    section: str | None  # without a section, it is printed only
    column: str
    title: str
    values: list
    aim: float | None = None
    at_least: bool = False
    unit: str = ""

    def __post_init__(self):
        self.median, self.least, self.most = statistics.median(self.values), min(self.values), max(self.values)
        self.is_met = self.aim is None or (self.median >= self.aim if self.at_least else self.median <= self.aim)
        self.text = self.written(self.median)
        self.aimed = "" if self.aim is None else f"{'≥' if self.at_least else '≤'} {self.written(self.aim)}"

    def written(self, value):
        digits = 2 if not self.unit else 0 if value >= 100 or value == int(value) else 1
        return f"{value:,.{digits}f} {self.unit}".rstrip()


def ratios(above, below):
    return [a / b for a, b in zip(above, below)]


def plain(samples):
    """Returns figures that are not on the page."""
    return [Figure(None, "", title, values) for title, values in samples.items()]


def begin(section, title, how):
    HOW[section] = how
    print(f"\n{title}: {how}", flush=True)


def show(title, figures):
    """Prints the figures, keeps them for the page, and returns whether every aim was met."""
    figures = list(figures)
    print(f"\n  {title:<40}{'median':>12}{'least':>12}{'most':>12}")
    for one in figures:
        verdict = "" if one.aim is None else "PASS" if one.is_met else "SHORT"
        numbers = "".join(f"{value:12,.3f}" for value in (one.median, one.least, one.most))
        print(f"  {one.aimed:<32}{verdict:<8}{numbers}   {one.title}" + f" ({one.column})" * bool(one.column))
    FIGURES.extend(figures)
    return all(one.is_met for one in figures)


def rows_and_columns(figures):
    """Returns title -> column -> figure, and the columns."""
    rows = {}
    for one in figures:
        rows.setdefault(one.title, {})[one.column] = one
    return rows, list(dict.fromkeys(one.column for one in figures))


def table(section):
    rows, columns = rows_and_columns([one for one in FIGURES if one.section == section])
    lines = [["", *columns, "aim"]]
    for title, row in rows.items():
        cells = ["–" if not (one := row.get(c)) else one.text if one.is_met else f"**{one.text}**" for c in columns]
        first, *others = list(dict.fromkeys(one.aimed for one in row.values() if one.aimed)) or [""]
        lines.append([title, *cells, ", ".join([first, *(aim[2:] for aim in others)])])
    head, *rest = (f"| {' | '.join(cells)} |".replace("|  |", "| |") for cells in lines)
    return "\n".join([head, "|" + "---|" * (len(columns) + 2), *rest])


def origin():
    """Returns the machine and the commit in words."""
    commit = subprocess.check_output(["git", "log", "-1", "--format=commit %h of %cs"], cwd=ROOT, text=True).strip()
    is_changed = subprocess.call(["git", "diff", "--quiet", "HEAD", "--", ".", ":!docs"], cwd=ROOT)
    names = re.findall(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.M) or [os.uname().machine]
    return f"{os.cpu_count()} processors ({names[0]}), {commit}" + ", changed" * is_changed


def write(origin, is_quick=False):
    """Writes each section that was measured."""
    page = ROOT / "docs" / "benchmarks.md"
    text = page.read_text()
    for section, how in HOW.items():
        how += ", too few to tell anything" * is_quick
        part = f"<!-- figures: {section} -->\n\n{table(section)}\n\n{how}, {origin}.\n\n<!-- end -->"
        text, count = re.subn(f"<!-- figures: {section} -->.*?<!-- end -->", lambda _: part, text, flags=re.S)
        if count != 1:
            raise RuntimeError(f"docs/benchmarks.md has {count} places for the figures of the section \"{section}\"")
        if section in PLOTS:
            page.with_name(f"benchmarks-{section}.svg").write_text(plot(section))
    page.write_text(text)


# The plot: bars of the medians, whiskers from the least to the most, and a line for the aim.

COLOURS = ("#fdba74", "#94a3b8")
WIDTH, LEFT, RIGHT, BAR = 880, 400, 790, 13


def label(x, y, text, more="", fill="#334155"):
    return f'  <text x="{x:.0f}" y="{y:.0f}" font-size="12" fill="{fill}"{more}>{escape(text)}</text>'


def stroke(path, colour, width):
    return f'  <path d="{path}" fill="none" stroke="{colour}" stroke-width="{width}"/>'


def block(x, y, width, colour):
    return f'  <rect x="{x}" y="{y}" width="{width:.1f}" height="{BAR - 2}" fill="{colour}"/>'


def plot(section):
    figures = [one for one in FIGURES if one.section == section and not one.unit]
    rows, columns = rows_and_columns(figures)
    most = max(2, *(max(one.median, one.aim or 0) for one in figures))
    place = lambda value: round(LEFT + (RIGHT - LEFT) * min(value / most, 1), 1)  # a longer whisker ends at the edge
    parts, y = [], 40
    for number, name in enumerate(columns):
        parts += [block(24 + number * 120, y - 10, 11, COLOURS[number]), label(40 + number * 120, y, name)]
    parts += [stroke("M272 28 V43", "#c2410c", 2.5), label(282, y, "aim"), label(place(1), y, "1", ' text-anchor="middle"')]
    for at_least, heading in ((False, "less is better"), (True, "more is better")):
        those = {title: row for title, row in rows.items() if next(iter(row.values())).at_least == at_least}
        if not those:
            continue
        parts += [label(24, y + 32, heading, ' font-weight="bold"', "#9a3412")]
        y += 46
        for title, row in those.items():
            lines = textwrap.wrap(title.replace("`", ""), 63)
            parts += [label(24, y + 10 + 15 * number, text) for number, text in enumerate(lines)]
            for column, one in row.items():
                top, colour = y + BAR * columns.index(column), COLOURS[columns.index(column)]
                parts += [block(LEFT, top, place(one.median) - LEFT, colour)]
                parts += [stroke(f"M{place(one.least)} {top + 5.5} H{place(one.most)}", "#475569", 1)]
                if one.aim is not None:
                    parts += [stroke(f"M{place(one.aim)} {top - 1} V{top + BAR - 1}", "#c2410c", 2.5)]
                parts += [label(RIGHT + 35, top + 10, one.text, ' font-weight="bold"' * (not one.is_met))]
            y += max(len(lines) * 15, len(columns) * BAR) + 9
    found = "; ".join(f"{title}: {', '.join(one.text for one in row.values())}" for title, row in rows.items())
    saying = f"The ratios of the {section} as bars, on {' and '.join(columns)}. {found}.".replace("`", "")
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 16}"'
    head += f' font-family="Helvetica, Arial, \'DejaVu Sans\', sans-serif" role="img" aria-label={quoteattr(saying)}>'
    board = f'  <rect x="1" y="1" width="{WIDTH - 2}" height="{y + 14}" rx="12" fill="#ffffff" stroke="#e2e8f0"/>'
    return "\n".join([head, board, stroke(f"M{place(1)} 48 V{y}", "#64748b", 1), *parts, "</svg>\n"])
