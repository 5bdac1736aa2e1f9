"""Two clusters of different clouds on real programs: they come up, differ as their clouds do, heal, and leave nothing behind."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from lightkube.resources.apps_v1 import Deployment
from lightkube.resources.batch_v1 import Job
from lightkube.resources.core_v1 import Node, Pod, ServiceAccount

from fleet.clouds import Cloud
from rehearsal.api import ALL_NAMESPACES, Api, ApiFaultError, custom_kind, objects, wait_for
from rehearsal.controlplane import ControlPlane, Store, start_all
from rehearsal.flags import TABLE, Program, flags_of, plugins_left_out, version_run
from rehearsal.kubelets import NODE_ANNOTATION, Kubelets, works_for
from rehearsal.processes import ProcessState
from tests.support.planes import a_declared_cluster, a_ground, planes_on

DEADLINE_SECONDS = 60.0
TOLERANT = a_declared_cluster("gke-a", Cloud.GOOGLE, version="1.34")
STRICT = a_declared_cluster("magnum-a", Cloud.OPENSTACK, tolerates=False, admission=("AlwaysPullImages", "PodSecurityPolicy"))
TAINT = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}


@pytest.fixture(scope="module")
def planes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, ControlPlane]]:
    """A cluster whose cloud adds tolerations and one whose cloud does not, with kubelets; afterwards nothing of them is left."""
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    ports: set[int] = set()
    with a_ground(tmp_path_factory.mktemp("runs")) as ground:
        made = planes_on(ground, TOLERANT, STRICT)
        assert not start_all(made)
        for plane in made:
            Kubelets(plane).start()
        yield {plane.cluster.name: plane for plane in made}
        for child in psutil.Process().children(recursive=True):
            ports |= {one.laddr.port for one in child.net_connections("tcp") if one.status == psutil.CONN_LISTEN}
        assert len(ports) >= 2 + 2 * 4
        for plane in made:
            plane.stop()
    assert not [child for child in psutil.Process().children(recursive=True) if child.pid not in before]
    for port in ports:
        with socket.socket() as probe:
            assert probe.connect_ex(("127.0.0.1", port)) != 0, f"somebody still listens on {port}"


@pytest.fixture(params=["gke-a", "magnum-a"])
def plane(request: pytest.FixtureRequest, planes: dict[str, ControlPlane]) -> ControlPlane:
    """Each of the two."""
    return planes[request.param]


def a_node(name: str, cards: int = 4) -> dict[str, Any]:
    """A simulated node with cards and the taint of its kind."""
    key, value = NODE_ANNOTATION
    figures = {"cpu": "8", "memory": "30Gi", "pods": "110", "nvidia.com/gpu": str(cards)}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "annotations": {key: value}},
        "spec": {"taints": [TAINT]},
        "status": {"capacity": figures, "allocatable": figures | {"cpu": "7"}},
    }


def a_pod_spec(**more: object) -> dict[str, Any]:
    """A pod's spec that asks for one card."""
    limits = {"limits": {"nvidia.com/gpu": "1"}}
    return {"restartPolicy": "Never", "containers": [{"name": "c", "image": "none", "resources": limits}], **more}


def a_pod(name: str) -> Any:  # noqa: ANN401 -- lightkube's object
    """A pod that asks for one card and tolerates nothing."""
    return objects([{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": a_pod_spec()}])[0]


def a_ready_node(plane: ControlPlane, name: str) -> Node:
    """Make a node and wait until its kubelet has reported."""
    plane.api.create(objects([a_node(name)])[0])

    def ready() -> Node | None:
        node = plane.api.get(Node, name)
        conditions = (node.status and node.status.conditions) or []
        return node if any(one.type == "Ready" and one.status == "True" for one in conditions) else None

    return wait_for(f"node {name} ready", ready, DEADLINE_SECONDS)


def finish_a_job(plane: ControlPlane, name: str) -> None:
    """Run a Job that tolerates the taint, to its end: API server, controllers, scheduler and kubelets all have to work."""
    template = {
        "metadata": {"annotations": works_for(0.5)},
        "spec": a_pod_spec(tolerations=[{"key": TAINT["key"], "operator": "Exists"}]),
    }
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": {"template": template}}
    wait_for(f"job {name} taken", lambda: plane.api.create(objects([job])[0]), DEADLINE_SECONDS)
    wait_for(f"job {name}", lambda: (job := plane.api.get(Job, name)).status and job.status.succeeded, DEADLINE_SECONDS)
    plane.api.delete(Job, name)


def ask(plane: ControlPlane, path: str) -> Any:  # noqa: ANN401 -- any JSON
    """Ask an API server for what everybody may read."""
    context = ssl.create_default_context(cafile=str(plane.kubeconfig.parent / "ca.crt"))
    connection = http.client.HTTPSConnection("127.0.0.1", int(plane.url.rpartition(":")[2]), timeout=10, context=context)
    connection.request("GET", path)
    text = connection.getresponse().read()
    connection.close()
    return json.loads(text)


@pytest.mark.rehearsal
@pytest.mark.xdist_group("rehearsal")
class TestReal:
    """What only real programs can show."""

    def test_a_node_turns_ready_as_declared(self, plane: ControlPlane) -> None:
        """The simulated kubelet reports, and changes neither figures nor taints."""
        node = a_ready_node(plane, "n-declared")
        assert node.status is not None
        assert node.status.allocatable == {"cpu": "7", "memory": "30Gi", "pods": "110", "nvidia.com/gpu": "4"}
        wait_for("no other taint", lambda: [one.key for one in _taints(plane, "n-declared")] == [TAINT["key"]], DEADLINE_SECONDS)

    def test_a_pod_gets_the_toleration_where_its_cloud_gives_it(self, planes: dict[str, ControlPlane]) -> None:
        """By admission on one, and not on the other, where it stays Pending with the scheduler's reason."""
        keys: dict[str, bool] = {}
        for name, plane in planes.items():
            a_ready_node(plane, "n-toleration")
            pod = plane.api.create(a_pod("asks"))
            assert pod.spec is not None
            keys[name] = any(one.key == TAINT["key"] for one in pod.spec.tolerations or [])
        assert keys == {"gke-a": True, "magnum-a": False}
        wait_for("pod running", lambda: _phase(planes["gke-a"], "asks") == "Running", DEADLINE_SECONDS)
        reason = wait_for("the scheduler's reason", lambda: _unscheduled(planes["magnum-a"], "asks"), DEADLINE_SECONDS)
        assert "untolerated taint" in reason
        assert _phase(planes["magnum-a"], "asks") == "Pending"

    def test_versions_are_the_declared_ones(self, planes: dict[str, ControlPlane]) -> None:
        """Where a cluster declares an older minor its API server says that it behaves so."""
        told = {name: ask(plane, "/version") for name, plane in planes.items()}
        assert told["gke-a"]["emulationMinor"] == "34"
        assert planes["gke-a"].runs.note == ""
        assert planes["magnum-a"].runs.note.startswith("no version is declared")

    def test_declared_admission_plugins_run(self, planes: dict[str, ControlPlane]) -> None:
        """AlwaysPullImages rewrites the pull policy on the cluster that names it; a plugin that is gone is left out and told."""
        policies: dict[str, str | None] = {}
        for name, plane in planes.items():
            pod = plane.api.create(a_pod("policy"))
            assert pod.spec is not None
            policies[name] = pod.spec.containers[0].imagePullPolicy
        assert policies["magnum-a"] == "Always"
        assert plugins_left_out(STRICT) == ("PodSecurityPolicy",)

    def test_clusters_see_nothing_of_each_other(self, planes: dict[str, ControlPlane], tmp_path: Path) -> None:
        """One etcd, two worlds; and one's admin is nobody on the other."""
        planes["gke-a"].api.create(objects([a_node("only-here")])[0])
        assert planes["magnum-a"].api.find(Node, "only-here") is None
        crossed = tmp_path / "crossed"
        crossed.write_text(planes["gke-a"].kubeconfig.read_text().replace(planes["gke-a"].url, planes["magnum-a"].url))
        with Api(crossed) as api, pytest.raises(ApiFaultError):
            api.list(Node)

    def test_rights_are_checked(self, plane: ControlPlane) -> None:
        """RBAC is on, and a node's identity changes its own node alone."""
        with Api(plane.kubeconfig_for("nobody")) as nobody, pytest.raises(ApiFaultError, match="forbidden") as refused:
            nobody.list(Pod)
        assert refused.value.code == 403
        plane.api.create(objects([a_node("n-mine")])[0])
        plane.api.create(objects([a_node("n-other")])[0])
        changes = {"metadata": {"annotations": {"a": "b"}}}
        with Api(plane.kubeconfig_for("system:node:n-mine", ["system:nodes"])) as node:
            assert node.patch(Node, "n-mine", changes).metadata is not None
            with pytest.raises(ApiFaultError, match="not allowed to modify node"):
                node.patch(Node, "n-other", changes)

    @pytest.mark.parametrize("program", [Program.APISERVER, Program.CONTROLLERS, Program.SCHEDULER])
    def test_a_killed_component_heals(self, planes: dict[str, ControlPlane], program: Program) -> None:
        """It is started again, and work goes through from end to end."""
        plane = planes["gke-a"]
        a_ready_node(plane, f"n-{program}")
        supervisor = plane.ground.supervisor
        before = supervisor.pid(plane.name_of(program))
        supervisor.kill(plane.name_of(program))
        supervisor.wait_ready(plane.name_of(program))
        assert supervisor.pid(plane.name_of(program)) != before
        finish_a_job(plane, f"after-{program}")

    def test_a_killed_store_heals_for_all(self, planes: dict[str, ControlPlane]) -> None:
        """After etcd's crash both clusters still know their objects and finish work."""
        for plane in planes.values():
            a_ready_node(plane, "n-store")
        supervisor = planes["gke-a"].ground.supervisor
        supervisor.kill(Store.name)
        supervisor.wait_ready(Store.name)
        for plane in planes.values():
            supervisor.wait_ready(plane.name_of(Program.APISERVER))
            assert plane.api.get(Node, "n-store").metadata is not None
            finish_a_job(plane, "after-store")

    def test_a_watch_outlives_its_server(self, planes: dict[str, ControlPlane]) -> None:
        """The API server is killed under a watch: what was there comes again, and what is made afterwards comes too."""
        plane, seen = planes["gke-a"], []
        plane.api.create(objects([_account("first")])[0])
        for event, account in plane.api.watch(ServiceAccount, DEADLINE_SECONDS, labels={"test": "watch"}):
            name = account.metadata.name if account.metadata else ""
            seen.append((event, name))
            if len(seen) == 1:
                plane.ground.supervisor.kill(plane.name_of(Program.APISERVER))
                plane.ground.supervisor.wait_ready(plane.name_of(Program.APISERVER))
                wait_for("second account", lambda: plane.api.create(objects([_account("second")])[0]), DEADLINE_SECONDS)
            if name == "second":
                break
        assert seen[0] == ("ADDED", "first")
        assert seen[-1] == ("ADDED", "second")

    def test_a_quiet_watch_ends_in_time(self, plane: ControlPlane) -> None:
        """Where nothing happens it returns by itself."""
        assert list(plane.api.watch(Deployment, 0.5, ALL_NAMESPACES)) == []

    def test_custom_resources_go_through_the_client(self, plane: ControlPlane) -> None:
        """Their kind is defined, made known, applied, changed, listed and deleted."""
        plane.api.apply(objects([_DEFINITION])[0])
        card = {
            "apiVersion": "test.gpufleet.io/v1",
            "kind": "Card",
            "metadata": {"name": "t4", "namespace": "default"},
            "spec": {"gib": 16},
        }
        stored = wait_for("custom kind served", lambda: plane.api.apply(objects([card])[0]), DEADLINE_SECONDS)
        assert stored["spec"] == {"gib": 16}
        kind = custom_kind("test.gpufleet.io/v1", "Card", "cards", namespaced=True)
        assert plane.api.patch(kind, "t4", {"spec": {"gib": 15}})["spec"] == {"gib": 15}
        assert [one.metadata.name for one in plane.api.list(kind, ALL_NAMESPACES)] == ["t4"]
        assert plane.api.delete(kind, "t4") is True
        assert plane.api.delete(kind, "t4") is False

    def test_everything_is_simulated_or_ready(self, plane: ControlPlane) -> None:
        """No program of the cluster gave up or is down after all of the above."""
        states = {name: state for name, state in plane.ground.supervisor.states().items() if name.startswith(plane.id)}
        assert set(states) == {plane.name_of(program) for program in Program if program is not Program.ETCD}
        assert set(states.values()) <= {ProcessState.READY, ProcessState.RUNNING}


def _account(name: str) -> dict[str, Any]:
    """A service account that the watch looks for."""
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "labels": {"test": "watch"}}}


def _taints(plane: ControlPlane, name: str) -> list[Any]:
    """Taints of a node."""
    node = plane.api.get(Node, name)
    return (node.spec and node.spec.taints) or []


def _phase(plane: ControlPlane, name: str) -> str | None:
    """Phase of a pod."""
    pod = plane.api.get(Pod, name)
    return pod.status and pod.status.phase


def _unscheduled(plane: ControlPlane, name: str) -> str | None:
    """Why the scheduler found no node for a pod."""
    pod = plane.api.get(Pod, name)
    conditions = (pod.status and pod.status.conditions) or []
    return next((one.message for one in conditions if one.type == "PodScheduled" and one.status == "False"), None)


_DEFINITION: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "cards.test.gpufleet.io"},
    "spec": {
        "group": "test.gpufleet.io",
        "scope": "Namespaced",
        "names": {"kind": "Card", "plural": "cards"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
            }
        ],
    },
}


def test_each_row_of_the_table_has_a_reason_and_stands_once() -> None:
    """A flag that nobody can explain is not set."""
    assert all(row.reason for row in TABLE)
    settings = [(row.program, row.flag, row.value) for row in TABLE]
    assert len(set(settings)) == len(settings)


@pytest.mark.parametrize(("cluster", "has"), [(TOLERANT, True), (STRICT, False)])
def test_flags_follow_the_cluster(cluster: Any, has: bool) -> None:  # noqa: ANN401 -- a parametrized test
    """Admission plugins by cloud and by the cluster's own list, joined into one flag."""
    plugins = next(flag for flag in flags_of(Program.APISERVER, cluster) if flag.startswith("--enable-admission-plugins="))
    assert ("ExtendedResourceToleration" in plugins) is has
    assert "NodeRestriction" in plugins
    assert "PodSecurityPolicy" not in plugins
    controllers = [flag for flag in flags_of(Program.CONTROLLERS, cluster) if flag.startswith("--controllers=")]
    assert len(controllers) == 1
    assert controllers[0].startswith("--controllers=*,-")


@pytest.mark.parametrize(
    ("declared", "built", "minor", "emulated", "note"),
    [
        ("1.35", "1.35.8", "1.35", False, ""),
        ("v1.34.2-gke.1", "1.35.8", "1.34", True, ""),
        ("1.32", "1.35.8", "1.32", True, ""),
        ("1.28.9", "1.35.8", "1.32", True, "1.28 is declared; the programs at hand (1.35.8) come no nearer than 1.32"),
        ("1.36", "1.35.8", "1.35", False, "1.36 is declared; the programs at hand (1.35.8) come no nearer than 1.35"),
        ("", "1.35.8", "1.35", False, "no version is declared; 1.35 runs"),
        ("latest", "1.35.8", "1.35", False, "no version is declared; 1.35 runs"),
    ],
)
def test_the_nearest_version_is_run(declared: str, built: str, minor: str, emulated: bool, note: str) -> None:
    """The declared minor where it can be had, else the nearest, and people are told."""
    run = version_run(declared, built)
    assert (run.minor, run.emulated, run.note) == (minor, emulated, note)
    assert run.flags() == ((f"--emulated-version=kube={minor}",) if emulated else ())
