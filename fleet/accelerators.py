"""Kinds of accelerator, and what Kubernetes calls each: the extended resource, and with it the taint key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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


@dataclass(frozen=True, kw_only=True, slots=True)
class KindFacts:
    """What Kubernetes calls a kind of accelerator.

    Attributes:
        resource: Extended resource that the kind's device plugin advertises and a pod requests, counted in cards.
        taint_key: Key of the taint on nodes that carry the kind. It equals the resource, because the admission plugin
            ExtendedResourceToleration lets pods tolerate exactly that key.
        source: Where the resource name is from.
        as_of: When the source was read or published, ISO date or month.
        taint_value: Value of that taint, the same on all clouds so that one toleration serves them all.
    """

    resource: str
    taint_key: str
    source: str
    as_of: str
    taint_value: str = "present"


def _facts(resource: str, source: str, as_of: str) -> KindFacts:
    """Return the facts of a kind whose taint is named after its resource, as all are."""
    return KindFacts(resource=resource, taint_key=resource, source=source, as_of=as_of)


KINDS: Mapping[AcceleratorKind, KindFacts] = {
    AcceleratorKind.NVIDIA: _facts("nvidia.com/gpu", "NVIDIA/k8s-device-plugin README", "2026-11"),
    AcceleratorKind.AMD: _facts(
        "amd.com/gpu", "instinct.docs.amd.com, k8s-device-plugin, resource naming strategy `single`", "2026-11"
    ),
    AcceleratorKind.TPU: _facts("google.com/tpu", "AI-Hypercomputer/xpk; GKE page `About TPUs in GKE`", "2026-08"),
    # The plugin also offers aws.amazon.com/neuroncore. Whole devices are asked for, so that a count means cards as elsewhere.
    AcceleratorKind.NEURON: _facts(
        "aws.amazon.com/neuron", "awsdocs-neuron.readthedocs-hosted.com, Neuron device plugin", "2026-11"
    ),
    AcceleratorKind.GAUDI: _facts("habana.ai/gaudi", "docs.habana.ai, Intel Gaudi device plugin for Kubernetes", "2026-11"),
    AcceleratorKind.IPU: _facts(
        "c600.graphcore.ai/ipu", "docs.graphcore.ai, Kubernetes IPU device plugin user guide, `Create a pod`", "2026-11"
    ),
    # AMD's plugin and not Intel's: Intel names the resource after the bitstream loaded at the time (fpga.intel.com/af-… and
    # region-…), so it changes with the work; AMD names it after the card's shell, and lets a ConfigMap give every card of a
    # cluster one alias. `fpga` must be set as that alias (physical name `*-*-*`); `amd.com/` is the plugin's own prefix.
    AcceleratorKind.FPGA: _facts(
        "amd.com/fpga", "docs.amd.com, AMD-Xilinx Kubernetes Device Plugin 2023.1, Device Name Customize Policy", "2023-06"
    ),
}
"""Facts of every kind; a test holds that none is missing."""
