"""The hands of a desktop without X: moves the pointer of a VNC server, one command after the other from standard input.

usage: vnc.py SOCKET
  move X Y | press | release | sleep SECONDS
"""
import socket
import struct
import sys
import time


def connect(path):
    for _ in range(600):
        try:
            server = socket.socket(socket.AF_UNIX)
            server.connect(path)
            return server
        except OSError:
            time.sleep(0.05)
    sys.exit(f"nobody listens at {path}")


def receive(server, count):
    data = b""
    while len(data) < count:
        more = server.recv(count - len(data))
        if not more:
            sys.exit("the server has gone")
        data += more
    return data


def greet(server):
    receive(server, 12)
    server.sendall(b"RFB 003.008\n")
    receive(server, receive(server, 1)[0])
    server.sendall(b"\x01")  # no password
    if receive(server, 4) != b"\0\0\0\0":
        sys.exit("the server wants a password")
    server.sendall(b"\x01")
    receive(server, 20)
    receive(server, struct.unpack(">I", receive(server, 4))[0])


server = connect(sys.argv[1])
greet(server)
x = y = buttons = 0
for line in sys.stdin:
    command, *arguments = line.split()
    if command == "sleep":
        time.sleep(float(arguments[0]))
        continue
    if command == "move":
        x, y = map(int, arguments)
    else:
        buttons = 1 if command == "press" else 0
    server.sendall(struct.pack(">BBHH", 5, buttons, x, y))
time.sleep(0.3)
