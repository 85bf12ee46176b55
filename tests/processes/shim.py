"""Hands its command line to the server, waits, and ends as the process there did."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys

request = json.dumps(
    {"argv": sys.argv[2:], "folder": os.getcwd(), "environment": dict(os.environ)}
).encode()
with socket.socket(socket.AF_UNIX) as connection:
    connection.connect(sys.argv[1])
    length = len(request).to_bytes(8, "big")
    socket.send_fds(connection, [length], [0, 1, 2])
    connection.sendall(request)
    answer = connection.recv(64)
status = int(answer)
if status < 0:
    signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)
os._exit(status)
