"""What each cloud would answer: stand-in ids, outputs and function results, by type token. Imports no provider SDK."""

from preview.outputs.registry import Declared, call, outputs_of, stack_outputs

__all__ = ["Declared", "call", "outputs_of", "stack_outputs"]
