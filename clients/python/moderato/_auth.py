from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any, Callable, Dict, List, Optional, Sequence
from urllib.parse import parse_qs, urlencode, urlsplit
from urllib.request import Request

from ._errors import ModeratoError, SignInError
from ._retry import retry_delay, with_retries
from ._transport import Settings, receive, send


@dataclass(frozen=True)
class Tokens:
    """The tokens of a user or an app. They are secrets."""

    access_token: str = field(repr=False)
    refresh_token: Optional[str] = field(default=None, repr=False)
    """Renews the access token. Present if the scope `offline.access` was granted."""
    expires_at: Optional[datetime] = None
    """When the access token expires."""
    scopes: Sequence[str] = ()
    """What was granted, which can be less than what was asked for."""

    def to_json(self) -> str:
        """Return the tokens as text, to be stored."""
        expires_at = self.expires_at.isoformat() if self.expires_at else None
        return json.dumps(
            {
                "access_token": self.access_token,
                "refresh_token": self.refresh_token,
                "expires_at": expires_at,
                "scopes": list(self.scopes),
            }
        )

    @staticmethod
    def from_json(text: str) -> Tokens:
        """Return the tokens that `to_json` returned as text."""
        stored = json.loads(text)
        if stored["expires_at"]:
            stored["expires_at"] = datetime.fromisoformat(stored["expires_at"])
        return Tokens(**stored)


@dataclass(frozen=True)
class PendingSignIn:
    """A sign-in that a browser was sent off for. Keep it until the browser returns: it is a secret."""

    url: str
    """Where to send the browser."""
    state: str = field(repr=False)
    code_verifier: str = field(repr=False)
    redirect_uri: str = ""


@dataclass(frozen=True)
class DevicePrompt:
    """What to show to a user who signs in on another device."""

    url: str
    """The address with the code in it."""
    user_code: str
    """The code, which the page shows as well."""
    short_url: str
    """The address without the code, to be typed."""


class Auth:
    """Signs users in, and keeps them signed in. It can be used by several threads."""

    def __init__(
        self, settings: Settings, tokens: Optional[Tokens], on_tokens: Optional[Callable[[Tokens], None]]
    ) -> None:
        self._settings = settings
        self._tokens = tokens
        self._on_tokens = on_tokens
        self._renewing = threading.Lock()

    @property
    def tokens(self) -> Optional[Tokens]:
        """The current tokens; None if nobody is signed in."""
        return self._tokens

    def start_sign_in(self, *, redirect_uri: str, scopes: Sequence[str]) -> PendingSignIn:
        """Begin to sign in a user in a browser (authorization code with PKCE).

        Keep what it returns, for example in the user's session, and send the browser to its
        `url`.
        """
        state, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
        query = urlencode(
            {
                "response_type": "code",
                "client_id": self._settings.client_id,
                "redirect_uri": redirect_uri,
                "scope": " ".join(scopes),
                "state": state,
                "code_challenge": challenge,
                "code_challenge_method": "S256",
            }
        )
        return PendingSignIn(f"{self._settings.base_url}/oauth2/authorize?{query}", state, verifier, redirect_uri)

    def finish_sign_in(self, returned_to: str, pending: PendingSignIn) -> Tokens:
        """End what `start_sign_in` began, with the URL at which the browser returned.

        It raises SignInError with `access_denied` if the user refused.
        """
        returned = {name: values[0] for name, values in parse_qs(urlsplit(returned_to).query).items()}
        if not secrets.compare_digest(returned.get("state", "").encode(), pending.state.encode()):
            raise SignInError("The state differs: this is not the sign-in that was begun.", code="state_mismatch")
        server = urlsplit(self._settings.base_url)
        if returned.get("iss", f"{server.scheme}://{server.netloc}") != f"{server.scheme}://{server.netloc}":
            raise SignInError(f"The browser returns from another server, {returned['iss']}.", code="issuer_mismatch")
        if "error" in returned:
            raise SignInError(returned.get("error_description", returned["error"]), code=returned["error"])
        return self._obtain(
            grant_type="authorization_code",
            code=returned.get("code", ""),
            code_verifier=pending.code_verifier,
            redirect_uri=pending.redirect_uri,
        )

    def sign_in_with_device(self, *, scopes: Sequence[str], on_prompt: Callable[[DevicePrompt], None]) -> Tokens:
        """Sign in a user on another device, for programs without a browser (device flow).

        Show what `on_prompt` gets; the call returns when the user has approved. It raises
        SignInError with `access_denied` or `expired_token`.
        """
        device = self._post("/oauth2/device_authorization", scope=" ".join(scopes))
        on_prompt(DevicePrompt(device["verification_uri_complete"], device["user_code"], device["verification_uri"]))
        interval = device.get("interval", 5)
        ends = time.monotonic() + device["expires_in"]
        while True:
            time.sleep(interval)
            if time.monotonic() > ends:
                raise SignInError("The user has not signed in in time.", code="expired_token")
            try:
                return self._obtain(
                    grant_type="urn:ietf:params:oauth:grant-type:device_code", device_code=device["device_code"]
                )
            except ModeratoError as error:
                if error.code == "slow_down":
                    interval += 5
                elif error.code != "authorization_pending" and retry_delay(error, 0) is None:
                    raise

    def sign_in_as_app(self, *, scopes: Sequence[str] = ()) -> Tokens:
        """Sign in as the app itself, which needs the client's secret."""
        return self._obtain(**_app_fields(scopes))

    def refresh(self) -> Tokens:
        """Renew the access token.

        Calls do this by themselves when it has expired; several at the same moment share one
        renewal. It raises SignInError with `invalid_grant` if the user must sign in again.
        """
        before = self._tokens
        with self._renewing:
            return self._renew() if self._tokens is before or self._tokens is None else self._tokens

    def sign_out(self) -> None:
        """End the tokens on the server, and forget them."""
        tokens, self._tokens = self._tokens, None
        if tokens:
            self._post("/oauth2/revoke", token=tokens.refresh_token or tokens.access_token)

    def current(self) -> Optional[str]:
        """Return the access token; None if there is none."""
        return self._tokens.access_token if self._tokens else None

    def renew(self, refused: str) -> bool:
        """Replace an access token that was refused, and report whether there is another one."""
        with self._renewing:
            if self.current() != refused:
                return self._tokens is not None
            if not self._can_renew():
                return False
            self._renew()
            return True

    def _is_app(self) -> bool:
        return self._tokens is not None and self._tokens.access_token.startswith("mda_")

    def _can_renew(self) -> bool:
        has_refresh_token = self._tokens is not None and self._tokens.refresh_token is not None
        return has_refresh_token or (self._is_app() and self._settings.client_secret is not None)

    def _renew(self) -> Tokens:
        tokens = self._tokens
        if tokens is None or not self._can_renew():
            raise SignInError(
                "There is no refresh token: ask for the scope offline.access.", code="refresh_token_missing"
            )
        if tokens.refresh_token is None:
            return self._obtain(tokens, **_app_fields(tokens.scopes))
        fields = {"grant_type": "refresh_token", "refresh_token": tokens.refresh_token}
        # The server accepts a refresh token again for a while, so this may be repeated.
        return with_retries(lambda: self._obtain(tokens, **fields), self._settings.retries)

    def _obtain(self, replaced: Optional[Tokens] = None, **fields: str) -> Tokens:
        """Get tokens. Those that replace others are of no use if the user has signed out meanwhile."""
        response = self._post("/oauth2/token", **fields)
        tokens = Tokens(
            access_token=response["access_token"],
            refresh_token=response.get("refresh_token"),
            expires_at=datetime.now(timezone.utc) + timedelta(seconds=response["expires_in"]),
            scopes=_scopes(response),
        )
        if replaced is not None and self._tokens is not replaced:
            raise SignInError("The user has signed out.", code="signed_out")
        self._tokens = tokens
        if self._on_tokens:
            self._on_tokens(tokens)
        return tokens

    def _post(self, path: str, **fields: str) -> Any:
        secret = {"client_secret": self._settings.client_secret} if self._settings.client_secret else {}
        form: Dict[str, str] = {"client_id": self._settings.client_id, **secret, **fields}
        request = Request(self._settings.base_url + path, urlencode(form).encode())
        with send(request, self._settings.timeout) as response:
            text = receive(response)
        return json.loads(text) if text else None  # empty after a revocation


def _app_fields(scopes: Sequence[str]) -> Dict[str, str]:
    return {"grant_type": "client_credentials", **({"scope": " ".join(scopes)} if scopes else {})}


def _scopes(response: Dict[str, Any]) -> List[str]:
    return str(response.get("scope", "")).split()
