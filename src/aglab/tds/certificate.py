"""A self-signed certificate for a node, and the TLS contexts of its listener.

Clients check a host name, not an address (``HostnameInCertificate``; SQL Server's drivers do not match IP entries), so
the certificate names the node, ``localhost`` and whatever the caller adds.
"""

from __future__ import annotations

import datetime as dt
import ssl
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from aglab.core.errors import MissingError, field_error

CURVE = ec.SECP256R1()  # a signature in a twentieth of the time that RSA takes; every client since TLS 1.2 knows it
ALPN_STRICT = "tds/8.0"


@dataclass(frozen=True, slots=True)
class Certificate:
    """PEM texts of a certificate and its private key; the caller keeps the key readable by its owner alone."""

    certificate_pem: bytes
    key_pem: bytes = field(repr=False)


def self_signed_certificate(
    names: Sequence[str] = ("localhost",), days: int = 3650, now: dt.datetime | None = None
) -> Certificate:
    """Make a key and a certificate that names ``names`` (the first one is the common name).

    Parameters
    ----------
    names : sequence of str
        Host names; an IP address may be among them and is entered as such.
    days : int
        Validity from the day before ``now``.
    now : datetime, optional
        Aware UTC time; the machine's clock where omitted.
    """
    import ipaddress

    if not names or not all(names):
        raise field_error("names", list(names), "must hold at least one non-empty name", "certificate", "use ['localhost']")
    if days < 1:
        raise field_error("days", days, "must be >= 1", "certificate", "use 3650")
    now = now or dt.datetime.now(dt.UTC)
    key = ec.generate_private_key(CURVE)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0][:64])])
    entries: list[x509.GeneralName] = []
    for name in names:
        try:
            entries.append(x509.IPAddress(ipaddress.ip_address(name)))
        except ValueError:
            entries.append(x509.DNSName(name))
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=days))
        .add_extension(x509.SubjectAlternativeName(entries), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
    )
    certificate = builder.sign(key, hashes.SHA256())
    return Certificate(
        certificate.public_bytes(serialization.Encoding.PEM),
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()),
    )


def server_context(certificate_file: Path, key_file: Path, strict: bool = False) -> ssl.SSLContext:
    """The TLS context of a listener.

    Inside TDS the handshake stays at TLS 1.2: with 1.3 the tickets that follow a handshake reach clients that have stopped
    unwrapping, and most hang. ``strict`` (TDS 8) is ordinary TLS with ALPN and may use 1.3.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if strict:
        context.set_alpn_protocols([ALPN_STRICT])
    else:
        context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_COMPRESSION | ssl.OP_NO_TICKET | ssl.OP_NO_RENEGOTIATION
    context.num_tickets = 0
    try:
        context.load_cert_chain(certificate_file, key_file)
    except (OSError, ssl.SSLError) as error:
        raise MissingError(
            f"certificate {str(certificate_file)!r} cannot be loaded ({error})", "delete both files to have new ones made"
        ) from error
    return context
