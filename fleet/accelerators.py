"""Kinds of accelerator, and what Kubernetes calls each: the extended resource, and with it the taint key."""

from __future__ import annotations

from enum import StrEnum


class AcceleratorKind(StrEnum):
    """A family of cards that one device plugin serves."""

    NVIDIA = "nvidia"
    AMD = "amd"
    TPU = "tpu"
    NEURON = "neuron"
    GAUDI = "gaudi"
    IPU = "ipu"
    FPGA = "fpga"
