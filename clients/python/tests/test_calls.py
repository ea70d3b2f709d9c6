import unittest
import uuid
from unittest import mock

from moderato import APIConnectionError, FieldError, IdempotencyKeyReusedError, ModeratoError, Options
from moderato._retry import backoff, retry_delay

from .server import Server


def error(code, status=None, retry_after=None):
    return ModeratoError("", code=code, status=status, retry_after=retry_after)


class Retries(unittest.TestCase):
    def test_what_is_repeated(self):
        for name, failure, is_repeated in [
            ("a refusal for the rate", error("RATE_LIMITED", 429, 1), True),
            ("overload", error("OVERLOADED", 503, 1), True),
            ("a long pause", error("RATE_LIMITED", 429, 3600), False),
            ("too many streams", error("STREAM_LIMIT_REACHED", 429), False),
            ("an unavailable server", error("UNAVAILABLE", 503, 1), True),
            ("an unknown outcome", error("DEADLINE_EXCEEDED", 504), True),
            ("a broken connection", APIConnectionError("", code="CONNECTION_FAILED"), True),
            ("a key in use", error("IDEMPOTENCY_KEY_IN_USE", 409, 1), True),
            ("a key that was used", error("IDEMPOTENCY_KEY_REUSED", 422), False),
            ("an active mute, in spite of Retry-After", error("MUTE_ACTIVE", 409, 1), False),
            ("a mistake", error("INVALID_ARGUMENT", 400), False),
        ]:
            with self.subTest(name):
                self.assertEqual(retry_delay(failure, 0) is not None, is_repeated)

    def test_retry_after_is_waited_for(self):
        self.assertGreaterEqual(retry_delay(error("RATE_LIMITED", 429, 7), 0), 7)

    def test_the_pause_grows_up_to_30_s(self):
        for attempt, most in [(0, 0.5), (1, 1), (5, 16), (5000, 30)]:
            self.assertTrue(most / 2 <= backoff(attempt) <= most)


class Calls(unittest.TestCase):
    def setUp(self):
        sleep = mock.patch("time.sleep")
        sleep.start()
        self.addCleanup(sleep.stop)

    def test_all_attempts_of_a_change_have_the_same_key(self):
        in_use = 409, {"code": "IDEMPOTENCY_KEY_IN_USE"}, {"Retry-After": "1"}
        token = 200, {"access_token": "mdu_2", "expires_in": 60}
        mute = {"muteExpiresAt": "2026-11-20T12:00:00.000Z"}
        responses = "broken", in_use, (401, {"code": "TOKEN_EXPIRED"}), token, (200, mute), (200, mute), (200, None)
        with Server(*responses) as server:
            client = server.client()
            for _ in range(2):
                muted = client.moderation.mute_user(channel_id="c", muted_user_id="u")
                self.assertEqual(muted.mute_expires_at.year, 2026)
            client.request("DELETE", "/v1/new", body={})
        keys = [request["key"] for request in server.requests if request["path"].startswith("/v1/")]
        self.assertEqual(len(keys), 6)
        for key in keys:
            self.assertEqual(uuid.UUID(key).version, 4)
        self.assertEqual(len(set(keys[:4])), 1, "the attempts of a call share a key")
        self.assertEqual(len(set(keys)), 3, "each call has a key of its own")

    def test_a_caller_can_choose_the_key(self):
        message = {"messageId": "m", "createdAt": "2026-11-20T12:00:00.000Z"}
        with Server("broken", (200, message)) as server:
            server.client().chat.post_message(
                channel_id="c", message="m", options=Options(idempotency_key="mine")
            )
        self.assertEqual([request["key"] for request in server.requests], ["mine", "mine"])
        self.assertEqual(server.requests[0]["body"], '{"channelId": "c", "message": "m"}')

    def test_a_read_has_no_key(self):
        with Server((200, {})) as server:
            server.client().request("GET", "/v1/users/profile")
        self.assertIsNone(server.requests[0]["key"])

    def test_a_key_that_was_used_for_another_call_is_an_error_of_its_own(self):
        with Server((422, {"code": "IDEMPOTENCY_KEY_REUSED"}, {"X-Request-Id": "r"})) as server:
            with self.assertRaises(IdempotencyKeyReusedError) as raised:
                server.client().moderation.remove_ban(channel_id="c", ban_user_id="u")
        self.assertEqual((raised.exception.code, raised.exception.request_id), ("IDEMPOTENCY_KEY_REUSED", "r"))
        self.assertEqual(len(server.requests), 1)

    def test_an_error_has_its_details(self):
        violations = [{"field": "limit", "description": "must be between 1 and 100"}]
        responses = (400, {"code": "INVALID_ARGUMENT", "violations": violations}), (
            409,
            {"code": "MUTE_ACTIVE", "muteExpiresAt": "2026-11-20T12:00:00.000Z"},
            {"Retry-After": "9"},
        )
        with Server(*responses) as server:
            client = server.client()
            with self.assertRaises(ModeratoError) as raised:
                list(client.channels.list_followers(limit=0))
            self.assertEqual(raised.exception.fields, [FieldError("limit", "must be between 1 and 100")])
            with self.assertRaises(ModeratoError) as raised:
                client.moderation.mute_user(channel_id="c", muted_user_id="u")
            self.assertEqual((raised.exception.retry_after, raised.exception.mute_expires_at.day), (9, 20))

    def test_a_silent_server_is_a_timeout(self):
        with Server("silence") as server, self.assertRaises(APIConnectionError) as raised:
            server.client().users.get_profile(options=Options(timeout=0.05, retries=0))
        self.assertEqual(raised.exception.code, "TIMEOUT")

    def test_a_loop_reads_every_kind_of_list_to_their_end(self):
        def page(names, cursor):
            return 200, {"count": 3, "rows": [{"id": name} for name in names], "pagination": {"cursor": cursor}}

        link = {"Link": '</v1/channels/votes?cursor=n%2Fext&limit=2>; rel="next"'}
        with Server(
            page("ab", "next"), page("c", ""), (200, [{"id": "a"}, {"id": "b"}], link), (200, [{"id": "c"}]),
            (200, {"channelId": "c", "messages": [{"id": "a"}], "pagination": {"cursor": ""}}),
        ) as server:
            client = server.client()
            self.assertEqual([row.id for row in client.channels.list_followers(user_id="u")], ["a", "b", "c"])
            votes = client.channels.list_votes(channel_id="c", epoch="all", limit=2)
            self.assertEqual([row.id for row in votes], ["a", "b", "c"])
            self.assertEqual([message.id for message in client.chat.list_messages(channel_id="c")], ["a"])
        queries = [request["query"] for request in server.requests]
        self.assertEqual(queries[1], {"limit": ["100"], "userId": ["u"], "cursor": ["next"]})
        self.assertEqual(queries[3]["cursor"], ["n/ext"])
