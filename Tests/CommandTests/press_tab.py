#!/usr/bin/env python3
"""Types a line and a tab into a shell on a terminal of its own, and prints the line that the shell made of it.

usage: press_tab.py WORD ANSWER SETUP LINE SHELL...     SETUP is typed first; then LINE, until WORD appears, which is not in LINE; then
the line is entered, and the script waits for ANSWER, if it is not empty
"""
import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
import time

word, answer, setup, line, shell = *sys.argv[1:5], sys.argv[5:]
LIMIT = time.monotonic() + 50
child, terminal = pty.fork()
if child == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 200, 0, 0))
    os.execvp(shell[0], shell)


def shown_until(expected):
    """The text that the shell shows, without cursor movements; a shell also asks the terminal for the cursor's position."""
    shown = ""
    while expected not in shown:
        if not select.select([terminal], [], [], max(0, LIMIT - time.monotonic()))[0]:
            sys.exit(f"{expected!r} did not come: {shown!r}")
        data = os.read(terminal, 65536).decode(errors="replace")
        if "\x1b[6n" in data:
            os.write(terminal, b"\x1b[1;1R")
        if "\x1b[c" in data or "\x1b[0c" in data:
            os.write(terminal, b"\x1b[?62c")
        shown += re.sub(r"\x1b(\[[0-9;?>=]*[A-Za-z]|\][^\x07]*\x07|[()][A-Z0-9]|[=>78])|[\r\x08]", "", data)
    return shown


os.write(terminal, f"{setup}; printf 'be%s\\n' gun\n".encode())
shown_until("begun")
os.write(terminal, f"{line}\t".encode())
print(shown_until(word).splitlines()[-1])
if answer:
    os.write(terminal, b"\n")
    print(shown_until(answer))
