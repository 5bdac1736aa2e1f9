"""Progress of a preview: a live line for each stack on a terminal, a line at each end elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from cli.console import messages
from preview.run import Progress as Listener
from preview.run import StackPreview, StackStarted


@contextmanager
def showing(stacks: Sequence[str]) -> Iterator[Listener]:
    """Show the progress of `stacks` on standard error while the block runs; yields what to tell of starts and ends."""
    console = messages()
    if not console.is_terminal or console.is_dumb_terminal:
        yield lambda event: console.print(_line(event), markup=False) if isinstance(event, StackPreview) else None
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        tasks = {name: progress.add_task(f"{name}: waiting", total=1, start=False) for name in stacks}

        def listen(event: StackStarted | StackPreview) -> None:
            task = tasks[event.stack]
            if isinstance(event, StackStarted):
                progress.start_task(task)
                progress.update(task, description=f"{event.stack}: previewing")
            else:
                progress.update(task, description=_line(event), completed=1)

        yield listen


def _line(preview: StackPreview) -> str:
    """Return how a stack's preview ended, on one line."""
    if preview.graph is None:
        return f"{preview.stack}: failed after {preview.seconds:.1f} s"
    return f"{preview.stack}: {len(preview.graph.resources)} resources in {preview.seconds:.1f} s"
