"""The choice of a machine: what fits, which of those, and what a refusal says."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet.accelerators import AcceleratorKind
from fleet.catalogue import Attachment, Card, Catalogue, Offer, Status
from fleet.choosing import Choice, MachineQuery, Refusal, choose, matches, why_not
from fleet.clouds import Cloud

OFFER = Offer(
    cloud=Cloud.AWS, card="T4", machine="m", attachment=Attachment.BUNDLED, status=Status.AVAILABLE, source="s", as_of="2026",
    accelerators=1, vcpus=4, memory_gib=16, region="r", zones=("ra", "rb"), on_demand_usd_per_hour=1.0, spot_sold=True,
)  # fmt: skip
QUERY = MachineQuery(cloud=Cloud.AWS, card="T4", region="r")
CARDS = tuple(
    Card(name=name, kind=AcceleratorKind.NVIDIA, source="s", as_of="2026", memory_gib=memory, aliases=aliases)
    for name, memory, aliases in (("K80", 12, ()), ("P4", 8, ()), ("T4", 16, ("tesla-t4",)), ("V100", 16, ()), ("B200", 180, ()))
)


def catalogue_of(*offers: Offer) -> Catalogue:
    """Return a catalogue of the small set of cards and these offers."""
    return Catalogue(cards=CARDS, offers=offers)


def chosen(catalogue: Catalogue, query: MachineQuery) -> Choice:
    """Return the choice, which there has to be."""
    answer = choose(catalogue, query)
    assert isinstance(answer, Choice), answer
    return answer


def refused(catalogue: Catalogue, query: MachineQuery) -> Refusal:
    """Return the refusal, which there has to be."""
    answer = choose(catalogue, query)
    assert isinstance(answer, Refusal), answer
    return answer


@pytest.mark.parametrize(
    ("change", "wish", "reason"),
    [
        ({}, {"cloud": Cloud.AZURE}, "it is on aws"),
        ({}, {"card": "V100"}, "it carries T4"),
        ({}, {"machine": "n"}, "it is m"),
        ({}, {"region": "q"}, "it is in r"),
        ({}, {"zones": ("ra", "rc")}, "it is not sold in rc"),
        ({}, {"accelerators": 2}, "it has 1 x T4"),
        ({}, {"vcpus": 5}, "it has 4 vCPUs"),
        ({"vcpus": None}, {"vcpus": 1}, "its vCPUs were not found"),
        ({}, {"memory_gib": 16.5}, "it has 16 GiB of memory"),
        ({"memory_gib": None}, {"memory_gib": 1}, "its memory was not found"),
        ({"spot_sold": False}, {"spot": True}, "it is not sold as spot"),
        ({"site": "cern"}, {"site": "desy"}, "it is a flavor of the site cern"),
        ({"site": "cern"}, {}, "it is a flavor of the site cern"),
        ({"status": Status.RETIRED, "retired_on": "2024-05-01"}, {}, "it was retired on 2024-05-01"),
        ({"status": Status.RETIRED}, {}, "it was retired; the date was not found"),
        ({"accelerators": None}, {}, "how many cards it has was not found; name the machine and its count to take it"),
        (
            {"accelerators": None},
            {"accelerators": 4},
            "how many cards it has was not found; name the machine and its count to take it",
        ),
        ({"card_share": 0.167}, {}, "it has 17% of a card; name the machine to take it"),
    ],
)
def test_each_check_says_no(change: dict[str, object], wish: dict[str, object], reason: str) -> None:
    """One thing that does not fit gives one reason, and only that."""
    offer, query = replace(OFFER, **change), replace(QUERY, **wish)
    assert why_not(offer, query) == (reason,)
    assert not matches(offer, query)


@pytest.mark.parametrize(
    ("change", "wish"),
    [
        ({}, {}),
        ({}, {"zones": ("ra",), "accelerators": 1, "machine": "m", "vcpus": 4, "memory_gib": 16, "spot": True}),
        ({"zones": None}, {"zones": ("rc",)}),
        ({"region": None, "zones": None}, {"region": "anywhere"}),
        ({"spot_sold": None}, {"spot": True}),
        ({"spot_sold": False}, {}),
        ({"site": "cern"}, {"site": "cern"}),
        ({"accelerators": None}, {"machine": "m", "accelerators": 4}),
        ({"card_share": 0.167}, {"machine": "m"}),
        ({"status": Status.RETIRED, "region": None}, {"allow_retired": True}),
    ],
)
def test_what_is_not_known_to_be_wrong_fits(change: dict[str, object], wish: dict[str, object]) -> None:
    """An unknown zone or spot offer does not rule a machine out; a site's own, a named and an allowed machine fit."""
    assert why_not(replace(OFFER, **change), replace(QUERY, **wish)) == ()


def test_all_reasons_are_told() -> None:
    """An offer wrong in several ways is told all of them."""
    assert len(why_not(OFFER, replace(QUERY, region="q", vcpus=99, memory_gib=99, accelerators=8))) == 4


@pytest.mark.parametrize(
    ("larger", "named_first"),
    [
        ({"accelerators": 2}, "a"),
        ({"vcpus": 5}, "a"),
        ({"vcpus": None}, "a"),
        ({"memory_gib": 17}, "a"),
        ({"memory_gib": None}, "a"),
        ({"on_demand_usd_per_hour": 2.0}, "a"),
        ({"on_demand_usd_per_hour": None}, "a"),
        ({"status": Status.ANNOUNCED}, "a"),
        ({}, "z"),
    ],
)
def test_the_smaller_machine_is_taken(larger: dict[str, object], named_first: str) -> None:
    """Each figure decides when those before it are equal, unknown is last, and the name decides in the end."""
    other = replace(OFFER, machine=named_first, **larger)
    for offers in ((OFFER, other), (other, OFFER)):
        assert chosen(catalogue_of(*offers), QUERY).offer.machine == "m"


@pytest.mark.parametrize(("better", "worse"), list(pairwise(Status)))
def test_status_goes_before_size(better: Status, worse: Status) -> None:
    """A larger machine of a better status is taken before a smaller one of a worse."""
    large = replace(OFFER, machine="large", accelerators=8, vcpus=96, status=better)
    small = replace(OFFER, machine="small", status=worse)
    assert chosen(catalogue_of(small, large), replace(QUERY, allow_retired=True)).offer.machine == "large"


def test_spot_pools_compare_spot_prices() -> None:
    """Among equals the cheaper is taken, by the price that will be paid."""
    a = replace(OFFER, machine="a", on_demand_usd_per_hour=1.0, spot_usd_per_hour=0.9)
    b = replace(OFFER, machine="b", on_demand_usd_per_hour=2.0, spot_usd_per_hour=0.5)
    assert chosen(catalogue_of(a, b), QUERY).offer.machine == "a"
    assert chosen(catalogue_of(a, b), replace(QUERY, spot=True)).offer.machine == "b"


def test_an_alias_will_do_and_the_choice_explains_itself() -> None:
    """The query may use another spelling; the reason names machine, shape and place."""
    choice = chosen(catalogue_of(OFFER), replace(QUERY, card="Tesla-T4"))
    assert choice.why == "m (1 x T4, 4 vCPUs, 16 GiB) on aws in r: the only machine that fits."
    assert choice.warnings == ()


def test_the_asker_can_know_the_count() -> None:
    """Where the catalogue does not know the count the query's is taken, with a warning."""
    choice = chosen(catalogue_of(replace(OFFER, accelerators=None)), replace(QUERY, machine="m", accelerators=4))
    assert choice.accelerators == 4
    assert "does not know" in choice.warnings[0]


@pytest.mark.parametrize(
    ("change", "wish", "word"),
    [
        ({"status": Status.ANNOUNCED, "retires_on": "2027-01"}, {}, "announced for 2027-01"),
        ({"status": Status.ANNOUNCED}, {}, "date was not found"),
        ({"status": Status.UNVERIFIED, "note": "Why."}, {}, "could not be verified. Why."),
        ({"status": Status.RETIRED, "retired_on": "2024"}, {"allow_retired": True}, "retired on 2024"),
        ({"zones": None}, {"zones": ("ra",)}, "not known"),
        ({"spot_sold": None}, {"spot": True}, "sold as spot is not known"),
        ({"card_share": 0.5}, {"machine": "m"}, "50% of one T4"),
    ],
)
def test_what_may_surprise_is_a_warning(change: dict[str, object], wish: dict[str, object], word: str) -> None:
    """A choice that is not plain says so."""
    (warning,) = chosen(catalogue_of(replace(OFFER, **change)), replace(QUERY, **wish)).warnings
    assert word in warning


def test_a_retired_card_is_refused_with_date_and_nearest() -> None:
    """The refusal names the last date and the nearest card that is available in the same place."""
    old = replace(OFFER, card="K80", status=Status.RETIRED, retired_on="2023", region=None, zones=None)
    v100 = replace(OFFER, card="V100", on_demand_usd_per_hour=0.5)
    elsewhere = replace(OFFER, card="T4", on_demand_usd_per_hour=0.1, region="q")
    fleet = catalogue_of(
        old, replace(old, machine="n", retired_on="2024-05-01"), OFFER, v100, elsewhere, replace(OFFER, card="P4")
    )
    refusal = refused(fleet, replace(QUERY, card="k80"))
    assert "retired on 2024-05-01" in refusal.reason
    assert "nearest card sold on aws in r is V100 (16 GiB)" in refusal.remedy


def test_the_nearest_card_has_enough_memory_and_is_available() -> None:
    """A smaller card or one whose end is announced is nearest only when there is no better one."""
    old = replace(OFFER, card="K80", status=Status.RETIRED, region=None, zones=None)
    announced = replace(OFFER, status=Status.ANNOUNCED)
    p4, b200 = replace(OFFER, card="P4"), replace(OFFER, card="B200")
    assert "B200" in refused(catalogue_of(old, announced, p4, b200), replace(QUERY, card="K80")).remedy
    assert "P4" in refused(catalogue_of(old, announced, p4), replace(QUERY, card="K80")).remedy
    assert "No other card" in refused(catalogue_of(old, announced), replace(QUERY, card="K80")).remedy


@pytest.mark.parametrize(
    ("wish", "reason", "remedy"),
    [
        ({"card": "t5"}, "no card is called t5", "T4"),
        ({"card": "V100"}, "no machine with V100", "nearest card"),
        ({"machine": "x"}, "x does not carry T4", "m"),
        ({"region": "q"}, "lists nothing on aws in q", "Regions with T4: r, s"),
        ({"region": "p"}, "T4 is not sold on aws in p", "Regions with T4: r, s"),
        ({"zones": ("ra", "rc")}, "rc being without", "ra, rb"),
        ({"accelerators": 3}, "no machine of aws has 3 x T4", "Counts that exist: 1, 4"),
        ({"vcpus": 97}, "97 vCPUs", "The most is 48 vCPUs, with big"),
        ({"memory_gib": 500}, "500 GiB", "The most is 192 GiB, with big"),
    ],
)
def test_a_refusal_names_the_wish_and_what_exists(wish: dict[str, object], reason: str, remedy: str) -> None:
    """The wish that cannot be met is named, and the remedy is made of what there is."""
    big = replace(OFFER, machine="big", accelerators=4, vcpus=48, memory_gib=192)
    fleet = catalogue_of(OFFER, big, replace(OFFER, region="s", zones=None), replace(OFFER, card="B200", region="p", zones=None))
    refusal = refused(fleet, replace(QUERY, **wish))
    assert reason in refusal.reason
    assert remedy in refusal.remedy


def test_spot_that_is_not_sold_is_refused() -> None:
    """Known not to be sold is refused, with on-demand as the way out."""
    assert "on-demand" in refused(catalogue_of(replace(OFFER, spot_sold=False)), replace(QUERY, spot=True)).remedy


def test_parts_of_cards_are_refused_unless_named() -> None:
    """A share of a card is not taken for the card."""
    assert "Name the machine" in refused(catalogue_of(replace(OFFER, card_share=0.5)), QUERY).remedy


def test_unknown_counts_are_refused_unless_stated() -> None:
    """A machine whose count nobody knows is named in the remedy."""
    assert "m" in refused(catalogue_of(replace(OFFER, accelerators=None)), QUERY).remedy


def test_a_count_that_retired_is_told() -> None:
    """When only a retired machine had the count, the refusal says which and when."""
    old = replace(OFFER, machine="p3", status=Status.RETIRED, retired_on="2026-06-10", region=None, zones=None)
    big = replace(OFFER, machine="p3dn", accelerators=8)
    remedy = refused(catalogue_of(old, big), replace(QUERY, accelerators=1)).remedy
    assert remedy == "Counts that exist: 8. p3 had it, and was retired on 2026-06-10."
    assert "still sold with p3dn" in refused(catalogue_of(old, big), replace(QUERY, machine="p3")).remedy


@pytest.mark.parametrize(
    ("cloud", "card", "region", "machine"),
    [
        (Cloud.GOOGLE, "t4", "us-central1", "n1-standard-4"),
        (Cloud.GOOGLE, "p4", "us-central1", "n1-standard-4"),
        (Cloud.GOOGLE, "p100", "us-central1", "n1-standard-8"),
        (Cloud.GOOGLE, "a100", "us-central1", "a2-highgpu-1g"),
        (Cloud.AWS, "t4", "us-east-1", "g4dn.xlarge"),
        (Cloud.AWS, "t4", "eu-central-1", "g4dn.xlarge"),
        (Cloud.AWS, "v100", "us-east-1", "p3dn.24xlarge"),
        (Cloud.AZURE, "t4", "eastus", "Standard_NC4as_T4_v3"),
        (Cloud.AZURE, "a10", "westeurope", "Standard_NC8ads_A10_v4"),
        (Cloud.OPENSTACK, "t4", None, "g2.5xlarge"),
    ],
)
def test_the_real_catalogue_answers_everyday_wishes(
    catalogue: Catalogue, cloud: Cloud, card: str, region: str | None, machine: str
) -> None:
    """Plain wishes get the machine an operator would have named."""
    assert chosen(catalogue, MachineQuery(cloud=cloud, card=card, region=region, site="cern")).offer.machine == machine


@pytest.mark.parametrize("region", ["us-central1", "europe-west4"])
def test_a_retired_card_can_be_previewed_anywhere(catalogue: Catalogue, region: str) -> None:
    """With allow_retired K80 on Google is a usable N1 machine, whatever the region, and says that it is gone."""
    query = MachineQuery(cloud=Cloud.GOOGLE, card="k80", region=region, zones=(f"{region}-c",), allow_retired=True)
    choice = chosen(catalogue, query)
    assert (choice.offer.machine, choice.offer.accelerator_type, choice.offer.accelerators) == (
        "n1-standard-4",
        "nvidia-tesla-k80",
        1,
    )
    assert "2024-05-01" in choice.warnings[0]
    assert "2024-05-01" in refused(catalogue, replace(query, allow_retired=False)).reason


QUERIES = st.builds(
    MachineQuery,
    cloud=st.sampled_from(Cloud),
    card=st.sampled_from(
        ["T4", "K80", "V100", "A100-40", "A10", "H100", "GB200", "TPU-v5e", "TPU-v3", "Trainium1", "IPU", "M60"]
    ),
    region=st.sampled_from([None, "us-central1", "europe-west4", "us-east-1", "eu-west-1", "eastus", "westeurope", "moon-1"]),
    zones=st.sampled_from([None, ("us-central1-a",), ("us-east-1a", "us-east-1b"), ("eastus-1",)]),
    accelerators=st.sampled_from([None, 1, 2, 3, 4, 8]),
    machine=st.sampled_from([None, "n1-standard-8", "p3.2xlarge", "Standard_ND128isr_NDR_GB200_v6", "g3.xlarge"]),
    spot=st.booleans(),
    allow_retired=st.booleans(),
    vcpus=st.sampled_from([None, 1, 16, 1000]),
    memory_gib=st.sampled_from([None, 1.0, 200.0, 1e6]),
    site=st.sampled_from([None, "cern", "desy"]),
)


@settings(max_examples=150, deadline=None)
@given(query=QUERIES)
def test_a_choice_always_fits_and_a_refusal_is_never_wrong(catalogue: Catalogue, query: MachineQuery) -> None:
    """A chosen offer has nothing against it and a known count; a refusal comes only when nothing fits, and says something."""
    answer = choose(catalogue, query)
    if isinstance(answer, Choice):
        assert why_not(answer.offer, query) == ()
        assert answer.accelerators >= 1
        assert answer.why.endswith(".")
    else:
        assert not any(matches(offer, query) for offer in catalogue.offers)
        assert answer.reason
        assert answer.remedy.endswith((".", "?"))


@settings(max_examples=60, deadline=None)
@given(query=QUERIES, random=st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(catalogue: Catalogue, query: MachineQuery, random: Random) -> None:
    """Shuffling offers, facts and ceilings changes neither choice nor refusal."""
    shuffled = list(catalogue.offers)
    random.shuffle(shuffled)
    assert choose(replace(catalogue, offers=tuple(shuffled)), query) == choose(catalogue, query)


@settings(max_examples=60, deadline=None)
@given(query=QUERIES)
def test_asking_for_less_never_turns_a_choice_into_a_refusal(catalogue: Catalogue, query: MachineQuery) -> None:
    """Dropping the wish for size keeps what fitted."""
    if isinstance(choose(catalogue, query), Choice):
        assert isinstance(choose(catalogue, replace(query, vcpus=None, memory_gib=None, zones=None, spot=False)), Choice)
