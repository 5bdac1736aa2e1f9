"""A network of the rehearsal's own: what is inside it, who is outside, and what is done where there is none."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from rehearsal import isolation
from rehearsal.isolation import Access, Ports
from tests.support.sources import PROJECT

NOBODY = 65534

AS_NOBODY = f"""
import ctypes, encodings.idna, os  # the encoding while this user may still read it: it is looked up at the first connection
from rehearsal.isolation import prepare
os.setgroups([])
os.setgid({NOBODY})
os.setuid({NOBODY})
ctypes.CDLL(None).prctl(4, 1)  # PR_SET_DUMPABLE: /proc/self belongs to the new user, as after a login
"""

INSIDE = """
import os, socket, threading
from rehearsal.isolation import prepare
before = os.readlink("/proc/thread-self/ns/net")
access = prepare()
told = threading.Event()
seen = {}
def stay():
    told.wait()
    seen["thread"] = os.readlink("/proc/thread-self/ns/net")
thread = threading.Thread(target=stay)
thread.start()
got = access.enter()
told.set()
thread.join()
server = socket.create_server(("127.0.0.1", 0))
socket.create_connection(server.getsockname()).close()
try:
    socket.create_connection(("192.0.2.1", 80), timeout=5)
except OSError as error:
    outside = error.strerror
links = sorted(name for _, name in socket.if_nameindex())
inside = os.readlink("/proc/thread-self/ns/net")
print(got.private, inside != before, seen["thread"] == before, links, outside, os.geteuid(), sep="|")
print(got.reason)
"""


def run_inside(first: str = "") -> list[str]:
    """Run the program above, after other lines if given, and return the parts of what it printed."""
    command = [sys.executable, "-c", first + INSIDE]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=PROJECT, timeout=60)
    assert done.returncode == 0, done.stderr
    seen, reason = done.stdout.splitlines()
    if seen.startswith("False"):
        pytest.skip(reason)
    return seen.split("|")


def test_the_network_is_its_own() -> None:
    """Loopback is up and alone; the world is out of reach; a thread that was there before stays outside."""
    assert run_inside() == ["True", "True", "True", "['lo']", "Network is unreachable", str(os.geteuid())]


@pytest.mark.skipif(os.geteuid() != 0, reason="becoming somebody else takes root; the test above covers the ordinary user then")
def test_an_ordinary_user_may_have_one_too() -> None:
    """A user namespace gives the right, and the user stays who they were."""
    assert run_inside(AS_NOBODY) == ["True", "True", "True", "['lo']", "Network is unreachable", str(NOBODY)]


def test_preparing_takes_a_single_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """With threads about, a user namespace is refused by the kernel; the mistake is told before that."""
    monkeypatch.setattr(isolation.threading, "active_count", lambda: 2)
    with pytest.raises(RuntimeError, match="before the first thread"):
        isolation.prepare()


def test_where_it_is_refused_loopback_ports_are_used() -> None:
    """Nothing is entered, and people are told why."""
    before = Path("/proc/thread-self/ns/net").readlink()
    got = Access(refusal="the kernel refuses a network namespace (Operation not permitted)", by="").enter()
    assert got.private is False
    assert "Operation not permitted" in got.reason
    assert Path("/proc/thread-self/ns/net").readlink() == before


def test_ports_are_handed_out_once_and_are_free(monkeypatch: pytest.MonkeyPatch) -> None:
    """A port that somebody listens on is passed over, and the end of the range is told."""
    monkeypatch.setattr(isolation.random, "randrange", lambda low, _: low)
    start = Ports().take()
    monkeypatch.setattr(isolation, "_LOWEST_PORT", start)
    monkeypatch.setattr(isolation, "_HIGHEST_PORT", start + 4)
    ports = Ports()
    with socket.create_server(("127.0.0.1", start)):
        taken = [ports.take()]
        assert taken[0] != start
        with pytest.raises(OSError, match="no free port"):
            taken.extend(ports.take() for _ in range(4))
    assert len(set(taken)) == len(taken)


def test_ports_stay_clear_of_outgoing_connections() -> None:
    """The kernel gives outgoing connections ports from its own range; a server's port out of that could be gone when it binds."""
    lowest = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    assert all(port < lowest for port in (Ports().take() for _ in range(20)))
