"""The showcase through dbus-python, which is libdbus from C."""
import dbus
import dbus.lowlevel
import dbus.mainloop.glib
from gi.repository import GLib

from cases import NAME, PATH, PROPERTIES, Refused, V, run, show, wrapped

BASIC = {
    dbus.Byte: "y", dbus.Boolean: "b", dbus.Int16: "n", dbus.UInt16: "q", dbus.Int32: "i", dbus.UInt32: "u",
    dbus.Int64: "x", dbus.UInt64: "t", dbus.Double: "d", dbus.String: "s", dbus.ObjectPath: "o", dbus.Signature: "g",
}  # fmt: skip
CONSTRUCTORS = {signature: type for type, signature in BASIC.items()}

dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
bus = dbus.SessionBus()


def wrap(value):
    """dbus-python guesses a variant's type from the Python type, so it is given its own types."""
    return wrapped(value, lambda one: typed(one.signature, one.value, 1))


def typed(signature, value, level=0):
    if signature == "v":
        return typed(value.signature, value.value, level + 1)
    if signature in CONSTRUCTORS:
        return CONSTRUCTORS[signature](value, variant_level=level)
    if signature.startswith("a{"):
        items = {typed("s", key): typed(signature[3:-1], item) for key, item in value.items()}
        return dbus.Dictionary(items, signature=signature[2:-1], variant_level=level)
    if signature.startswith("a"):
        return dbus.Array([typed(signature[1:], item) for item in value], signature=signature[1:], variant_level=level)
    members = [typed(letter, item) for letter, item in zip(signature[1:-1], value)]
    return dbus.Struct(members, signature=signature[1:-1], variant_level=level)


def signature_of(value):
    if type(value) in BASIC:
        return BASIC[type(value)]
    if isinstance(value, dbus.Dictionary):
        return f"a{{{value.signature}}}"
    if isinstance(value, dbus.Array):
        return f"a{value.signature}"
    return "({})".format("".join(map(signature_of, value)))


def plain(value, level=None):
    level = getattr(value, "variant_level", 0) if level is None else level
    if level > 0:
        return V("v" if level > 1 else signature_of(value), plain(value, level - 1))
    if isinstance(value, dbus.Dictionary):
        return {plain(key): plain(item) for key, item in value.items()}
    if isinstance(value, dbus.Array):
        return bytes(value) if value.signature == "y" else [plain(item) for item in value]
    if isinstance(value, dbus.Struct):
        return tuple(plain(item) for item in value)
    if isinstance(value, dbus.Boolean):
        return bool(value)
    for kind in (int, float, str):
        if isinstance(value, kind):
            return kind(value)
    return value


def call(path, interface, member, signature, arguments):
    message = dbus.lowlevel.MethodCallMessage(NAME, path, interface, member)
    message.append(*map(wrap, arguments), signature=signature)
    try:
        reply = bus.send_message_with_reply_and_block(message, 25)
    except dbus.DBusException as error:
        raise Refused(error.get_dbus_name(), error.get_dbus_message()) from None
    return tuple(plain(value) for value in reply.get_args_list(byte_arrays=False))


def listen():
    def heard(*arguments, member):
        show(member, tuple(map(plain, arguments)))

    bus.add_signal_receiver(heard, "Announced", NAME, NAME, PATH, member_keyword="member")
    bus.add_signal_receiver(heard, "PropertiesChanged", PROPERTIES, NAME, PATH, member_keyword="member", arg0=NAME)
    # The bus takes the rules in order with this.
    bus.get_object("org.freedesktop.DBus", "/").GetId(dbus_interface="org.freedesktop.DBus")
    print("listening", flush=True)
    GLib.MainLoop().run()


run(call, listen, dbus.types.UnixFd, lambda got: got.take())
