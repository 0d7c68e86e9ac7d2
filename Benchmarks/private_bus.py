"""A private message bus, on dbus-daemon or dbus-broker, that ends with the process that started it.

    with PrivateBus("dbus-broker") as bus: …     bus.address, bus.pid, bus.environment()

dbus-daemon listens by itself. dbus-broker does nothing by itself: a controller talks D-Bus to it over a socket pair,
peer to peer, gives it a listening socket and a policy, and starts the services that it requests. This needs no systemd,
but about sixty lines of D-Bus. They are here so that the benchmarks need nothing but Python.
"""

import ctypes
import os
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading

KINDS = ("dbus-daemon", "dbus-broker")
START_LIMIT = 10  # seconds; a bus that has not started by then will not start

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


def die_with_parent():
    """For preexec_fn: the kernel ends this child when its parent ends, however the parent ends."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def pinned(processors):
    """For preexec_fn: keeps the child on these processors as well, if there are any."""

    def prepare():
        die_with_parent()
        if processors:
            os.sched_setaffinity(0, processors)

    return prepare


class PrivateBus:
    """`services` are the commands, as words, that a call to a name starts. They get `variables` in their environment."""

    def __init__(self, kind, cpus=None, services=None, variables=None):
        if kind not in KINDS:
            raise ValueError(f"{kind} is none of {', '.join(KINDS)}")
        self.kind = kind
        self._cpus = cpus
        self._services = services or {}
        self._variables = variables or {}
        self._folder = tempfile.mkdtemp(prefix="private-bus-")
        self._log = os.path.join(self._folder, "log")
        self._controller = None
        self._starter = None
        self._started = []
        self._process = None
        try:
            self.address = self._start_daemon() if kind == "dbus-daemon" else self._start_broker()
        except BaseException as error:
            if os.path.exists(self._log):
                with open(self._log) as log:
                    error.add_note(log.read())
            self.close()
            raise

    @property
    def pid(self):
        return self._process.pid

    def environment(self):
        # A starter address of an outer bus would win over ours in some clients.
        outer = {k: v for k, v in os.environ.items() if not k.startswith("DBUS_STARTER_")}
        return {**outer, "DBUS_SESSION_BUS_ADDRESS": self.address}

    def close(self):
        if self._process:
            self._process.kill()
            self._process.wait()
        if self._starter:
            self._starter.join()
        for process in self._started:
            process.kill()
            process.wait()
        if self._controller:
            self._controller.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _spawn(self, arguments, keep, variables=None):
        # The bus's messages matter only if it fails: dbus-daemon always complains about its descriptor limit.
        with open(self._log, "wb") as log:
            self._process = subprocess.Popen(
                arguments, pass_fds=[keep], preexec_fn=pinned(self._cpus), stdin=subprocess.DEVNULL, stderr=log,
                env={**os.environ, **(variables or {})},
            )

    def _start_daemon(self):
        # The daemon looks for services here, and passes its environment to them.
        directory = os.path.join(self._folder, "dbus-1", "services")
        os.makedirs(directory)
        for name, command in self._services.items():
            with open(os.path.join(directory, f"{name}.service"), "w") as file:
                file.write(f"[D-BUS Service]\nName={name}\nExec={' '.join(command)}\n")
        variables = {**self._variables, "XDG_RUNTIME_DIR": self._folder} if self._services else {}
        reading, writing = os.pipe()
        self._spawn(
            ["dbus-daemon", "--session", "--nofork", "--nopidfile", "--nosyslog",
             f"--address=unix:dir={self._folder}", f"--print-address={writing}"],
            keep=writing, variables=variables,
        )
        os.close(writing)
        # The address comes when clients can connect. If the daemon ends first, the file ends instead.
        with os.fdopen(reading) as pipe:
            address = pipe.readline().strip()
        if not address:
            raise RuntimeError("dbus-daemon ended before it printed its address")
        return address

    def _start_broker(self):
        path = os.path.join(self._folder, "bus")
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        listener.bind(path)
        listener.listen(128)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        theirs.setblocking(False)
        self._spawn(
            ["dbus-broker", "--controller", str(theirs.fileno()), "--machine-id", "0123456789abcdef" * 2,
             "--max-bytes", str(1 << 30), "--max-matches", str(1 << 20), "--max-objects", str(1 << 20)],
            keep=theirs.fileno(),
        )
        theirs.close()
        # The broker ends when its controller hangs up, so this end stays open as long as the bus.
        self._controller = ours
        ours.settimeout(START_LIMIT)
        _authenticate(ours)
        for number, name in enumerate(self._services):
            _call(ours, "AddName", "osu", [f"{_NAMES}{number}", name, os.getuid()])
        _call(ours, "AddListener", "ohv", ["/org/bus1/DBus/Listener/0", 0, (_POLICY, _OPEN_POLICY)], listener)
        listener.close()
        address = f"unix:path={path}"
        # Later messages are requests of clients. Without services to start, none of them needs our answer.
        if self._services:
            ours.settimeout(None)
            self._starter = threading.Thread(target=self._start_what_is_asked_for, args=(ours, address))
            self._starter.start()
        return address

    def _start_what_is_asked_for(self, stream, address):
        """Starts the requested services until the broker ends. They inherit the processors of this thread."""
        if self._cpus:
            os.sched_setaffinity(0, self._cpus)
        environment = {**os.environ, **self._variables, "DBUS_SESSION_BUS_ADDRESS": address}
        while message := _message(stream):
            for number, command in enumerate(self._services.values()):
                if b"Activate\0" in message and f"{_NAMES}{number}\0".encode() in message:
                    # Without preexec_fn, Python needs no copy of itself for the new process.
                    self._started.append(subprocess.Popen(command, env=environment))


# The controller's side of the protocol. The broker is the SASL server. EXTERNAL with an empty DATA means
# "the user that the kernel reports"; the broker demands no more.


def _authenticate(stream):
    stream.sendall(b"\0AUTH EXTERNAL\r\nDATA\r\nNEGOTIATE_UNIX_FD\r\nBEGIN\r\n")
    answer = b""
    while answer.count(b"\r\n") < 3:
        answer += _received(stream, 1)
    lines = answer.split(b"\r\n")
    if lines[0] != b"DATA" or not lines[1].startswith(b"OK ") or lines[2] != b"AGREE_UNIX_FD":
        raise RuntimeError(f"dbus-broker answers the handshake with {answer!r}")


# A batch of rules: the verdict on connecting and its priority, then rules for owning names, for sending
# and for receiving. Each rule begins with its verdict and its priority. The highest priority wins.
_BATCH = "(bt" "a(btbs)" "a(btssssuutt)" "a(btssssuutt)" ")"
# Batches by user id (2**32 - 1 means everyone), batches by group or range, SELinux names,
# whether to ask AppArmor, and the type of the bus for AppArmor.
_POLICY = f"(a(u{_BATCH})a(buu{_BATCH})a(ss)bs)"

_EVERYONE = 0xFFFFFFFF
_ANY_MESSAGE = (True, 1, "", "", "", "", 0, 0, 0, (1 << 64) - 1)  # … type, broadcast, fewest and most fds
_ALLOW_ALL = (True, 1, [(True, 1, True, "")], [_ANY_MESSAGE], [_ANY_MESSAGE])
_OPEN_POLICY = ([(_EVERYONE, _ALLOW_ALL)], [], [], False, "session")


_NAMES = "/org/bus1/DBus/Name/"


def _call(stream, member, signature, values, *sockets):
    body = _marshal(signature, values)
    fields = [
        (1, ("o", "/org/bus1/DBus/Broker")),
        (2, ("s", "org.bus1.DBus.Broker")),
        (3, ("s", member)),
        (8, ("g", signature)),
        (9, ("u", len(sockets))),  # the number of descriptors in the message
    ]
    header = _marshal("yyyyuua(yv)", [ord("l"), 1, 0, 1, len(body), 1, fields])
    header += bytes(-len(header) % 8)
    socket.send_fds(stream, [header + body], [one.fileno() for one in sockets])
    reply = _message(stream)
    if reply[1:2] != b"\x02":  # a method return
        raise RuntimeError(f"dbus-broker refuses {member}: {reply!r}")


def _message(stream):
    """Returns the broker's next message; empty if the broker has hung up."""
    try:
        start = _received(stream, 16)
    except (RuntimeError, ConnectionError):
        return b""
    body_size, _, fields_size = struct.unpack("<III", start[4:])
    return start + _received(stream, fields_size + -fields_size % 8 + body_size)


def _received(stream, count):
    data = b""
    while len(data) < count:
        piece = stream.recv(count - len(data))
        if not piece:
            raise RuntimeError("dbus-broker hung up on its controller")
        data += piece
    return data


# A marshaller for the types above, little endian.

_FIXED = {"y": "<B", "b": "<I", "u": "<I", "h": "<I", "t": "<Q"}
_ALIGNMENT = {"y": 1, "g": 1, "v": 1, "t": 8, "(": 8}  # all others: 4


def _marshal(signature, values):
    out = bytearray()
    for part, value in zip(_parts(signature), values, strict=True):
        _append(out, part, value)
    return bytes(out)


def _append(out, kind, value):
    out += bytes(-len(out) % _ALIGNMENT.get(kind[0], 4))
    if kind in _FIXED:
        out += struct.pack(_FIXED[kind], value)
    elif kind in ("s", "o"):
        text = value.encode()
        out += struct.pack("<I", len(text)) + text + b"\0"
    elif kind == "g":
        out += bytes([len(value)]) + value.encode() + b"\0"
    elif kind == "v":
        signature, inner = value
        _append(out, "g", signature)
        _append(out, signature, inner)
    elif kind[0] == "a":
        at = len(out)
        out += bytes(4)
        # The padding before the first element does not count in the array's length.
        out += bytes(-len(out) % _ALIGNMENT.get(kind[1], 4))
        start = len(out)
        for element in value:
            _append(out, kind[1:], element)
        struct.pack_into("<I", out, at, len(out) - start)
    else:
        for part, member in zip(_parts(kind[1:-1]), value, strict=True):
            _append(out, part, member)


def _parts(signature):
    """Yields the single complete types of a signature."""
    at = 0
    while at < len(signature):
        end = at
        while signature[end] == "a":
            end += 1
        depth = 0
        while True:
            depth += {"(": 1, ")": -1}.get(signature[end], 0)
            end += 1
            if depth == 0:
                break
        yield signature[at:end]
        at = end
