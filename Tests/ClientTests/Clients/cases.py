"""What every Python client sends, and what has to come back.

A client gives `run` what is its own: how it calls, what its errors look like, how it listens. A variant is `V(signature, value)`
here; a client turns it into what its binding has for one, and what the binding gave back into plain values again.
"""
import os
import sys
from typing import Any, NamedTuple

NAME = "org.stagedoor.Showcase1"
PATH = "/org/stagedoor/Showcase1"
PROPERTIES = "org.freedesktop.DBus.Properties"
INTROSPECTABLE = "org.freedesktop.DBus.Introspectable"
ERROR = "org.freedesktop.DBus.Error."


class V(NamedTuple):
    signature: str
    value: Any


ECHOES = [
    *(("EchoByte", "y", value) for value in (0, 255)),
    *(("EchoBoolean", "b", value) for value in (False, True)),
    *(("EchoInt16", "n", value) for value in (-(2**15), 2**15 - 1)),
    *(("EchoUInt16", "q", value) for value in (0, 2**16 - 1)),
    *(("EchoInt32", "i", value) for value in (-(2**31), 2**31 - 1)),
    *(("EchoUInt32", "u", value) for value in (0, 2**32 - 1)),
    *(("EchoInt64", "x", value) for value in (-(2**63), 2**63 - 1)),
    *(("EchoUInt64", "t", value) for value in (0, 2**64 - 1)),
    *(("EchoDouble", "d", value) for value in (0.1, -1e308, float("inf"))),
    *(("EchoString", "s", value) for value in ("", "grüß dich", "\U0001f3ad", "a" * 100_000)),
    *(("EchoObjectPath", "o", value) for value in ("/", "/a/b_1")),
    *(("EchoSignature", "g", value) for value in ("", "y", "a{sa(iv)}")),
    *(("EchoBytes", "ay", value) for value in (b"", bytes(range(256)), bytes(1_000_000))),
    *(("EchoStrings", "as", value) for value in ([], ["one", "", "two, three"])),
    *(("EchoDictionary", "a{sv}", value) for value in ({}, {"a": V("i", 1), "b": V("as", ["x", "y"])})),
    *(
        ("EchoNested", "a{sa(iv)}", value)
        for value in ({}, {"k": [(1, V("s", "x")), (-2, V("(bd)", (True, 2.5)))], "none": []})
    ),
    *(
        ("EchoVariant", "v", value)
        for value in (
            V("t", 7),
            V("o", "/a"),
            V("ay", b"\x00\xff"),
            V("v", V("s", "inside")),
            V("a{sv}", {"deeper": V("a(si)", [("one", 1), ("two", 2)])}),
        )
    ),
    ("EchoStructure", "(su(dd))", ("a mask", 120, (59.9, 10.7))),
]

# path, interface, member, signature, arguments; then the error's name, and a part of its text.
WRONG = [
    (PATH, NAME, "Fail", "s", ("because",), NAME + ".Error.AsAsked", "because"),
    (PATH, NAME, "Divide", "ii", (1, 0), NAME + ".Error.DivisionByZero", "the divisor is 0"),
    (PATH, NAME, "EchoNested", "s", ("x",), ERROR + "InvalidArgs", 'takes "a{sa(iv)}", not "s"'),
    (PATH, NAME, "EchoByte", "", (), ERROR + "InvalidArgs", 'takes "y", not no arguments'),
    (PATH, NAME, "DoNothing", "s", ("x",), ERROR + "InvalidArgs", 'takes no arguments, not "s"'),
    (PATH, NAME, "Dance", "", (), ERROR + "UnknownMethod", "Dance"),
    (PATH, "org.example.Dance", "Dance", "", (), ERROR + "UnknownInterface", "org.example.Dance"),
    ("/nowhere", NAME, "DoNothing", "", (), ERROR + "UnknownObject", "/nowhere"),
    (PATH + "/numbers/31", NAME + ".Number", "Factors", "", (), ERROR + "UnknownObject", "/numbers/31"),
    (PATH, PROPERTIES, "Get", "ss", (NAME, "Steps"), ERROR + "UnknownProperty", "Steps"),
    (PATH, PROPERTIES, "Get", "ss", ("org.example.Dance", "Steps"), ERROR + "UnknownInterface", "org.example.Dance"),
    (PATH, PROPERTIES, "Set", "ssv", (NAME, "Version", V("s", "2")), ERROR + "PropertyReadOnly", "Version"),
    (PATH, PROPERTIES, "Set", "ssv", (NAME, "Mood", V("i", 2)), ERROR + "InvalidArgs", 'of type "s", not "i"'),
    (PATH, PROPERTIES, "Set", "ssv", (NAME, "Mood", V("s", "glum")), ERROR + "InvalidArgs", "glum"),
    (PATH, PROPERTIES, "Set", "ssv", (NAME, "Volume", V("d", 2.0)), ERROR + "InvalidArgs", "from 0 to 1"),
]


def wrapped(value, variant):
    """The value for a binding, with `variant(V)` in the place of each variant."""
    if isinstance(value, V):
        return variant(value)
    if isinstance(value, dict):
        return {key: wrapped(item, variant) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(wrapped(item, variant) for item in value)
    return value


class Refused(Exception):
    """An error reply: its name and its text."""


def is_same(got, sent):
    """Whether two values are equal and of the same types; a dictionary has no order."""
    if type(got) is not type(sent):
        return False
    if isinstance(sent, dict):
        return got.keys() == sent.keys() and all(is_same(got[key], sent[key]) for key in sent)
    if isinstance(sent, (list, tuple)):
        return len(got) == len(sent) and all(map(is_same, got, sent))
    return got == sent


def echo(call):
    faults = 0
    for member, signature, value in ECHOES:
        got = call(PATH, NAME, member, signature, (value,))
        same = is_same(got, (value,))
        faults += not same
        print(f"{member}: {str(got)[:100]}" + ("" if same else f"  -- but it was {str(value)[:100]}"))
    return faults


def descriptor(call, wrap, unwrap):
    """Sends the end of a pipe, and reads from the one that comes back."""
    reader, writer = os.pipe()
    os.write(writer, b"through the pipe")
    (got,) = call(PATH, NAME, "EchoFileDescriptor", "h", (wrap(reader),))
    number = unwrap(got)
    os.close(reader)
    text = os.read(number, 100)
    os.close(number)
    os.close(writer)
    print(f"EchoFileDescriptor: {text}")
    return text != b"through the pipe"


def wrong(call):
    faults = 0
    for path, interface, member, signature, arguments, name, text in WRONG:
        try:
            got = f"{call(path, interface, member, signature, arguments)} and no error"
        except Refused as error:
            got = "{}: {}".format(*error.args)
        same = got.startswith(f"{name}: ") and text in got
        faults += not same
        print(f"{member}: {got}" + ("" if same else f"  -- but it was to be {name} with {text!r}"))
    return faults


def show(member, arguments):
    """A signal, in a line that is the same for all clients."""
    print(f"{member} {arguments}", flush=True)


def run(call, listen, wrap, unwrap):
    mode = sys.argv[1]
    if mode == "echo":
        sys.exit(echo(call) + descriptor(call, wrap, unwrap) > 0)
    elif mode == "wrong":
        sys.exit(wrong(call) > 0)
    elif mode == "introspect":
        print(call(sys.argv[2], INTROSPECTABLE, "Introspect", "", ())[0])
    elif mode == "listen":
        listen()
    else:
        sys.exit(f"there is no mode {mode}")
