"""Brings the real programs that a rehearsal runs: pinned in one Go module, built once, kept in a cache that heals itself."""

from rehearsal.toolchain.build_state import ToolProgress
from rehearsal.toolchain.building import Phase
from rehearsal.toolchain.errors import ToolchainError
from rehearsal.toolchain.toolchain import Toolchain
from rehearsal.toolchain.tools import Tool, argocd_environment

__all__ = ["Phase", "Tool", "ToolProgress", "Toolchain", "ToolchainError", "argocd_environment"]
