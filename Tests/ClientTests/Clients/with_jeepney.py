"""The showcase through jeepney, which is Python all the way down."""
from jeepney import DBusAddress, HeaderFields, MatchRule, MessageType, message_bus, new_method_call
from jeepney.io.blocking import Proxy, open_dbus_connection

from cases import NAME, PATH, PROPERTIES, Refused, V, run, show, wrapped

bus = open_dbus_connection("SESSION", enable_fds=True)


def wrap(value):
    return wrapped(value, lambda one: (one.signature, wrap(one.value)))


def complete_types(signature):
    """The complete types that a signature consists of."""
    types, start, depth = [], 0, 0
    for place, letter in enumerate(signature):
        depth += (letter in "({") - (letter in ")}")
        if depth == 0 and letter != "a":
            types.append(signature[start : place + 1])
            start = place + 1
    return types


def plain(signature, value):
    if signature == "v":
        return V(value[0], plain(*value))
    if signature == "ay":
        return bytes(value)
    if signature.startswith("a{"):
        key_type, item_type = complete_types(signature[2:-1])
        return {plain(key_type, key): plain(item_type, item) for key, item in value.items()}
    if signature.startswith("a"):
        return [plain(signature[1:], item) for item in value]
    if signature.startswith("("):
        return tuple(plain(type, item) for type, item in zip(complete_types(signature[1:-1]), value))
    return value


def body(message):
    signature = complete_types(message.header.fields.get(HeaderFields.signature, ""))
    return tuple(plain(type, item) for type, item in zip(signature, message.body))


def call(path, interface, member, signature, arguments):
    address = DBusAddress(path, bus_name=NAME, interface=interface)
    reply = bus.send_and_get_reply(
        new_method_call(address, member, signature or None, tuple(map(wrap, arguments))), timeout=25
    )
    if reply.header.message_type == MessageType.error:
        raise Refused(reply.header.fields[HeaderFields.error_name], reply.body[0])
    return body(reply)


def listen():
    for rule in (
        MatchRule(type="signal", sender=NAME, interface=NAME, member="Announced", path=PATH),
        MatchRule(type="signal", sender=NAME, interface=PROPERTIES, member="PropertiesChanged", path=PATH),
    ):
        Proxy(message_bus, bus).AddMatch(rule)
    print("listening", flush=True)
    while True:
        message = bus.receive()
        member = message.header.fields.get(HeaderFields.member)
        if member in ("Announced", "PropertiesChanged"):
            show(member, body(message))


run(call, listen, lambda number: number, lambda got: got.to_raw_fd())
