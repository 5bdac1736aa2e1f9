"""The one Kubernetes client of the rehearsal: lightkube with time limits, and with errors of one kind.

Kinds are lightkube's classes (``lightkube.resources.core_v1.Node``) or, for custom resources, what `custom_kind` returns, whose
objects are dictionaries. Manifests become objects by `objects`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

import httpx2
from lightkube import ApiError, Client, KubeConfig, codecs
from lightkube.core.exceptions import ConfigError, LoadResourceError
from lightkube.core.generic_client import WatchDriver
from lightkube.core.resource import Resource
from lightkube.generic_resource import create_global_resource, create_namespaced_resource, create_resources_from_crd
from lightkube.types import CascadeType, PatchType

from fleet.errors import FleetErrors, Mistake

ALL_NAMESPACES = "*"
MANAGER = "gpufleet-rehearsal"
"""Who applied a field, as server-side apply records it."""

_NOT_FOUND = 404
_CONFLICT = 409
_GONE = 410
_TIME_LIMIT_SECONDS = 10.0
_POLL_SECONDS = 0.1
_AFTER_BREAK_SECONDS = 0.2

Kind = TypeVar("Kind", bound=Resource)
Value = TypeVar("Value")


class ApiFaultError(FleetErrors):
    """A request was refused, got no answer, or did not lead to what was waited for.

    Args:
        doing: What was asked for, such as ``get Node n1``.
        code: HTTP status; 0 when there was no answer.
        reason: What the API server or the connection said.
    """

    def __init__(self, doing: str, code: int, reason: str) -> None:
        self.code = code
        remedy = "The API server's log says more" if code else "See in the API server's log whether it runs"
        super().__init__([Mistake(path=doing, reason=reason, remedy=remedy)])

    @property
    def is_missing(self) -> bool:
        """Whether there is no such object."""
        return self.code == _NOT_FOUND

    @property
    def is_conflict(self) -> bool:
        """Whether it exists already, or was changed meanwhile."""
        return self.code == _CONFLICT


class Api:
    """A cluster's API, as the user of one kubeconfig. Threads may share it.

    Args:
        kubeconfig: The file.
        time_limit_seconds: Longest time for connecting and for each part of an answer.
    """

    def __init__(self, kubeconfig: Path, time_limit_seconds: float = _TIME_LIMIT_SECONDS) -> None:
        self._time_limit_seconds = time_limit_seconds
        self._client: Any = Client(  # Any: its overloads tell namespaced kinds from others, which a caller for all kinds cannot
            KubeConfig.from_file(str(kubeconfig)),
            namespace="default",
            timeout=httpx2.Timeout(time_limit_seconds),
            field_manager=MANAGER,
            trust_env=False,  # no proxy of the user's gets between us and the loopback device
        )

    def __enter__(self) -> Api:
        """Return itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Close the connections."""
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def get(self, kind: type[Kind], name: str, namespace: str | None = None) -> Kind:
        """Return an object; raises ApiFaultError when there is none (`ApiFaultError.is_missing`), as all below when refused."""
        return _asked(f"get {kind.__name__} {name}", lambda: self._client.get(kind, name, namespace=namespace))

    def find(self, kind: type[Kind], name: str, namespace: str | None = None) -> Kind | None:
        """Return an object, None when there is none."""
        try:
            return self.get(kind, name, namespace)
        except ApiFaultError as fault:
            if fault.is_missing:
                return None
            raise

    def list(
        self,
        kind: type[Kind],
        namespace: str | None = None,
        labels: Mapping[str, Any] | None = None,
        fields: Mapping[str, Any] | None = None,
    ) -> list[Kind]:
        """Return the objects of a kind; selectors are lightkube's, `ALL_NAMESPACES` is every namespace."""
        found = lambda: list(self._client.list(kind, namespace=namespace, labels=labels, fields=fields))  # noqa: E731 -- it is read once
        return _asked(f"list {kind.__name__}", found)

    def create(self, obj: Kind, namespace: str | None = None) -> Kind:
        """Create an object and return it as the server stored it."""
        return _asked(f"create {_named(obj)}", lambda: self._client.create(obj, namespace=namespace), repeatable=False)

    def apply(self, obj: Kind, namespace: str | None = None) -> Kind:
        """Create or change an object to be so (server-side apply, taking fields over from others) and return it."""
        return _asked(f"apply {_named(obj)}", lambda: self._client.apply(obj, namespace=namespace, force=True))

    def patch(self, kind: type[Kind], name: str, changes: Mapping[str, Any], namespace: str | None = None) -> Kind:
        """Change fields of an object (merge patch: None removes) and return it."""
        merge = PatchType.MERGE
        ask = lambda: self._client.patch(kind, name, dict(changes), namespace=namespace, patch_type=merge)  # noqa: E731 -- read once
        return _asked(f"patch {kind.__name__} {name}", ask)

    def delete(self, kind: type[Resource], name: str, namespace: str | None = None, *, grace_seconds: int | None = None) -> bool:
        """Delete an object, its dependents after it, and say whether there was one."""
        background = CascadeType.BACKGROUND
        options = {"namespace": namespace, "grace_period": grace_seconds, "cascade": background}
        try:
            _asked(f"delete {kind.__name__} {name}", lambda: self._client.delete(kind, name, **options))
        except ApiFaultError as fault:
            if fault.is_missing:
                return False
            raise
        return True

    def watch(
        self, kind: type[Kind], seconds: float, namespace: str | None = None, labels: Mapping[str, Any] | None = None
    ) -> Iterator[tuple[str, Kind]]:
        """Yield changes of a kind for a time: first what is there, as ``ADDED``, then each event.

        When the connection breaks it goes on from the last event. Should the server no longer know that one, as an API server
        does not that was started anew, everything comes again as ``ADDED``.

        Args:
            kind: What to watch.
            seconds: For how long.
            namespace: Where; `ALL_NAMESPACES` for everywhere.
            labels: Which, by lightkube's selector.

        Yields:
            ``ADDED``, ``MODIFIED`` or ``DELETED`` and the object.
        """
        client = self._client._client  # noqa: SLF001 -- its own watch() never returns while nothing happens
        selector = {"labelSelector": ",".join(f"{key}={value}" for key, value in labels.items())} if labels else {}
        request = client.prepare_request("list", kind, namespace=namespace, watch=True, params=selector)
        driver = WatchDriver(request, client._client.build_request)  # noqa: SLF001 -- see above
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            request.params["timeoutSeconds"] = str(int(left) + 1)
            limits = httpx2.Timeout(self._time_limit_seconds, read=left)
            try:
                yield from _events(client.send(driver.get_request(limits), stream=True), driver, end)
            except ApiError as error:
                if error.status.code == _GONE:
                    driver.reset_version()
                elif error.status.code not in {None, 429, 500, 503}:
                    raise _fault(f"watch {kind.__name__}", error) from error
            except httpx2.HTTPError:
                pass  # the server went away; `end` bounds how often it is asked again
            time.sleep(max(0.0, min(_AFTER_BREAK_SECONDS, end - time.monotonic())))


def _events(response: httpx2.Response, driver: WatchDriver, end: float) -> Iterator[tuple[str, Any]]:
    """Yield the events of one connection, until it or the time ends."""
    try:
        if response.is_error:
            response.read()
            raise ApiError(response=response)
        for line in response.iter_lines():
            yield driver.process_one_line(line)
            if time.monotonic() > end:
                return
    finally:
        response.close()


def wait_for(what: str, look: Callable[[], Value | None], deadline_seconds: float) -> Value:
    """Look again and again until there is something to see.

    Args:
        what: What is waited for, for the message.
        look: Returns it, or None (or False) while it is not so. An ApiFaultError counts as that: servers are killed on purpose.
        deadline_seconds: How long.

    Returns:
        What `look` returned.

    Raises:
        ApiFaultError: It was not so in time; ends with what the API said last, if it refused.
    """
    end = time.monotonic() + deadline_seconds
    while True:
        said, code = "", 0
        try:
            seen = look()
        except ApiFaultError as fault:
            said, code, seen = f"; the API said last: {fault}", fault.code, None
        if seen is not None and seen is not False:
            return seen
        if time.monotonic() > end:
            raise ApiFaultError(what, code, f"not so after {deadline_seconds:.0f} s{said}")
        time.sleep(_POLL_SECONDS)


def objects(manifests: Iterable[Mapping[str, Any]]) -> list[Any]:
    """Return manifests as objects that `Api` takes; a CustomResourceDefinition among them makes its kinds known.

    Raises:
        ApiFaultError: A manifest's kind is not known.
    """
    made: list[Any] = []
    for manifest in manifests:
        try:
            obj: Any = codecs.from_dict(dict(manifest))
        except LoadResourceError as error:
            raise ApiFaultError(f"{manifest.get('apiVersion')} {manifest.get('kind')}", 0, str(error)) from error
        if manifest["kind"] == "CustomResourceDefinition":
            create_resources_from_crd(obj)
        made.append(obj)
    return made


def custom_kind(api_version: str, kind: str, plural: str, *, namespaced: bool) -> Any:  # noqa: ANN401 -- the class is made here
    """Return the class of a custom resource, such as ``("karpenter.sh/v1", "NodePool", "nodepools")``."""
    group, _, version = api_version.rpartition("/")
    make = create_namespaced_resource if namespaced else create_global_resource
    return make(group, version, kind, plural)


def _asked(doing: str, ask: Callable[[], Value], *, repeatable: bool = True) -> Value:
    """Ask and turn every way of failing into an ApiFaultError.

    A connection that was kept open to a server that has been killed since is found dead at its next use; what may be asked twice
    is asked again on a new one.
    """
    try:
        try:
            return ask()
        except (httpx2.RemoteProtocolError, httpx2.ReadError, httpx2.WriteError):
            if not repeatable:
                raise
            return ask()
    except (httpx2.HTTPError, ConfigError) as error:
        raise _fault(doing, error) from error


def _fault(doing: str, error: Exception) -> ApiFaultError:
    """Return what to raise for an error of the client's."""
    if isinstance(error, ApiError):
        return ApiFaultError(doing, error.status.code or 0, error.status.message or "refused without a reason")
    if isinstance(error, httpx2.HTTPStatusError):
        return ApiFaultError(doing, error.response.status_code, error.response.text.strip() or "refused without a reason")
    return ApiFaultError(doing, 0, f"no answer: {error or type(error).__name__}")


def _named(obj: Any) -> str:  # noqa: ANN401 -- any kind's object
    """Return kind and name of an object for messages."""
    metadata = obj.metadata
    return f"{type(obj).__name__} {metadata.name or metadata.generateName}"
