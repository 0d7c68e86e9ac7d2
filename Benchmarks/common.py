"""What the parts of the benchmarks share: building, rounds in which contenders take turns, and what the kernel counts of a process."""

import os
import re
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
BUILT = os.path.join(HERE, ".build")


def compile_c(program, package, *flags, target=None):
    os.makedirs(f"{BUILT}/c", exist_ok=True)
    found = subprocess.check_output(["pkg-config", "--cflags", "--libs", package], text=True).split()
    command = ["cc", "-O2", "-Wall", "-Wextra", *flags, f"{HERE}/c/{program}.c", "-o", f"{BUILT}/c/{target or program}"]
    subprocess.check_call([*command, *found])


def make_release(*executables, flags=()):
    """Builds programs of the package as `make install` does, into `.build/house/release`."""
    command = ["make", "--no-print-directory", "--directory", os.path.dirname(HERE), "release", "SETUP=:"]
    command += ["SCRATCH=Benchmarks/.build/house", f"EXECUTABLES={' '.join(executables)}", *flags]
    subprocess.check_call(command, stdout=sys.stderr)


def rounds(count):
    """Yields the number of each round, and shows when it is over."""
    for number in range(count):
        yield number
        print(".", end="", flush=True, file=sys.stderr)
    print(file=sys.stderr)


def in_turn(contenders, number):
    """Returns the contenders forward and backward, and begins with another one each time."""
    turn = number % len(contenders)
    forth = contenders[turn:] + contenders[:turn]
    return forth + forth[::-1]


def take_turns(samples, contenders, number, run, times=1):
    """Runs each contender forward and backward, and adds the mean of its runs to its samples."""
    values = {one: [] for one in contenders}
    for one in in_turn(contenders, number) * times:
        values[one].append(run(one))
    for one in contenders:
        samples.setdefault(one, []).append(statistics.mean(values[one]))


def threads(pid):
    """Returns thread id -> its sleeps (voluntary context switches), all its context switches, and its nanoseconds of processor time."""
    found = {}
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/status") as file:
            voluntary, others = map(int, re.findall(r"ctxt_switches:\s*(\d+)", file.read()))
        with open(f"/proc/{pid}/task/{thread}/schedstat") as file:
            found[thread] = voluntary, voluntary + others, int(file.read().split()[0])
    return found


def resident(pid):
    """Returns the process's share of memory (PSS), in MiB."""
    with open(f"/proc/{pid}/smaps_rollup") as file:
        return int(re.search(r"^Pss:\s+(\d+) kB", file.read(), re.M)[1]) / 1024
