"""Measures the pure modules: a decision by the number of sessions, the memory of a session, a document, an expression.

All times are processor time, so other programs matter little. Each round has new processes, and goes through the
contenders forward and backward. The result is the median of the ratios within each round.
"""

import os
import statistics
import subprocess

import page
from common import BUILT, HERE, compile_c, make_release
from private_bus import pinned

PAYLOAD = os.path.join(HERE, "payload-1k.json")

LIBRARIES = {"jansson": "-DJANSSON", "json-c": "-DJSON_C", "libcjson": "-DCJSON"}
SIZES = (10, 1_000, 100_000, 1_000_000)
FIRST, LARGE, LARGEST = SIZES[0], SIZES[2], SIZES[3]
KEYS = ("short", "long")

MEASURES = {
    "hot": "own key, a thousand requests that come again",
    "uniform": "own key, each time another",
    "miss": "a key that nobody waits for",
    "keyless": "no key, an existing session",
    "prefix": "own beginning of a key",
    "shared": "one CONTAINS for all, from the manifest",
    "apply": "what was decided is made true",
    "turn": "decided and made true",
}
# For the ratios to the time at ten sessions.
AIMS = {"hot": {LARGE: 1.10, LARGEST: 1.25}, "uniform": {LARGE: 1.10, LARGEST: 1.25}, "miss": {LARGE: None, LARGEST: None}}


def build():
    for library, flag in LIBRARIES.items():
        compile_c("json", library, flag, target=f"json-{library}")
    make_release("mind-benchmark")


def output(processor, *command):
    return subprocess.check_output([str(word) for word in command], preexec_fn=pinned({processor}), text=True)


def swift(processor, *arguments):
    """Returns (measure, size) -> values, in order."""
    values = {}
    for line in output(processor, f"{BUILT}/house/release/mind-benchmark", *arguments).splitlines():
        measure, size, value = line.split("\t")
        values.setdefault((measure, int(size)), []).append(float(value))
    return values


def decisions(processor, rounds, count):
    """Returns whether every aim was met."""
    all_met = True
    for keys in KEYS:
        section = "decision" if keys == "short" else None  # the figures of long keys are about the same
        samples = {}
        for _ in range(2 if rounds > 3 else 1):
            sizes = ",".join(str(size) for size in SIZES)
            for place, values in swift(processor, "decisions", keys, sizes, rounds, count).items():
                samples.setdefault(place, []).extend(values)
        times, ratios = [], []
        for measure, title in MEASURES.items():
            for size in SIZES:
                if (measure, size) in samples:
                    times.append(page.Figure(section, f"{size:,}", title, samples[measure, size], unit="ns"))
            for size, aim in AIMS.get(measure, {}).items():
                values = page.ratios(samples[measure, size], samples[measure, FIRST])
                ratios.append(page.Figure(section, f"{size:,} to {FIRST}", title, values, aim))
            if measure in ("hot", "uniform"):
                values = [1e3 / statistics.median(samples[measure, LARGE])]
                ratios.append(page.Figure(None, "", f"{title}: millions a second", values, 1, at_least=True))
        page.show(f"{keys} keys, nanoseconds", times)
        all_met &= page.show(f"{keys} keys, ratios", ratios)
    return all_met


def memory(processor):
    figures = []
    for keys in KEYS:
        for size in (LARGE, LARGEST):
            values = swift(processor, "memory", keys, size)
            title = f"memory of a session with a {keys} key"
            figures.append(page.Figure(None, "", f"{title}, as asked for", values["asked for", size], unit="bytes"))
            figures.append(page.Figure("decision", f"{size:,}", title, values["resident", size], 400, unit="bytes"))
    return page.show("bytes", figures)


def documents(processor, rounds, count):
    samples = {}
    for number in range(rounds):
        contenders = ["Swift", *LIBRARIES] if number % 2 == 0 else [*reversed(LIBRARIES), "Swift"]
        for contender in contenders:
            if contender == "Swift":
                for (measure, _), values in swift(processor, "json", PAYLOAD, count).items():
                    samples.setdefault(measure, []).extend(values)
            else:
                time = output(processor, f"{BUILT}/c/json-{contender}", PAYLOAD, count)
                samples.setdefault(contender, []).append(float(time))
    size = f"a payload of {os.path.getsize(PAYLOAD):,} bytes"
    figures = [page.Figure("document", "time", f"{size}, read and checked", samples["payload"], unit="ns")]
    figures.append(page.Figure(None, "", f"{size}, read into a tree", samples["value"], unit="ns"))
    for library in LIBRARIES:
        title = f"the same, read into a tree by {library}"
        figures.append(page.Figure("document", "time", title, samples[library], unit="ns"))
        ratios = page.ratios(samples["payload"], samples[library])
        figures.append(page.Figure("document", "our time to this time", title, ratios, 3))
    return page.show("documents", figures)


def expressions(processor):
    """For each expression, the nanoseconds for texts of rising length, as `mind-benchmark expressions` prints them."""
    times = {}
    for (measure, size), [time] in swift(processor, "expressions").items():
        times.setdefault(measure, {})[size] = time
    many = times.pop("a text against as many")
    limits = {name: times.pop(name) for name in list(times) if name.startswith("the longest text")}
    print(f"\n  {'an expression: nanoseconds for each byte, by bytes':<62}{'1,000':>10}{'10,000':>10}{'65,536':>10}")
    figures = []
    for expression, by_size in times.items():
        each = [time / size for size, time in by_size.items()]
        print(f"  {expression:<62}" + "".join(f"{value:10,.1f}" for value in each))
        figures.append(page.Figure(None, "", f"{expression}, the last to the first", [each[-1] / each[0]], 1.5))
    for count, aim in ((10, 20), (1_000, 300)):
        figures.append(page.Figure(None, "", f"100 bytes against {count:,} rules", [many[count] / 1e3], aim, unit="µs"))
    for name, by_count in limits.items():
        figures.append(page.Figure(None, "", f"{name}: 1,000 rules", [by_count[1_000] / 1e6], 5, unit="ms"))
    return page.show("expressions", figures)


def run(processor, rounds, is_quick):
    """Returns whether every aim was met."""
    build()
    count = 2_000 if is_quick else 20_000
    for section in ("decision", "document"):
        page.begin(section, f"the {section}", f"{rounds} rounds")
    met = decisions(processor, rounds, count)
    met &= memory(processor)
    met &= documents(processor, rounds, count)
    met &= expressions(processor)
    return met
