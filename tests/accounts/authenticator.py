"""An authenticator in software: makes passkeys and signs by them, as a browser hands that on (WebAuthn Level 3, 6)."""

import base64
import secrets
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import cbor2
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256

from agentui.jsonio import Json, dumps

PRESENT, VERIFIED, BACKED_UP, ATTESTED = 0x01, 0x04, 0x18, 0x40
"""Flags of what it says (6.1)."""


@dataclass
class Authenticator:
    """Holds one passkey. ``origin`` is the page that it is asked by, ``flags`` what it says of its owner."""

    origin: str
    host: str = "localhost"
    flags: int = PRESENT | VERIFIED
    count: int = 0
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    id: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    handle: str = ""

    def make(self, options: Json) -> dict[str, Any]:
        """What a browser answers that was asked to make a passkey."""
        self.handle = options["user"]["id"]
        numbers = self.key.public_key().public_numbers()
        x, y = (number.to_bytes(32, "big") for number in (numbers.x, numbers.y))
        attested = bytes(16) + len(self.id).to_bytes(2, "big") + self.id + cbor2.dumps({1: 2, 3: -7, -1: 1, -2: x, -3: y})
        said = self._said(self.flags | ATTESTED) + attested
        made = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": said})
        response = {"clientDataJSON": self._client_data("webauthn.create", options), "attestationObject": text_of(made)}
        return self._credential(response)

    def sign(self, options: Json) -> dict[str, Any]:
        """What a browser answers that was asked to sign."""
        said, data = self._said(self.flags), self._client_data("webauthn.get", options)
        signature = self.key.sign(said + sha256(bytes_of(data)).digest(), ec.ECDSA(SHA256()))
        response = {"clientDataJSON": data, "authenticatorData": text_of(said), "signature": text_of(signature)}
        return self._credential({**response, "userHandle": self.handle})

    def _said(self, flags: int) -> bytes:
        return sha256(self.host.encode()).digest() + bytes([flags]) + self.count.to_bytes(4, "big")

    def _client_data(self, type: str, options: Json) -> str:
        said = {"type": type, "challenge": options["challenge"], "origin": self.origin, "crossOrigin": False}
        return text_of(dumps(said))

    def _credential(self, response: dict[str, Any]) -> dict[str, Any]:
        id = text_of(self.id)
        return {"id": id, "rawId": id, "type": "public-key", "response": response, "clientExtensionResults": {}}


def text_of(value: bytes) -> str:
    """Bytes as base64url."""
    return base64.urlsafe_b64encode(value).decode().rstrip("=")


def bytes_of(text: str) -> bytes:
    """The bytes of base64url."""
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
