"""Asks a program's health endpoint, as an orchestrator would."""

from __future__ import annotations

import http.client
import ssl
from collections.abc import Callable
from pathlib import Path

from rehearsal.pki import PairFiles

_TIME_LIMIT_SECONDS = 2.0
_SHOWN_CHARACTERS = 160


def https_probe(port: int, path: str, authority: Path, client: PairFiles | None = None) -> Callable[[], str | None]:
    """Return a probe of ``https://127.0.0.1:<port><path>``.

    Args:
        port: TCP port.
        path: Such as ``/readyz``.
        authority: Certificate file of the authority that the server's certificate is checked against.
        client: Certificate and key to show to the server.

    Returns:
        A function that says what is missing, None when the answer is 200.
    """
    context = ssl.create_default_context(cafile=str(authority))
    if client is not None:
        context.load_cert_chain(client.certificate, client.key)
    return lambda: _answer(http.client.HTTPSConnection("127.0.0.1", port, timeout=_TIME_LIMIT_SECONDS, context=context), path)


def http_probe(port: int, path: str) -> Callable[[], str | None]:
    """Return a probe of ``http://127.0.0.1:<port><path>``; see `https_probe`."""
    return lambda: _answer(http.client.HTTPConnection("127.0.0.1", port, timeout=_TIME_LIMIT_SECONDS), path)


def _answer(connection: http.client.HTTPConnection, path: str) -> str | None:
    """Ask once."""
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        text = answer.read().decode(errors="replace")
    except (OSError, http.client.HTTPException) as error:
        return f"no answer on port {connection.port} ({error})"
    finally:
        connection.close()
    if answer.status == http.HTTPStatus.OK:
        return None
    missing = [line for line in text.splitlines() if line.startswith("[-]")] or [text]
    return f"{path} answers {answer.status}: {' '.join(missing)[:_SHOWN_CHARACTERS]}"
