"""A host written from the contract alone: it owns the bus name of its application, exports SceneHost1 at the path of that
name, attaches, and attaches again whenever the service has a new owner. It prints each call as a line with a JSON array.

usage: host.py APPLICATION [--pry]
"""
import argparse
import json
import os
import sys

from gi.repository import Gio, GLib

SERVICE = "org.stagedoor.Interchange1"
ROOT = "/org/stagedoor/Interchange1"
# The types of what each method takes, and of what it returns.
METHODS = {
    "ConfigurationForConnecting": ("o s s", "s"), "ConnectScene": ("o s s", ""), "ContinueScene": ("o s", ""),
    "ActivateScene": ("o a{sv}", ""), "RefreshScene": ("o", ""), "DestroyScene": ("o s", ""),
    "DidDiscardSceneSessions": ("as", ""), "ProposeDrop": ("o aa{sv} as", "s"),
}  # fmt: skip


def described(member, taken, returned):
    arguments = [f'<arg type="{one}" direction="{way}"/>' for way, types in (("in", taken), ("out", returned))
                 for one in types.split()]  # fmt: skip
    return f'<method name="{member}">{"".join(arguments)}</method>'


HOST = '<node><interface name="org.stagedoor.SceneHost1">{}</interface></node>'.format(
    "".join(described(member, *types) for member, types in METHODS.items()))  # fmt: skip


class Host:
    def __init__(self, arguments):
        self.arguments = arguments
        self.bus = Gio.bus_get_sync(Gio.BusType.SESSION, None)
        self.owner = None
        self.scenes = []
        interface = Gio.DBusNodeInfo.new_for_xml(HOST).interfaces[0]
        path = "/" + arguments.application.replace(".", "/").replace("-", "_")
        self.bus.register_object(path, interface, self.asked, None, None)
        taken = self.call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "RequestName",
                          GLib.Variant("(su)", (arguments.application, 4)))
        if taken != (1,):
            sys.exit(f"{arguments.application} has another owner")
        Gio.bus_watch_name_on_connection(self.bus, SERVICE, 0, self.attach, self.service_left)

    def call(self, name, path, interface, member, body):
        return self.bus.call_sync(name, path, interface, member, body, None, 0, -1, None).unpack()

    def tell(self, *line):
        print(json.dumps(line), flush=True)

    def attach(self, bus, name, owner):
        self.owner = owner
        body = GLib.Variant("(sao)", (self.arguments.application, self.scenes))
        self.bus.call(name, ROOT, SERVICE, "AttachHost", body, None, 0, -1, None, self.attached)

    def attached(self, bus, result):
        try:
            path, discarded = bus.call_finish(result).unpack()
        except GLib.Error as error:
            return self.tell("not attached", error.message)
        self.scenes = [scene for scene in self.scenes if scene not in discarded]
        self.tell("attached", path, discarded)

    def service_left(self, bus, name):
        self.owner = None

    def asked(self, bus, sender, path, interface, member, body, invocation):
        # The host answers only the owner of the service's name.
        if sender != self.owner:
            return invocation.return_dbus_error("org.freedesktop.DBus.Error.AccessDenied", "you are not the service")
        body = body.unpack()
        self.tell(member, *body)
        if member == "ConnectScene":
            self.scenes.append(body[0])
        if member == "DestroyScene":
            self.scenes.remove(body[0])
        answers = {"ConfigurationForConnecting": ("(s)", ("",)), "ProposeDrop": ("(s)", ("copy",))}
        invocation.return_value(GLib.Variant(*answers[member]) if member in answers else None)
        if self.arguments.pry and member in ("ConnectScene", "ContinueScene"):
            self.bus.flush_sync(None)
            self.pry(json.loads(body[-1]))

    def pry(self, options):
        """Reads each item, and tries to write to the file that it got for reading."""
        for number in range(len(options["items"])):
            body = GLib.Variant("(sus)", (options["delivery"], number, ""))
            reply, files = self.bus.call_with_unix_fd_list_sync(SERVICE, ROOT, SERVICE, "OpenItem", body, None, 0, -1, None, None)
            file, size = files.get(reply.unpack()[0]), reply.unpack()[1]
            length = 0
            while data := os.read(file, 1 << 16):
                length += len(data)
            written = False
            try:
                os.fchmod(file, 0o600)
                again = os.open(f"/proc/self/fd/{file}", os.O_RDWR | os.O_NONBLOCK)
                written = os.pwrite(again, b"EVIL", 0) == 4
            except OSError:
                pass
            self.tell("pried", number, size, length, written)


def run(words):
    parser = argparse.ArgumentParser()
    parser.add_argument("application")
    parser.add_argument("--pry", action="store_true")
    host = Host(parser.parse_args(words))
    GLib.MainLoop().run()
    return host


if __name__ == "__main__":
    run(sys.argv[1:])
