import unittest

from moderato import ModeratoError, SignInError

from .server import Server

DEVICE = {
    "device_code": "code",
    "user_code": "BCDF-GHJK",
    "verification_uri": "http://server/device",
    "verification_uri_complete": "http://server/device?user_code=BCDF-GHJK",
    "interval": 0.01,
    "expires_in": 60,
}
TOKEN = {"access_token": "mdu_2", "refresh_token": "mdr_2", "expires_in": 60, "scope": "users.read"}


def sign_in(server):
    return server.client().auth.sign_in_with_device(scopes=["users.read"], on_prompt=lambda prompt: None)


class Device(unittest.TestCase):
    def test_a_device_asks_again_until_the_user_has_approved(self):
        with Server((200, DEVICE), (400, {"error": "authorization_pending"}), "broken", (200, TOKEN)) as server:
            self.assertEqual(sign_in(server).access_token, "mdu_2")

    def test_a_device_gives_up_when_its_code_expires(self):
        failures = ["broken"] * 50
        with Server((200, {**DEVICE, "expires_in": 0.05}), *failures) as server, self.assertRaises(SignInError) as raised:
            sign_in(server)
        self.assertEqual(raised.exception.code, "expired_token")

    def test_a_device_gives_up_at_a_server_that_is_not_moderato(self):
        with Server((200, DEVICE), (404, {})) as server, self.assertRaises(ModeratoError) as raised:
            sign_in(server)
        self.assertEqual(raised.exception.status, 404)


class Renewal(unittest.TestCase):
    def test_tokens_that_arrive_after_a_sign_out_are_dropped(self):
        clients, stored = [], []

        def sign_out():
            clients[0].auth._tokens = None  # as sign_out does first
            return 200, TOKEN

        with Server(sign_out) as server:
            clients.append(server.client(on_tokens=stored.append))
            with self.assertRaises(SignInError) as raised:
                clients[0].auth.refresh()
        self.assertEqual((raised.exception.code, clients[0].auth.tokens, stored), ("signed_out", None, []))


class Redirects(unittest.TestCase):
    def test_a_redirect_is_an_error_and_gets_no_token(self):
        with Server() as other, Server((302, {}, {"Location": other.url + "/v1/users/profile"})) as server:
            with self.assertRaises(ModeratoError) as raised:
                server.client().users.get_profile()
            self.assertEqual((raised.exception.code, other.requests), ("REDIRECTED", []))
            self.assertIn(other.url, raised.exception.message)
