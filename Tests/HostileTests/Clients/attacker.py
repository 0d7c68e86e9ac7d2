"""A hostile peer: it attacks the service in one way for the given time, and reads every answer.

    attacker.py ATTACK SECONDS [NAME]

NAME is the bus name of another service to attack instead.

It writes prepared bytes to the socket of the bus named by DBUS_SESSION_BUS_ADDRESS, so that the attack costs the attacker next to nothing. It needs
only Python. It says "attacking" when the attack begins, and its last line says how often the message was sent.
"""

import array
import json
import os
import select
import socket
import struct
import sys
import time

NAME = "org.stagedoor.Interchange1"
DESTINATION = (sys.argv[3:] or [NAME])[0]
ROOT = "/org/stagedoor/Interchange1"
APPLICATION = "org.example.Attacked"


# Messages.


def pad(data, alignment):
    data.extend(b"\0" * (-len(data) % alignment))


def text(data, value):
    pad(data, 4)
    value = value.encode()
    data += struct.pack("<I", len(value)) + value + b"\0"


def texts(*values):
    data = bytearray()
    for value in values:
        text(data, value)
    return data


def call(member, signature="", body=b"", path=ROOT, interface=NAME, destination=DESTINATION, descriptors=0, flags=0):
    fields = bytearray()

    def field(code, kind, value):
        pad(fields, 8)
        fields.extend(struct.pack("<B", code) + b"\1" + kind + b"\0")
        if kind == b"g":
            fields.extend(struct.pack("<B", len(value)) + value.encode() + b"\0")
        elif kind == b"u":
            fields.extend(struct.pack("<I", value))
        else:
            text(fields, value)

    field(1, b"o", path)
    field(2, b"s", interface)
    field(3, b"s", member)
    field(6, b"s", destination)
    if signature:
        field(8, b"g", signature)
    if descriptors:
        field(9, b"u", descriptors)
    head = bytearray(b"l\1" + bytes([flags]) + b"\1" + struct.pack("<III", len(body), 1, len(fields)))
    head += fields
    pad(head, 8)
    return bytes(head) + bytes(body)


class Batch:
    """Messages that are written together. Each gets a serial of its own; otherwise the bus would not pass it on."""

    def __init__(self, *messages):
        self.data = bytearray(b"".join(messages))
        self.places = []
        place = 0
        for message in messages:
            self.places.append(place + 8)
            place += len(message)

    def number(self, first):
        for place in self.places:
            first = first % 0xFFFF_FFFF + 1
            struct.pack_into("<I", self.data, place, first)
        return first


class Peer:
    def __init__(self, seconds):
        address = os.environ["DBUS_SESSION_BUS_ADDRESS"]
        values = dict(part.split("=", 1) for part in address.split(",")[0].split(":", 1)[1].split(","))
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(values["path"] if "path" in values else "\0" + values["abstract"])
        user = str(os.getuid()).encode().hex()
        self.socket.sendall(f"\0AUTH EXTERNAL {user}\r\nNEGOTIATE_UNIX_FD\r\nBEGIN\r\n".encode())
        hello = call("Hello", path="/org/freedesktop/DBus", interface="org.freedesktop.DBus",
                     destination="org.freedesktop.DBus")
        self.socket.sendall(hello)
        # The time begins with the first message, because some messages take long to make.
        self.seconds = seconds
        self.end = None
        self.serial = 1
        self.sent = 0
        self.received = 0
        while self.received < 100:
            self.received += len(self.socket.recv(65536))

    @property
    def has_time(self):
        if self.end is None:
            self.end = time.monotonic() + self.seconds
            print("attacking", flush=True)
        return time.monotonic() < self.end

    def write(self, message, descriptors=()):
        """Writes the whole message, and reads everything that arrives meanwhile. Returns whether there was time."""
        batch = message if isinstance(message, Batch) else Batch(message)
        self.serial = batch.number(self.serial)
        data = memoryview(batch.data)
        self.socket.setblocking(False)
        while len(data):
            if not self.has_time:
                return False
            readable, writable, _ = select.select([self.socket], [self.socket], [], 0.1)
            if readable:
                self.read()
            if writable:
                try:
                    if descriptors:
                        fds = array.array("i", descriptors)
                        sent = self.socket.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
                        descriptors = ()
                    else:
                        sent = self.socket.send(data)
                    data = data[sent:]
                except BlockingIOError:
                    pass
        self.sent += len(batch.places)
        return True

    def read(self):
        try:
            some = self.socket.recv(1 << 20)
        except BlockingIOError:
            return
        if not some:
            raise SystemExit("the bus has hung up")
        self.received += len(some)

    def repeat(self, message, count=1):
        batch = Batch(*[message] * count)
        while self.write(batch):
            pass

    def linger(self):
        while self.has_time:
            if select.select([self.socket], [], [], 0.05)[0]:
                self.read()


# The messages.


def get(property="EventSequence"):
    return call("Get", "ss", texts(NAME, property), interface="org.freedesktop.DBus.Properties")


def document(member, value):
    return call(member, "s", texts(value if isinstance(value, str) else json.dumps(value)))


def activity(key="key", **more):
    return {"activityType": "attack", "targetContentIdentifier": key, **more}


# The attacks.


def short_calls(peer):
    peer.repeat(get(), 200)


def pings(peer):
    ping = call("Ping", interface="org.freedesktop.DBus.Peer")
    peer.repeat(ping, 200)


def unanswered(peer):
    """Nobody waits for the answers, so nothing slows the sender down."""
    body = texts(NAME, "EventSequence")
    peer.repeat(call("Get", "ss", body, interface="org.freedesktop.DBus.Properties", flags=1), 200)


def unknown_methods(peer):
    peer.repeat(call("Nothing"), 200)


def introspections(peer):
    introspect = call("Introspect", path=f"{ROOT}/session", interface="org.freedesktop.DBus.Introspectable")
    peer.repeat(introspect, 20)


def managed_objects(peer):
    peer.repeat(call("GetManagedObjects", interface="org.freedesktop.DBus.ObjectManager"), 4)


def lists(peer):
    peer.repeat(call("ListSessions", "ssu", bytes(texts("", "")) + b"\0\0\0" + struct.pack("<I", 0)), 4)


def descriptors(peer):
    """Sends calls with many descriptors each behind a call that takes long."""
    null = os.open("/dev/null", os.O_RDONLY)
    body = struct.pack("<16I", *range(16))
    message = call("Drop", "h" * 16, body, descriptors=16)
    explain = document("Explain", foreign_types(100))
    while peer.has_time:
        if not peer.write(explain):
            return
        for _ in range(64):
            if not peer.write(message, [null] * 16):
                return


def foreign_types(items):
    representations = [
        [{"type": f"application/x-{item}-{number}", "text": "x"} for number in range(100)] for item in range(items)
    ]
    return {"items": [{"representations": some} for some in representations]}


def foreign_content_types(peer):
    peer.repeat(document("DeliverEach", foreign_types(140)))


def dictionaries(peer):
    """Sends more entries than the service accepts, in few bytes each."""
    entries = bytearray()
    for number in range(300_000):
        pad(entries, 8)
        text(entries, f"{number:06d}")
        text(entries, "")
    body = texts("attack", "key")
    pad(body, 4)
    body += struct.pack("<I", len(entries))
    pad(body, 8)
    peer.repeat(call("Drop", "ssa{ss}", body + entries))


def waiting_calls(peer):
    """Sends the same long document with the same token. Its delivery waits for a host that does not exist."""
    payload = {
        "activity": activity(userInfo={"x": "x" * 15_000_000}),
        "options": {"token": "again", "wait": "handled", "deadline": 3600},
    }
    message = document("Deliver", payload)
    for _ in range(60):
        if not peer.write(message):
            return
    peer.linger()


def hosts_without_the_name(peer):
    paths = bytearray()
    for number in range(9_000):
        text(paths, f"{ROOT}/session/{number:064d}")
    body = texts(APPLICATION)
    pad(body, 4)
    body += struct.pack("<I", len(paths)) + paths
    pad(body, 4)
    body += struct.pack("<I", 0)
    pad(body, 8)
    message = call("AttachHost", "saoa{sv}", body)
    for _ in range(4000):
        if not peer.write(message):
            return


def large_activities(peer):
    """Opens windows that show long activities, and asks for the list of all objects, as everyone may."""
    for number in range(60):
        value = {"activity": activity(f"large {number}", userInfo={"x": "x" * 900_000}), "options": {"deadline": 1}}
        if not peer.write(document("Deliver", value)):
            return
    managed_objects(peer)


def explanations(peer):
    peer.repeat(document("Explain", {"activity": activity()}), 20)


def slow_decisions(peer):
    key = "a" * 12_000
    peer.repeat(document("Explain", {"activity": activity(key)}))


def ruled_texts(peer, asks=True):
    """Texts that almost match each of many expressions."""
    item = {"representations": [{"type": "text/plain", "text": "a" * 65_000}]}
    peer.repeat(document("Deliver", {"items": [item], "options": {"rules": asks}}))


def texts_without_rules(peer):
    ruled_texts(peer, asks=False)


def tokens(peer):
    """Each call changes something that the service must store."""
    number = 0
    while peer.has_time:
        options = [{"token": f"{os.getpid()} {number + place}", "deadline": 1} for place in range(50)]
        number += 50
        some = [document("Deliver", {"activity": activity(), "options": option}) for option in options]
        if not peer.write(Batch(*some)):
            return


def drops(peer):
    peer.repeat(document("Deliver", {"activity": activity(), "options": {"deadline": 5}}), 50)


def windows(peer):
    value = {"activity": activity(), "options": {"deadline": 1, "disposition": "new"}}
    peer.repeat(document("Deliver", value), 50)


def quitters(peer):
    """Connections that call and leave at once."""
    deliver = document("Deliver", {"activity": activity(), "options": {"deadline": 3600}})
    while peer.has_time:
        other = Peer(1)
        other.end = peer.end
        other.write(Batch(*[deliver] * 58))
        other.socket.close()
        peer.sent += 1


def long_paths(peer):
    path = "/" + "p" * (30 << 20)
    peer.repeat(call("Nothing", path=path))


def long_texts(peer):
    peer.repeat(document("Deliver", "x" * (30 << 20)))


def broken_documents(peer):
    """The service reads the whole document in vain: the fault is at its end."""
    items = [{"activities": [activity(str(number))]} for number in range(1000)]
    peer.repeat(document("Deliver", json.dumps({"items": items})[:-1] + "?"))


def nested_documents(peer):
    peer.repeat(document("Deliver", '{"activity": ' * 200_000))


def main():
    attack, seconds = sys.argv[1:3]
    peer = Peer(float(seconds))
    globals()[attack](peer)
    peer.socket.close()
    print(f"{peer.sent} sent, {peer.received} bytes came back", flush=True)


main()
