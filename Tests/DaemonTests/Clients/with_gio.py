"""The round through PyGObject and GIO, which has its own implementation of the protocol."""
from gi.repository import Gio, GLib

from service_round import NAME, Refused, V, play

bus = Gio.bus_get_sync(Gio.BusType.SESSION, None)
loop = GLib.MainLoop()
signals = []


def heard(bus, sender, path, interface, member, values):
    signals.append((path, interface, member, values.unpack()))


bus.signal_subscribe(NAME, None, None, None, None, Gio.DBusSignalFlags.NONE, heard)


def ask(path, interface, member, signature, arguments):
    """The call does not wait inside, which keeps the order."""
    answer = []

    def end(bus, result):
        try:
            answer.append((bus.call_finish(result).unpack(), list(signals)))
        except GLib.Error as error:
            name = Gio.dbus_error_get_remote_error(error)
            answer.append(Refused(name, error.message.removeprefix(f"GDBus.Error:{name}: ")))
        loop.quit()

    signals.clear()
    arguments = tuple(GLib.Variant(*item) if isinstance(item, V) else item for item in arguments)
    body = GLib.Variant(f"({signature})", arguments)
    bus.call(NAME, path, interface, member, body, None, Gio.DBusCallFlags.NONE, -1, None, end)
    loop.run()
    if isinstance(answer[0], Refused):
        raise answer[0]
    return answer[0]


play(ask)
