#!/usr/bin/env python3
"""Times `stagedoor open` for a file whose window is open, and `wmctrl -a`, and looks at the understudy beside many windows.

    Benchmarks/open.py BIN-PATH [WINDOWS]    the programs of a release build; 200 windows by default

A time goes from the start of the process to the change of the active window. The two ways take turns. It needs Xvfb, openbox, xdotool, xprop,
wmctrl, xterm and zathura.
"""

import importlib.machinery
import importlib.util
import os
import select
import statistics
import subprocess
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
LOADER = importlib.machinery.SourceFileLoader("windows", os.path.join(HERE, "..", "Scripts", "try-windows"))
windows = importlib.util.module_from_spec(importlib.util.spec_from_loader("windows", LOADER))
LOADER.exec_module(windows)
ROUNDS, APPLICATIONS = 40, 100


class Active:
    """The changes of the active window, with their times."""

    def __init__(self):
        self.process = subprocess.Popen(["stdbuf", "-oL", "xprop", "-root", "-spy", "_NET_ACTIVE_WINDOW"], stdout=subprocess.PIPE)

    def wait(self, window, seconds=5):
        """Returns when the window became active; None if it did not."""
        end = time.monotonic() + seconds
        while (rest := end - time.monotonic()) > 0 and select.select([self.process.stdout], [], [], rest)[0]:
            line = os.read(self.process.stdout.fileno(), 4096).decode()
            if hex(window) in line:
                return time.monotonic()
        return None


def figures(process):
    """Returns the processor time in seconds, the PSS in MiB, and the number of times that its threads waited."""
    with open(f"/proc/{process}/schedstat") as file:
        seconds = int(file.read().split()[0]) / 1e9
    with open(f"/proc/{process}/smaps_rollup") as file:
        pss = next(int(line.split()[1]) for line in file if line.startswith("Pss:")) / 1024
    waits = 0
    for thread in os.listdir(f"/proc/{process}/task"):
        with open(f"/proc/{process}/task/{thread}/status") as file:
            waits += next(int(line.split()[1]) for line in file if line.startswith("voluntary_ctxt_switches"))
    return seconds, pss, waits


def timed(scene, path):
    wanted, active = scene.shown[path], Active()
    ways = {"stagedoor open": ["stagedoor", "open", *scene.choice, path], "wmctrl -a": ["wmctrl", "-a", os.path.basename(path)]}
    times = {way: [] for way in ways}
    for _ in range(ROUNDS):
        for way, words in ways.items():
            scene.step_aside()
            active.wait(scene.aside)
            start = time.monotonic()
            process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            if end := active.wait(wanted):
                times[way].append((end - start) * 1000)
            process.wait()
    active.process.kill()
    for way, found in times.items():
        print(f"{way:<16}{statistics.median(found):8.1f} ms   {len(found)} of {ROUNDS}")
    print(f"{'ratio':<16}{statistics.median(times['stagedoor open']) / statistics.median(times['wmctrl -a']):8.2f}")


def main():
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    place = os.environ["PLACE"]
    for folder in ("data/applications", "bin"):
        os.makedirs(os.path.join(place, folder))
    for number in range(APPLICATIONS):
        os.symlink("/bin/true", f"{place}/bin/app{number}")
        with open(f"{place}/data/applications/app{number}.desktop", "w") as file:
            file.write(f"[Desktop Entry]\nType=Application\nName=App {number}\n")
            file.write(f"Exec=app{number} %f\nMimeType=text/plain;image/png;\n")
    os.environ["XDG_DATA_DIRS"] = f"{place}/data:/usr/local/share:/usr/share"
    os.environ["PATH"] += f":{place}/bin"
    os.environ["PATH"] = f"{os.path.abspath(sys.argv[1])}:{os.environ['PATH']}"
    windows.desktop("zathura", "openbox")
    process = int(windows.run("pgrep", "-n", "-f", "^stagedoor-understudy"))
    print(f"start, {APPLICATIONS} applications: {figures(process)[0] * 1000:.0f} ms of processor")
    scene = windows.Scene("zathura", "pdf", {})
    path = scene.open(scene.file())
    timed(scene, path)
    for number in range(count):
        subprocess.Popen(["xterm", "-T", f"window {number}", "-e", "sleep", "1000"], stderr=subprocess.DEVNULL)
    windows.until(lambda: len(windows.windows()) >= count, 120)
    time.sleep(3)
    before = figures(process)
    print(f"{len(windows.windows())} windows: {before[1]:.1f} MiB")
    timed(scene, path)
    time.sleep(3)
    before = figures(process)
    time.sleep(10)
    after = figures(process)
    print(f"ten idle seconds: {after[2] - before[2]} wake-ups, {(after[0] - before[0]) * 1000:.1f} ms of processor")
    before = figures(process)
    for number in range(500):
        windows.run("xdotool", "set_window", "--name", f"title {number}", str(scene.aside))
    time.sleep(1)
    after = figures(process)
    print(f"a title change: {(after[0] - before[0]) * 1e6 / 500:.0f} µs of processor")
    for started in windows.STARTED.values():
        started.terminate()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if "PLACE" not in os.environ:
        import tempfile

        with tempfile.TemporaryDirectory() as place:
            sys.exit(subprocess.call(
                ["dbus-run-session", "--", sys.executable, *sys.argv], env={**os.environ, "PLACE": place}))
    sys.exit(main())
