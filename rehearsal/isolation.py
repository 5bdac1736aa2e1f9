"""A network of the rehearsal's own, where the user may make one: it shares no port with the machine, and nothing leaves it.

Several of the programs cannot be told to listen on 127.0.0.1 only. In a network namespace that has nothing but a loopback
device they may listen on whatever they like. Why this process enters it, and not only the programs:
docs/adr/0012-rehearsal-inside-a-namespace.md.

Order of calls::

    access = prepare()           # while this process has one thread
    toolchain.start()            # threads that are there now stay on the machine's network, and so does what they start
    isolation = access.enter()   # this thread, what it starts, and every thread made from here on are inside
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import random
import socket
import struct
import threading
from dataclasses import dataclass
from pathlib import Path

_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000
"""From linux/sched.h."""

_SIOCGIFFLAGS = 0x8913
_SIOCSIFFLAGS = 0x8914
_IFF_UP = 0x1
"""From linux/sockios.h and linux/if.h."""

_LOWEST_PORT = 20_000
_HIGHEST_PORT = 32_000
"""Below the ports that Linux gives to outgoing connections (32768 and up unless told otherwise): none of those takes a port
between `Ports.take` and the program's bind, and none takes it while a program is being restarted."""

_unshare = ctypes.CDLL(None, use_errno=True).unshare


@dataclass(frozen=True, kw_only=True, slots=True)
class Isolation:
    """The network that the rehearsal has.

    Attributes:
        private: Whether it is a network of its own; else it is the machine's loopback device.
        reason: Why so, for people.
    """

    private: bool
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Access:
    """What `prepare` found out.

    Attributes:
        refusal: Why no network of its own can be had; empty when it can.
        by: What allows it, for people.
    """

    refusal: str
    by: str

    def enter(self) -> Isolation:
        """Move the calling thread, and with it all it starts from now on, into a network of its own if it may have one."""
        if self.refusal:
            return Isolation(private=False, reason=f"ports of this machine's loopback device are used: {self.refusal}")
        _leave(_CLONE_NEWNET)
        _raise_loopback()
        return Isolation(private=True, reason=f"a network namespace of its own, made by {self.by}")


def prepare() -> Access:
    """Find out whether this process may have a network of its own, and get the right to make one.

    Without root that right comes from a user namespace, in which this process keeps its user. sudo does not work in it.
    The kernel lets only a process with a single thread enter one.

    Returns:
        The access; `Access.enter` uses it.

    Raises:
        RuntimeError: The process has more than one thread.
    """
    if threading.active_count() > 1:
        raise RuntimeError("prepare() comes before the first thread")
    is_root = os.geteuid() == 0
    refusal = _tried(with_user=not is_root)
    if refusal:
        return Access(refusal=refusal, by="")
    if not is_root:
        _enter_user_namespace()
    return Access(refusal="", by="root" if is_root else "an ordinary user, in a user namespace")


def _tried(*, with_user: bool) -> str:
    """Try in a child process, since there is no way back, and return why it does not work; empty when it does."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if with_user:
                _enter_user_namespace()
            _leave(_CLONE_NEWNET)
            _raise_loopback()
        except OSError as error:
            os.write(writing, f"the kernel refuses a network namespace ({error.strerror})".encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        refusal = pipe.read()
    os.waitpid(child, 0)
    return refusal


def _leave(flags: int) -> None:
    """Leave the namespaces that `flags` names for new ones; raises OSError when the kernel refuses."""
    if _unshare(flags) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _enter_user_namespace() -> None:
    """Enter a user namespace in which user and group stay what they are."""
    user, group = os.geteuid(), os.getegid()
    _leave(_CLONE_NEWUSER)
    own = Path("/proc/self")
    (own / "setgroups").write_text("deny")  # without which an ordinary user may not write gid_map (user_namespaces(7))
    (own / "gid_map").write_text(f"{group} {group} 1")
    (own / "uid_map").write_text(f"{user} {user} 1")


def _raise_loopback() -> None:
    """Turn on the loopback device, which is down in a new namespace."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack("16sh14x", fcntl.ioctl(any_socket, _SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | _IFF_UP))


class Ports:
    """Hands out TCP ports on 127.0.0.1, each once, that nobody listens on.

    Starts at a port by chance, so that programs of others who do the same are rarely met; a port that is taken is passed over.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._next = random.randrange(_LOWEST_PORT, _HIGHEST_PORT)  # noqa: S311 -- nothing secret about a port
        self._left = _HIGHEST_PORT - _LOWEST_PORT

    def take(self) -> int:
        """Return a port that is free now and was not handed out before.

        Raises:
            OSError: None is left.
        """
        with self._lock:
            while self._left > 0:
                port = self._next
                self._next = port + 1 if port + 1 < _HIGHEST_PORT else _LOWEST_PORT
                self._left -= 1
                if _is_free(port):
                    return port
        raise OSError(errno.EADDRINUSE, f"no free port between {_LOWEST_PORT} and {_HIGHEST_PORT} on 127.0.0.1")


def _is_free(port: int) -> bool:
    """Say whether a program could listen on this port, on 127.0.0.1 or on all addresses."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as servers do: old connections do not stand in the way
        try:
            probe.bind(("", port))
        except OSError:
            return False
    return True
