from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, Mapping, Optional

from ._decode import timestamp


@dataclass(frozen=True)
class FieldError:
    """A field of a request that is not valid."""

    field: str
    """The field, as the API spells it; empty for the request as a whole."""
    description: str
    """What is wrong with the field."""


class ModeratoError(Exception):
    """A call that failed.

    `code` tells what happened: one of the codes of the API, such as `MUTE_ACTIVE`, or
    what a subclass documents.
    """

    code: str
    """The stable code of the condition, for programs."""
    message: str
    """What happened, for people."""
    status: Optional[int]
    """The HTTP status; None if there was no response."""
    request_id: Optional[str]
    """The id to mention when you report a problem to the operator."""
    retry_after: Optional[float]
    """When to try again, in seconds; None if the server did not say."""
    data: Mapping[str, Any]
    """All details that the server sent."""

    def __init__(
        self,
        message: str,
        *,
        code: str,
        status: Optional[int] = None,
        request_id: Optional[str] = None,
        retry_after: Optional[float] = None,
        data: Optional[Mapping[str, Any]] = None,
    ) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.status = status
        self.request_id = request_id
        self.retry_after = retry_after
        self.data = data or {}

    @property
    def fields(self) -> list[FieldError]:
        """The fields that are wrong, on `INVALID_ARGUMENT`."""
        return [FieldError(v["field"], v["description"]) for v in self.data.get("violations", [])]

    @property
    def required_scope(self) -> Optional[str]:
        """The scope that the token or the grant lacks, on `SCOPE_MISSING` and `GRANT_MISSING`."""
        return self.data.get("requiredScope")

    @property
    def accepted_tokens(self) -> list[str]:
        """The kinds of token that the operation accepts, on `TOKEN_KIND_NOT_ACCEPTED`."""
        return list(self.data.get("acceptedTokens", []))

    @property
    def mute_expires_at(self) -> Optional[datetime]:
        """When the mute ends, on `MUTE_ACTIVE` and `USER_MUTED`."""
        at = self.data.get("muteExpiresAt")
        return None if at is None else timestamp(at)

    @property
    def ban_expires_at(self) -> Optional[datetime]:
        """When the ban ends, on `USER_BANNED`; None if it lasts until it is removed."""
        at = self.data.get("expiresAt")
        return None if at is None else timestamp(at)


class APIConnectionError(ModeratoError):
    """There was no response.

    The code is `TIMEOUT`, or `CONNECTION_FAILED` for every other reason, which is the
    `__cause__`. A change may or may not have happened.
    """


class IdempotencyKeyReusedError(ModeratoError):
    """The idempotency key of the call was used for a call with other arguments, within the last 24 hours.

    Nothing was changed. The code is `IDEMPOTENCY_KEY_REUSED`.
    """


class SignInError(ModeratoError):
    """A user could not be signed in, or not be kept signed in.

    The code is that of OAuth 2: `access_denied` if the user refused, `expired_token` if
    the user took too long, and `invalid_grant` if the user must sign in again.
    """


class WebhookVerificationError(Exception):
    """A webhook delivery is not authentic, or is too old."""


def error_of(status: int, headers: Mapping[str, str], body: bytes) -> ModeratoError:
    """Return the error of a response: an error of the API, or one of OAuth 2."""
    answer: dict[str, Any] = {}
    try:
        parsed = json.loads(body)
        answer = parsed if isinstance(parsed, dict) else {}
    except ValueError:
        pass  # the response is not of the server, but of a proxy
    data = answer.get("data") or {}
    kind = ModeratoError
    if data.get("code") == "IDEMPOTENCY_KEY_REUSED":
        kind = IdempotencyKeyReusedError
    elif "error" in answer and status < 500 and status != 429:
        kind = SignInError
    return kind(
        answer.get("message") or answer.get("error_description") or f"The server responded with {status}.",
        code=data.get("code") or answer.get("error") or f"HTTP_{status}",
        status=status,
        request_id=headers.get("X-Request-Id"),
        retry_after=_retry_after(headers.get("Retry-After")),
        data=data,
    )


def _retry_after(text: Optional[str]) -> Optional[float]:
    if not text:
        return None
    if text.isdigit():
        return float(text)
    try:
        return max(0.0, (parsedate_to_datetime(text) - datetime.now(timezone.utc)).total_seconds())
    except (TypeError, ValueError):
        return None
