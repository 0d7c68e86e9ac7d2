#!/usr/bin/env python3
"""Writes `functions.order`, the functions that each drop executes, the most frequent first, with those of a start that
BOLT does not move and those of `stagedoor drop`, and `stagedoord.profile.xz`, how often each branch was taken.

    Benchmarks/order.py     `make order` runs this; it needs valgrind, pgrep and BOLT

`make release` gives the first file to the linker, which places these functions side by side, and the second to BOLT,
which then lays out the code within them. A drop executes some 1,100 functions of 400 KiB. Scattered over the program,
they lie on three times as many pages, and the processor fetches them anew for each drop. A function that exists no more
does no harm, and a function that is not in the files costs a little time. So this runs again only after larger changes.
`stagedoor drop` executes 1,700 functions once; side by side, they need 75 page faults less.
"""

import bisect
import contextlib
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import replace

sys.dont_write_bytecode = True
import service  # noqa: E402
from cost import executions  # noqa: E402
from private_bus import PrivateBus  # noqa: E402

PROFILE = os.path.join(service.HERE, "stagedoord.profile.xz")
ORDER = os.path.join(service.HERE, "functions.order")
CALLS, WARM_UP = 3000, 100
END_LIMIT = 120  # seconds; valgrind makes the end fifty times as long
LOADED_AT = 0x108000  # the place at which valgrind loads a program


def valgrind(lines):
    return ("valgrind", "--quiet", "--tool=callgrind", "--demangle=no", f"--callgrind-out-file={lines}")


def record(folder):
    """Runs drops, and returns callgrind's lines about the service."""
    place = service.Place(folder)
    lines = os.path.join(folder, "callgrind")
    stagedoord = service.stagedoord("memory", service.ONE)
    watched = replace(stagedoord, command=(*valgrind(lines), *stagedoord.command))
    processor = max(os.sched_getaffinity(0))
    with PrivateBus("dbus-daemon", {processor}) as bus:
        with service.running(place, bus, processor, watched, place.state()) as process:
            service.call(bus, processor, watched, CALLS, WARM_UP)
            process.terminate()  # callgrind writes when the service ends
            process.wait(END_LIMIT)
    with open(lines) as file:
        return file.read().splitlines()


def record_command(folder):
    """Returns callgrind's lines about the command that drops something."""
    place, stagedoord = service.Place(folder), service.stagedoord("memory", service.ONE)
    lines = os.path.join(folder, "callgrind")
    processor = max(os.sched_getaffinity(0))
    with PrivateBus("dbus-daemon", {processor}) as bus:
        with service.running(place, bus, processor, stagedoord, place.state()):
            service.call(bus, processor, stagedoord, 1, service.FEW)
            drop = (f"{service.HOUSE}/stagedoor", "drop", "--type", service.TYPE, "--target", "document-0")
            subprocess.check_call([*valgrind(lines), *drop], env=bus.environment(), stdout=subprocess.DEVNULL)
    with open(lines) as file:
        return file.read().splitlines()


def executed(lines, by):
    """Returns the functions of the program `by` that were executed, with the number of calls of each."""
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
    own = [number for number, program in program_of.items() if programs[program].endswith(f"/{by}")]
    return [(re.sub(r"'\d+$", "", names[number]), calls[number]) for number in own]


def lay_out(*words):
    subprocess.check_call(["Scripts/lay-out", *words], cwd=os.path.dirname(service.HERE))


def start(place, *command):
    """Lets a bus start the service for one call, and waits until the service has ended."""
    ours, processor = service.stagedoord("full", service.ONE), max(os.sched_getaffinity(0))
    ours = replace(ours, command=(*command, *ours.command[1:]))
    state = place.state(service.STARTS[1].world)
    services = {ours.name: place.command(ours, state)}
    with PrivateBus("dbus-daemon", {processor}, services, {"XDG_DATA_HOME": place.data}) as bus:
        service.call(bus, processor, ours, 1, 0)
    end = time.monotonic() + END_LIMIT
    while subprocess.call(["pgrep", "-f", state], stdout=subprocess.DEVNULL) == 0:
        if time.monotonic() > end:
            sys.exit("the service did not end")
        time.sleep(0.1)


def profile(folder):
    """Records how often each branch of the service is taken: at a start, and with and without a host at each durability."""
    watched = os.path.join(folder, "stagedoord")
    lay_out(f"{service.HOUSE}/stagedoord", "--watched", watched)
    place, processor = service.Place(os.path.join(folder, "place")), max(os.sched_getaffinity(0))
    for durability in ("memory", "normal", "full"):
        ours = service.stagedoord(durability, service.ONE)
        ours = replace(ours, command=(watched, *ours.command[1:]))
        with PrivateBus("dbus-daemon", {processor}) as bus:
            with service.running(place, bus, processor, ours, place.state()) as process:
                service.call(bus, processor, ours, CALLS, service.FEW)
                service.call(bus, processor, replace(ours, mode=service.MANY), CALLS, WARM_UP)
                with service.attached(bus, processor):
                    service.call(bus, processor, replace(ours, call="deliver"), CALLS, WARM_UP)
                process.terminate()  # the profile is written when the service ends
                process.wait(END_LIMIT)
    start(place, watched)
    lay_out(f"{service.HOUSE}/stagedoord", "--learn", *glob.glob(f"{watched}.fdata*"))


def unmoved(folder):
    """Returns the functions that a start executes where the linker placed them. BOLT moves no code to which data refers by
    its distance."""
    program, laid = f"{service.HOUSE}/stagedoord", os.path.join(folder, "laid", "stagedoord")
    os.mkdir(os.path.dirname(laid))
    shutil.copy2(program, laid)
    lay_out(laid)
    lines = os.path.join(folder, "callgrind")
    callgrind = (shutil.which("valgrind"), "--quiet", "--tool=callgrind", "--dump-instr=yes", f"--callgrind-out-file={lines}")
    start(service.Place(os.path.join(folder, "start")), *callgrind, laid)
    symbols = subprocess.check_output(["nm", "--numeric-sort", program], text=True)
    functions = [(int(place, 16), name) for place, name in re.findall(r"^([0-9a-f]+) [tTwW] (.+)$", symbols, re.M)]
    places = [place for place, _ in functions]
    names = {}
    with open(lines) as file:
        for address, _ in executions(file):
            place = address - LOADED_AT
            if places[0] <= place <= places[-1]:
                names[functions[bisect.bisect_right(places, place) - 1][1]] = None
    return names


def main():
    # Without a profile the release is not laid out, and BOLT can read it.
    with contextlib.suppress(FileNotFoundError):
        os.remove(PROFILE)
    service.build(("stagedoor",), flags=["SHORT=-Xlinker --emit-relocs"])
    with tempfile.TemporaryDirectory() as folder:
        functions = executed(record(os.path.join(folder, "drops")), "stagedoord")
        profile(folder)
        at_start = unmoved(folder)
        command = executed(record_command(os.path.join(folder, "command")), "stagedoor")
    often = sorted((one for one in functions if one[1] >= CALLS), key=lambda one: (-one[1], one[0]))
    names = dict.fromkeys(name for name, _ in often) | at_start | dict.fromkeys(name for name, _ in command)
    with open(ORDER, "w") as file:
        file.writelines(f"{name}\n" for name in names)
    print(f"{len(names):,} functions in {os.path.relpath(ORDER)}")


if __name__ == "__main__":
    main()
