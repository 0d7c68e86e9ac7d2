"""Measures the service: the cost of a drop beside C programs that do less, the start, and the cost of waiting for a drop.

Each run has a process of its own, with an empty state or a copy of a prepared state. So a run finds nothing of earlier
runs, and no process gets more drops than may wait from one sender (25,000). `stagedoord` runs with `--log-level warning`,
because the C programs do not write a line for each call either.
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace

import items
import page
from common import BUILT, HERE, compile_c, make_release, resident, rounds, take_turns, threads
from private_bus import PrivateBus, die_with_parent, pinned

HOUSE = f"{BUILT}/house/release"

NAME = "org.stagedoor.Interchange1"
DROP, HELLO, OPEN, ECHO = (f"org.stagedoor.bench.{name}" for name in ("Drop", "Hello", "Open", "Echo"))
DESK = "org.stagedoor.bench.Desk"
TYPE = f"{DESK}.show"
MANIFEST = {
    "CFBundleIdentifier": DESK,
    "CFBundleName": "Desk",
    "NSUserActivityTypes": [TYPE],
    "UIApplicationSceneManifest": {
        "UIApplicationSupportsMultipleScenes": True,
        "UISceneConfigurations": {
            "UIWindowSceneSessionRoleApplication": [
                {"UISceneConfigurationName": "Desk", "StagedoorActivityTypes": [TYPE]}
            ]
        },
    },
}

ONE, MANY = "one", "128/8"
FEW, LARGE = 10, 100_000
WARM_UP = 500
GIBIBYTE = 1 << 30
ITEM_CALLS = 50  # pairs of deliveries with a mebibyte for one round
RUN_LIMIT = 120  # seconds for one run of a client; a longer run hangs
# After these seconds a drop has no postponed work left: its deadline is after twenty seconds, the store is put in order
# three seconds later, and then free memory is given back.
QUIET = 32
HELD = 13_500  # drops that wait for their host at the same time


PROGRAMS = (("drop-libdbus", "dbus-1"), ("open-gapplication", "gio-2.0"), ("load", "dbus-1"), ("item", "dbus-1"),
            ("host-libdbus", "dbus-1"), ("echo-libdbus", "dbus-1"))


def build_c():
    for program, package in PROGRAMS:
        compile_c(program, package)


def build(more=(), flags=()):
    """Builds the C programs, the service, and the package's programs in `more`."""
    build_c()
    make_release("stagedoord", "service-benchmark", *more, flags=flags)
    # If the linker finds the shared library first, a start is slower by a millisecond.
    if "libstdc++" in subprocess.check_output(["ldd", f"{HOUSE}/stagedoord"], text=True):
        print("stagedoord has not got the C++ library in it", file=sys.stderr)
    let_system_read(f"{HOUSE}/stagedoord")


def let_system_read(program):
    """Lets the system read a new program from the disk, as it does where the program is installed. Otherwise its memory has the
    program as it was written, in large pieces, and a process maps up to three megabytes more."""
    file = os.open(program, os.O_RDONLY)
    os.fsync(file)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(file)


# The contenders.


@dataclass(frozen=True)
class Contender:
    """A service, with the calls that it gets."""

    title: str
    command: tuple
    name: str
    mode: str = ONE
    call: str = "drop"
    text: str = TYPE
    keys: int = FEW
    world: tuple = ()  # own sessions and others', in a prepared state
    share: int = 1  # a run has its calls divided by this: calls that wait for a disk take long
    each: int = 1  # calls that count as one


def drop(mode):
    return Contender("C, one signal and the reply", (f"{BUILT}/c/drop-libdbus", DROP), DROP, mode)


def open_(mode):
    command = (f"{BUILT}/c/open-gapplication", OPEN)
    return Contender("GApplication.Open", command, OPEN, mode, "open", "/" + OPEN.replace(".", "/"))


def stagedoord(durability, mode, **rest):
    command = (f"{HOUSE}/stagedoord", "--log-level", "warning", "--durability", durability, "--state", "{state}")
    share = 4 if durability == "full" and mode == ONE else 1
    return Contender(f"Drop, {durability}", command, NAME, mode, share=share, **rest)


def crowded(durability, own, keys):
    """Returns the service that gets drops on `keys` of `own` sessions."""
    title = f"Drop, {durability}, on {keys:,} of {own:,} sessions"
    if durability == "memory":
        command = (f"{HOUSE}/service-benchmark", "serve", "{manifest}", str(own))
        return Contender(title, command, NAME, keys=keys)
    same = stagedoord(durability, ONE)
    return Contender(title, same.command, NAME, keys=keys, world=(own, 0), share=same.share)


COPY = Contender("C, second copy", (f"{BUILT}/c/drop-libdbus", HELLO), HELLO)
ECHOES = Contender("C, two echoes", (f"{BUILT}/c/echo-libdbus", ECHO), ECHO, call="echo", each=2)
HANDLED = replace(stagedoord("memory", ONE), title="Deliver, memory, until it is handled", call="deliver")
SAME_MESSAGES = Contender("C, the messages of Deliver until it is handled", (f"{BUILT}/c/drop-libdbus", NAME), NAME, call="deliver")

GROUPS = [
    [drop(ONE), COPY, open_(ONE), stagedoord("memory", ONE), stagedoord("normal", ONE)],
    [drop(MANY), open_(MANY), stagedoord("memory", MANY), stagedoord("normal", MANY), stagedoord("full", MANY)],
    [ECHOES, HANDLED, SAME_MESSAGES],
    [crowded("memory", FEW, FEW), crowded("memory", LARGE, FEW), crowded("memory", LARGE, LARGE)],
    [crowded("full", FEW, FEW), crowded("full", LARGE, FEW), crowded("full", LARGE, LARGE)],
]


def figures(kind, samples):
    """Yields the ratios of drops."""

    def ratio(title, above, below, aim=None, at_least=False):
        return page.Figure("service", kind, title, page.ratios(samples[above], samples[below]), aim, at_least)

    for durability, aim in (("memory", 1.25), ("normal", 1.55)):
        title = f"Drop in `{durability}` to a C service that replies and emits one signal"
        yield ratio(title, stagedoord(durability, ONE), drop(ONE), aim)
    for durability, aim in (("memory", 0.95), ("normal", 0.80), ("full", 0.70 if kind == "dbus-broker" else 0.75)):
        # This is a ratio of throughputs, so it is the other way round.
        title = f"Drops a second in `{durability}`, 128 under way, to the C service"
        yield ratio(title, drop(MANY), stagedoord(durability, MANY), aim, at_least=True)
    for durability, aim in (("memory", 1.00), ("normal", 1.25)):
        yield ratio(f"Drop in `{durability}` to `GApplication.Open` in C", stagedoord(durability, ONE), open_(ONE), aim)
    title = "Drop in `full`, 128 under way, to `GApplication.Open` in C"
    yield ratio(title, stagedoord("full", MANY), open_(MANY))
    yield ratio("Deliver to an attached host, until it is handled, to two echoes in C", HANDLED, ECHOES, 1.5)
    yield ratio("a C service that exchanges the same messages to two echoes", SAME_MESSAGES, ECHOES)
    yield ratio("Deliver to that C service", HANDLED, SAME_MESSAGES)
    for durability, same in (("memory", 1.05), ("full", 1.10)):
        for keys, which, aim in ((FEW, "the same ten", same), (LARGE, "each time another", 1.10)):
            title = f"Drop at {LARGE:,} sessions to {FEW}, in `{durability}`: {which}"
            yield ratio(title, crowded(durability, LARGE, keys), crowded(durability, FEW, FEW), aim)
    yield ratio("the error: the C service to a second copy of itself", COPY, drop(ONE))


# Runs.


class Place:
    """The files of a measurement: states on the chosen file system, and the manifest."""

    def __init__(self, folder):
        self.folder = folder
        self.data = os.path.join(folder, "data")
        self.manifest = os.path.join(self.data, "stagedoor", "applications", f"{DESK}.json")
        os.makedirs(os.path.dirname(self.manifest))
        with open(self.manifest, "w") as file:
            json.dump(MANIFEST, file)
        self._worlds = {}
        self._states = 0

    def state(self, world=()):
        """Returns a new directory for one run."""
        self._states += 1
        state = os.path.join(self.folder, f"state-{self._states}")
        if world:
            shutil.copytree(self._world(world), state)
        return state

    def _world(self, world):
        if world not in self._worlds:
            directory = os.path.join(self.folder, "world-{}-{}".format(*world))
            subprocess.check_call([f"{HOUSE}/service-benchmark", "store", directory, *map(str, world)])
            # Otherwise the system would write the data to the disk during a measurement.
            os.sync()
            self._worlds[world] = directory
        return self._worlds[world]

    def environment(self, bus):
        return {**bus.environment(), "XDG_DATA_HOME": self.data}

    def command(self, contender, state):
        return [word.format(state=state, manifest=self.manifest) for word in contender.command]


def file_system(path):
    """Returns the kernel's name for the file system of a path."""
    with open("/proc/self/mountinfo") as file:
        mounts = [line.split() for line in file]
    path = os.path.realpath(path)
    found = [m for m in mounts if path == m[4] or path.startswith(m[4].rstrip("/") + "/")]
    best = max(found, key=lambda mount: len(mount[4]))
    return best[best.index("-") + 1]


@contextlib.contextmanager
def running(place, bus, processor, contender, state):
    command = place.command(contender, state)
    process = subprocess.Popen(command, env=place.environment(bus), preexec_fn=pinned({processor}), stdout=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def call(bus, processor, contender, count, warm_up):
    """Returns microseconds per call."""
    command = [f"{BUILT}/c/load", contender.call, contender.name, contender.mode, count, warm_up, contender.text]
    output = subprocess.check_output(
        [str(word) for word in [*command, contender.keys]], env=bus.environment(), preexec_fn=pinned({processor}),
        timeout=RUN_LIMIT, text=True,
    )
    return float(output)


@contextlib.contextmanager
def attached(bus, processor):
    """The desk's host, attached to the service."""
    command = [f"{BUILT}/c/host-libdbus", DESK]
    with subprocess.Popen(
        command, env=bus.environment(), preexec_fn=pinned({processor}), stdout=subprocess.PIPE, text=True
    ) as host:
        try:
            if host.stdout.readline() != "attached\n":
                raise RuntimeError("the host did not attach")
            yield
        finally:
            host.kill()


def read_in(bus, processor, contender):
    """Lets the service read its sessions before a measurement: a new service reads them after the first drop, or at once for
    Explain."""
    # The first call waits until the name has an owner, and may make the session. The second call finds it.
    call(bus, processor, replace(contender, call="drop", keys=1), 1, 1)
    document = json.dumps({"activity": {"activityType": TYPE, "targetContentIdentifier": "document-0"}})
    command = ["dbus-send", "--session", "--print-reply", f"--dest={NAME}", "/org/stagedoor/Interchange1"]
    command += [f"{NAME}.Explain", f"string:{document}"]
    subprocess.check_call(command, env=bus.environment(), stdout=subprocess.DEVNULL)


def run_once(place, bus, processor, contender, calls):
    state = place.state(contender.world)
    try:
        with running(place, bus, processor, contender, state), contextlib.ExitStack() as stack:
            if contender.name == NAME and contender != SAME_MESSAGES:
                read_in(bus, processor, contender)
            if contender.call == "deliver":
                call(bus, processor, replace(contender, call="drop"), 1, FEW)  # makes the sessions
                stack.enter_context(attached(bus, processor))
            return call(bus, processor, contender, calls // contender.share, WARM_UP) * contender.each
    finally:
        shutil.rmtree(state, ignore_errors=True)


def measure(place, kind, processor, count, calls):
    """Returns contender -> microseconds per call, one for each round."""
    samples = {}
    for number in rounds(count):
        with PrivateBus(kind, {processor}) as bus:
            for group in GROUPS:
                take_turns(samples, group, number, lambda one: run_once(place, bus, processor, one, calls))
    return samples


# Starting. The bus starts the service for the first call. The caller measures this call.


@dataclass(frozen=True)
class Start:
    title: str
    world: tuple  # own sessions and others'; empty for the C service


HELLO_START = Start("C hello service", ())
STARTS = [
    HELLO_START,
    Start(f"stagedoord, {FEW} sessions", (FEW, 0)),
    Start(f"stagedoord, {LARGE:,} of other applications", (FEW, LARGE - FEW)),
    Start(f"stagedoord, {LARGE:,} of the application", (LARGE, 0)),
]
# Title, numerator, denominator and aim.
START_ROWS = [
    ("first call to its reply, to a C hello service", STARTS[1], HELLO_START, 2.0),
    (f"the same with {LARGE:,} sessions of other applications to ten", STARTS[2], STARTS[1], 1.10),
    (f"the same with {LARGE:,} sessions of its own to ten", STARTS[3], STARTS[1], 1.10),
]


def start_once(place, kind, processor, start):
    state = place.state(start.world)
    contender = stagedoord("full", ONE) if start.world else COPY
    services = {contender.name: place.command(contender, state)}
    try:
        with PrivateBus(kind, {processor}, services, {"XDG_DATA_HOME": place.data}) as bus:
            return call(bus, processor, contender, 1, 0)
    finally:
        shutil.rmtree(state, ignore_errors=True)


def measure_starts(place, kind, processor, count):
    samples = {}
    for number in rounds(count):
        take_turns(samples, STARTS, number, lambda start: start_once(place, kind, processor, start) / 1000)
    return samples


# Items. Writer, reader and service work at the same time, so they do not share one processor.


def measure_items(place, kind, processor, rounds):
    contender = stagedoord("memory", ONE)
    state = place.state()
    try:
        with PrivateBus(kind, {processor}) as bus:
            command = place.command(contender, state)
            with subprocess.Popen(command, env=place.environment(bus), preexec_fn=die_with_parent) as service:
                try:
                    numbers = (GIBIBYTE, rounds, ITEM_CALLS, RUN_LIMIT * rounds)
                    return items.measured(bus, f"{BUILT}/c/item", service.pid, *numbers)
                finally:
                    service.kill()
    finally:
        shutil.rmtree(state, ignore_errors=True)


# Waiting.


def wake_ups(pid):
    """Returns how often the threads of a process began to run again."""
    return sum(switches for _, switches, _ in threads(pid).values())


def measure_waiting(place, kinds, processor, seconds):
    """Yields the MiB after a drop, and the number of wake-ups. It measures on all buses at once, because nothing happens."""
    contender = stagedoord("full", ONE, keys=1)
    with contextlib.ExitStack() as stack:
        processes = {}
        for kind in kinds:
            bus = stack.enter_context(PrivateBus(kind, {processor}))
            process = stack.enter_context(running(place, bus, processor, contender, place.state()))
            # The first call waits until the name has an owner, and makes the session. The second call finds it.
            call(bus, processor, contender, 1, 1)
            processes[kind] = process.pid
        time.sleep(QUIET)
        before = {kind: wake_ups(pid) for kind, pid in processes.items()}
        time.sleep(seconds)
        for kind, pid in processes.items():
            yield figure(kind, "memory that it has to itself while it waits", resident(pid), 3, "MiB")
            yield figure(kind, f"how often it wakes up in {seconds} seconds", wake_ups(pid) - before[kind], 0, "times")


def measure_held(place, kind, processor, durability):
    contender = stagedoord(durability, ONE)
    with PrivateBus(kind, {processor}) as bus, running(place, bus, processor, contender, place.state()) as process:
        read_in(bus, processor, contender)
        call(bus, processor, contender, HELD, FEW)
        title = f"the same memory while {HELD:,} drops wait for their host, in `{durability}`"
        return figure(kind, title, resident(process.pid), 20, "MiB")


def counted():
    """Yields what `make check-cost` has counted and recorded."""
    with open(os.path.join(HERE, "cost.json")) as file:
        instructions, lines = json.load(file)["drop"]
    yield figure("dbus-daemon", "what a Drop in `memory` executes", instructions, 185_000, "instructions")
    yield figure("dbus-daemon", "the code that at least one in twenty Drops fetches for them", lines, 3_500, "lines of 64 bytes")


def figure(kind, title, value, aim, unit):
    return page.Figure("service", kind, title, [value], aim, unit=unit)


def on_bus(place, kind, processor, rounds, calls):
    samples = measure(place, kind, processor, rounds, calls)
    page.show("microseconds per call", page.plain({f"{c.title}; {c.mode}": times for c, times in samples.items()}))
    met = page.show("ratios", figures(kind, samples))
    starts = measure_starts(place, kind, processor, rounds)
    page.show("milliseconds from the first call to its reply", page.plain({s.title: times for s, times in starts.items()}))
    met &= page.show("ratios", (
        page.Figure("service", kind, title, page.ratios(starts[above], starts[below]), aim)
        for title, above, below, aim in START_ROWS
    ))
    met &= page.show("items", items.figures(kind, measure_items(place, kind, processor, rounds)))
    return met


def run(processor, kinds, rounds, calls, is_quick, state):
    """Returns whether every aim was met."""
    build()
    met = True
    with tempfile.TemporaryDirectory(prefix="service-", dir=state or BUILT) as folder:
        place = Place(folder)
        for kind in kinds:
            title = f"the service, {kind}, its state on {file_system(folder)}"
            page.begin("service", title, f"{rounds} rounds of {calls:,} calls")
            met &= on_bus(place, kind, processor, rounds, calls)
        met &= page.show("waiting, after two drops", measure_waiting(place, kinds, processor, 5 if is_quick else 60))
        met &= page.show("held", [measure_held(place, kind, processor, each) for each in ("full", "memory") for kind in kinds])
        met &= page.show("counted by `make check-cost`", counted())
    return met
