from __future__ import annotations

from typing import Any, Callable, Mapping, Optional

from ._auth import Auth, Tokens
from ._operations import Resources
from ._transport import Options, Settings, Transport


class Moderato(Resources):
    """A client of Moderato. It can be used by several threads. ::

        moderato = Moderato(base_url="https://api.example.com", client_id="my-bot")
        moderato.auth.sign_in_with_device(scopes=["users.read"], on_prompt=lambda prompt: print(prompt.url))
        print(moderato.users.get_profile().display_name)

    `tokens` are those of an earlier sign-in, or `Tokens(access_token)` alone. `on_tokens`
    stores new tokens: each refresh replaces the refresh token, and the former one soon stops
    working, so a program that is to stay signed in must store them. `timeout` is how long the
    server may be silent, in seconds, and `retries` how often a call is repeated after a
    transient failure.
    """

    auth: Auth
    """Signs users in, and keeps them signed in."""

    def __init__(
        self,
        *,
        base_url: str,
        client_id: str,
        client_secret: Optional[str] = None,
        tokens: Optional[Tokens] = None,
        on_tokens: Optional[Callable[[Tokens], None]] = None,
        timeout: float = 20,
        retries: int = 2,
    ) -> None:
        settings = Settings(base_url.rstrip("/"), client_id, client_secret, timeout, retries)
        self.auth = Auth(settings, tokens, on_tokens)
        super().__init__(Transport(settings, self.auth))

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Optional[Mapping[str, Any]] = None,
        body: Optional[Mapping[str, Any]] = None,
        options: Optional[Options] = None,
    ) -> Any:
        """Call an operation for which this version of the library has no method.

        Names and values are those of the API's JSON.
        """
        return self._transport.call(method, path, query=query, body=body, options=options)[0]
