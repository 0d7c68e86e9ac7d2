#!/usr/bin/env python3
"""Times `stagedoor open` for a file whose window is open, and `wmctrl -a`, and looks at the understudy beside more and more windows.

    Benchmarks/open.py BIN-PATH [--wm openbox] [WINDOWS…]    the programs of a release build; 10, 100 and 2000 windows by default

A time goes from the start of the process to the change of the active window. The two ways take turns. openbox needs minutes to take 2,000 windows, so a
small program stands in for the window manager: it lists the windows, and brings to the front what it is asked for. It needs Xvfb, xdotool, xprop,
wmctrl, xterm, zathura and libX11.
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
from common import resident, threads  # noqa: E402

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
    of_threads = threads(process).values()
    return sum(each[2] for each in of_threads) / 1e9, resident(process), sum(each[0] for each in of_threads)


def timed(scene, path):
    """Returns the medians in milliseconds of `stagedoor open` and of `wmctrl -a`."""
    wanted, active = scene.shown[path], Active()
    ways = [["stagedoor", "open", *scene.choice, path], ["wmctrl", "-a", os.path.basename(path)]]
    times = [[] for way in ways]
    for _ in range(ROUNDS):
        for place, words in enumerate(ways):
            scene.step_aside()
            active.wait(scene.aside)
            start = time.monotonic()
            process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            if end := active.wait(wanted):
                times[place].append((end - start) * 1000)
            process.wait()
    active.process.kill()
    return [statistics.median(found) for found in times]


X = """
import ctypes, struct, sys, time
x = ctypes.CDLL("libX11.so.6")
x.XOpenDisplay.restype = ctypes.c_void_p
x.XDefaultRootWindow.restype = x.XCreateSimpleWindow.restype = x.XInternAtom.restype = ctypes.c_ulong
display = ctypes.c_void_p(x.XOpenDisplay(None))
root = ctypes.c_ulong(x.XDefaultRootWindow(display))

def window():
    return x.XCreateSimpleWindow(display, root, 0, 0, 50, 50, 0, ctypes.c_ulong(0), ctypes.c_ulong(0))
"""

CROWD = X + """
for number in range(int(sys.argv[1])):
    made = ctypes.c_ulong(window())
    x.XStoreName(display, made, b"window %d" % number)
    x.XMapWindow(display, made)
    x.XFlush(display)
    time.sleep(0.002)
time.sleep(3600)
"""

MANAGER = "#!/usr/bin/python3" + X + """
def atom(name):
    return x.XInternAtom(display, name, 0)

def set(where, name, kind, numbers):
    data = struct.pack("%dL" % len(numbers), *numbers)
    x.XChangeProperty(display, ctypes.c_ulong(where), ctypes.c_ulong(atom(name)), ctypes.c_ulong(atom(kind)), 32, 0, data, len(numbers))

# A window may go at any time.
no_matter = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(lambda *_: 0)
x.XSetErrorHandler(no_matter)
check, stack, wish = window(), [], atom(b"_NET_ACTIVE_WINDOW")
for where in (root.value, check):
    set(where, b"_NET_SUPPORTING_WM_CHECK", b"WINDOW", [check])
set(root.value, b"_NET_SUPPORTED", b"ATOM", [wish, atom(b"_NET_CLIENT_LIST"), atom(b"_NET_CLIENT_LIST_STACKING")])
x.XSelectInput(display, root, ctypes.c_long(1 << 19))
event = ctypes.create_string_buffer(192)
while True:
    x.XNextEvent(display, event)
    kind, (parent, concerned, word) = struct.unpack_from("i", event)[0], struct.unpack_from("LLL", event, 32)
    # 18 unmapped, 19 mapped by itself, 33 a message, which names its window first.
    message = kind == 33 and concerned == wish
    number = parent if message else concerned
    if not message and (kind not in (18, 19) or parent != root.value or number == check or kind == 19 and word & 1):
        continue
    stack = [other for other in stack if other != number] + [number] * (kind != 18)
    set(root.value, b"_NET_CLIENT_LIST", b"WINDOW", sorted(stack))
    set(root.value, b"_NET_CLIENT_LIST_STACKING", b"WINDOW", stack)
    set(root.value, b"_NET_ACTIVE_WINDOW", b"WINDOW", stack[-1:] or [0])
    if kind != 18:
        x.XRaiseWindow(display, ctypes.c_ulong(number))
        x.XSetInputFocus(display, ctypes.c_ulong(number), 1, ctypes.c_ulong(0))
"""


def listed():
    """Returns how many windows there are. wmctrl would read 1,024 of them."""
    return len(windows.run("xprop", "-root", "_NET_CLIENT_LIST").split(","))


def main():
    words, manager = sys.argv[2:], "stand-in"
    if "--wm" in words:
        manager = words.pop(words.index("--wm") + 1)
        words.remove("--wm")
    counts = [int(word) for word in words] or [10, 100, 2000]
    place = os.environ["PLACE"]
    for folder in ("data/applications", "bin"):
        os.makedirs(os.path.join(place, folder))
    for number in range(APPLICATIONS):
        os.symlink("/bin/true", f"{place}/bin/app{number}")
        with open(f"{place}/data/applications/app{number}.desktop", "w") as file:
            file.write(f"[Desktop Entry]\nType=Application\nName=App {number}\n")
            file.write(f"Exec=app{number} %f\nMimeType=text/plain;image/png;\n")
    with open(f"{place}/bin/stand-in", "w") as file:
        file.write(MANAGER)
    os.chmod(f"{place}/bin/stand-in", 0o755)
    os.environ["XDG_DATA_DIRS"] = f"{place}/data:/usr/local/share:/usr/share"
    os.environ["PATH"] = f"{os.path.abspath(sys.argv[1])}:{os.environ['PATH']}:{place}/bin"
    windows.desktop("zathura", manager)
    process = windows.STARTED["stagedoor-understudy"].pid
    print(f"start, {APPLICATIONS} applications: {figures(process)[0] * 1000:.0f} ms of processor")
    print(f"window manager: {manager}; load {os.getloadavg()[0]:.1f}")
    scene = windows.Scene("zathura", "pdf", {})
    path = scene.open(scene.file())
    crowds = []
    print("| windows | `stagedoor open`, ms | `wmctrl -a`, ms | ratio | memory, MiB | a title change, µs | wake-ups in ten seconds |")
    print("|---|---|---|---|---|---|---|")
    for count in counts:
        crowds.append(subprocess.Popen([sys.executable, "-c", CROWD, str(count - listed())]))
        windows.until(lambda: listed() >= count, 600)
        time.sleep(3)
        ours, theirs = timed(scene, path)
        time.sleep(3)
        before = figures(process)
        time.sleep(10)
        idle = figures(process)
        for number in range(200):
            windows.run("xdotool", "set_window", "--name", f"title {number}", str(scene.aside))
        time.sleep(1)
        after = figures(process)
        print(f"| {listed()} | {ours:.1f} | {theirs:.1f} | {ours / theirs:.2f} | {idle[1]:.1f} "
              f"| {(after[0] - idle[0]) * 1e6 / 200:.0f} | {idle[2] - before[2]} |", flush=True)
    for started in crowds + list(windows.STARTED.values()):
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
