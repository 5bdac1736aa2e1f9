"""Serves one package's double: ``python -m tests.engine.doubles PACKAGE VERSION``; the engine starts it as a plugin."""

from __future__ import annotations

import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
from pulumi.runtime.proto import provider_pb2_grpc

from tests.engine.doubles import DIRECTORY_VARIABLE
from tests.engine.doubles.cloud import FakeCloud
from tests.engine.doubles.provider import ProviderDouble

_LARGEST_MESSAGE_BYTES = 400 * 1024 * 1024  # the engine's own limit
_WORKERS = 16


def main(package: str, version: str) -> None:
    """Serve on a free local port, tell the engine which, and end when interrupted or when its end of standard input closes.

    The engine ends its plugins by an interrupt, and by force five seconds later. The default action answers it at once, while
    Python's own handler waits for the main thread, which is reading.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    options = [
        ("grpc.max_receive_message_length", _LARGEST_MESSAGE_BYTES),
        ("grpc.max_send_message_length", _LARGEST_MESSAGE_BYTES),
    ]
    server = grpc.server(ThreadPoolExecutor(_WORKERS), options=options)
    double = ProviderDouble(package, version, FakeCloud(Path(os.environ[DIRECTORY_VARIABLE])))
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(double, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    sys.stdin.buffer.read()
    server.stop(grace=None).wait()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
