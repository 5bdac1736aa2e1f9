"""What of a machine pods can use: each cloud's published formula. Memory and disks in MiB, processors in millicores.

Sources, read 2026-11-21:

- Google: page "Plan node sizes" for the shares, as in karpenter-provider-gcp 417f047 (2026-08-06); the kernel's part, the disk's
  system part and tiers of 1,000 MiB where the page says GB: kubernetes/autoscaler, cloudprovider/gce reserved.go 729ba95 and
  gce_reserved.go 0be995d, which predict what a node reports.
- AWS: awslabs/amazon-eks-ami nodeadm kubelet/config.go 0137549: processors in steps of 6, 1, 0.5 and 0.25 %, memory 11 MiB a pod
  and 255, 1 GiB of disk, eviction below 100 MiB and 10 % of the disk.
- Azure: AKS page node-resource-reservations.md fb060ab (2026-08-21), which gives two rules, before and from 1.29. Its MB are read
  as MiB, the greater, and its table of processors (10 millicores a core from four on) is carried on above 64.
- OpenStack: Magnum sets no reservation (configure-kubernetes-minion.sh, stable/2026.1 9f9c4b9f), so the kubelet's own defaults
  hold: nothing reserved, eviction below 100 MiB and 10 % of the disk (kubernetes.io, "Node-pressure Eviction").
- What a hypervisor and kernel keep is published by Google alone. AWS and Azure: 7.5 %, the default of Karpenter's
  ``vm-memory-overhead-percent`` on both (1d92708, 352646f; 2026-08-21), an estimate on the safe side. OpenStack: Google's
  formula, since it is the kernel's part of any Linux machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_EVICTION_MIB = 100
_GIB = 1024
_CORE = 1000
_CPU_STEPS = ((0, 0.06), (1 * _CORE, 0.01), (2 * _CORE, 0.005), (4 * _CORE, 0.0025))
_GB = 1000
_MEMORY_STEPS = ((0, 0.25), (4 * _GB, 0.2), (8 * _GB, 0.1), (16 * _GB, 0.06), (128 * _GB, 0.02))
_HYPERVISOR_SHARE = 0.075
_AZURE_CPU = ((0, 0.06), (1 * _CORE, 0.04), (2 * _CORE, 0.02), (4 * _CORE, 0.01))
_AZURE_NEW_RULE = (1, 29)
_AZURE_OLD_EVICTION_MIB = 750


@dataclass(frozen=True, kw_only=True, slots=True)
class Size:
    """How much of everything but cards.

    Attributes:
        millicores: Processors.
        memory_mib: Memory.
        storage_mib: Ephemeral storage.
        pods: Most pods.
    """

    millicores: int
    memory_mib: int
    storage_mib: int
    pods: int

    def quantities(self) -> dict[str, str]:
        """Return the size as Kubernetes quantities by resource."""
        cores, rest = divmod(self.millicores, _CORE)
        return {
            "cpu": f"{self.millicores}m" if rest else str(cores),
            "memory": f"{self.memory_mib}Mi",
            "ephemeral-storage": f"{self.storage_mib}Mi",
            "pods": str(self.pods),
        }


Sizes = tuple[Size, Size]
"""Capacity and allocatable."""


def google_sizes(machine: Size, *, is_ubuntu: bool, is_arm: bool) -> Sizes:
    """Return what a GKE node reports of a machine with a boot disk of `machine.storage_mib`."""
    disk = machine.storage_mib
    memory = machine.memory_mib - _kernel_mib(machine.memory_mib, is_ubuntu=is_ubuntu, is_arm=is_arm)
    fixed, share = (0.171 * _GIB, 0.03083) if is_ubuntu else (4.148 * _GIB, 0.015635)
    storage = max(0, disk - round(share * disk + fixed + min(100, 0.001 * disk)))
    capacity = Size(millicores=machine.millicores, memory_mib=memory, storage_mib=storage, pods=machine.pods)
    system_disk = min(0.5 * disk, 0.35 * disk + 6 * _GIB, 100 * _GIB)
    return capacity, Size(
        millicores=machine.millicores - _by_steps(machine.millicores, _CPU_STEPS),
        memory_mib=memory - _tiered_memory_mib(machine.memory_mib) - _EVICTION_MIB,
        storage_mib=max(0, round(storage * 0.9 - system_disk)),
        pods=machine.pods,
    )


def aws_sizes(machine: Size) -> Sizes:
    """Return what an EKS node with an AL2023 image reports; `machine.pods` is what its network interfaces allow."""
    capacity = _under_hypervisor(machine)
    return capacity, Size(
        millicores=machine.millicores - _by_steps(machine.millicores, _CPU_STEPS),
        memory_mib=capacity.memory_mib - (11 * machine.pods + 255) - _EVICTION_MIB,
        storage_mib=max(0, round(machine.storage_mib * 0.9) - _GIB),
        pods=machine.pods,
    )


def azure_sizes(machine: Size, *, kubernetes: tuple[int, int]) -> Sizes:
    """Return what an AKS node reports under a Kubernetes version, given as major and minor."""
    capacity = _under_hypervisor(machine)
    if kubernetes >= _AZURE_NEW_RULE:
        kept = min(20 * machine.pods + 50, machine.memory_mib // 4) + _EVICTION_MIB
    else:
        kept = _tiered_memory_mib(machine.memory_mib) + _AZURE_OLD_EVICTION_MIB
    return capacity, Size(
        millicores=machine.millicores - _by_steps(machine.millicores, _AZURE_CPU),
        memory_mib=capacity.memory_mib - kept,
        storage_mib=round(machine.storage_mib * 0.9),
        pods=machine.pods,
    )


def kubelet_sizes(machine: Size) -> Sizes:
    """Return what a node reports under the kubelet's own defaults."""
    memory = machine.memory_mib - _kernel_mib(machine.memory_mib, is_ubuntu=False, is_arm=False)
    capacity = Size(millicores=machine.millicores, memory_mib=memory, storage_mib=machine.storage_mib, pods=machine.pods)
    return capacity, Size(
        millicores=machine.millicores,
        memory_mib=memory - _EVICTION_MIB,
        storage_mib=round(machine.storage_mib * 0.9),
        pods=machine.pods,
    )


def _under_hypervisor(machine: Size) -> Size:
    """Return a machine less the estimate of what its hypervisor and kernel keep."""
    memory = machine.memory_mib - round(machine.memory_mib * _HYPERVISOR_SHARE)
    return Size(millicores=machine.millicores, memory_mib=memory, storage_mib=machine.storage_mib, pods=machine.pods)


def _kernel_mib(memory_mib: int, *, is_ubuntu: bool, is_arm: bool) -> int:
    """Return the memory that a Linux kernel keeps on Google's machines."""
    kept = memory_mib / 64 + 16 + min(0.00175 * memory_mib, 248)
    kept += 64 if memory_mib > 3 * _GIB else 0
    kept += 8 if memory_mib <= 8 * _GIB else 0
    if is_ubuntu:
        return round(kept + 4)
    return round(kept * 0.9971 if is_arm else kept)


def _tiered_memory_mib(memory_mib: int) -> int:
    """Return the kubelet's share of memory in falling steps; 255 MiB up to 1,000 MiB."""
    return 255 if memory_mib <= _GB else _by_steps(memory_mib, _MEMORY_STEPS)


def _by_steps(amount: int, steps: Sequence[tuple[int, float]]) -> int:
    """Return the sum of each step's share of the part of `amount` that lies in it, rounded down."""
    ends = [*steps[1:], (max(amount, steps[-1][0]), 0.0)]
    kept = sum(max(0, min(amount, end) - start) * share for (start, share), (end, _) in zip(steps, ends, strict=True))
    return int(kept + 1e-9)
