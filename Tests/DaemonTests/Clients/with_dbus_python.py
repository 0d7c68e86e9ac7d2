"""The round through dbus-python: proxies that read the introspection, and GLib's loop."""
import dbus
import dbus.mainloop.glib
from gi.repository import GLib

from service_round import NAME, Refused, V, play

dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
bus = dbus.SessionBus()
loop = GLib.MainLoop()
signals = []


def heard(*arguments, path, interface, member):
    signals.append((path, interface, member, arguments))


bus.add_signal_receiver(
    heard, bus_name=NAME, path_keyword="path", interface_keyword="interface", member_keyword="member"
)


def ask(path, interface, member, signature, arguments):
    """The proxy knows the signature, so the caller's is not needed. The call does not wait inside, which keeps the order."""
    answer = []

    def end(*values):
        answer.append((values, list(signals)))
        loop.quit()

    signals.clear()
    arguments = [dbus.String(item.value, variant_level=1) if isinstance(item, V) else item for item in arguments]
    method = bus.get_object(NAME, path).get_dbus_method(member, interface)
    method(*arguments, reply_handler=end, error_handler=end)
    loop.run()
    values, before = answer[0]
    if values and isinstance(values[0], dbus.DBusException):
        raise Refused(values[0].get_dbus_name(), values[0].get_dbus_message())
    return values, before


play(ask)
