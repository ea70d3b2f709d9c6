from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from email.message import Message
from typing import Mapping, Sequence, Union

from ._errors import WebhookVerificationError
from ._event import Event, event_of


def verify_webhook(
    body: bytes,
    headers: Union[Mapping[str, str], Message],
    secret: Union[str, Sequence[str]],
    *,
    tolerance: float = 300,
) -> Event:
    """Verify a webhook delivery (Standard Webhooks), and return its event.

    `body` has the bytes of the request as they were received. While you change the secret,
    give the new and the former one. `tolerance` is by how many seconds the delivery's time
    may differ from the clock. A delivery can come twice, with the same
    `event.metadata.message_id`.

    It raises WebhookVerificationError if the delivery is not authentic, or too old:
    respond with 401.
    """
    given = {name.lower(): value for name, value in headers.items()}
    for name in ("webhook-id", "webhook-timestamp", "webhook-signature"):
        if name not in given:
            raise WebhookVerificationError(f"The header {name} is missing.")
    timestamp = given["webhook-timestamp"]
    if not re.fullmatch("[0-9]{1,12}", timestamp) or abs(time.time() - int(timestamp)) > tolerance:
        raise WebhookVerificationError("The timestamp is too far from the current time.")
    signed = f"{given['webhook-id']}.{timestamp}.".encode() + body
    signatures = [text.encode() for text in given["webhook-signature"].split(" ")]
    for one in [secret] if isinstance(secret, str) else secret:
        want = _signature(signed, one)
        if any(hmac.compare_digest(want, signature) for signature in signatures):
            return event_of(json.loads(body), given.get("moderato-cursor", ""))
    raise WebhookVerificationError("No signature is valid: the secret differs, or the body was changed.")


def _signature(signed: bytes, secret: str) -> bytes:
    prefix = "whsec_"
    try:
        key = base64.b64decode(secret[len(prefix) :] if secret.startswith(prefix) else secret, validate=True)
    except binascii.Error as error:
        raise ValueError("The secret is not a webhook's secret: whsec_ and base64.") from error
    if not key:
        raise ValueError("The secret is empty.")
    return b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
