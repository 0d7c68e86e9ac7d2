"""Measures the service: the cost of a drop beside C programs that do less, the start, and the cost of waiting for a drop.

Each run has a process of its own, with an empty state or a copy of a prepared state. So a run finds nothing of earlier
runs, and no process gets more drops than may wait from one sender (25,000). `stagedoord` runs with `--log-level warning`,
because the C programs do not write a line for each call either.
"""

import contextlib
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace

import items
from private_bus import PrivateBus, die_with_parent

HERE = os.path.dirname(os.path.abspath(__file__))
BUILT = os.path.join(HERE, ".build")
HOUSE = f"{BUILT}/house/release"

NAME = "org.stagedoor.Interchange1"
DROP, HELLO, OPEN = "org.stagedoor.bench.Drop", "org.stagedoor.bench.Hello", "org.stagedoor.bench.Open"
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
PSS = 8.0  # MiB


PROGRAMS = (("drop-libdbus", "dbus-1"), ("open-gapplication", "gio-2.0"), ("load", "dbus-1"), ("item", "dbus-1"),
            ("host-libdbus", "dbus-1"))


def build_c():
    os.makedirs(f"{BUILT}/c", exist_ok=True)
    for program, package in PROGRAMS:
        flags = subprocess.check_output(["pkg-config", "--cflags", "--libs", package], text=True).split()
        command = ["cc", "-O2", "-Wall", "-Wextra", f"{HERE}/c/{program}.c", "-o", f"{BUILT}/c/{program}"]
        subprocess.check_call([*command, *flags])


def build(more=()):
    """Builds the C programs, the service, and the package's programs in `more`."""
    build_c()
    command = ["make", "--no-print-directory", "--directory", os.path.dirname(HERE), "release", "SETUP=:"]
    executables = " ".join(["stagedoord", "service-benchmark", *more])
    command += ["SCRATCH=Benchmarks/.build/house", f"EXECUTABLES={executables}"]
    subprocess.check_call(command, stdout=sys.stderr)
    # If the linker finds the shared library first, a start is slower by a millisecond.
    if "libstdc++" in subprocess.check_output(["ldd", f"{HOUSE}/stagedoord"], text=True):
        print("stagedoord has not got the C++ library in it", file=sys.stderr)


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

GROUPS = [
    [drop(ONE), COPY, open_(ONE), stagedoord("memory", ONE), stagedoord("normal", ONE)],
    [drop(MANY), open_(MANY), stagedoord("full", MANY)],
    [crowded("memory", FEW, FEW), crowded("memory", LARGE, FEW), crowded("memory", LARGE, LARGE)],
    [crowded("full", FEW, FEW), crowded("full", LARGE, FEW), crowded("full", LARGE, LARGE)],
]


@dataclass
class Row:
    title: str
    above: Contender
    below: Contender
    aim: float | None = None
    aim_on_broker: float | None = None
    at_least: bool = False

    def aim_on(self, kind):
        return self.aim_on_broker if self.aim_on_broker and kind == "dbus-broker" else self.aim


def rows():
    yield Row("one, memory: Drop / C", stagedoord("memory", ONE), drop(ONE), 1.15)
    yield Row("one, memory: Drop / Open", stagedoord("memory", ONE), open_(ONE), 0.60)
    yield Row("one, normal: Drop / Open", stagedoord("normal", ONE), open_(ONE), 0.85)
    # This is a ratio of throughputs, so it is the other way round.
    yield Row("128, full: Drops a second / C", drop(MANY), stagedoord("full", MANY), 0.70, 0.60, at_least=True)
    yield Row("128, full: Drop / Open", stagedoord("full", MANY), open_(MANY), 0.60)
    for durability, aim in (("memory", 1.05), ("full", 1.10)):
        few = crowded(durability, FEW, FEW)
        for keys, what in ((FEW, "the same ten"), (LARGE, "each another")):
            title = f"{durability}: {LARGE:,} / {FEW}, {what}"
            yield Row(title, crowded(durability, LARGE, keys), few, aim)
    yield Row("control: C / C", COPY, drop(ONE))


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


def pinned(processor):
    def prepare():
        die_with_parent()
        os.sched_setaffinity(0, {processor})

    return prepare


@contextlib.contextmanager
def running(place, bus, processor, contender, state):
    command = place.command(contender, state)
    process = subprocess.Popen(command, env=place.environment(bus), preexec_fn=pinned(processor))
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def call(bus, processor, contender, count, warm_up):
    """Returns microseconds per call."""
    command = [f"{BUILT}/c/load", contender.call, contender.name, contender.mode, count, warm_up, contender.text]
    output = subprocess.check_output(
        [str(word) for word in [*command, contender.keys]], env=bus.environment(), preexec_fn=pinned(processor),
        timeout=RUN_LIMIT, text=True,
    )
    return float(output)


def read_in(bus, processor, contender):
    """Lets the service read its sessions before a measurement: a new service reads them after the first drop, or at once for
    Explain."""
    # The first call waits until the name has an owner, and may make the session. The second call finds it.
    call(bus, processor, replace(contender, keys=1), 1, 1)
    document = json.dumps({"activity": {"activityType": TYPE, "targetContentIdentifier": "document-0"}})
    command = ["dbus-send", "--session", "--print-reply", f"--dest={NAME}", "/org/stagedoor/Interchange1"]
    command += [f"{NAME}.Explain", f"string:{document}"]
    subprocess.check_call(command, env=bus.environment(), stdout=subprocess.DEVNULL)


def run_once(place, bus, processor, contender, calls):
    state = place.state(contender.world)
    try:
        with running(place, bus, processor, contender, state):
            if contender.name == NAME:
                read_in(bus, processor, contender)
            return call(bus, processor, contender, calls // contender.share, WARM_UP)
    finally:
        shutil.rmtree(state, ignore_errors=True)


def in_turn(contenders, number):
    """Returns the contenders forward and backward, and begins with another one each time."""
    turn = number % len(contenders)
    forth = contenders[turn:] + contenders[:turn]
    return forth + forth[::-1]


def measure(place, kind, processor, rounds, calls):
    """Returns contender -> microseconds per call, one for each round."""
    samples = {contender: [] for group in GROUPS for contender in group}
    for number in range(rounds):
        with PrivateBus(kind, {processor}) as bus:
            for group in GROUPS:
                times = {contender: [] for contender in group}
                for contender in in_turn(group, number):
                    times[contender].append(run_once(place, bus, processor, contender, calls))
                for contender in group:
                    samples[contender].append(statistics.mean(times[contender]))
        print(".", end="", flush=True, file=sys.stderr)
    print(file=sys.stderr)
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
START_ROWS = [(1, 0, "ten sessions / C hello", 1.9), (2, 1, f"{LARGE:,} of others / ten", 1.10)]
START_ROWS += [(3, 1, f"{LARGE:,} of its own / ten", 1.10)]


def start_once(place, kind, processor, start):
    state = place.state(start.world)
    contender = stagedoord("full", ONE) if start.world else COPY
    services = {contender.name: place.command(contender, state)}
    try:
        with PrivateBus(kind, {processor}, services, {"XDG_DATA_HOME": place.data}) as bus:
            return call(bus, processor, contender, 1, 0)
    finally:
        shutil.rmtree(state, ignore_errors=True)


def measure_starts(place, kind, processor, rounds):
    samples = {start: [] for start in STARTS}
    for number in range(rounds):
        times = {start: [] for start in STARTS}
        for start in in_turn(STARTS, number):
            times[start].append(start_once(place, kind, processor, start) / 1000)
        for start in STARTS:
            samples[start].append(statistics.mean(times[start]))
        print(".", end="", flush=True, file=sys.stderr)
    print(file=sys.stderr)
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


def resident(pid):
    """Returns the process's share of memory (PSS), in MiB."""
    with open(f"/proc/{pid}/smaps_rollup") as file:
        return int(re.search(r"^Pss:\s+(\d+) kB", file.read(), re.M)[1]) / 1024


def wake_ups(pid):
    """Returns how often the threads of a process began to run again."""
    total = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/status") as file:
            total += sum(int(count) for count in re.findall(r"ctxt_switches:\s*(\d+)", file.read()))
    return total


def measure_waiting(place, kinds, processor, seconds):
    """Returns kind -> MiB after a drop, and the number of wake-ups. It measures on all buses at once, because nothing happens."""
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
        return {kind: (resident(pid), wake_ups(pid) - before[kind]) for kind, pid in processes.items()}


# The table.


def verdict(value, aim, at_least=False, digits=3):
    met = value >= aim if at_least else value <= aim
    return met, f"{'>=' if at_least else '<='} {aim:.2f}".ljust(9) + ("PASS" if met else "SHORT")


def print_ratios(pairs):
    """Returns whether every aim was met. A pair: title, numerators, denominators, aim or None, whether it is a minimum."""
    met = True
    print(f"\n  {'ratio, round by round':<42}{'median':>8}{'least':>8}{'most':>8}   aim")
    for title, above, below, aim, at_least in pairs:
        ratios = [a / b for a, b in zip(above, below)]
        middle, cells = statistics.median(ratios), ""
        if aim:
            good, cells = verdict(middle, aim, at_least)
            met &= good
        print(f"  {title:<42}{middle:8.3f}{min(ratios):8.3f}{max(ratios):8.3f}   {cells}")
    return met


def print_medians(title, samples):
    print(f"\n  {title:<50}{'median':>10}{'least':>10}{'most':>10}")
    for contender, values in samples.items():
        name = contender.title if isinstance(contender, Start) else f"{contender.title}; {contender.mode}"
        print(f"  {name:<50}{statistics.median(values):10.1f}{min(values):10.1f}{max(values):10.1f}")


def on_bus(place, kind, processor, rounds, calls):
    samples = measure(place, kind, processor, rounds, calls)
    print_medians("microseconds per call", samples)
    met = print_ratios(
        (row.title, samples[row.above], samples[row.below], row.aim_on(kind), row.at_least) for row in rows()
    )
    starts = measure_starts(place, kind, processor, rounds)
    print_medians("milliseconds from the first call to its reply", starts)
    met &= print_ratios(
        (title, starts[STARTS[above]], starts[STARTS[below]], aim, False) for above, below, title, aim in START_ROWS
    )
    met &= items.report(kind, measure_items(place, kind, processor, rounds), verdict)
    return met


def waiting(place, kinds, processor, seconds):
    met = True
    print(f"\n  {'waiting, after two drops':<42}{'':>8}   aim")
    for kind, (mebibytes, count) in measure_waiting(place, kinds, processor, seconds).items():
        values = ((f"{kind}: MiB (PSS)", mebibytes, PSS), (f"{kind}: woke up in {seconds} s", count, 0))
        for title, value, aim in values:
            good, cells = verdict(value, aim)
            met &= good
            print(f"  {title:<42}{value:8.2f}   {cells}")
    return met


def run(processor, kinds, rounds, calls, is_quick, state):
    """Returns whether every aim was met."""
    build()
    met = True
    with tempfile.TemporaryDirectory(prefix="service-", dir=state or BUILT) as folder:
        place = Place(folder)
        for kind in kinds:
            title = f"the service, {kind}: {rounds} rounds of {calls} calls; its state on {file_system(folder)}"
            print(f"\n{title}", flush=True)
            met &= on_bus(place, kind, processor, rounds, calls)
        met &= waiting(place, kinds, processor, 5 if is_quick else 60)
    return met
