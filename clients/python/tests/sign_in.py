"""Signs in a user in a browser. The test approves, and writes where the browser returned."""

import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from moderato import Moderato, SignInError, Tokens


def refused(call, *arguments):
    try:
        call(*arguments)
    except SignInError as error:
        return error.code
    raise AssertionError(f"{call} is not refused")


stored = []


def client(tokens=None):
    return Moderato(
        base_url="http://127.0.0.1:8080", client_id="demo-dashboard", tokens=tokens, on_tokens=stored.append
    )


moderato = client()
pending = moderato.auth.start_sign_in(redirect_uri=sys.argv[1], scopes=["users.read", "offline.access"])
print("To sign in, open", pending.url, flush=True)
returned_to = sys.stdin.readline().strip()

assert refused(moderato.auth.finish_sign_in, returned_to, replace(pending, state="another")) == "state_mismatch"
tokens = moderato.auth.finish_sign_in(returned_to, pending)
print("Signed in as", moderato.users.get_profile().display_name)

again = client(replace(tokens, access_token="mdu_" + "x" * 36))
with ThreadPoolExecutor(5) as pool:
    profiles = list(pool.map(lambda _: again.users.get_profile(), range(5)))
assert len(profiles) == 5 and len(stored) == 2 and stored[1].refresh_token != tokens.refresh_token, stored
print("Refreshed once")

again.auth.sign_out()
assert refused(client(Tokens.from_json(stored[1].to_json())).auth.refresh) == "invalid_grant"
print("Signed out")
