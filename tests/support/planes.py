"""Real control planes for tests: programs from the toolchain, clusters made up, ports of the loopback device."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fleet.clouds import Cloud
from rehearsal.controlplane import ControlPlane, Ground, Store
from rehearsal.flags import Program
from rehearsal.isolation import Ports
from rehearsal.nodes.clusters import DeclaredCluster
from rehearsal.rundir import open_run
from rehearsal.supervisor import Supervisor
from rehearsal.toolchain import Tool, Toolchain

BUILD_SECONDS = 1800.0
"""Longest time that building a program may take on a slow machine with nothing cached."""


def a_declared_cluster(
    name: str, cloud: Cloud, *, version: str = "", tolerates: bool = True, admission: tuple[str, ...] = ()
) -> DeclaredCluster:
    """A declared cluster without pools, on a site of its cloud's name."""
    return DeclaredCluster(
        name=name,
        site=str(cloud),
        cloud=cloud,
        urn=f"urn:pulumi:{cloud}::gpufleet::test::{name}",
        kubernetes_version=version,
        region="",
        zones=(),
        extended_resource_toleration=tolerates,
        admission=admission,
        is_private=False,
        templates=(),
    )


@contextmanager
def a_ground(root: Path) -> Iterator[Ground]:
    """What planes stand on, with the programs of the toolchain; everything is stopped at the end."""
    tools = [Tool(str(program)) for program in Program]
    with Toolchain() as toolchain:
        toolchain.start(tuple(tools))
        files = {str(tool): toolchain.path(tool, timeout_seconds=BUILD_SECONDS) for tool in tools}
        version = toolchain.version(Tool.KUBE_APISERVER)
    with open_run(root) as run, Supervisor(run) as supervisor:
        yield Ground(supervisor=supervisor, ports=Ports(), program=lambda program: files[program], kubernetes_version=version)


def planes_on(ground: Ground, *clusters: DeclaredCluster) -> list[ControlPlane]:
    """Control planes over one etcd that runs; not started."""
    store = Store(ground)
    store.start()
    return [ControlPlane(cluster, ground, store) for cluster in clusters]
