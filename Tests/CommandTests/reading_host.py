#!/usr/bin/env python3
"""A host that reads the first item of each window, and prints a line for it: the number of bytes and their digest.

usage: reading_host.py IDENTIFIER BYTES     reads at most BYTES bytes of each; all bytes if BYTES is -1
"""
import hashlib
import importlib.machinery
import importlib.util
import json
import os
import sys

from gi.repository import GLib

EXAMPLE = os.path.join(os.path.dirname(__file__), "..", "..", "examples", "python", "host")
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("host", EXAMPLE)
module = importlib.util.module_from_spec(importlib.util.spec_from_loader("host", loader))
loader.exec_module(module)


class Reader(module.Host):
    def asked(self, bus, sender, path, interface, method, parameters, invocation):
        super().asked(bus, sender, path, interface, method, parameters, invocation)
        if method in ("ConnectScene", "ContinueScene"):
            options = json.loads(parameters.unpack()[-1])
            # Read later: the service first hears that this host has the delivery.
            GLib.idle_add(self.read, options["delivery"])

    def read(self, delivery):
        arguments = GLib.Variant("(sus)", (delivery, 0, ""))
        reply, descriptors = self.bus.call_with_unix_fd_list_sync(
            module.SERVICE, module.ROOT, module.SERVICE, "OpenItem", arguments, GLib.VariantType("(hx)"), 0, -1, None, None
        )
        count, digest = 0, hashlib.sha256()
        with open(descriptors.get(reply[0]), "rb", buffering=0) as data:
            while count != LIMIT:
                try:
                    chunk = data.read(min(1 << 20, LIMIT - count) if LIMIT >= 0 else 1 << 20)
                except ConnectionResetError:
                    print("read interrupted", flush=True)
                    return False
                if not chunk:
                    break
                count += len(chunk)
                digest.update(chunk)
        print("read", count, digest.hexdigest(), flush=True)
        return False


LIMIT = int(sys.argv[2])
reader = Reader(sys.argv[1])
GLib.MainLoop().run()
