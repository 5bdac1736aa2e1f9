"""Every pinned version that is not a Python package, one line each; Python's own are in requirements.in."""

from __future__ import annotations

KUBERNETES = "1.35"
"""Minor version of clusters that name none. EKS standard support ends 2027-03-27 (endoflife.date/amazon-eks, 2026-02)."""
