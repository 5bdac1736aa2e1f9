"""A `ResourceProvider` for any package: checks, diffs and keeps resources in the fake cloud as the real one would in its own.

In a preview whatever a cloud would compute is unknown. Secrets go in and come out as secrets. What replaces a resource, and
what the cloud computes, is data (`tests.engine.doubles.rules`, `tests.engine.doubles.computed`).
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from typing import Any, NoReturn

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.empty_pb2 import Empty
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc, status_pb2

from tests.engine.doubles import computed
from tests.engine.doubles.cloud import CloudObject, FakeCloud, Operation
from tests.engine.doubles.difference import Kind, differences, replacing
from tests.engine.doubles.rules import Rule
from tests.engine.doubles.wire import UNKNOWN, added_by_cloud, at, fill, reveal, to_plain, to_struct

_KUBERNETES = "kubernetes"


class ProviderDouble(provider_pb2_grpc.ResourceProviderServicer):
    """One package's provider.

    Args:
        package: Such as ``gcp``.
        version: What the engine is told.
        cloud: Where objects live.
    """

    def __init__(self, package: str, version: str, cloud: FakeCloud) -> None:
        self._package = package
        self._version = version
        self._cloud = cloud
        self._rules: dict[str, Rule] = cloud.rules()
        self._scope = ""

    def GetPluginInfo(self, request: Empty, context: grpc.ServicerContext) -> plugin_pb2.PluginInfo:  # noqa: N802 -- the protocol's name
        """Answer with the version."""
        del request, context
        return plugin_pb2.PluginInfo(version=self._version)

    def GetSchema(  # noqa: N802 -- the protocol's name
        self, request: provider_pb2.GetSchemaRequest, context: grpc.ServicerContext
    ) -> provider_pb2.GetSchemaResponse:
        """Answer with a schema that names the package and nothing in it."""
        del request, context
        schema = {"name": self._package, "version": self._version, "provider": {}, "resources": {}, "types": {}, "functions": {}}
        return provider_pb2.GetSchemaResponse(schema=json.dumps(schema))

    def CheckConfig(  # noqa: N802 -- the protocol's name
        self, request: provider_pb2.CheckRequest, context: grpc.ServicerContext
    ) -> provider_pb2.CheckResponse:
        """Take any configuration."""
        del context
        return provider_pb2.CheckResponse(inputs=request.news)

    def DiffConfig(  # noqa: N802 -- the protocol's name
        self, request: provider_pb2.DiffRequest, context: grpc.ServicerContext
    ) -> provider_pb2.DiffResponse:
        """Compare two configurations; only a Kubernetes provider that points at another cluster is replaced.

        The real one compares `clusterIdentifier` when it is set, and else guesses from the kubeconfig (pulumi-kubernetes
        provider/pkg/provider/provider.go, `DiffConfig`). Without an identifier this double takes every change of the kubeconfig
        for another cluster, which is the worst that guess can do.
        """
        del context
        changed = differences(to_plain(request.old_inputs), to_plain(request.news))
        table: tuple[str, ...] = ()
        if self._package == _KUBERNETES:
            table = ("clusterIdentifier",) if "clusterIdentifier" in request.news else ("clusterIdentifier", "kubeconfig")
        return _diff_response(changed, replacing(list(changed), table), delete_first=False)

    def Configure(  # noqa: N802 -- the protocol's name
        self, request: provider_pb2.ConfigureRequest, context: grpc.ServicerContext
    ) -> provider_pb2.ConfigureResponse:
        """Remember which Kubernetes cluster is meant; say that secrets and previews are understood."""
        del context
        if self._package == _KUBERNETES:
            said = reveal(to_plain(request.args))
            self._scope = str(said.get("clusterIdentifier") or said.get("kubeconfig") or "")
        self._cloud.note("configure", self._package, request.name, keys=sorted(request.args.keys()))
        return provider_pb2.ConfigureResponse(
            acceptSecrets=True, supportsPreview=True, acceptResources=False, acceptOutputs=False
        )

    def Check(  # noqa: N802 -- the protocol's name
        self, request: provider_pb2.CheckRequest, context: grpc.ServicerContext
    ) -> provider_pb2.CheckResponse:
        """Take any inputs, and make up a name where the type wants one; a name once made up stays."""
        del context
        inputs, olds = to_plain(request.news), to_plain(request.olds)
        wanted = self._rule(request.type).autoname
        if wanted and inputs.get(wanted) is None:
            seed = hashlib.sha256(request.randomSeed).hexdigest() if request.randomSeed else secrets.token_hex(8)
            inputs[wanted] = olds.get(wanted) or f"{request.name}-{seed[:7]}"
        return provider_pb2.CheckResponse(inputs=to_struct(inputs))

    def Diff(self, request: provider_pb2.DiffRequest, context: grpc.ServicerContext) -> provider_pb2.DiffResponse:  # noqa: N802 -- the protocol's name
        """Compare old and new inputs; a change at or under a path of the type's table replaces.

        An object whose name stays the same while it is replaced has to go first, as with the bridged providers: two of one name
        cannot live together.
        """
        del context
        rule = self._rule(request.type)
        old, new = to_plain(request.old_inputs), to_plain(request.news)
        changed = differences(old, new)
        replaced = replacing(list(changed), rule.replaces)
        same_name = bool(rule.unique) and all(at(old, path) == at(new, path) is not None for path in rule.unique)
        return _diff_response(changed, replaced, delete_first=bool(replaced) and same_name)

    def Create(self, request: provider_pb2.CreateRequest, context: grpc.ServicerContext) -> provider_pb2.CreateResponse:  # noqa: N802 -- the protocol's name
        """Make the object; in a preview, tell what can be told before it exists."""
        token, inputs = request.type, to_plain(request.properties)
        if request.preview:
            _, added = self._answer(request, inputs)
            outputs = fill(inputs, added, known=False)
            return provider_pb2.CreateResponse(properties=to_struct(outputs))
        fault = self._cloud.fault_for("create", token)
        if fault and not fault.half:
            self._fail("create", token, request.name, context)
        if twin := self._cloud.twin(token, self._scope, inputs, self._rule(token).unique):
            self._cloud.note("create refused", token, request.name, twin=twin.id)
            _abort(context, grpc.StatusCode.ALREADY_EXISTS, f"{token} {request.name}: {twin.id} has that name already")
        physical_id, added = self._answer(request, inputs)
        outputs = fill(inputs, added, known=True)
        self._cloud.put(CloudObject(id=physical_id, type=token, scope=self._scope, inputs=inputs, outputs=outputs))
        self._cloud.note("create", token, request.name, id=physical_id, half=bool(fault))
        if fault:
            _abort_unfinished(context, physical_id, inputs, outputs)
        return provider_pb2.CreateResponse(id=physical_id, properties=to_struct(outputs))

    def Read(self, request: provider_pb2.ReadRequest, context: grpc.ServicerContext) -> provider_pb2.ReadResponse:  # noqa: N802 -- the protocol's name
        """Answer with what exists now; an empty answer says that it is gone."""
        del context
        self._cloud.note("read", request.type, request.name, id=request.id)
        thing = self._cloud.get(request.type, request.id, self._scope)
        if thing is None:
            return provider_pb2.ReadResponse()
        return provider_pb2.ReadResponse(id=thing.id, properties=to_struct(thing.outputs), inputs=to_struct(thing.inputs))

    def Update(self, request: provider_pb2.UpdateRequest, context: grpc.ServicerContext) -> provider_pb2.UpdateResponse:  # noqa: N802 -- the protocol's name
        """Set the object's inputs; what the cloud had computed stays, except what every update raises."""
        token, inputs, old_inputs = request.type, to_plain(request.news), to_plain(request.old_inputs)
        kept = added_by_cloud(to_plain(request.olds), old_inputs)
        raised = self._rule(token).counts_updates
        if request.preview:
            outputs = fill(inputs, kept, known=True) | dict.fromkeys(raised, UNKNOWN)
            return provider_pb2.UpdateResponse(properties=to_struct(outputs))
        if self._cloud.fault_for("update", token):
            self._fail("update", token, request.name, context)
        outputs = fill(inputs, kept | {name: kept[name] + 1 for name in raised}, known=True)
        self._cloud.put(CloudObject(id=request.id, type=token, scope=self._scope, inputs=inputs, outputs=outputs))
        self._cloud.note("update", token, request.name, id=request.id)
        return provider_pb2.UpdateResponse(properties=to_struct(outputs))

    def Delete(self, request: provider_pb2.DeleteRequest, context: grpc.ServicerContext) -> Empty:  # noqa: N802 -- the protocol's name
        """Remove the object."""
        if self._cloud.fault_for("delete", request.type):
            self._fail("delete", request.type, request.name, context)
        self._cloud.remove(request.type, request.id, self._scope)
        self._cloud.note("delete", request.type, request.name, id=request.id)
        return Empty()

    def Invoke(self, request: provider_pb2.InvokeRequest, context: grpc.ServicerContext) -> provider_pb2.InvokeResponse:  # noqa: N802 -- the protocol's name
        """Answer a look-up."""
        self._cloud.note("invoke", request.tok, "")
        result = computed.call(request.tok, reveal(to_plain(request.args)))
        if result is None:
            _abort(context, grpc.StatusCode.NOT_FOUND, f"the double of {self._package} knows no look-up {request.tok}")
        response = provider_pb2.InvokeResponse()
        getattr(response, "return").CopyFrom(to_struct(result))
        return response

    def Cancel(self, request: Empty, context: grpc.ServicerContext) -> Empty:  # noqa: N802 -- the protocol's name
        """Let the calls under way come to their end, which is at once; the engine ends the process afterwards."""
        del request, context
        return Empty()

    def _rule(self, token: str) -> Rule:
        """Return what is known of a type; nothing of most."""
        return self._rules.get(token, Rule())

    def _answer(self, request: provider_pb2.CreateRequest, inputs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """Return a new object's id and what the cloud adds to it, by the package's stand-ins and the test's rules.

        The stand-ins follow from the URN, as in the offline preview, and from a random text too while a predecessor lives.
        """
        token, known = request.type, reveal(inputs)
        physical_id, added = computed.answer(token, request.name, known, request.urn)
        if self._cloud.get(token, physical_id, self._scope):
            physical_id, added = computed.answer(token, request.name, known, f"{request.urn} {secrets.token_hex(8)}")
        return physical_id, added | dict(self._rule(token).outputs)

    def _fail(self, operation: Operation, token: str, name: str, context: grpc.ServicerContext) -> NoReturn:
        """Suffer a planted fault: the cloud refuses, and nothing has changed."""
        self._cloud.note(f"{operation} failed", token, name)
        _abort(context, grpc.StatusCode.UNAVAILABLE, f"planted fault: the cloud refused to {operation} {name}")


def _diff_response(changed: dict[str, Kind], replaced: set[str], *, delete_first: bool) -> provider_pb2.DiffResponse:
    """Return the changes in the protocol's terms, each path told with its kind."""
    kinds = {path: f"{kind}_REPLACE" if path in replaced else kind for path, kind in changed.items()}
    return provider_pb2.DiffResponse(
        changes=provider_pb2.DiffResponse.DIFF_SOME if changed else provider_pb2.DiffResponse.DIFF_NONE,
        diffs=sorted({_top(path) for path in changed}),
        replaces=sorted({_top(path) for path in replaced}),
        deleteBeforeReplace=delete_first,
        hasDetailedDiff=True,
        detailedDiff={
            path: provider_pb2.PropertyDiff(kind=provider_pb2.PropertyDiff.Kind.Value(kind), inputDiff=True)
            for path, kind in kinds.items()
        },
    )


def _top(path: str) -> str:
    """Return the top-level property of a path."""
    return re.split(r"[.\[]", path, maxsplit=1)[0]


def _abort(context: grpc.ServicerContext, code: grpc.StatusCode, message: str) -> NoReturn:
    """End the call with an error."""
    context.abort(code, message)
    raise AssertionError("abort raises")


def _abort_unfinished(
    context: grpc.ServicerContext, physical_id: str, inputs: dict[str, Any], outputs: dict[str, Any]
) -> NoReturn:
    """End a create whose object exists but never became ready; the engine keeps it and tries to finish it next time.

    The detail travels as a serialized `google.rpc.Status` in the trailing metadata, as the protocol wants it.
    """
    reason = "planted fault: the object was made but never became ready"
    detail = AnyMessage()
    detail.Pack(
        provider_pb2.ErrorResourceInitFailed(
            id=physical_id, properties=to_struct(outputs), inputs=to_struct(inputs), reasons=[reason]
        )
    )
    status = status_pb2.Status(code=grpc.StatusCode.UNKNOWN.value[0], message=reason, details=[detail])
    context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
    _abort(context, grpc.StatusCode.UNKNOWN, reason)
