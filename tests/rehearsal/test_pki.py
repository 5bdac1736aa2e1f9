"""Certificates and kubeconfigs: who they make somebody, who trusts them, and who may read them."""

from __future__ import annotations

import base64
import json
import socket
import ssl
import stat
import threading
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from rehearsal.pki import Authority, KeyPair, PairFiles, write_kubeconfig, write_pair, write_private, write_token_key


def subject(pair: KeyPair) -> tuple[list[str], list[str]]:
    """User and groups, as Kubernetes reads them from a certificate."""
    names = x509.load_pem_x509_certificate(pair.certificate).subject
    users = [str(name.value) for name in names.get_attributes_for_oid(NameOID.COMMON_NAME)]
    return users, [str(name.value) for name in names.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)]


def handshake(server: PairFiles, trusted_by_server: Path, client: PairFiles, trusted_by_client: Path, host: str) -> str:
    """Let a client and a server meet over TLS, both showing certificates, and return what went wrong, empty when nothing did."""
    ours, theirs = socket.socketpair()
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(server.certificate, server.key)
    serving.load_verify_locations(trusted_by_server)
    serving.verify_mode = ssl.CERT_REQUIRED
    asking = ssl.create_default_context(cafile=str(trusted_by_client))
    asking.load_cert_chain(client.certificate, client.key)
    refused: list[str] = []

    def serve() -> None:
        try:
            with serving.wrap_socket(theirs, server_side=True) as connection:
                connection.sendall(b"x")
        except (ssl.SSLError, OSError) as error:
            refused.append(f"server: {error}")
            theirs.close()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        with asking.wrap_socket(ours, server_hostname=host) as connection:
            connection.recv(1)
    except (ssl.SSLError, OSError) as error:
        refused.append(f"client: {error}")
        ours.close()
    thread.join(10)
    return "; ".join(refused)


@pytest.fixture
def authority(tmp_path: Path) -> tuple[Authority, Path]:
    """An authority and its certificate file."""
    made = Authority("a")
    write_private(tmp_path / "ca.crt", made.certificate)
    return made, tmp_path / "ca.crt"


def test_client_certificates_carry_user_and_groups() -> None:
    """What RBAC will see."""
    made = Authority("a")
    assert subject(made.client("system:kube-scheduler")) == (["system:kube-scheduler"], [])
    assert subject(made.client("system:node:n1", ["system:nodes", "b"])) == (["system:node:n1"], ["system:nodes", "b"])


def test_a_client_certificate_cannot_serve() -> None:
    """Whoever holds a component's certificate cannot pass for the API server."""
    certificate = x509.load_pem_x509_certificate(Authority("a").client("u").certificate)
    uses = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert list(uses) == [ExtendedKeyUsageOID.CLIENT_AUTH]
    assert certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca is False


@pytest.mark.parametrize("host", ["127.0.0.1", "kubernetes.default"])
def test_server_and_client_of_one_authority_meet(authority: tuple[Authority, Path], tmp_path: Path, host: str) -> None:
    """By address and by name, each side checking the other."""
    made, file = authority
    server = write_pair(tmp_path, "server", made.server("api", ["127.0.0.1", "kubernetes.default"]))
    client = write_pair(tmp_path, "client", made.client("u"))
    assert handshake(server, file, client, file, host) == ""
    assert "not valid for 'other'" in handshake(server, file, client, file, "other")


def test_another_clusters_certificate_is_refused(authority: tuple[Authority, Path], tmp_path: Path) -> None:
    """A component of one cluster is nobody in the next."""
    made, file = authority
    server = write_pair(tmp_path, "server", made.server("api", ["127.0.0.1"]))
    stranger = write_pair(tmp_path, "client", Authority("b").client("gpufleet:admin", ["system:masters"]))
    assert "verify failed" in handshake(server, file, stranger, file, "127.0.0.1")


def test_files_are_their_owners_alone(tmp_path: Path) -> None:
    """Keys, kubeconfigs and their folder, from the start."""
    made = Authority("a")
    files = write_pair(tmp_path / "new", "server", made.server("api", ["127.0.0.1"]))
    tokens = write_token_key(tmp_path / "new")
    config = write_kubeconfig(
        tmp_path / "new" / "k", cluster="c", url="https://127.0.0.1:1", authority=made.certificate, pair=made.client("u")
    )
    modes = {stat.S_IMODE(file.stat().st_mode) for file in (files.certificate, files.key, tokens.key, tokens.certificate, config)}
    assert modes == {0o600}
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700


def test_the_token_key_and_its_public_half_belong_together(tmp_path: Path) -> None:
    """What one signs the other checks."""
    files = write_token_key(tmp_path)
    private = serialization.load_pem_private_key(files.key.read_bytes(), None)
    public = serialization.load_pem_public_key(files.certificate.read_bytes())
    assert isinstance(private, ec.EllipticCurvePrivateKey)
    assert private.public_key() == public


def test_a_kubeconfig_stands_alone(tmp_path: Path) -> None:
    """Everything it needs is in it."""
    made = Authority("a")
    pair = made.client("u")
    file = write_kubeconfig(tmp_path / "k", cluster="c", url="https://127.0.0.1:6443", authority=made.certificate, pair=pair)
    content = json.loads(file.read_text())
    assert content["clusters"][0]["cluster"]["server"] == "https://127.0.0.1:6443"
    assert base64.b64decode(content["clusters"][0]["cluster"]["certificate-authority-data"]) == made.certificate
    assert base64.b64decode(content["users"][0]["user"]["client-key-data"]) == pair.key
    assert content["contexts"][0]["context"] == {"cluster": "c", "user": "c"}
    assert content["current-context"] == "c"
