"""A client of Moderato, the moderation and channel-data service of a live-streaming platform."""

from . import _types
from ._auth import Auth, DevicePrompt, PendingSignIn, Tokens
from ._client import Moderato
from ._errors import (
    APIConnectionError,
    FieldError,
    IdempotencyKeyReusedError,
    ModeratoError,
    SignInError,
    WebhookVerificationError,
)
from ._event import Event
from ._events import EventStream
from ._paging import Listing, Page
from ._state import FileState
from ._transport import Options
from ._types import *  # noqa: F403
from ._webhooks import verify_webhook

__all__ = [
    "APIConnectionError",
    "Auth",
    "DevicePrompt",
    "Event",
    "EventStream",
    "FieldError",
    "FileState",
    "IdempotencyKeyReusedError",
    "Listing",
    "Moderato",
    "ModeratoError",
    "Options",
    "Page",
    "PendingSignIn",
    "SignInError",
    "Tokens",
    "WebhookVerificationError",
    "verify_webhook",
]
__all__ += _types.__all__
