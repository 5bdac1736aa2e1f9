"""What the recording monitor keeps of a program: transforms, options, secrets, dependencies, aliases, answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from preview.graph import MASK, ResourceGraph
from preview.program import ProgramFailedError
from tests.support.declaring import only, run_text

NETWORK = "gcp:compute/network:Network"
CLUSTER = "gcp:container/cluster:Cluster"

COMPONENT = """
    import pulumi_gcp as gcp

    class Site(pulumi.ComponentResource):
        def __init__(self, name, opts=None):
            super().__init__("toy:index:Site", name, {}, opts)
            self.network = gcp.compute.Network(f"{name}-net", opts=pulumi.ResourceOptions(parent=self))
            self.register_outputs({})
"""


def test_transforms_run_in_the_engines_order(tmp_path: Path) -> None:
    """A resource's own transform runs first, then its parents' from the inside out, then the stack's."""
    body = """
        import pulumi_gcp as gcp

        def naming(letter):
            def transform(args):
                props = dict(args.props)
                props["description"] = props.get("description", "") + letter
                return pulumi.ResourceTransformResult(props, args.opts)
            return transform

        class Inner(pulumi.ComponentResource):
            def __init__(self, name, opts):
                super().__init__("toy:index:Inner", name, {}, opts)
                gcp.compute.Network(f"{name}-net", opts=pulumi.ResourceOptions(parent=self, transforms=[naming("a")]))
                self.register_outputs({})

        class Outer(pulumi.ComponentResource):
            def __init__(self, name, opts):
                super().__init__("toy:index:Outer", name, {}, opts)
                Inner(f"{name}-in", pulumi.ResourceOptions(parent=self, transforms=[naming("b")]))
                self.register_outputs({})

        pulumi.runtime.register_resource_transform(naming("d"))
        Outer("o", pulumi.ResourceOptions(transforms=[naming("c")]))
    """
    assert only(run_text(body, tmp_path), NETWORK).inputs["description"] == "abcd"


def test_a_transform_may_change_options(tmp_path: Path) -> None:
    """Options that a stack transform sets stand in the graph; the parent stays what the program said."""
    body = (
        COMPONENT
        + """
    def protecting(args):
        if args.type_.startswith("gcp:"):
            more = pulumi.ResourceOptions(protect=True, ignore_changes=["description"], retain_on_delete=True)
            return pulumi.ResourceTransformResult(args.props, pulumi.ResourceOptions.merge(args.opts, more))

    pulumi.runtime.register_resource_transform(protecting)
    Site("s")
    """
    )
    network = only(run_text(body, tmp_path), NETWORK)
    assert network.options.protect is True
    assert network.options.retain_on_delete is True
    assert network.options.ignore_changes == ("description",)
    assert network.parent == "urn:pulumi:dev::toy::toy:index:Site::s"


def test_transforms_get_secrets_as_outputs_and_keep_them_secret(tmp_path: Path) -> None:
    """As from the engine, a secret reaches a transform as an Output; what it makes of it is masked."""
    body = """
        import pulumi_gcp as gcp

        def louder(args):
            if args.type_.startswith("gcp:"):
                assert isinstance(args.props["description"], pulumi.Output), args.props
                props = {**args.props, "description": args.props["description"].apply(lambda text: text + "!")}
                return pulumi.ResourceTransformResult(props, args.opts)

        pulumi.runtime.register_resource_transform(louder)
        gcp.compute.Network("n", description=pulumi.Output.secret("hunter2"), auto_create_subnetworks=False)
    """
    graph = run_text(body, tmp_path).monitor.graph()
    assert graph.of_type(NETWORK)[0].inputs == {"description": MASK, "autoCreateSubnetworks": False}
    assert "hunter2" not in graph.to_json()


def test_invoke_transforms_run(tmp_path: Path) -> None:
    """A stack's invoke transform changes the arguments that a provider function gets."""
    body = """
        import pulumi_aws as aws

        def moved(args):
            return pulumi.InvokeTransformResult({**args.args, "region": "eu-north-1"}, args.opts)

        pulumi.runtime.register_invoke_transform(moved)
        pulumi.export("zones", aws.get_availability_zones_output().names)
    """
    assert run_text(body, tmp_path).monitor.stack_outputs.masked["zones"] == ["eu-north-1a", "eu-north-1b", "eu-north-1c"]


def test_no_secret_reaches_the_graph(tmp_path: Path) -> None:
    """Secret inputs at any depth, secret config, secret outputs and properties named secret are all masked."""
    body = """
        import pulumi_gcp as gcp
        import pulumi_kubernetes as kubernetes
        password = pulumi.Config("toy").require_secret("secretPassword")
        cluster = gcp.container.Cluster("c", description=password, resource_labels={"deep": password, "open": "yes"})
        kubernetes.core.v1.Secret("s", string_data={"key": "hunter2"})
        gcp.compute.Network("n", description=cluster.description.apply(lambda text: f"<{text}>"),
            opts=pulumi.ResourceOptions(additional_secret_outputs=["routing_mode"]), routing_mode="hunter2")
        pulumi.export("password", password)
        pulumi.export("nested", {"file": pulumi.Output.secret({"user": "hunter2", "ports": [443]}), "open": 1})
    """
    run = run_text(body, tmp_path, config={"toy:secretPassword": "hunter2"})
    text = run.monitor.graph().to_json()
    assert "hunter2" not in text
    assert only(run, CLUSTER).inputs == {"description": MASK, "resourceLabels": {"deep": MASK, "open": "yes"}}
    assert only(run, NETWORK).inputs["description"] == MASK
    assert only(run, "kubernetes:core/v1:Secret").inputs["stringData"] == MASK
    outputs = run.monitor.stack_outputs
    assert outputs.masked == {"password": MASK, "nested": {"file": MASK, "open": 1}}
    assert outputs.shaped["nested"] == {"file": {"user": MASK, "ports": [MASK]}, "open": 1}
    assert outputs.secret_names == ("nested", "password")


def test_options_dependencies_and_numbers_are_recorded(tmp_path: Path) -> None:
    """Every option of the protocol is in the graph, property paths in camelCase, whole numbers as int."""
    body = """
        import pulumi_gcp as gcp
        provider = gcp.Provider("g", project="p")
        network = gcp.compute.Network("n", opts=pulumi.ResourceOptions(provider=provider))
        gcp.container.Cluster("c", network=network.id, initial_node_count=1, opts=pulumi.ResourceOptions(
            provider=provider, protect=True, ignore_changes=["initialNodeCount"], replace_on_changes=["network"],
            delete_before_replace=True, retain_on_delete=False, depends_on=[network],
            custom_timeouts=pulumi.CustomTimeouts(create="40m")))
    """
    cluster = only(run_text(body, tmp_path), CLUSTER)
    network = f"urn:pulumi:dev::toy::{NETWORK}::n"
    assert cluster.provider == "urn:pulumi:dev::toy::pulumi:providers:gcp::g"
    assert cluster.property_dependencies == {"network": (network,)}
    assert cluster.dependencies == cluster.options.depends_on == (network,)
    assert isinstance(cluster.inputs["initialNodeCount"], int)
    options = cluster.options
    assert (options.protect, options.delete_before_replace, options.retain_on_delete) == (True, True, False)
    assert options.ignore_changes == ("initialNodeCount",)
    assert options.replace_on_changes == ("network",)
    assert options.custom_timeouts == {"create": "40m"}


def test_parents_hand_down_names_protection_and_aliases(tmp_path: Path) -> None:
    """URNs carry the parents' types; protect and a parent's alias reach the child, whose name follows the parent's."""
    body = (
        COMPONENT
        + """
    Site("s", pulumi.ResourceOptions(protect=True, aliases=[pulumi.Alias(name="old")]))
    """
    )
    network = only(run_text(body, tmp_path), NETWORK)
    assert network.urn == f"urn:pulumi:dev::toy::toy:index:Site${NETWORK}::s-net"
    assert network.options.protect is True
    assert network.options.aliases == (f"urn:pulumi:dev::toy::toy:index:Site${NETWORK}::old-net",)


def test_two_runs_give_the_same_bytes(tmp_path: Path) -> None:
    """Registration happens on several threads; the graph's text does not show it, and reads back the same."""
    body = (
        COMPONENT
        + """
    for number in range(20):
        Site(f"s{number}")
    """
    )
    texts = [run_text(body, tmp_path).monitor.graph().to_json() for _ in range(2)]
    assert texts[0] == texts[1]
    assert ResourceGraph.from_json(texts[0]).to_json() == texts[0]


def test_stack_references_give_what_the_caller_says(tmp_path: Path) -> None:
    """Outputs come from the caller, secret ones stay secret, and the reference is recorded as read."""
    body = """
        google = pulumi.StackReference("organization/toy/google")
        pulumi.export("token", google.require_output("token"))
        pulumi.export("clusters", google.require_output("clusters"))
    """
    given = {"google": {"outputs": {"token": "t0ken", "clusters": ["a"]}, "secret_outputs": ["token"]}}
    run = run_text(body, tmp_path, references=given)
    assert run.monitor.stack_outputs.masked == {"token": MASK, "clusters": ["a"]}
    assert only(run, "pulumi:pulumi:StackReference").read
    assert "t0ken" not in run.monitor.graph().to_json()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_reference_to_an_unknown_stack_is_one_message(tmp_path: Path) -> None:
    """A hub whose sites were not previewed is told which stack is missing."""
    with pytest.raises(ProgramFailedError, match="StackReference google: No outputs of this stack") as failure:
        run_text('pulumi.StackReference("google")', tmp_path)
    assert failure.value.is_bad_input


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_two_resources_of_one_name_are_refused(tmp_path: Path) -> None:
    """The engine refuses a URN that is taken; so does the preview."""
    body = """
        import pulumi_gcp as gcp
        for _ in range(2):
            gcp.compute.Network("twin")
    """
    with pytest.raises(ProgramFailedError, match="named twin under one parent"):
        run_text(body, tmp_path)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("raise pulumi.RunError('say this alone')", r"^say this alone$"),
        ("def inner():\n    raise ValueError('two\\nlines')\ninner()", r"^ValueError: two lines \(at __main__.py:3 in inner\)$"),
        ("pulumi.Output.from_input(1).apply(lambda one: one / 0)", r"^ZeroDivisionError: .* \(at __main__.py:2 in <lambda>\)$"),
        ("import nowhere_to_be_found", r"^ModuleNotFoundError: .*nowhere"),
        ("raise SystemExit(3)", r"^SystemExit: 3"),
        ("def broken(:", r"^SyntaxError: .*__main__.py"),
    ],
)
def test_a_failure_is_one_message(body: str, message: str, tmp_path: Path) -> None:
    """Whatever a program raises ends in one line with type, text and the place in the program; never a traceback."""
    with pytest.raises(ProgramFailedError, match=message) as failure:
        run_text(body, tmp_path)
    assert "Traceback" not in str(failure.value)


def test_what_the_program_logs_is_kept(tmp_path: Path) -> None:
    """Warnings and errors become findings, information becomes notes."""
    run = run_text("pulumi.info('i')\npulumi.warn('w')\npulumi.error('e')", tmp_path)
    assert run.engine.notes == ["i"]
    assert [(finding.severity, finding.reason) for finding in run.engine.findings] == [("warning", "w"), ("error", "e")]
