"""A private message bus, on dbus-daemon or dbus-broker, that ends with the process that started it.

    with PrivateBus("dbus-broker") as bus: …     bus.address, bus.environment()

dbus-daemon listens by itself. dbus-broker does nothing by itself: a controller talks D-Bus to it over a socket pair,
peer to peer, gives it a listening socket and a policy, and starts the services that it requests. This needs no systemd,
but Jeepney, which is imported for this bus alone.
"""

import array
import contextlib
import ctypes
import os
import shutil
import signal
import socket
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
        messages = _messages(ours)
        for number, name in enumerate(self._services):
            _call(ours, messages, "AddName", "osu", (f"{_NAMES}{number}", name, os.getuid()))
        _call(ours, messages, "AddListener", "ohv", ("/org/bus1/DBus/Listener/0", listener, (_POLICY, _OPEN_POLICY)))
        listener.close()
        address = f"unix:path={path}"
        # Later messages are requests of clients. Without services to start, none of them needs our answer.
        if self._services:
            ours.settimeout(None)
            self._starter = threading.Thread(target=self._start_what_is_asked_for, args=(messages, address))
            self._starter.start()
        return address

    def _start_what_is_asked_for(self, messages, address):
        """Starts the requested services until the broker ends. They inherit the processors of this thread."""
        if self._cpus:
            os.sched_setaffinity(0, self._cpus)
        environment = {**os.environ, **self._variables, "DBUS_SESSION_BUS_ADDRESS": address}
        commands = {f"{_NAMES}{number}": command for number, command in enumerate(self._services.values())}
        for message in messages:
            fields = {field.name: value for field, value in message.header.fields.items()}
            if fields.get("member") == "Activate" and fields["path"] in commands:
                # Without preexec_fn, Python needs no copy of itself for the new process.
                self._started.append(subprocess.Popen(commands[fields["path"]], env=environment))


# The controller's side of the protocol.

_NAMES = "/org/bus1/DBus/Name/"

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


def _messages(stream):
    """Introduces us to the broker, and returns what it sends until it hangs up."""
    from jeepney import Parser
    from jeepney.auth import BEGIN, Authenticator

    authenticator = Authenticator(enable_fds=True)
    for line in authenticator:
        stream.sendall(line)
        authenticator.feed(stream.recv(1024))
    stream.sendall(BEGIN)

    def received():
        parser = Parser()
        with contextlib.suppress(ConnectionError):
            while data := stream.recv(4096):
                yield from parser.feed(data)

    return received()


def _call(stream, messages, member, signature, values):
    from jeepney import DBusAddress, MessageType, new_method_call

    # Jeepney wants a name to call, which means nothing between two peers.
    broker = DBusAddress("/org/bus1/DBus/Broker", "org.bus1.DBus.Broker", "org.bus1.DBus.Broker")
    descriptors = array.array("i")
    data = new_method_call(broker, member, signature, values).serialise(serial=1, fds=descriptors)
    socket.send_fds(stream, [data], descriptors)
    reply = next(messages, None)
    if reply is None or reply.header.message_type != MessageType.method_return:
        raise RuntimeError(f"dbus-broker refuses {member}: {reply}")
