"""Outbound clients: whom they trust, and how much of an answer they read."""

import asyncio
import datetime
import gzip
import ipaddress
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from contracts.errors import SettingsInvalid
from contracts.evm.codec import RpcError
from pipelines.clients.rpc import RpcPool
from warehouse.clients.http import BodyCompressed, Reply, ReplyTooLarge, ask, blocking_client, client, tls_roots

CHAIN_ID = b'{"jsonrpc":"2.0","id":1,"result":"0x2105"}'


class Answers(BaseHTTPRequestHandler):
    """Answers a chain id, a body of many chunks, or a compressed one."""

    def do_GET(self) -> None:
        self.send_response(500 if self.path == "/fails" else 200)
        if self.path == "/compressed":
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        body = b"x" * 5_000 if self.path in ("/large", "/fails") else CHAIN_ID
        self.wfile.write(gzip.compress(body) if self.path == "/compressed" else body)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.do_GET()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    listening = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield listening
    listening.shutdown()
    thread.join()
    listening.server_close()


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """Creates a self-signed certificate of 127.0.0.1, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path / "certificate.pem"
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    file.write_bytes(signed.public_bytes(pem) + private)
    return file


@pytest.fixture
def secure(server: ThreadingHTTPServer, certificate: Path) -> str:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    return f"https://127.0.0.1:{server.server_port}/"


@pytest.fixture(autouse=True)
def roots_of_this_test(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)
    tls_roots.cache_clear()
    yield
    tls_roots.cache_clear()


async def asked(url: str, max_bytes: int = 4_096) -> Reply:
    async with client(5.0) as http:
        return await ask(http, "GET", url, timeout_s=5.0, max_bytes=max_bytes)


async def chain_of(url: str) -> object:
    async with RpcPool([url], chain_id=0x2105, timeout_s=5.0) as pool:
        return await pool.endpoints[0].call("eth_chainId", [])


def test_no_client_trusts_a_certificate_that_nobody_known_signed(secure: str):
    with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
        asyncio.run(asked(secure))
    with blocking_client(5.0) as http, pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
        http.get(secure)
    with pytest.raises(RpcError, match="Certificate"):
        asyncio.run(chain_of(secure))


def test_every_client_trusts_the_certificates_of_ssl_cert_file(
    secure: str, certificate: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert asyncio.run(asked(secure)).body == CHAIN_ID
    with blocking_client(5.0) as http:
        assert http.get(secure).content == CHAIN_ID
    assert asyncio.run(chain_of(secure)) == "0x2105"


def test_a_file_of_certificates_that_is_not_there_is_named_with_its_cure(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere/certificates.pem")
    with pytest.raises(SettingsInvalid, match="SSL_CERT_FILE"):
        client(5.0)


def test_a_body_is_read_up_to_its_limit_and_not_unpacked(server: ThreadingHTTPServer):
    url = f"http://127.0.0.1:{server.server_port}"
    assert asyncio.run(asked(f"{url}/large", max_bytes=5_000)).body == b"x" * 5_000
    with pytest.raises(ReplyTooLarge):
        asyncio.run(asked(f"{url}/large", max_bytes=4_999))
    with pytest.raises(BodyCompressed):
        asyncio.run(asked(f"{url}/compressed"))


def test_the_body_of_a_failure_is_not_read(server: ThreadingHTTPServer):
    reply = asyncio.run(asked(f"http://127.0.0.1:{server.server_port}/fails", max_bytes=1))
    assert (reply.status, reply.body) == (500, b"")
