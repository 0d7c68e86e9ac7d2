#!/usr/bin/env python3
"""Counts what the service executes, and fails where it has become more than the repository records.

    Benchmarks/cost.py              `make check-cost` runs this; it needs valgrind
    Benchmarks/cost.py --record     writes the counts to `cost.json`
    Benchmarks/cost.py --only start

valgrind counts instructions, and the lines of 64 bytes from which it fetched them. These counts do not depend on the
machine's speed: hashing is made deterministic, libc keeps to functions that every processor has, the service's clocks go
slower, and a line counts if at least one call in twenty fetches it. (A table that grows, a timer, or two messages that
arrive together fetch others.) The counts are

    drop    one Drop on an existing session, in memory
    batch   the same with its part of the rows that the store writes for 1,640 of them together
    host    one delivery to an attached host, until the sender hears that it is handled
    start   a process of the service, from its start to the reply to its first Drop

A commit that makes something dearer by more than two per cent records the new counts and says why.
"""

import argparse
import contextlib
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import replace

sys.dont_write_bytecode = True
import service  # noqa: E402
from private_bus import PrivateBus  # noqa: E402

RECORD = os.path.join(service.HERE, "cost.json")
MARGIN = 1.02
NAMES, WHAT = ("drop", "batch", "host", "start"), ("instructions", "lines")
CALLS, BATCH, WARM_UP = 400, 1640, 100
LINE = 64
RARE = 20  # A line that fewer than one in so many calls fetch does not count.
CONTROL_LIMIT = 30  # seconds
ENVIRONMENT = {
    "SWIFT_DETERMINISTIC_HASHING": "1",
    # These functions differ from processor to processor.
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX,-AVX2,-AVX512F,-AVX512VL,-AVX512BW,-ERMS,-FSRM,-BMI1,-BMI2,-LZCNT,-MOVBE,-RTM",
}


def executions(lines):
    """Yields the address of each instruction in callgrind's dump, and how often it was executed."""
    address, after_call = 0, False
    for line in lines:
        if match := re.match(r"(0x[0-9a-f]+|[+-]\d+|\*) (?:\+\d+|-\d+|\*|\d+) (\d+)$", line):
            place, times = match.groups()
            address = int(place, 16) if place.startswith("0x") else address + (0 if place == "*" else int(place))
            if not after_call:
                yield address, int(times)
            after_call = False  # the line behind "calls=" has the costs of the called function
        elif line.startswith("calls="):
            after_call = True


def counted(dump, calls):
    """Returns the instructions that a call executes, and the number of lines from which it fetches them."""
    executed = Counter()
    for address, times in executions(dump):
        executed[address] += times
    lines = {address // LINE for address, times in executed.items() if times * RARE >= calls}
    return executed.total() // calls, len(lines)


class Watched:
    """The service under callgrind, on a bus of its own."""

    def __init__(self, place, bus, processor):
        self.bus, self.processor, self.folder = bus, processor, place.folder
        self.contender = service.stagedoord("memory", service.ONE)
        self.lines = os.path.join(place.folder, "callgrind")
        valgrind = ("valgrind", "--quiet", "--tool=callgrind", "--dump-instr=yes", f"--callgrind-out-file={self.lines}")
        # In the shared folder for temporary files, what killed processes left there can keep vgdb waiting for ever.
        self.pipes = f"--vgdb-prefix={os.path.join(place.folder, 'vgdb')}"
        valgrind += (f"--log-file={self.lines}-log", self.pipes)
        self.watched = replace(self.contender, command=(*valgrind, *self.contender.command))

    def running(self, place):
        return service.running(place, self.bus, self.processor, self.watched, place.state())

    def control(self, what, pid):
        # callgrind_control looks for files in the working directory.
        subprocess.run(
            ["callgrind_control", self.pipes, what, str(pid)], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            check=True, timeout=CONTROL_LIMIT)

    def dumped(self, pid, calls=1):
        self.control("--dump", pid)
        newest = max(glob.glob(f"{self.lines}.*"), key=os.path.getmtime)
        with open(newest) as file:
            return counted(file, calls)

    def calls(self, how, count, warm_up=1):
        service.call(self.bus, self.processor, replace(self.contender, call=how), count, warm_up)


def stand_in():
    """Returns the library that stands in for some of libc."""
    library = f"{service.BUILT}/c/under-valgrind.so"
    subprocess.check_call(["cc", "-O2", "-shared", "-fPIC", f"{service.HERE}/c/under-valgrind.c", "-o", library])
    return library


def measured(place, name):
    """Returns the instructions and the lines of one thing."""
    processor = max(os.sched_getaffinity(0))
    with PrivateBus("dbus-daemon", {processor}) as bus:
        watched = Watched(place, bus, processor)
        with watched.running(place) as process:
            if name == "start":
                service.call(bus, processor, replace(watched.contender, keys=1), 1, 1)
                return watched.dumped(process.pid)
            watched.calls("drop", 1, service.FEW)
            how = "deliver" if name == "host" else "drop"
            with service.attached(bus, processor) if name == "host" else contextlib.nullcontext():
                count = BATCH if name == "batch" else CALLS
                watched.calls(how, WARM_UP)
                watched.control("--zero", process.pid)
                watched.calls(how, count - 1)  # and one to warm up
                return watched.dumped(process.pid, count)


def least(place, name, allowed, tries):
    """Returns the least counts of some runs. Other programs may let messages arrive together, so a run may count more."""
    found = None
    for _ in range(tries):
        try:
            counts = measured(place, name)
        except subprocess.TimeoutExpired as error:
            print(f"cost: {name:<6} not counted: {error.cmd[0]} did not answer within {error.timeout:.0f} s")
            continue
        found = tuple(map(min, found, counts)) if found else counts
        if allowed and all(count <= limit * MARGIN for count, limit in zip(found, allowed)):
            break
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record", action="store_true", help="write the counts to cost.json")
    parser.add_argument("--only", choices=NAMES)
    parser.add_argument("--built", help="the folder of a stagedoord that is built already")
    arguments = parser.parse_args()
    if arguments.built:
        service.HOUSE = os.path.abspath(arguments.built)
        service.build_c()
    else:
        service.build()
    with open(RECORD) as file:
        record = json.load(file)
    os.environ.update(ENVIRONMENT, LD_PRELOAD=stand_in())
    dearer = False
    with tempfile.TemporaryDirectory() as folder:
        place = service.Place(folder)
        for name in [arguments.only] if arguments.only else NAMES:
            allowed = record.get(name)
            counts = least(place, name, None if arguments.record else allowed, 3)
            if not counts:
                dearer = True
                continue
            for what, count, limit in zip(WHAT, counts, allowed or counts):
                is_dearer = count > limit * MARGIN
                dearer |= is_dearer
                print(f"cost: {name:<6}{count:>12,} {what:<13}{limit:>12,} recorded{'   DEARER' * is_dearer}")
            record[name] = counts
    if arguments.record:
        with open(RECORD, "w") as file:
            file.write(json.dumps(record, indent=2) + "\n")
    elif dearer:
        raise SystemExit("cost: make it cheaper, or record the new counts (Benchmarks/cost.py --record) and say why")


if __name__ == "__main__":
    main()
