"""Every refusal of the plan: where it points, why, and what to do instead; and that no refusal is left out here."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from fleet.documents import Path as Place
from fleet.naming import NameKind, cloud_name
from fleet.scope import Findings
from tests.support.planning import mistakes

FLEET = Path(__file__).parents[2] / "fleet"
LONG = "a" * 45
SHORT = cloud_name(NameKind.GKE_CLUSTER, LONG)
GROUPS = ", ".join(f"arn:aws:iam::123456789012:role/r{index}" for index in range(21))


def gpus(site: str, entry: str, cluster: str = "", rest: str = "") -> str:
    """Return an inventory of one cluster with one entry of `gpus`."""
    return f"{{{rest}clusters: {{{site}: {{one: {{{cluster} gpus: [{{{entry}}}]}}}}}}}}"


def bare(site: str, cluster: str, rest: str = "") -> str:
    """Return an inventory of one cluster without cards."""
    return f"{{{rest}clusters: {{{site}: {{one: {{gpus: [], {cluster}}}}}}}}}"


def magnum(settings: str, cluster: str = "") -> str:
    """Return an inventory of one Magnum cluster without cards."""
    return bare("cern", cluster, f"sites: {{cern: {{openstack: {{{settings}}}}}}}, ")


HERE = "clusters.{}.one"
ENTRY = "clusters.{}.one.gpus[0]"

SITES = [
    (["clusters", "clusters.google"], "clusters: {google: {}}", "no cluster", "Name at least one cluster"),
    (["clusters.google"], "clusters: {google: {}, aws: {one: {gpus: []}}}", "no cluster", "Name at least one cluster, or remove"),
    (
        ["hub"],
        "{hub: tow, clusters: {google: {two: {gpus: []}}}}",
        "no such cluster",
        "Name a cluster of the inventory, such as two.",
    ),
    (["clusters.hub"], "clusters: {hub: {one: {gpus: []}}}", "the hub's stack has this name", "Give the site another name."),
    (
        ["clusters.lab"],
        "clusters: {lab: {one: {gpus: []}}}",
        "nobody says which cloud this site is on",
        "State sites.lab.cloud: one of google, aws, azure, openstack.",
    ),
    (
        ["sites.gogle"],
        bare("google", "", "sites: {gogle: {}}, "),
        "settings of a site that has no clusters",
        "Known under `clusters`: google.",
    ),
    (
        ["sites.google.openstack"],
        bare("google", "", "sites: {google: {openstack: {}}}, "),
        "only OpenStack sites have these settings",
        "Remove it: google is on Google Kubernetes Engine.",
    ),
    *(
        (
            [f"sites.{site}.account"],
            bare(site, "", f"sites: {{{site}: {{account: '{account}'}}}}, "),
            "not an account of this",
            use,
        )
        for site, account, use in (
            ("google", "Physics", "Use a project id, such as physics-gpu-1."),
            ("aws", "12345", "Use an account number of 12 digits, in quotes."),
            ("azure", "mine", "Use a subscription id, such as 00000000-0000-0000-0000-000000000000."),
            ("cern", "a b", "Use an entry of clouds.yaml, such as cern."),
        )
    ),
    (
        ["sites.cern.openstack.flavors.f.card"],
        magnum("flavors: {f: {card: t44}}"),
        "no such card",
        "Did you mean T4",
    ),
    (
        ["sites.cern.openstack.flavors.f.card"],
        magnum("flavors: {f: {card: '####'}}"),
        "no such card",
        "`./gpufleet catalogue` lists",
    ),
]

CLUSTERS = [
    (
        [HERE.format("google")],
        "clusters: {aws: {one: {gpus: []}}, google: {one: {gpus: []}}}",
        "clusters of aws, google have this name",
        "Names are unique in the fleet: rename one.",
    ),
    (
        ["clusters"],
        f"clusters: {{google: {{{LONG}: {{gpus: []}}, {SHORT}: {{gpus: []}}}}}}",
        "Google Kubernetes Engine would call both",
        "Rename one of them.",
    ),
    (
        [f"{HERE.format('google')}.tags.site"],
        bare("google", "tags: {site: x}"),
        "gpufleet sets this tag itself",
        "Use `billing_acc",
    ),
    (
        ["defaults.tags.card"],
        bare("google", "", "defaults: {tags: {card: x}}, "),
        "gpufleet sets this tag itself",
        "Use `billing",
    ),
    ([f"{HERE.format('cern')}.admins"], bare("cern", "admins: [me]"), "OpenStack Magnum takes no admins", "Leave `admins` out."),
    *(
        ([f"{HERE.format(site)}.admins"], bare(site, "admins: [me]"), "not an admin of this cloud", use)
        for site, use in (
            ("google", "Use the one Google group for RBAC, gke-security-groups@your.domain."),
            ("aws", "Use an IAM principal, such as arn:aws:iam::123456789012:role/platform."),
            ("azure", "Use the object id of an Entra group."),
        )
    ),
    ([f"{HERE.format('aws')}.admins"], bare("aws", f"admins: [{GROUPS}]"), "Amazon EKS takes 20", "Name 20 at most: an IAM"),
    (
        [f"{HERE.format('google')}.admins"],
        bare("google", "admins: [gke-security-groups@a.ch, gke-security-groups@b.ch]"),
        "Google Kubernetes Engine takes 1",
        "Name 1 at most: the one Google group",
    ),
    (
        ["defaults.system_pool.min"],
        bare("google", "system_pool: {max: 3}", "defaults: {system_pool: {min: 4}}, "),
        "min 4 is more than max 3",
        "Use a min of at most 3.",
    ),
    (
        [f"{HERE.format('google')}.maintenance"],
        bare("google", "maintenance: {days: [Monday, Tuesday], start_hour_utc: 1}"),
        "Google Kubernetes Engine wants 48 hours in any 32 days, this leaves 32",
        "Add days or hours: 3 days of 4 hours are enough.",
    ),
    (
        [f"{HERE.format('google')}.zones"],
        bare("google", "zones: [us-east1-b]"),
        "no zone of us-central1",
        "Use zones such as us-centr",
    ),
    ([f"{HERE.format('azure')}.zones"], bare("azure", "zones: ['4']"), "no zone of eastus", "Use zones such as 1."),
    ([f"{HERE.format('aws')}.zones"], bare("aws", "zones: [us-east-1a]"), "Amazon EKS needs 2 zones or more", "Name at least 2;"),
    (
        [f"{HERE.format('google')}.network.services_cidr"],
        bare("google", "network: {services_cidr: 10.112.0.0/28}"),
        "too few addresses",
        "Use a /27 or larger.",
    ),
    (
        [f"{HERE.format('aws')}.network.nodes_cidr"],
        bare("aws", "network: {nodes_cidr: 10.0.0.0/15}"),
        "Amazon EKS takes no network larger than a /16",
        "Use a /16 or smaller.",
    ),
    (
        [f"{HERE.format('google')}.network.nodes_cidr"],
        bare("google", "network: {nodes_cidr: 10.64.0.0/16}"),
        "overlaps pods_cidr, 10.64.0.0/14",
        "Use ranges that share no address.",
    ),
    (
        [f"{HERE.format('google')}.network.services_cidr"],
        bare("google", "network: {nodes_cidr: 10.9.0.0/16, services_cidr: 10.9.8.0/24}"),
        "overlaps nodes_cidr, 10.9.0.0/16",
        "Use ranges that share no address.",
    ),
    (
        [f"{HERE.format('cern')}.network.services_cidr"],
        magnum("driver: heat", "network: {services_cidr: 10.112.0.0/20}"),
        "the heat driver puts the cluster's DNS at 10.254.0.10, which is not in it",
        "Use 10.254.0.0/16, or another range that holds the address.",
    ),
    (
        [f"{HERE.format('cern')}.network.control_plane_cidrs"],
        magnum("driver: cluster-api", "network: {control_plane_cidrs: [10.0.0.0/8]}"),
        "the magnum-cluster-api driver cannot restrict the API server to address ranges",
        "Leave it out, and restrict the API server in the site's own network.",
    ),
    (
        [f"{HERE.format('google')}.gpus"],
        "clusters: {google: {one: {gpus: [t4, t4]}}}",
        "2 pools would be called t4",
        "Give one of",
    ),
    (
        [f"{HERE.format('google')}.gpus"],
        "clusters: {google: {one: {gpus: [{card: t4, spot: prefer}, {card: p4, name: t4-spot}]}}}",
        "2 pools would be called t4-spot",
        "Give one of them a `name` of its own.",
    ),
    (
        [f"{HERE.format('azure')}.gpus"],
        "clusters: {azure: {one: {gpus: [{card: t4, name: a-b}, {card: t4, name: ab}]}}}",
        "2 pools would be called ab",
        "Give one of them a `name` of its own.",
    ),
    (
        [f"{HERE.format('cern')}.gpus"],
        gpus("cern", "card: t4, name: system"),
        "the pool without accelerators has this",
        "Use another",
    ),
]

POOLS = [
    ("google", "card", "card: t44", "no such card", "Did you mean T4"),
    ("google", "card", "card: '####'", "no such card", "`./gpufleet catalogue` lists the cards."),
    ("google", "card", "card: a10", "google does not sell A10", "The nearest card sold on google in us-central1 is"),
    ("aws", "card", "card: tpu-v5e", "aws does not sell TPU-v5e", "No other card of the kind tpu is sold on aws"),
    ("cern", "card", "card: h100", "the catalogue has no machine with H100 on openstack", "Name the flavor and its cards"),
    ("google", "card", "card: k80", "K80 is no longer sold on google: it was retired on 2024-05-01", "The nearest card sold on"),
    ("google", "card", "card: t4, machine: n9", "n9 does not carry T4 on google", "Machines with T4: n1-standard-16,"),
    ("google", "card", "card: t4, per_node: 3", "no machine of google has 3 x T4", "Counts that exist: 1, 2, 4."),
    (
        "google",
        "card",
        "card: p4, zones: [us-central1-b]",
        "no machine with P4 is sold in every zone asked for",
        "Zones with it:",
    ),
    ("cern", "card", "card: t4, machine: g3.xlarge", "g3.xlarge does not carry T4 on openstack", "Machines with T4: g2.5xlarge."),
    ("cern", "card", "card: t4, machine: g2.5xlarge, per_node: 4", "no machine of openstack has 4 x T4", "Counts that exist: 1."),
    ("google", "zones", "card: t4, zones: [us-central1-a, moon]", "no zone of us-central1", "Use zones such as us-central1-a."),
    (
        "cern",
        "spot",
        "card: t4, spot: only",
        "Magnum has no spot",
        "Use `spot: never` here, or for the whole site under sites.cern",
    ),
    (
        "google",
        "spot",
        "card: t4, spot: only, reservation: r",
        "reserved capacity is never spot",
        "Use `spot: never` for this pool",
    ),
    (
        "aws",
        "reservation",
        "card: t4, reservation: r, zones: [us-east-1a]",
        "not the name of a reservation there",
        "Use the id of a capacity block",
    ),
    (
        "aws",
        "reservation",
        "card: t4, reservation: cr-0123456789abcdef0",
        "reserved capacity is in 1 zone",
        "Name the one zone of the reservation in this entry's `zones`.",
    ),
    ("cern", "reservation", "card: t4, reservation: r", "Magnum cannot draw on a reservation", "Leave `reservation` out."),
    ("google", "mode", "card: t4, mode: vgpu", "Google Kubernetes Engine hands cards over in one way only", "Leave `mode` out"),
    ("google", "min", "card: t4, min: 5, max: 4", "min 5 is more than max 4", "Use a min of at most 4."),
    (
        "cern",
        "min",
        "card: t4, min: 0",
        "a pool with min 0 would never wake: the autoscaler's magnum provider",
        "Use min: 1, or name",
    ),
    ("google", "topology", "card: t4, topology: 2x2", "T4 is no TPU and has no slice topology", "Leave `topology` out."),
    (
        "google",
        "topology",
        "card: tpu-v5e, topology: 3x3",
        "9 chips cannot be split over nodes of 4",
        "Use a topology whose product",
    ),
    (
        "google",
        "topology",
        "card: tpu-v5e, topology: 4x4, per_node: 8",
        "slices over several nodes have 4 chips",
        "Leave `per_node`",
    ),
    (
        "google",
        "topology",
        "card: tpu-v5e, topology: 99x99x4",
        "39204 chips are 9801 nodes",
        "Use a topology of at most 4000 chips.",
    ),
    (
        "google",
        "topology",
        "card: tpu-v3, topology: 4x4, spot: only",
        "TPU-v3 slices of more than 8 cores are not sold as spot, 4x4 has 32",
        "Use `spot: never`, or topology 2x2.",
    ),
    (
        "google",
        "min",
        "card: tpu-v5e, topology: 4x4, min: 2",
        "a 4x4 slice of TPU-v5e is 4 nodes",
        "Use a min of 0 or 4 in the entry",
    ),
    (
        "google",
        "max",
        "card: tpu-v5e, topology: 4x4, max: 8",
        "a 4x4 slice of TPU-v5e is 4 nodes",
        "Use a max of 4; for more slices",
    ),
    (
        "aws",
        f"labels.{'a.b' * 30}/c",
        f"card: t4, labels: {{{'a.b' * 30}/c: x}}",
        "too long for Amazon EKS",
        "Use a key of at most 63",
    ),
    *(
        (
            "google",
            f"labels.{key}",
            f"card: t4, labels: {{{key}: x}}",
            "belongs to Kubernetes, a cloud or gpufleet",
            "Use a key of your",
        )
        for key in (
            "gpu",
            "kubernetes.io/x",
            "node.kubernetes.io/x",
            "gpufleet.io/x",
            "k8s.amazonaws.com/accelerator",
            "nvidia.com/gpu",
        )
    ),
    (
        "google",
        "taints[0].key",
        "card: t4, taints: [{key: google.com/tpu}]",
        "belongs to Kubernetes, a cloud or gpufleet",
        "Use a key",
    ),
]
ANYWHERE = (
    [f"{ENTRY.format('google')}.card"],
    gpus("google", "card: p4", "zones: [us-central1-b, us-central1-f],"),
    "no machine with P4 is sold in any zone asked for",
    "Zones with it: us-central1-a, us-central1-c.",
)
TABLE = [
    ANYWHERE,
    *SITES,
    *CLUSTERS,
    *(([f"{ENTRY.format(site)}.{field}"], gpus(site, entry), reason, remedy) for site, field, entry, reason, remedy in POOLS),
]


@pytest.mark.parametrize(("paths", "text", "reason", "remedy"), TABLE)
def test_each_refusal_says_where_why_and_what_next(paths: list[str], text: str, reason: str, remedy: str) -> None:
    """One thing is wrong, and it is told at its place, with the reason and a next step."""
    found = mistakes(text)
    assert [mistake.path for mistake in found] == paths
    assert found[-1].reason.startswith(reason)
    assert found[-1].remedy.startswith(remedy)
    assert found[-1].file == "inventory.yaml"
    assert found[-1].line == 1


def test_every_refusal_of_the_code_is_in_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """A `refuse(...)` that no line of the table reaches is either dead or untested."""
    reached: set[tuple[str, int]] = set()
    refuse = Findings.refuse

    def noting(findings: Findings, path: Place, reason: str, remedy: str, value: object = None) -> None:
        frame = sys._getframe(1)
        while frame.f_back and frame.f_code.co_name == "refuse":
            frame = frame.f_back
        reached.add((Path(frame.f_code.co_filename).name, frame.f_lineno))
        refuse(findings, path, reason, remedy, value)

    monkeypatch.setattr(Findings, "refuse", noting)
    for _, text, _, _ in TABLE:
        mistakes(text)
    missing = []
    for file in sorted(FLEET.glob("*.py")):
        for call in ast.walk(ast.parse(file.read_text())):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "refuse":
                continue
            lines = range(call.lineno, (call.end_lineno or call.lineno) + 1)
            if file.name != "scope.py" and not any((file.name, line) in reached for line in lines):
                missing.append(f"{file.name}:{call.lineno}")
    assert missing == []


def test_the_names_that_collide_are_told_with_the_name() -> None:
    """Both clusters are named, and what the cloud would call them."""
    _, text, _, _ = CLUSTERS[1]
    (mistake,) = mistakes(text)
    assert mistake.reason == f"Google Kubernetes Engine would call both {SHORT}"
    assert mistake.value == f"{SHORT}, {LONG}"


def test_a_shared_setting_is_told_once() -> None:
    """Many clusters under one wrong default make one message."""
    clusters = ", ".join(f"c{index}: {{gpus: [t4]}}" for index in range(50))
    (mistake,) = mistakes(f"{{defaults: {{pools: {{spot: only}}}}, clusters: {{cern: {{{clusters}}}}}}}")
    assert mistake.path == "defaults.pools.spot"


def test_refusals_of_all_parts_come_together() -> None:
    """Site, cluster, network and pools are all judged before anything is told."""
    text = """
    hub: nowhere
    sites: {google: {account: X}, spare: {}}
    clusters:
      google:
        one:
          zones: [mars]
          network: {pods_cidr: 10.0.0.0/16}
          gpus:
            - {card: nope, mode: vgpu, labels: {gpu: x}}
            - {card: k80}
      lab: {two: {gpus: []}}
    """
    assert [mistake.path for mistake in mistakes(text)] == [
        "hub",
        "sites.google.account",
        "sites.spare",
        "clusters.google.one.zones",
        "clusters.google.one.network.pods_cidr",
        "clusters.google.one.gpus[0].card",
        "clusters.google.one.gpus[0].labels.gpu",
        "clusters.google.one.gpus[0].mode",
        "clusters.google.one.gpus[1].card",
        "clusters.lab",
    ]
