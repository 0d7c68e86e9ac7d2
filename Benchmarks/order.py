#!/usr/bin/env python3
"""Writes `functions.order`: the functions that each drop executes, the most frequent first.

    Benchmarks/order.py     `make order` runs this; it needs valgrind

`make release` gives this file to the linker, which places these functions side by side. A drop executes some 1,100
functions of 400 KiB. Scattered over the program, they lie on three times as many pages, and the processor fetches them
anew for each drop. A function that exists no more does no harm, and a function that is not in the file costs a little
time. So this runs again only after larger changes.
"""

import os
import re
import sys
import tempfile
from collections import Counter
from dataclasses import replace

sys.dont_write_bytecode = True
import service  # noqa: E402
from private_bus import PrivateBus  # noqa: E402

ORDER = os.path.join(service.HERE, "functions.order")
CALLS, WARM_UP = 3000, 100
END_LIMIT = 120  # seconds; valgrind makes the end fifty times as long


def record(folder):
    """Runs drops, and returns callgrind's lines about them."""
    place = service.Place(folder)
    lines = os.path.join(folder, "callgrind")
    valgrind = ("valgrind", "--quiet", "--tool=callgrind", "--demangle=no", f"--callgrind-out-file={lines}")
    stagedoord = service.stagedoord("memory", service.ONE)
    watched = replace(stagedoord, command=(*valgrind, *stagedoord.command))
    processor = max(os.sched_getaffinity(0))
    with PrivateBus("dbus-daemon", {processor}) as bus:
        with service.running(place, bus, processor, watched, place.state()) as process:
            service.call(bus, processor, watched, CALLS, WARM_UP)
            process.terminate()  # callgrind writes when the service ends
            process.wait(END_LIMIT)
    with open(lines) as file:
        return file.read().splitlines()


def executed(lines):
    """Returns the service's functions that were executed, with the number of calls of each."""
    names, programs, calls, program_of = {}, {}, Counter(), {}
    program = called = None
    for line in lines:
        if match := re.match(r"(c?)(fn|ob)=\((\d+)\)(?: (.*))?", line):
            is_called, kind, number, text = match.groups()
            table = names if kind == "fn" else programs
            if text:
                table[number] = text
            if kind == "ob" and not is_called:
                program = number
            elif kind == "fn" and is_called:
                called = number
            elif kind == "fn":
                program_of[number] = program
        elif line.startswith("calls="):
            calls[called] += int(line[len("calls=") :].split()[0])
    # callgrind counts the levels of a recursion: name'2.
    own = [number for number, program in program_of.items() if programs[program].endswith("/stagedoord")]
    return [(re.sub(r"'\d+$", "", names[number]), calls[number]) for number in own]


def main():
    service.build()
    with tempfile.TemporaryDirectory() as folder:
        functions = executed(record(folder))
    often = sorted((one for one in functions if one[1] >= CALLS), key=lambda one: (-one[1], one[0]))
    names = dict.fromkeys(name for name, _ in often)
    with open(ORDER, "w") as file:
        file.writelines(f"{name}\n" for name in names)
    print(f"{len(names):,} functions in {os.path.relpath(ORDER)}")


if __name__ == "__main__":
    main()
