"""The programs of a rehearsal: found, or built in the background in the order in which they are needed."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from rehearsal.toolchain.build_state import BuildState, ToolProgress
from rehearsal.toolchain.building import Builder, Phase, cache_key
from rehearsal.toolchain.cache import ToolCache, cache_folder
from rehearsal.toolchain.compiler import choose_compiler, install
from rehearsal.toolchain.errors import Cancelled, ToolchainError, explain_os_error
from rehearsal.toolchain.installed import installed_tool
from rehearsal.toolchain.module import MODULE_FOLDER, read_module
from rehearsal.toolchain.running import Runner
from rehearsal.toolchain.tools import Tool


class Toolchain:
    """Hands out programs of exactly the pinned versions.

    Each is taken from our cache, else from PATH, else built there by Go. `start` returns at once; `path` waits for one program,
    so that clusters come up while later programs still build. Leaving the ``with`` block, or the end of the process, stops the
    compiler.

    Args:
        module_folder: The Go module that holds the pins.
        cache: Our cache folder; by default `cache_folder` says which.
        search_path: Where Go and installed programs are looked for; by default PATH.
    """

    def __init__(self, *, module_folder: Path = MODULE_FOLDER, cache: Path | None = None, search_path: str | None = None) -> None:
        self._module = read_module(module_folder)
        self._root = cache or cache_folder()
        self._search_path = os.environ.get("PATH", os.defpath) if search_path is None else search_path
        self._cancelled = threading.Event()
        self._state: BuildState | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def start(self, tools: Sequence[Tool] = tuple(Tool)) -> None:
        """Begin to look for programs and to build those that are missing. Returns at once.

        Args:
            tools: The wanted ones; they are built in the order of `Tool`, whatever order is given.

        Raises:
            RuntimeError: It was called before.
        """
        if self._thread is not None:
            raise RuntimeError("a toolchain starts once")
        self._state = BuildState([tool for tool in Tool if tool in tools])
        # A daemon, so that a program that forgot close() ends; atexit then still stops the compiler.
        self._thread = threading.Thread(target=self._work, name="toolchain", daemon=True)
        atexit.register(self.close)
        self._thread.start()

    def path(self, tool: Tool, timeout_seconds: float) -> Path:
        """Return a program as soon as it is there.

        Args:
            tool: Which one.
            timeout_seconds: How long to wait at most.

        Raises:
            ToolchainError: It cannot be had; the message says why and what to do.
        """
        return self._started().wait(tool, timeout_seconds)

    def progress(self) -> tuple[ToolProgress, ...]:
        """Return how far each wanted program is, in the order in which they are built."""
        return self._started().all()

    def version(self, tool: Tool) -> str:
        """Return a program's pinned version, without a ``v``."""
        return self._module.versions[tool]

    def close(self) -> None:
        """Stop what is being built and wait until it is gone. What is built stays. May be called more than once."""
        self._cancelled.set()
        if self._thread is not None:
            self._thread.join()
            atexit.unregister(self.close)

    def _started(self) -> BuildState:
        """Return the state of a toolchain that was started."""
        if self._state is None:
            raise RuntimeError("call start() first")
        return self._state

    def _work(self) -> None:
        """Find or build everything that is wanted; whatever goes wrong becomes one message for those who wait."""
        state = self._started()
        try:
            self._provide(state)
        except Cancelled:
            state.fail(ToolchainError("Stopped before all programs were built. What is built already is kept"))
        except ToolchainError as error:
            state.fail(error)
        except OSError as error:
            state.fail(explain_os_error(error, "The rehearsal's programs cannot be built"))
        except Exception as error:  # noqa: BLE001 -- without this, whoever waits would wait until their time is over
            state.fail(
                ToolchainError(f"The rehearsal's programs cannot be built: {type(error).__name__}: {error}. This is a bug")
            )

    def _provide(self, state: BuildState) -> None:
        """Take what is there, then build the rest under the lock of this set."""
        compiler = choose_compiler(self._module, self._root, self._search_path)
        cache = ToolCache(folder=self._root / "tools" / cache_key(self._module, compiler))
        missing = [tool for tool in state.tools if not (_take_cached(state, cache, tool) or self._take_installed(state, tool))]
        if not missing:
            cache.touch()
            return
        runner = Runner(cancelled=self._cancelled)
        state.enter(missing[0], Phase.STARTING)
        with cache.lock(self._cancelled, lambda: _watch(state, cache, missing)):
            cache.sweep()
            missing = [tool for tool in missing if not _take_cached(state, cache, tool)]
            if missing and not compiler.installed:
                state.enter(missing[0], Phase.INSTALLING_GO)
                compiler = install(compiler, self._module, runner)
            builder = Builder(module=self._module, compiler=compiler, cache=cache, runner=runner)
            for tool in missing:
                self._build(state, builder, tool)
            cache.prune()

    def _build(self, state: BuildState, builder: Builder, tool: Tool) -> None:
        """Build one program and tell of it."""
        state.enter(tool, Phase.STARTING)
        path = builder.build(tool, lambda step: state.step(tool, step))
        state.ready(tool, path, "built")

    def _take_installed(self, state: BuildState, tool: Tool) -> bool:
        """Use a program on PATH if it is of exactly the pinned version."""
        path = installed_tool(tool, self._module.versions[tool], self._search_path)
        if path is not None:
            state.ready(tool, path, f"installed at {path}")
        return path is not None


def _take_cached(state: BuildState, cache: ToolCache, tool: Tool) -> bool:
    """Use a program of the cache if it is whole."""
    if state.is_ready(tool):
        return True
    path = cache.find(tool)
    if path is not None:
        state.ready(tool, path, "built before")
    return path is not None


def _watch(state: BuildState, cache: ToolCache, missing: Sequence[Tool]) -> None:
    """Take each program that another rehearsal has built meanwhile."""
    for tool in missing:
        if not _take_cached(state, cache, tool):
            state.enter(tool, Phase.OTHER_REHEARSAL)
