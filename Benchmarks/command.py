"""Measures the command as a whole process: `stagedoor drop` beside `dbus-send`, which makes the same call, and beside a C program
that says hello to the bus and ends; and the memory of `stagedoor sessions`.

Each figure is the median of several rounds. In a round every program runs many times, one run after another, on one processor
with the bus and the service.
"""

import os
import statistics
import subprocess
import tempfile
import time

import service
from private_bus import PrivateBus
from service import BUILT, DESK, FEW, HOUSE, LARGE, NAME, TYPE, Place, print_ratios, running, stagedoord

RUNS = 40  # runs of each program in a round
KEY = "document-1"
DBUS_SEND = ["dbus-send", "--session", "--print-reply", f"--dest={NAME}", "/org/stagedoor/Interchange1", f"{NAME}.Drop"]
DBUS_SEND += [f"string:{TYPE}", f"string:{KEY}", "dict:string:string:"]
HELLO = [f"{BUILT}/c/hello-libdbus"]
DROP = [f"{HOUSE}/stagedoor", "drop", "--type", TYPE, "--target", KEY]
VERSION = [f"{HOUSE}/stagedoor", "--version"]
PROGRAMS = {"dbus-send": DBUS_SEND, "C hello": HELLO, "stagedoor drop": DROP, "stagedoor --version": VERSION}
MORE_MEMORY = 1.25  # the memory for a list of 100,000, divided by that for a list of ten


def build():
    service.build(("stagedoor",))
    flags = subprocess.check_output(["pkg-config", "--cflags", "--libs", "dbus-1"], text=True).split()
    for program in ("hello-libdbus", "peak"):
        source = os.path.join(service.HERE, "c", f"{program}.c")
        subprocess.check_call(["cc", "-O2", "-Wall", "-Wextra", source, "-o", f"{BUILT}/c/{program}", *flags])


def milliseconds(command, environment):
    begin = time.perf_counter()
    for _ in range(RUNS):
        subprocess.check_call(command, env=environment, stdout=subprocess.DEVNULL)
    return (time.perf_counter() - begin) * 1000 / RUNS


def measure(place, kind, processor, rounds):
    """Returns program -> milliseconds from its start to its end, one for each round."""
    samples = {name: [] for name in PROGRAMS}
    before = os.sched_getaffinity(0)
    with PrivateBus(kind, {processor}) as bus:
        contender = stagedoord("memory", service.ONE)
        with running(place, bus, processor, contender, place.state()):
            service.read_in(bus, processor, contender)
            # The processes that this process starts inherit its processor.
            os.sched_setaffinity(0, {processor})
            try:
                for number in range(rounds):
                    for name in service.in_turn(list(PROGRAMS), number):
                        samples[name].append(milliseconds(PROGRAMS[name], bus.environment()))
            finally:
                os.sched_setaffinity(0, before)
    # Each program ran twice in a round: forward and backward.
    return {name: [statistics.mean(values[i : i + 2]) for i in range(0, len(values), 2)] for name, values in samples.items()}


def peak(command, environment):
    """Returns the peak of memory of a command, in MiB."""
    command = [f"{BUILT}/c/peak", *command]
    result = subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True)
    return int(result.stderr) / 1024


def listed(place, kind, processor, sessions):
    """Returns the peak of memory for each form of the list."""
    contender = stagedoord("full", service.ONE)
    with PrivateBus(kind, {processor}) as bus:
        with running(place, bus, processor, contender, place.state((sessions, 0))):
            service.read_in(bus, processor, contender)
            command = [f"{HOUSE}/stagedoor", "sessions", "--app", DESK]
            lines = subprocess.check_output(command, env=bus.environment()).count(b"\n")
            if lines < sessions:
                raise RuntimeError(f"of {sessions} sessions {lines} are listed")
            return [peak([*command, *form], bus.environment()) for form in ([], ["--json"])]


def run(processor, kinds, rounds):
    """Returns whether every aim was met."""
    build()
    met = True
    with tempfile.TemporaryDirectory(prefix="command-", dir=BUILT) as folder:
        place = Place(folder)
        for kind in kinds:
            print(f"\nthe command, {kind}: {rounds} rounds of {2 * RUNS} runs", flush=True)
            samples = measure(place, kind, processor, rounds)
            service.print_medians("milliseconds from start to end", {named(name): samples[name] for name in samples})
            met &= print_ratios(
                [
                    ("stagedoor drop / dbus-send", samples["stagedoor drop"], samples["dbus-send"], 1.5, False),
                    ("stagedoor --version / C hello", samples["stagedoor --version"], samples["C hello"], 1.6, False),
                    ("stagedoor drop / C hello", samples["stagedoor drop"], samples["C hello"], None, False),
                ]
            )
            few, many = (listed(place, kind, processor, count) for count in (FEW, LARGE))
            print(f"\n  peak of `stagedoor sessions`, in MiB: {few[0]:.1f} of ten, {many[0]:.1f} of {LARGE:,};", end="")
            print(f" as JSON {few[1]:.1f} and {many[1]:.1f}")
            pairs = zip(("a table", "JSON"), many, few)
            met &= print_ratios((f"{LARGE:,} / {FEW}, {form}", [a], [b], MORE_MEMORY, False) for form, a, b in pairs)
    return met


def named(title):
    """Returns a title in the form for the table of the service's figures."""
    return service.Start(title, ())
