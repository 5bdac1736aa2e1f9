"""What of a machine pods can use, against the examples that the clouds' own documents give or that follow from them by hand."""

from __future__ import annotations

import pytest

from fleet.clouds import Cloud
from fleet.labels import CapacityType
from rehearsal.nodes.machines import Query, aws_pods, find_machine
from rehearsal.nodes.reserving import Size, aws_sizes, azure_sizes, google_sizes, kubelet_sizes


def a_size(**changes: int) -> Size:
    """Return four processors, 16 GiB and 100 GiB of disk, with `changes` made."""
    return Size(**{"millicores": 4000, "memory_mib": 16384, "storage_mib": 102400, "pods": 110} | changes)


def test_google_keeps_its_tiers_of_memory_and_100_mib() -> None:
    """Of 16 GiB: kernel 256 + 16 + 64 + 28.672, then 25 % of 4,000, 20 % of 4,000, 10 % of 8,000 and 6 % of 384 MiB, and 100."""
    capacity, allocatable = google_sizes(a_size(), is_ubuntu=False, is_arm=False)
    assert capacity.memory_mib == 16384 - 365
    assert allocatable.memory_mib == capacity.memory_mib - (1000 + 800 + 800 + 23) - 100


@pytest.mark.parametrize(
    ("millicores", "kept"), [(1000, 60), (2000, 70), (4000, 80), (8000, 90), (96_000, 310)], ids=["1", "2", "4", "8", "96"]
)
def test_google_and_aws_keep_the_same_steps_of_processors(millicores: int, kept: int) -> None:
    """6 % of the first core, 1 % of the second, 0.5 % of the next two, 0.25 % of the rest."""
    machine = a_size(millicores=millicores)
    assert google_sizes(machine, is_ubuntu=False, is_arm=False)[1].millicores == millicores - kept
    assert aws_sizes(machine)[1].millicores == millicores - kept


def test_google_keeps_two_percent_above_128_gb() -> None:
    """Of 340 GiB: 1,000 + 800 + 800 + 6 % of 112,000 + 2 % of the 220,160 MiB above, and 100 for eviction."""
    capacity, allocatable = google_sizes(a_size(memory_mib=340 * 1024), is_ubuntu=False, is_arm=False)
    assert capacity.memory_mib - allocatable.memory_mib == 1000 + 800 + 800 + 6720 + 4403 + 100


def test_google_keeps_more_than_half_of_a_small_disk() -> None:
    """Of 100 GiB: COS keeps 1.5635 + 4.148 + 0.0977 GiB, eviction a tenth of the rest, the system 41 GiB."""
    capacity, allocatable = google_sizes(a_size(), is_ubuntu=False, is_arm=False)
    assert capacity.storage_mib == 102400 - 5949
    assert allocatable.storage_mib == round(96451 * 0.9 - 41 * 1024)


def test_google_nodes_of_ubuntu_and_arm_differ() -> None:
    """Ubuntu's kernel keeps 4 MiB more, Arm's a little less; Ubuntu's disk is not COS'."""
    cos, _ = google_sizes(a_size(), is_ubuntu=False, is_arm=False)
    ubuntu, _ = google_sizes(a_size(), is_ubuntu=True, is_arm=False)
    arm, _ = google_sizes(a_size(), is_ubuntu=False, is_arm=True)
    assert ubuntu.memory_mib == cos.memory_mib - 4
    assert arm.memory_mib == cos.memory_mib + 1
    assert ubuntu.storage_mib != cos.storage_mib


def test_aws_keeps_memory_by_pods() -> None:
    """g4dn.xlarge takes 29 pods: 11 x 29 + 255 MiB and 100 for eviction; of the disk a tenth and 1 GiB."""
    capacity, allocatable = aws_sizes(a_size(pods=29))
    assert capacity.memory_mib - allocatable.memory_mib == 11 * 29 + 255 + 100
    assert allocatable.storage_mib == 102400 - 10240 - 1024


@pytest.mark.parametrize(("memory_mib", "pods", "kept"), [(8192, 30, 650), (4096, 70, 1024)], ids=["pods", "quarter"])
def test_azure_keeps_the_lesser_of_pods_and_a_quarter(memory_mib: int, pods: int, kept: int) -> None:
    """The two examples of AKS' page node-resource-reservations: 8 GB with 30 pods keeps 650 MB, 4 GB with 70 a quarter."""
    capacity, allocatable = azure_sizes(a_size(memory_mib=memory_mib, pods=pods), kubernetes=(1, 29))
    assert capacity.memory_mib - allocatable.memory_mib == kept + 100


def test_azure_kept_more_before_1_29() -> None:
    """The page's example of the older rule: of 7 GB, 0.75 for eviction, 1 of the first four and 0.6 of the next three."""
    capacity, allocatable = azure_sizes(a_size(memory_mib=7000), kubernetes=(1, 28))
    assert capacity.memory_mib - allocatable.memory_mib == 750 + 1000 + 600


@pytest.mark.parametrize(("cores", "kept"), [(1, 60), (2, 100), (4, 140), (8, 180), (16, 260), (32, 420), (64, 740)])
def test_azure_keeps_the_processors_of_its_table(cores: int, kept: int) -> None:
    """Every column of the page's table of kube-reserved processors."""
    machine = a_size(millicores=cores * 1000)
    assert azure_sizes(machine, kubernetes=(1, 35))[1].millicores == cores * 1000 - kept


def test_the_bare_kubelet_keeps_only_eviction() -> None:
    """Nothing is reserved: 100 MiB of memory and a tenth of the disk."""
    capacity, allocatable = kubelet_sizes(a_size())
    assert allocatable.millicores == capacity.millicores == 4000
    assert capacity.memory_mib - allocatable.memory_mib == 100
    assert allocatable.storage_mib == 92160


def test_sizes_read_as_kubernetes_quantities() -> None:
    """Whole cores have no suffix, parts of one are millicores."""
    assert a_size(millicores=3920).quantities() == {
        "cpu": "3920m",
        "memory": "16384Mi",
        "ephemeral-storage": "102400Mi",
        "pods": "110",
    }
    assert a_size().quantities()["cpu"] == "4"


def test_an_unknown_machine_gets_a_fallback_that_says_so() -> None:
    """Nothing stands in silently: neither a size nor a number of pods."""
    machine = find_machine(Query(cloud=Cloud.AWS, machine="z9.mystery", region="us-east-1"))
    assert (machine.vcpus, machine.memory_mib, machine.card) == (4, 16384, None)
    assert machine.notes == ("the size of z9.mystery was not found: 4 vCPUs and 16 GiB stand in",)
    assert aws_pods("z9.mystery") == (110, ("how many pods z9.mystery takes was not found: 110 stand in",))
    assert aws_pods("g4dn.xlarge") == (29, ())


def test_an_attached_card_is_told_from_its_type_and_count() -> None:
    """One N1 machine carries several cards in the catalogue: the declared type and count decide, and the price follows."""
    query = {"cloud": Cloud.GOOGLE, "machine": "n1-standard-8", "region": "us-central1"}
    t4 = find_machine(Query(**query, accelerator_type="nvidia-tesla-t4", accelerators=2))
    v100 = find_machine(Query(**query, accelerator_type="nvidia-tesla-v100", accelerators=1))
    single = find_machine(Query(**query, accelerator_type="nvidia-tesla-t4", accelerators=1))
    bare = find_machine(Query(**query))
    assert (t4.card, t4.accelerators, t4.resource) == ("T4", 2, "nvidia.com/gpu")
    assert (v100.card, v100.accelerators) == ("V100", 1)
    assert (bare.card, bare.resource, bare.vcpus) == (None, None, 8)
    prices = {machine.price(CapacityType.ON_DEMAND) for machine in (t4, v100, single)}
    assert len(prices) == 3


def test_prices_are_of_the_region_and_capacity_type() -> None:
    """A price of elsewhere is no price, reserved capacity has none, and an estimated spot price says so."""
    here = find_machine(Query(cloud=Cloud.AWS, machine="g4dn.xlarge", region="us-east-1"))
    assert here.price(CapacityType.ON_DEMAND) == 0.526
    assert here.price(CapacityType.RESERVED) is None
    assert here.notes_for(CapacityType.SPOT) == ("its spot price is an estimate",)
    assert here.notes_for(CapacityType.ON_DEMAND) == ()
    elsewhere = find_machine(Query(cloud=Cloud.AWS, machine="g4dn.xlarge", region="mars-north-1"))
    assert (elsewhere.card, elsewhere.price(CapacityType.ON_DEMAND)) == ("T4", None)
