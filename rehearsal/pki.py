"""Certificates of one cluster: its own authority, a serving certificate, a client certificate for each component.

A client certificate's common name is the user and its organizations are the groups that Kubernetes sees
(kubernetes.io/docs/reference/access-authn-authz/authentication, 2026-11-21). All keys are EC P-256, since RSA keys take much
longer to make. Files are readable by their owner alone.
"""

from __future__ import annotations

import base64
import datetime as dt
import ipaddress
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_VALID_BEFORE = dt.timedelta(days=1)
_VALID_AFTER = dt.timedelta(days=30)
"""A rehearsal takes minutes; the margins are for clocks that jump while it runs."""

_ALL_KEY_USAGES = (
    "digital_signature",
    "content_commitment",
    "key_encipherment",
    "data_encipherment",
    "key_agreement",
    "key_cert_sign",
    "crl_sign",
    "encipher_only",
    "decipher_only",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class KeyPair:
    """A certificate and its key, both in PEM."""

    certificate: bytes
    key: bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class PairFiles:
    """Where a `KeyPair` was written."""

    certificate: Path
    key: Path


class Authority:
    """A certificate authority.

    Args:
        name: Its common name.
    """

    def __init__(self, name: str) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        builder = self._builder(self._name, self._key.public_key())
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        builder = builder.add_extension(_usage("key_cert_sign", "crl_sign"), critical=True)
        builder = builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(self._key.public_key()), critical=False)
        self.certificate = builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

    def server(self, name: str, hosts: Iterable[str]) -> KeyPair:
        """Issue a certificate for a server under these host names and addresses; its peers know it by the same."""
        names = x509.SubjectAlternativeName([_alternative(host) for host in hosts])
        return self._issue(name, (), [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH], names)

    def client(self, user: str, groups: Sequence[str] = ()) -> KeyPair:
        """Issue a certificate that makes its holder this user in these groups."""
        return self._issue(user, groups, [ExtendedKeyUsageOID.CLIENT_AUTH], None)

    def _issue(
        self, name: str, groups: Sequence[str], uses: list[x509.ObjectIdentifier], hosts: x509.SubjectAlternativeName | None
    ) -> KeyPair:
        """Issue a certificate with a new key."""
        key = ec.generate_private_key(ec.SECP256R1())
        attributes = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
        subject = x509.Name([*attributes, x509.NameAttribute(NameOID.COMMON_NAME, name)])
        builder = self._builder(subject, key.public_key())
        builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        builder = builder.add_extension(_usage("digital_signature"), critical=True)
        builder = builder.add_extension(x509.ExtendedKeyUsage(uses), critical=False)
        own = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        builder = builder.add_extension(own, critical=False)
        if hosts is not None:
            builder = builder.add_extension(hosts, critical=False)
        certificate = builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
        return KeyPair(certificate=certificate, key=_private_pem(key))

    def _builder(self, subject: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
        """Return a certificate about to be issued: names, serial number and validity."""
        now = dt.datetime.now(dt.UTC)
        builder = x509.CertificateBuilder(issuer_name=self._name, subject_name=subject, public_key=key)
        builder = builder.serial_number(x509.random_serial_number())
        return builder.not_valid_before(now - _VALID_BEFORE).not_valid_after(now + _VALID_AFTER)


def write_pair(folder: Path, name: str, pair: KeyPair) -> PairFiles:
    """Write a pair as ``<name>.crt`` and ``<name>.key`` and return where."""
    files = PairFiles(certificate=folder / f"{name}.crt", key=folder / f"{name}.key")
    write_private(files.certificate, pair.certificate)
    write_private(files.key, pair.key)
    return files


def write_token_key(folder: Path) -> PairFiles:
    """Make the key that service account tokens are signed with; ``certificate`` is the public half, by which they are checked."""
    key = ec.generate_private_key(ec.SECP256R1())
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    files = PairFiles(certificate=folder / "service-accounts.pub", key=folder / "service-accounts.key")
    write_private(files.certificate, public)
    write_private(files.key, _private_pem(key))
    return files


def write_kubeconfig(path: Path, *, cluster: str, url: str, authority: bytes, pair: KeyPair) -> Path:
    """Write a kubeconfig that needs no other file.

    Args:
        path: Where; its folder is made.
        cluster: Name of cluster and context.
        url: The API server.
        authority: Certificate of the cluster's authority, PEM.
        pair: The user's certificate and key.

    Returns:
        `path`.
    """
    user = {"client-certificate-data": _base64(pair.certificate), "client-key-data": _base64(pair.key)}
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": cluster, "cluster": {"server": url, "certificate-authority-data": _base64(authority)}}],
        "users": [{"name": cluster, "user": user}],
        "contexts": [{"name": cluster, "context": {"cluster": cluster, "user": cluster}}],
        "current-context": cluster,
    }
    write_private(path, json.dumps(content, indent=1).encode())  # JSON is YAML too
    return path


def write_private(path: Path, content: bytes) -> None:
    """Write a file that only its owner may read, from its first byte on; its folder is made, for the owner alone."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as stream:
        stream.write(content)


def _usage(*allowed: str) -> x509.KeyUsage:
    """Return the key usages named, all others off."""
    return x509.KeyUsage(**{usage: usage in allowed for usage in _ALL_KEY_USAGES})


def _alternative(host: str) -> x509.GeneralName:
    """Return a host name or an address as a certificate names it."""
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _private_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    """Return a key in the form that Go's TLS and Kubernetes' token code both read."""
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )


def _base64(content: bytes) -> str:
    """Return content as kubeconfigs carry it."""
    return base64.b64encode(content).decode()
