"""Measures the pure modules: a decision by the number of sessions, the memory of a session, a document, an expression.

All times are processor time, so other programs matter little. Each round has new processes, and goes through the
contenders forward and backward. The result is the median of the ratios within each round.
"""

import os
import statistics
import subprocess
import sys

from private_bus import die_with_parent

HERE = os.path.dirname(os.path.abspath(__file__))
BUILT = os.path.join(HERE, ".build")
PAYLOAD = os.path.join(HERE, "payload-1k.json")

LIBRARIES = {"jansson": "-DJANSSON", "json-c": "-DJSON_C", "libcjson": "-DCJSON"}
SIZES = (10, 1_000, 100_000, 1_000_000)
FIRST, LARGE, LARGEST = SIZES[0], SIZES[2], SIZES[3]
KEYS = ("short", "long")

MEASURES = {
    "hot": "own key, 1,000 requests that come again",
    "uniform": "own key, each time another one",
    "miss": "a key that nobody waits for",
    "keyless": "no key, an existing session",
    "prefix": "own beginning of a key",
    "shared": "one CONTAINS for all, from the manifest",
    "apply": "what was decided is made true",
    "turn": "decided and made true",
}


def build():
    os.makedirs(f"{BUILT}/c", exist_ok=True)
    for library, flag in LIBRARIES.items():
        flags = subprocess.check_output(["pkg-config", "--cflags", "--libs", library], text=True).split()
        command = ["cc", "-O2", "-Wall", "-Wextra", flag, f"{HERE}/c/json.c", "-o", f"{BUILT}/c/json-{library}"]
        subprocess.check_call([*command, *flags])
    command = ["make", "--no-print-directory", "--directory", os.path.dirname(HERE), "release", "SETUP=:"]
    command += ["SCRATCH=Benchmarks/.build/house", "EXECUTABLES=mind-benchmark"]
    subprocess.check_call(command, stdout=sys.stderr)


def output(processor, *command):
    def prepare():
        die_with_parent()
        os.sched_setaffinity(0, {processor})

    return subprocess.check_output([str(word) for word in command], preexec_fn=prepare, text=True)


def swift(processor, *arguments):
    """Returns (measure, size) -> values, in order."""
    values = {}
    for line in output(processor, f"{BUILT}/house/release/mind-benchmark", *arguments).splitlines():
        measure, size, value = line.split("\t")
        values.setdefault((measure, int(size)), []).append(float(value))
    return values


def ratio(above, below):
    return statistics.median(a / b for a, b in zip(above, below))


def aimed(value, aim, digits, at_least=False):
    """Returns whether the aim is met, and the cells of the value and its aim."""
    met = value >= aim if at_least else value <= aim
    aim = f"{'>=' if at_least else '<='} {aim:.{digits}f}"
    return met, f"{value:12,.{digits}f}   {aim:<10}{'PASS' if met else 'SHORT'}"


def decisions(processor, rounds, count):
    """Returns whether every aim was met."""
    all_met = True
    for keys in KEYS:
        samples = {}
        for _ in range(2 if rounds > 3 else 1):
            sizes = ",".join(str(size) for size in SIZES)
            for place, values in swift(processor, "decisions", keys, sizes, rounds, count).items():
                samples.setdefault(place, []).extend(values)
        print(f"\n  {f'{keys} keys: median nanoseconds, by sessions':<42}" + "".join(f"{size:>12,}" for size in SIZES))
        for measure, title in MEASURES.items():
            cells = [samples.get((measure, size)) for size in SIZES]
            print(f"  {title:<42}" + "".join(f"{statistics.median(c):12,.0f}" if c else "" for c in cells))
        for measure, title in (("hot", "that come again"), ("uniform", "each time another")):
            for size, aim in ((LARGE, 1.10), (LARGEST, 1.25)):
                value = ratio(samples[measure, size], samples[measure, FIRST])
                met, cells = aimed(value, aim, 2)
                print(f"  {f'{title}: {size:,} / {FIRST}':<42}{cells}")
                all_met &= met
            met, cells = aimed(1e3 / statistics.median(samples[measure, LARGE]), 1.0, 2, at_least=True)
            print(f"  {f'{title}: million a second at {LARGE:,}':<42}{cells}")
            all_met &= met
    return all_met


def memory(processor):
    all_met = True
    print(f"\n  {'bytes for each session':<42}{'asked for':>12}{'resident':>12}")
    for keys in KEYS:
        for size in (LARGE, LARGEST):
            values = swift(processor, "memory", keys, size)
            met, cells = aimed(values["resident", size][0], 400, 0)
            print(f"  {f'{keys} keys, {size:,} sessions':<42}{values['asked for', size][0]:12,.0f}{cells}")
            all_met &= met
    return all_met


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
    all_met = True
    print(f"\n  {f'a payload of {os.path.getsize(PAYLOAD):,} bytes: median nanoseconds':<42}")
    for name, values in samples.items():
        name = {"value": "Swift, into a tree", "payload": "Swift, into a payload"}.get(name, f"{name}, into a tree")
        print(f"  {name:<42}{statistics.median(values):12,.0f}")
    for library in LIBRARIES:
        met, cells = aimed(ratio(samples["payload"], samples[library]), 3, 2)
        print(f"  {f'payload / {library}':<42}{cells}")
        all_met &= met
    return all_met


def expressions(processor):
    """For each expression, the nanoseconds for texts of rising length, as `mind-benchmark expressions` prints them."""
    times = {}
    for (measure, size), [time] in swift(processor, "expressions").items():
        times.setdefault(measure, {})[size] = time
    many = times.pop("a text against as many")
    limit = times.pop("the longest text, to the limit of")
    all_met = True
    print(f"\n  {'an expression: nanoseconds for each byte, by bytes':<42}{'1,000':>12}{'10,000':>12}{'65,536':>12}   last / first")
    for expression, by_size in times.items():
        each = [time / size for size, time in by_size.items()]
        met, cells = aimed(each[-1] / each[0], 1.5, 2)
        print(f"  {expression:<42}" + "".join(f"{value:12,.1f}" for value in each) + cells)
        all_met &= met
    for count, aim in ((10, 20), (1_000, 300)):
        met, cells = aimed(many[count] / 1_000, aim, 1)
        print(f"  {f'100 bytes against {count:,} rules, in µs':<42}{cells}")
        all_met &= met
    met, cells = aimed(limit[1_000] / 1_000_000, 5, 1)
    print(f"  {'64 KiB chosen against 1,000 rules, in ms':<42}{cells}")
    all_met &= met
    return all_met


def run(processor, rounds, is_quick):
    """Returns whether every aim was met."""
    build()
    print("\nthe mind", flush=True)
    met = decisions(processor, rounds, 2_000 if is_quick else 20_000)
    met &= memory(processor)
    met &= documents(processor, rounds, 2_000 if is_quick else 20_000)
    met &= expressions(processor)
    return met
