"""Measures the contents of deliveries: a promise against a bare pipe, a descriptor against the same bytes in the message, and
a delivery with a small item against one without.

The source and the host of the promise and of the small item are two processes of this file, with GLib's binding. Both sides of
a ratio run the same code, and differ in the way of the bytes only. `c/item.c` compares descriptors with messages.
"""

import json
import os
import re
import statistics
import subprocess
import sys
import time

import page
from common import threads
from private_bus import die_with_parent

NAME, ROOT = "org.stagedoor.Interchange1", "/org/stagedoor/Interchange1"
PROVIDER = "/org/stagedoor/bench/things"
PIECE = 1 << 20
DESCRIPTOR = {"dbus-daemon": 0.30, "dbus-broker": 0.45}  # the aims for a descriptor

HOST = """<node><interface name="org.stagedoor.SceneHost1">
<method name="ConnectScene"><arg type="o" direction="in"/><arg type="s" direction="in"/><arg type="s" direction="in"/></method>
<method name="ContinueScene"><arg type="o" direction="in"/><arg type="s" direction="in"/></method>
<method name="ActivateScene"><arg type="o" direction="in"/><arg type="a{sv}" direction="in"/></method>
</interface></node>"""
SOURCE = """<node><interface name="org.stagedoor.ItemProvider1">
<method name="Load"><arg type="u" direction="in"/><arg type="s" direction="in"/><arg type="h" direction="out"/>
<arg type="x" direction="out"/></method>
<method name="CancelLoad"><arg type="u" direction="in"/><arg type="s" direction="in"/></method>
<method name="Release"/>
</interface></node>"""


APPLICATION = "org.stagedoor.bench.Shelf"


def manifest(application):
    """Returns the manifest of an application that takes any data, and one kind of activity, in one window."""
    configurations = [{"UISceneConfigurationName": "Shelf", "StagedoorLaunch": "single"}]
    return {
        "CFBundleIdentifier": application,
        "NSUserActivityTypes": [f"{application}.show"],
        "CFBundleDocumentTypes": [{"LSItemContentTypes": ["public.data"]}],
        "UIApplicationSceneManifest": {
            "UIApplicationSupportsMultipleScenes": True,
            "UISceneConfigurations": {"UIWindowSceneSessionRoleApplication": configurations},
        },
    }


# The source: a process that writes to a pipe of its own, or to a pipe that it gets.


def write_all(descriptor, size):
    piece = bytes(PIECE)
    while size > 0:
        size -= os.write(descriptor, piece[:min(size, PIECE)])
    os.close(descriptor)


def read_all(descriptor):
    count = 0
    buffer = bytearray(PIECE)
    while read := os.readv(descriptor, [buffer]):
        count += read
    os.close(descriptor)
    return count


class Bus:
    """A connection, with the calls that it can make."""

    def __init__(self):
        from gi.repository import Gio, GLib
        self.gio, self.glib = Gio, GLib
        self.bus = Gio.bus_get_sync(Gio.BusType.SESSION, None)

    def export(self, path, document, answer):
        interface = self.gio.DBusNodeInfo.new_for_xml(document).interfaces[0]
        self.bus.register_object(path, interface, answer, None, None)

    def call(self, member, body=None, name=NAME, path=ROOT, interface=NAME):
        """Runs the loop while it waits: the service may ask this process something before it answers."""
        found = []

        def answered(bus, result):
            try:
                found.append(bus.call_with_unix_fd_list_finish(result))
            except self.glib.Error as error:
                found.append(error)

        self.bus.call_with_unix_fd_list(
            name, path, interface, member, body, None, 0, 60_000, None, None, answered
        )
        context = self.glib.MainContext.default()
        while not found:
            context.iteration(True)
        if isinstance(found[0], Exception):
            raise found[0]
        return found[0]

    def item(self, key, value):
        representation = {"type": self.glib.Variant("s", "image/png"), key: value}
        return {"representations": self.glib.Variant("aa{sv}", [representation])}

    def deliver(self, items, application):
        options = {"application": self.glib.Variant("s", application)}
        reply, _ = self.call("DeliverItems", self.glib.Variant("(aa{sv}a{sv})", (items, options)))
        return reply.unpack()[2]


def source(application, size):
    """Promises `size` bytes again and again: makes a delivery for each line that it reads, and prints the delivery."""
    bus = Bus()

    def asked(_, sender, path, interface, member, body, invocation):
        if member != "Load":
            return invocation.return_value(None)
        reading, writing = os.pipe()
        files = bus.gio.UnixFDList.new_from_array([reading])
        invocation.return_value_with_unix_fd_list(bus.glib.Variant("(hx)", (0, size)), files)
        bus.bus.flush_sync(None)
        write_all(writing, size)

    bus.export(PROVIDER, SOURCE, asked)

    def line(*_):
        if not sys.stdin.readline():
            os._exit(0)
        promise = bus.item("provider", bus.glib.Variant("o", PROVIDER))
        print(bus.deliver([promise], application), flush=True)
        return True

    bus.glib.io_add_watch(0, bus.glib.IOCondition.IN | bus.glib.IOCondition.HUP, line)
    bus.glib.MainLoop().run()


# The host. It measures.


class Host(Bus):
    def __init__(self, application):
        super().__init__()
        self.application = application
        self.wait_for_service()
        self.export("/" + application.replace(".", "/"), HOST, lambda *call: call[-1].return_value(None))
        own = self.glib.Variant("(su)", (application, 4))
        self.call("RequestName", own, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")
        self.call("RegisterApplication", self.glib.Variant("(s)", (json.dumps(manifest(application)),)))
        self.call("AttachHost", self.glib.Variant("(sao)", (application, [])))

    def wait_for_service(self):
        owners = []
        self.gio.bus_watch_name_on_connection(self.bus, NAME, 0, lambda _, name, owner: owners.append(owner), None)
        while not owners:
            self.glib.MainContext.default().iteration(True)

    def open(self, delivery):
        reply, files = self.call("OpenItem", self.glib.Variant("(sus)", (delivery, 0, "")))
        return files.get(reply.unpack()[0])

    def release(self, delivery):
        self.call("ReleaseDelivery", self.glib.Variant("(s)", (delivery,)))


def processor_time(pid):
    """Returns the processor time of all threads, in milliseconds."""
    return sum(nanoseconds for _, _, nanoseconds in threads(pid).values()) / 1e6


def bare_pipe(size):
    """Returns the seconds for the same number of bytes from another process of this file."""
    reading, writing = os.pipe()
    command = [sys.executable, __file__, "pipe", str(writing), str(size)]
    with subprocess.Popen(command, pass_fds=[writing], stdin=subprocess.PIPE, preexec_fn=die_with_parent) as other:
        os.close(writing)
        os.readv(reading, [bytearray(1)])
        start = time.perf_counter()
        other.stdin.write(b"\n")
        other.stdin.flush()
        count = read_all(reading)
        seconds = time.perf_counter() - start
    assert count == size, f"{count} of {size} bytes came"
    return seconds


def measure(service, application, size, rounds, repeats):
    """Returns name -> values, one for each round."""
    host = Host(application)
    command = [sys.executable, __file__, "source", application, str(size)]
    values = {"pipe": [], "processor": [], "item": []}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes, preexec_fn=die_with_parent) as promising:

        def promised():
            """Returns the seconds after opening, and the service's milliseconds of processor time."""
            promising.stdin.write("\n")
            promising.stdin.flush()
            wait_for(host, promising.stdout)
            delivery = promising.stdout.readline().strip()
            used, start = processor_time(service), time.perf_counter()
            count = read_all(host.open(delivery))
            seconds = time.perf_counter() - start
            assert count == size, f"{count} of {size} bytes came"
            used = processor_time(service) - used
            host.release(delivery)
            return seconds, used

        for _ in range(rounds):
            times = [bare_pipe(size), promised(), promised(), bare_pipe(size)]
            values["pipe"].append((times[0] + times[3]) / (times[1][0] + times[2][0]))
            values["processor"].append((times[1][1] + times[2][1]) / 2)
            values["item"].append(ratio(repeats, lambda: small(host, True), lambda: small(host, False)))
        promising.stdin.close()
    return values


def wait_for(host, stream):
    """Waits for a line, and answers the questions of the service to the host meanwhile."""
    come = []
    host.glib.io_add_watch(stream.fileno(), host.glib.IOCondition.IN, lambda *_: come.append(1) or False)
    while not come:
        host.glib.MainContext.default().iteration(True)


def ratio(repeats, above, below):
    """Returns the ratio of the median times of two functions that run in turn."""
    times = {above: [], below: []}
    for number in range(repeats):
        for one in (above, below) if number % 2 else (below, above):
            start = time.perf_counter()
            one()
            times[one].append(time.perf_counter() - start)
    return statistics.median(times[above]) / statistics.median(times[below])


def small(host, has_item):
    representation = '{"type": "text/plain", "text": "forty-two characters, as a short item has."}'
    activity = '{"activityType": "%s.show", "targetContentIdentifier": "one"}' % host.application
    item = f'{{"activities": [{activity}]' + (f', "representations": [{representation}]' if has_item else "") + "}"
    document = f'{{"items": [{item}], "options": {{"wait": "handled"}}}}'
    host.call("Deliver", host.glib.Variant("(s)", (document,)))


def figures(kind, values):
    rows = [
        ("a bare pipe's time for 1 GiB to a promise's", "pipe", 0.95, True, ""),
        ("the service's processor for that promise", "processor", 5, False, "ms"),
        ("1 MiB by descriptor to the same bytes in the message, from the drop to its release", "whole", DESCRIPTOR[kind], False, ""),
        ("the same, beyond a delivery of 42 bytes", "bytes", None, False, ""),
        ("`DeliverItems` with a small item to one without", "item", None, False, ""),
    ]
    return [page.Figure("service", kind, title, values[name], *rest) for title, name, *rest in rows]


def main(words):
    if words[0] == "source":
        source(words[1], int(words[2]))
    elif words[0] == "pipe":
        # One byte reports that Python has started. Then this waits for a line.
        descriptor = int(words[1])
        os.write(descriptor, b"x")
        sys.stdin.buffer.readline()
        write_all(descriptor, int(words[2]))
    else:
        # measure SERVICE APPLICATION SIZE ROUNDS REPEATS, on the session bus
        service, application, *numbers = words[1:]
        values = measure(int(service), application, *map(int, numbers))
        print("\n".join(f"{name} {' '.join(map(str, row))}" for name, row in values.items()))


def measured(bus, program, service, size, rounds, repeats, limit):
    """The values of two hosts, of which `program` is the one in C."""

    def output(*words):
        command = [str(word) for word in words]
        return subprocess.check_output(
            command, env=bus.environment(), preexec_fn=die_with_parent, timeout=limit, text=True
        )

    found = output("/usr/bin/python3", "-B", __file__, "measure", service, APPLICATION, size, rounds, repeats)
    values = {name: row.split() for name, row in re.findall(r"^(\w+) (.+)$", found, re.M)}
    other = f"{APPLICATION}.C"
    rows = output(program, other, json.dumps(manifest(other)), rounds, repeats).splitlines()
    values["whole"], values["bytes"] = zip(*(row.split() for row in rows))
    return {name: [float(value) for value in row] for name, row in values.items()}


if __name__ == "__main__":
    main(sys.argv[1:])
