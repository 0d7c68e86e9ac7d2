"""Says for each line "EXTENT<tab>EXPRESSION<tab>TEXT", the last two in hexadecimal, what Python's engine makes of it."""
import re
import sys
import warnings


def translated(expression):
    """Returns the expression as Python writes it: other named groups, and an end that is only the end."""
    written, offset, in_class = "", 0, False
    while offset < len(expression):
        rest = expression[offset:]
        if rest[0] == "\\":
            piece, length = rest[:2], 2
        elif in_class:
            in_class, piece, length = rest[0] != "]", rest[0], 1
        elif rest.startswith("(?:(?i)"):
            piece, length = "(?i:", 7
        elif rest.startswith("(?<"):
            piece, length = "(?P<", 3
        elif rest[0] == "$":
            piece, length = "\\Z", 1
        else:
            in_class, piece, length = rest[0] == "[", rest[0], 1
        written += piece
        offset += length
    return written


def spans(match, text):
    """Returns the bytes of each named group."""
    def place(index):
        return len(text[:index].encode())

    groups = sorted(match.re.groupindex.items(), key=lambda group: group[1])
    return " ".join(f"{place(match.start(name))}-{place(match.end(name))}" if match.start(name) >= 0 else "x"
                    for name, _ in groups)


def main():
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        extent, expression, text = line.rstrip("\n").split("\t")
        expression, text = bytes.fromhex(expression).decode(), bytes.fromhex(text).decode()
        compiled = re.compile(translated(expression), re.ASCII)
        match = compiled.fullmatch(text) if extent == "whole" else compiled.search(text)
        print(f"yes {spans(match, text)}" if match else "no")


main()
