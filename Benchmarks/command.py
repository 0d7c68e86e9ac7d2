"""Measures the command as a whole process: `stagedoor drop` beside `dbus-send`, which makes the same call, and beside a C program
that says hello to the bus and ends; and the memory of `stagedoor sessions`.

Each figure is the median of several rounds. In a round every program runs many times, one run after another, on one processor
with the bus and the service.
"""

import os
import subprocess
import tempfile
import time

import page
import service
from common import BUILT, compile_c, take_turns
from private_bus import PrivateBus
from service import DESK, FEW, HOUSE, LARGE, NAME, TYPE, Place, running, stagedoord

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
    for program in ("hello-libdbus", "peak"):
        compile_c(program, "dbus-1")


def milliseconds(command, environment):
    begin = time.perf_counter()
    for _ in range(RUNS):
        subprocess.check_call(command, env=environment, stdout=subprocess.DEVNULL)
    return (time.perf_counter() - begin) * 1000 / RUNS


def measure(place, kind, processor, rounds):
    """Returns program -> milliseconds from its start to its end, one for each round."""
    samples = {}
    before = os.sched_getaffinity(0)
    with PrivateBus(kind, {processor}) as bus:
        contender = stagedoord("memory", service.ONE)
        with running(place, bus, processor, contender, place.state()):
            service.read_in(bus, processor, contender)
            # The processes that this process starts inherit its processor.
            os.sched_setaffinity(0, {processor})
            try:
                for number in range(rounds):
                    take_turns(samples, list(PROGRAMS), number, lambda name: milliseconds(PROGRAMS[name], bus.environment()))
            finally:
                os.sched_setaffinity(0, before)
    return samples


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


def figures(kind, samples, few, many):
    rows = [
        ("`stagedoor drop` to `dbus-send`, which makes the same call", "stagedoor drop", "dbus-send", 1.6),
        ("`stagedoor --version` to a C program that says hello to the bus", "stagedoor --version", "C hello", 1.6),
        ("`stagedoor drop` to that C program", "stagedoor drop", "C hello", None),
    ]
    for title, above, below, aim in rows:
        yield page.Figure("command", kind, title, page.ratios(samples[above], samples[below]), aim)
    for form, title in enumerate(("peak memory of `stagedoor sessions`", "the same with `--json`")):
        for sessions, value in ((FEW, few), (LARGE, many)):
            yield page.Figure(None, kind, f"{title}, {sessions:,} sessions", [value[form]], unit="MiB")
        yield page.Figure("command", kind, f"{title}, with {LARGE:,} sessions to ten", [many[form] / few[form]], MORE_MEMORY)


def run(processor, kinds, rounds):
    """Returns whether every aim was met."""
    build()
    met = True
    with tempfile.TemporaryDirectory(prefix="command-", dir=BUILT) as folder:
        place = Place(folder)
        for kind in kinds:
            page.begin("command", f"the command, {kind}", f"{rounds} rounds of {2 * RUNS} runs")
            samples = measure(place, kind, processor, rounds)
            page.show("milliseconds from start to end", page.plain(samples))
            met &= page.show("ratios", figures(kind, samples, *(listed(place, kind, processor, n) for n in (FEW, LARGE))))
    return met
