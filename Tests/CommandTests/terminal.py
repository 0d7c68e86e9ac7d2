#!/usr/bin/env python3
"""Runs a command on a terminal of its own, and prints its output.

usage: terminal.py COLUMNS INPUT COMMAND...   INPUT is a file or a FIFO for its standard input, or - for the terminal,
on which the standard input of this script is typed
"""
import fcntl
import os
import pty
import struct
import sys
import termios

columns, source, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
child, terminal = pty.fork()
if child == 0:
    size = struct.pack("HHHH", 24, columns, 0, 0)
    fcntl.ioctl(1, termios.TIOCSWINSZ, size)
    attributes = termios.tcgetattr(1)
    attributes[1] &= ~termios.OPOST
    termios.tcsetattr(1, termios.TCSANOW, attributes)
    if source != "-":
        os.dup2(os.open(source, os.O_RDONLY), 0)
    os.execvp(command[0], command)
if source == "-":
    os.write(terminal, sys.stdin.buffer.read())
while True:
    try:
        shown = os.read(terminal, 65536)
    except OSError:  # Linux reports this when nobody has the terminal open any more
        break
    if not shown:
        break
    sys.stdout.buffer.write(shown)
    sys.stdout.buffer.flush()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 0xFF)
