"""Hands its command line to the server, waits, and ends as the process there did.

Where the environment has a file's name as ``PEAK_OF_MEMORY``, the bytes of resident
memory that the process took, those that it had from the server among them, are
written there.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys

here, environment = os.getcwd(), dict(os.environ)
asked = {"argv": sys.argv[2:], "folder": here, "environment": environment}
request = json.dumps(asked).encode()
with socket.socket(socket.AF_UNIX) as connection:
    connection.connect(sys.argv[1])
    length = len(request).to_bytes(8, "big")
    socket.send_fds(connection, [length], [0, 1, 2])
    connection.sendall(request)
    answer = connection.recv(64)
status, peak = map(int, answer.split())
if place := os.environ.get("PEAK_OF_MEMORY"):
    with open(place, "w") as file:
        print(peak, file=file)
if status < 0:
    signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)
os._exit(status)
