"""The showcase through PyGObject and GIO, which has its own implementation of the protocol."""
from gi.repository import Gio, GLib

from cases import NAME, PATH, PROPERTIES, Refused, V, run, show, wrapped

bus = Gio.bus_get_sync(Gio.BusType.SESSION, None)


def wrap(value):
    return wrapped(value, lambda one: GLib.Variant(one.signature, wrap(one.value)))


def plain(variant):
    signature = variant.get_type_string()
    if signature == "v":
        inside = variant.get_variant()
        return V(inside.get_type_string(), plain(inside))
    if signature == "ay":
        return bytes(variant.get_data_as_bytes().get_data() or b"")
    items = [variant.get_child_value(index) for index in range(variant.n_children())] if variant.is_container() else None
    if signature.startswith("a{"):
        return {plain(item.get_child_value(0)): plain(item.get_child_value(1)) for item in items}
    if items is not None:
        return (list if signature.startswith("a") else tuple)(map(plain, items))
    return variant.unpack()


class Descriptor(int):
    """A number that is sent along as a file descriptor."""


def call(path, interface, member, signature, arguments):
    descriptors = Gio.UnixFDList.new()
    arguments = [descriptors.append(item) if isinstance(item, Descriptor) else wrap(item) for item in arguments]
    try:
        reply, received = bus.call_with_unix_fd_list_sync(
            NAME, path, interface, member, GLib.Variant(f"({signature})", tuple(arguments)), None,
            Gio.DBusCallFlags.NONE, -1, descriptors, None,
        )  # fmt: skip
    except GLib.Error as error:
        name = Gio.dbus_error_get_remote_error(error)
        raise Refused(name, error.message.removeprefix(f"GDBus.Error:{name}: ")) from None
    if reply.get_type_string() == "(h)":
        return (Descriptor(received.get(reply.unpack()[0])),)
    return plain(reply)


def listen():
    def heard(bus, sender, path, interface, member, values):
        show(member, plain(values))

    flags = Gio.DBusSignalFlags.NONE
    bus.signal_subscribe(NAME, NAME, "Announced", PATH, None, flags, heard)
    bus.signal_subscribe(NAME, PROPERTIES, "PropertiesChanged", PATH, NAME, flags, heard)
    # The bus takes the rules in order with this.
    bus.call_sync(
        "org.freedesktop.DBus", "/", "org.freedesktop.DBus", "GetId", None, None, Gio.DBusCallFlags.NONE, -1, None
    )
    print("listening", flush=True)
    GLib.MainLoop().run()


run(call, listen, Descriptor, int)
