"""Hands in an item with a descriptor, through the binding in its argument: gi, dbus or jeepney. Prints the delivery."""
import os
import sys
import tempfile

NAME, ROOT = "org.stagedoor.Interchange1", "/org/stagedoor/Interchange1"


def through_gi(file):
    from gi.repository import Gio, GLib
    bus = Gio.bus_get_sync(Gio.BusType.SESSION, None)
    item = {"representations": GLib.Variant("aa{sv}", [{"type": GLib.Variant("s", "image/png"),
                                                        "fd": GLib.Variant("h", 0)}])}
    body = GLib.Variant("(aa{sv}a{sv})", ([item], {"application": GLib.Variant("s", "org.example.Cats")}))
    reply, _ = bus.call_with_unix_fd_list_sync(
        NAME, ROOT, NAME, "DeliverItems", body, None, 0, -1, Gio.UnixFDList.new_from_array([os.dup(file)]), None)
    return reply.unpack()[2]


def through_dbus(file):
    import dbus
    service = dbus.Interface(dbus.SessionBus().get_object(NAME, ROOT, introspect=False), NAME)
    representation = dbus.Dictionary({"type": "image/png", "fd": dbus.types.UnixFd(file)}, signature="sv")
    item = dbus.Dictionary({"representations": dbus.Array([representation], signature="a{sv}")}, signature="sv")
    options = dbus.Dictionary({"application": "org.example.Cats"}, signature="sv")
    return service.DeliverItems(dbus.Array([item], signature="a{sv}"), options, signature="aa{sv}a{sv}")[2]


def through_jeepney(file):
    from jeepney import DBusAddress, new_method_call
    from jeepney.io.blocking import open_dbus_connection
    bus = open_dbus_connection("SESSION", enable_fds=True)
    item = {"representations": ("aa{sv}", [{"type": ("s", "image/png"), "fd": ("h", file)}])}
    call = new_method_call(DBusAddress(ROOT, bus_name=NAME, interface=NAME), "DeliverItems", "aa{sv}a{sv}",
                           ([item], {"application": ("s", "org.example.Cats")}))
    return bus.send_and_get_reply(call).body[2]


def main(binding):
    with tempfile.TemporaryFile() as file:
        file.write(f"from Python, by {binding}".encode())
        file.flush()
        print({"gi": through_gi, "dbus": through_dbus, "jeepney": through_jeepney}[binding](file.fileno()))


main(sys.argv[1])
