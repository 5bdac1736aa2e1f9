"""A mock monitor that records all a program declares, runs its transforms, and answers as the clouds would.

The SDK's own mocks hand `Mocks.new_resource` a few fields only, run no transform, and convert every property four times. This
monitor keeps the protocol of `pulumi.runtime.mocks.MockMonitor`, takes whole requests, converts inputs once, and answers with
the request's own Struct plus the stand-in outputs.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from google.protobuf import empty_pb2, struct_pb2
from pulumi.runtime.mocks import MockCallArgs, MockMonitor, MockResourceArgs, Mocks
from pulumi.runtime.proto import alias_pb2, callback_pb2, resource_pb2

from fleet.errors import FleetErrors, Mistake
from preview import wire
from preview.graph import MASK, Finding, Resource, ResourceGraph
from preview.outputs import Declared, call, outputs_of, stack_outputs
from preview.recorded import StackOutputs, recorded, recorded_outputs, recorded_read
from preview.transforms import transformed, transformed_invoke
from preview.urns import STACK_TYPE, alias_urns, make_urn, renames

_READ_STACK_OUTPUTS = "pulumi:pulumi:readStackOutputs"

_Request = resource_pb2.RegisterResourceRequest | resource_pb2.ReadResourceRequest


class NoMocks(Mocks):
    """Fills the place of mocks in the SDK's settings; the recording monitor never asks it."""

    def new_resource(self, args: MockResourceArgs) -> tuple[str | None, dict[str, Any]]:
        """Refuse: the monitor answers registrations itself."""
        raise NotImplementedError(args.typ)

    def call(self, args: MockCallArgs) -> tuple[dict[str, Any], list[tuple[str, str]] | None]:
        """Refuse: the monitor answers function calls itself."""
        raise NotImplementedError(args.token)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Inherited:
    """Options that the engine hands down from parent to child."""

    protect: bool | None = None
    retain_on_delete: bool | None = None


class RecordingMonitor(MockMonitor):
    """Collects the resource graph of one run of one stack's program.

    Args:
        project: Project name, first part of every URN.
        stack: Stack name.
        references: For StackReferences: stack name to ``{"outputs": {...}, "secret_outputs": [...]}``.
    """

    def __init__(self, project: str, stack: str, references: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        super().__init__(NoMocks())
        self.project = project
        self.stack = stack
        self.references = references or {}
        self.stack_outputs = StackOutputs()
        self.invokes: list[tuple[str, dict[str, Any]]] = []
        self.outputs_registered: set[str] = set()
        self.findings: list[Finding] = []
        self._declared: dict[str, Resource] = {}
        self._answers: dict[str, struct_pb2.Struct] = {}
        self._alias_specs: dict[str, tuple[alias_pb2.Alias, ...]] = {}
        self._parents: dict[str, str] = {}
        self._inherited: dict[str, _Inherited] = {}
        self._own_transforms: dict[str, tuple[str, ...]] = {}
        self._stack_transform_tokens: list[str] = []
        self._invoke_transform_tokens: list[str] = []
        self._lock = threading.Lock()

    def make_urn(self, parent: str, type_: str, name: str) -> str:
        """Return a URN as the engine makes it; the SDK's mocks forget all but the nearest parent."""
        return make_urn(self.stack, self.project, parent, type_, name)

    def RegisterResource(  # noqa: N802 -- the protocol's name
        self, request: resource_pb2.RegisterResourceRequest
    ) -> resource_pb2.RegisterResourceResponse:
        """Record one resource after its transforms and answer with its stand-in id and outputs."""
        urn = self.make_urn(request.parent, request.type, request.name)
        if request.type == STACK_TYPE:
            return resource_pb2.RegisterResourceResponse(urn=urn)
        self._inherit(urn, request)
        tokens = self._transform_tokens(urn, request)
        if tokens:
            request = transformed(request, tokens)
        inputs = self._masked_inputs(request.object, request.additionalSecretOutputs)
        identity, answer = self._answer(request, urn, inputs, request.object)
        resource = recorded(request, urn, inputs, identity if request.custom else None)
        self._keep(resource, request.parent, answer)
        if former := renames(request.type, request.aliases):
            self._alias_specs[urn] = former
        return resource_pb2.RegisterResourceResponse(urn=urn, id=identity, object=answer)

    def ReadResource(  # noqa: N802 -- the protocol's name
        self, request: resource_pb2.ReadResourceRequest
    ) -> resource_pb2.ReadResourceResponse:
        """Record one looked-up resource, such as a StackReference, and answer with its stand-in outputs."""
        urn = self.make_urn(request.parent, request.type, request.name)
        inputs = self._masked_inputs(request.properties, request.additionalSecretOutputs)
        identity, answer = self._answer(request, urn, inputs, request.properties)
        identity = request.id or identity
        self._keep(recorded_read(request, urn, inputs, identity), request.parent, answer)
        return resource_pb2.ReadResourceResponse(urn=urn, id=identity, properties=answer)

    def Invoke(  # noqa: N802 -- the protocol's name
        self, request: resource_pb2.ResourceInvokeRequest
    ) -> resource_pb2.ResourceInvokeResponse:
        """Record one provider function call after the invoke transforms and answer with its stand-in result."""
        if self._invoke_transform_tokens:
            request = transformed_invoke(request, self._invoke_transform_tokens)
        args = wire.plain(request.args)
        self.invokes.append((request.tok, args))
        result = struct_pb2.Struct()
        if request.tok == "pulumi:pulumi:getResource":
            result.update(self._registered(args["urn"]))
            return _invoked(result)
        answer = stack_outputs(args["name"], self.references) if request.tok == _READ_STACK_OUTPUTS else call(request.tok, args)
        if answer is None:
            self.findings.append(_uncovered(request.tok, args))
            answer = args
        result.update(answer)
        return _invoked(result)

    def RegisterResourceOutputs(  # noqa: N802 -- the protocol's name
        self, request: resource_pb2.RegisterResourceOutputsRequest
    ) -> empty_pb2.Empty:
        """Note that outputs were registered; keep those of the stack."""
        if f"::{STACK_TYPE}::" in request.urn:
            self.stack_outputs = recorded_outputs(request.outputs)
        self.outputs_registered.add(request.urn)
        return empty_pb2.Empty()

    def RegisterStackTransform(  # noqa: N802 -- the protocol's name
        self, request: callback_pb2.Callback
    ) -> empty_pb2.Empty:
        """Keep a transform that runs on every resource registered from now on."""
        super().RegisterStackTransform(request)
        self._stack_transform_tokens.append(request.token)
        return empty_pb2.Empty()

    def RegisterStackInvokeTransform(  # noqa: N802 -- the protocol's name
        self, request: callback_pb2.Callback
    ) -> empty_pb2.Empty:
        """Keep a transform that runs on every provider function call from now on."""
        super().RegisterStackInvokeTransform(request)
        self._invoke_transform_tokens.append(request.token)
        return empty_pb2.Empty()

    def declared(self) -> tuple[Resource, ...]:
        """Return every recorded resource as plain data, in no particular order, aliases worked out."""
        if not self._alias_specs:
            return tuple(self._declared.values())
        worked_out: dict[str, tuple[str, ...]] = {}
        return tuple(self._with_aliases(resource, worked_out) for resource in self._declared.values())

    def graph(self) -> ResourceGraph:
        """Return the graph of everything recorded so far."""
        return ResourceGraph(
            project=self.project,
            stack=self.stack,
            resources=self.declared(),
            outputs=self.stack_outputs.masked,
            findings=tuple(self.findings),
        )

    def _inherit(self, urn: str, request: resource_pb2.RegisterResourceRequest) -> None:
        """Hand the parent's protect and retain-on-delete down to a child that does not say, as the engine does."""
        above = self._inherited.get(request.parent)
        if above is not None:
            if above.protect is not None and not request.HasField("protect"):
                request.protect = above.protect
            if above.retain_on_delete is not None and not request.HasField("retainOnDelete"):
                request.retainOnDelete = above.retain_on_delete
        if request.HasField("protect") or request.HasField("retainOnDelete"):
            self._inherited[urn] = _Inherited(
                protect=request.protect if request.HasField("protect") else None,
                retain_on_delete=request.retainOnDelete if request.HasField("retainOnDelete") else None,
            )

    def _transform_tokens(self, urn: str, request: resource_pb2.RegisterResourceRequest) -> list[str]:
        """Return the transforms that apply, in the engine's order: own, parents' from the inside out, the stack's."""
        if request.transforms:
            self._own_transforms[urn] = tuple(callback.token for callback in request.transforms)
        elif not self._own_transforms:
            return self._stack_transform_tokens
        tokens = list(self._own_transforms.get(urn, ()))
        above = request.parent
        while above:
            tokens.extend(self._own_transforms.get(above, ()))
            above = self._parents.get(above, "")
        return tokens + self._stack_transform_tokens

    def _masked_inputs(self, properties: struct_pb2.Struct, secret_names: Iterable[str]) -> dict[str, Any]:
        """Return the plain inputs; those named as secret outputs are masked like those marked secret."""
        inputs = wire.plain(properties)
        for name in secret_names:
            if name in inputs:
                inputs[name] = MASK
        return inputs

    def _answer(
        self, request: _Request, urn: str, inputs: dict[str, Any], properties: struct_pb2.Struct
    ) -> tuple[str, struct_pb2.Struct]:
        """Return the stand-in id of a resource, and its inputs and outputs as its provider would answer them."""
        if isinstance(request, resource_pb2.RegisterResourceRequest) and not request.custom:
            return "", properties
        declared = Declared(type=request.type, name=request.name, urn=urn, inputs=inputs, references=self.references)
        identity, outputs = outputs_of(declared)
        answer = wire.with_outputs(properties, outputs)
        for name in request.additionalSecretOutputs:
            wire.mark_secret(answer, name)
        return identity, answer

    def _keep(self, resource: Resource, parent: str, answer: struct_pb2.Struct) -> None:
        """Record a resource.

        Raises:
            FleetErrors: Its URN is taken: the engine refuses that too.
        """
        with self._lock:
            if resource.urn in self._declared:
                raise FleetErrors([_duplicate(resource)])
            self._declared[resource.urn] = resource
        self._answers[resource.urn] = answer
        self._parents[resource.urn] = parent

    def _registered(self, urn: str) -> dict[str, Any]:
        """Return a recorded resource for the SDK's look-up of resource references."""
        resource = self._declared[urn]
        return {"urn": urn, "id": resource.id or "", "state": self._answers[urn]}

    def _with_aliases(self, resource: Resource, worked_out: dict[str, tuple[str, ...]]) -> Resource:
        """Return the resource with its former URNs, if it or a parent has any."""
        former = self._former_urns(resource.urn, worked_out)
        return replace(resource, options=replace(resource.options, aliases=former)) if former else resource

    def _former_urns(self, urn: str, worked_out: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
        """Return a resource's former URNs; `worked_out` keeps what is known already."""
        if urn not in self._declared:
            return ()
        if urn not in worked_out:
            parent = self._parents[urn]
            worked_out[urn] = alias_urns(urn, parent, self._alias_specs.get(urn, ()), self._former_urns(parent, worked_out))
        return worked_out[urn]


def _invoked(result: struct_pb2.Struct) -> resource_pb2.ResourceInvokeResponse:
    """Return a function's answer; its field is named by a keyword of Python, hence the getattr."""
    response = resource_pb2.ResourceInvokeResponse()
    getattr(response, "return").CopyFrom(result)
    return response


def _duplicate(resource: Resource) -> Mistake:
    """Return the mistake of declaring two resources of one type, name and parent."""
    return Mistake(
        path=resource.urn,
        reason=f"Two resources of type {resource.type} are named {resource.name} under one parent",
        remedy="Give each its own logical name",
    )


def _uncovered(token: str, args: Mapping[str, Any]) -> Finding:
    """Return the warning that a provider function has no stand-in."""
    return Finding(
        severity="warning",
        urn="",
        path=token,
        value=dict(args),
        reason="No stand-in covers this provider function, so its arguments were returned as its result",
        remedy="Add a row to FUNCTIONS in preview/outputs/",
    )
