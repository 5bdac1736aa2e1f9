"""Running transforms as the engine does: the resource's own, then its parents' from the inside out, then the stack's.

The mocks of the SDK record transforms and never run them. Each transform here is called through the SDK's own callback,
the one that the engine would call over gRPC. Order and rules: pulumi/pulumi pkg/resource/deploy/source_eval.go of 2026-08-21.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TypeVar

from google.protobuf import struct_pb2
from google.protobuf.message import Message
from pulumi.runtime._callbacks import _CallbackServicer
from pulumi.runtime.proto import resource_pb2
from pulumi.runtime.sync_await import _sync_await

from preview import wire

_Answer = TypeVar("_Answer", bound=Message)

_LISTS = {
    "ignore_changes": "ignoreChanges",
    "replace_on_changes": "replaceOnChanges",
    "additional_secret_outputs": "additionalSecretOutputs",
    "depends_on": "dependencies",
    "replace_with": "replace_with",
    "hide_diff": "hideDiffs",
}
_SCALARS = {"plugin_download_url": "pluginDownloadURL", "deleted_with": "deletedWith", "import": "importId"}


def transformed(request: resource_pb2.RegisterResourceRequest, tokens: Iterable[str]) -> resource_pb2.RegisterResourceRequest:
    """Return the request as it stands after the transforms with these callback tokens ran in turn.

    A transform may change inputs and options; the parent stays. As in the engine, a transform's `depends_on` counts only
    when the resource has a transform of its own.
    """
    inputs = struct_pb2.Struct()
    inputs.CopyFrom(request.object)
    options = _options(request)
    for token in tokens:
        wire.secrets_to_outputs(inputs)
        asked = resource_pb2.TransformRequest(
            type=request.type,
            name=request.name,
            custom=request.custom,
            parent=request.parent,
            properties=inputs,
            options=options,
        )
        answer = _call(token, asked, resource_pb2.TransformResponse)
        inputs = answer.properties
        wire.outputs_to_secrets(inputs)
        if answer.HasField("options"):
            options = answer.options
    return _applied(request, inputs, options)


def transformed_invoke(request: resource_pb2.ResourceInvokeRequest, tokens: Iterable[str]) -> resource_pb2.ResourceInvokeRequest:
    """Return a function call's request as it stands after the stack's invoke transforms ran in turn."""
    result = resource_pb2.ResourceInvokeRequest()
    result.CopyFrom(request)
    for token in tokens:
        options = resource_pb2.TransformInvokeOptions(
            provider=result.provider, version=result.version, plugin_download_url=result.pluginDownloadURL
        )
        asked = resource_pb2.TransformInvokeRequest(token=result.tok, args=result.args, options=options)
        wire.secrets_to_outputs(asked.args)
        answer = _call(token, asked, resource_pb2.TransformInvokeResponse)
        wire.outputs_to_secrets(answer.args)
        result.args.CopyFrom(answer.args)
        if answer.HasField("options"):
            result.provider = answer.options.provider
            result.version = answer.options.version
    return result


def _call(token: str, asked: Message, answer: type[_Answer]) -> _Answer:
    """Run the SDK's callback for a transform on the program's event loop and return its answer.

    Registration happens on a worker thread while the loop goes on, so the callback is sent over to the loop; on the loop's
    own thread the SDK's nested wait is used.
    """
    for servicer in _CallbackServicer._servicers:  # noqa: SLF001 -- the SDK keeps its callbacks nowhere else
        callback = servicer._callbacks.get(token)  # noqa: SLF001 -- as above
        if callback is not None:
            break
    else:
        message = "A transform was registered with a callback server that is gone"
        raise LookupError(message)
    work = _as_coroutine(callback(asked.SerializeToString()))
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        done = asyncio.run_coroutine_threadsafe(work, servicer._loop).result()  # noqa: SLF001 -- as above
    else:
        done = _sync_await(work)
    return answer.FromString(done.SerializeToString())


async def _as_coroutine(work: object) -> Message:
    """Await what a callback returned, as a coroutine that can be handed to another thread."""
    return await work  # type: ignore[misc]


def _options(request: resource_pb2.RegisterResourceRequest) -> resource_pb2.TransformResourceOptions:
    """Return the request's options in the form that transforms get them."""
    options = resource_pb2.TransformResourceOptions(
        depends_on=request.dependencies,
        ignore_changes=request.ignoreChanges,
        replace_on_changes=request.replaceOnChanges,
        version=request.version,
        aliases=request.aliases,
        provider=request.provider,
        providers=request.providers,
        plugin_download_url=request.pluginDownloadURL,
        deleted_with=request.deletedWith,
        replace_with=request.replace_with,
        additional_secret_outputs=request.additionalSecretOutputs,
        hide_diff=request.hideDiffs,
    )
    setattr(options, "import", request.importId)  # the field's name is a keyword of Python
    if request.HasField("customTimeouts"):
        options.custom_timeouts.CopyFrom(request.customTimeouts)
    if request.HasField("hooks"):
        options.hooks.CopyFrom(request.hooks)
    if request.HasField("protect"):
        options.protect = request.protect
    if request.HasField("retainOnDelete"):
        options.retain_on_delete = request.retainOnDelete
    if request.deleteBeforeReplaceDefined:
        options.delete_before_replace = request.deleteBeforeReplace
    return options


def _applied(
    request: resource_pb2.RegisterResourceRequest,
    inputs: struct_pb2.Struct,
    options: resource_pb2.TransformResourceOptions,
) -> resource_pb2.RegisterResourceRequest:
    """Return a copy of the request with what the transforms made of inputs and options."""
    result = resource_pb2.RegisterResourceRequest()
    result.CopyFrom(request)
    result.object.CopyFrom(inputs)
    for theirs, ours in _LISTS.items():
        if theirs == "depends_on" and not request.transforms:
            continue
        del getattr(result, ours)[:]
        getattr(result, ours).extend(getattr(options, theirs))
    for theirs, ours in _SCALARS.items():
        setattr(result, ours, getattr(options, theirs))
    result.provider = options.provider
    result.version = options.version
    del result.aliases[:]
    result.aliases.extend(options.aliases)
    result.ClearField("customTimeouts")
    if options.HasField("custom_timeouts"):
        result.customTimeouts.CopyFrom(options.custom_timeouts)
    _apply_switches(result, options)
    for gone in [key for key in result.propertyDependencies if key not in inputs.fields]:
        del result.propertyDependencies[gone]
    return result


def _apply_switches(result: resource_pb2.RegisterResourceRequest, options: resource_pb2.TransformResourceOptions) -> None:
    """Copy the options that have three states: yes, no and not said."""
    result.ClearField("protect")
    if options.HasField("protect"):
        result.protect = options.protect
    result.ClearField("retainOnDelete")
    if options.HasField("retain_on_delete"):
        result.retainOnDelete = options.retain_on_delete
    result.deleteBeforeReplaceDefined = options.HasField("delete_before_replace")
    result.deleteBeforeReplace = options.delete_before_replace
