import json
import unittest
import uuid
from unittest import mock

from moderato import APIConnectionError, FieldError, ModeratoError, Options
from moderato._retry import backoff, retry_delay

from .server import Server


def error(code, status=None, retry_after=None):
    return ModeratoError("", code=code, status=status, retry_after=retry_after)


class Retries(unittest.TestCase):
    def test_what_may_be_repeated(self):
        for name, failure, when_idempotent, otherwise in [
            ("a refusal for the rate", error("RATE_LIMITED", 429, 1), True, True),
            ("overload", error("OVERLOADED", 503, 1), True, True),
            ("a long pause", error("RATE_LIMITED", 429, 3600), False, False),
            ("too many streams", error("STREAM_LIMIT_REACHED", 429), False, False),
            ("an unavailable server", error("UNAVAILABLE", 503, 1), True, False),
            ("an unknown outcome", error("DEADLINE_EXCEEDED", 504), True, False),
            ("a broken connection", APIConnectionError("", code="CONNECTION_FAILED"), True, False),
            ("an active mute, in spite of Retry-After", error("MUTE_ACTIVE", 409, 1), False, False),
            ("a mistake", error("INVALID_ARGUMENT", 400), False, False),
        ]:
            with self.subTest(name):
                self.assertEqual(retry_delay(failure, 0, True) is not None, when_idempotent)
                self.assertEqual(retry_delay(failure, 0, False) is not None, otherwise)

    def test_retry_after_is_waited_for(self):
        self.assertGreaterEqual(retry_delay(error("RATE_LIMITED", 429, 7), 0, False), 7)

    def test_the_pause_grows_up_to_30_s(self):
        for attempt, most in [(0, 0.5), (1, 1), (5, 16), (5000, 30)]:
            self.assertTrue(most / 2 <= backoff(attempt) <= most)


class Calls(unittest.TestCase):
    def setUp(self):
        sleep = mock.patch("time.sleep")
        sleep.start()
        self.addCleanup(sleep.stop)

    def test_a_post_is_repeated_with_the_same_message_id(self):
        message = {"messageId": "m", "createdAt": "2026-11-20T12:00:00.000Z"}
        with Server((500, {"code": "INTERNAL"}), (200, message)) as server:
            posted = server.client().chat.post_message(channel_id="c", message="m")
        self.assertEqual(posted.created_at.year, 2026)
        first, second = (json.loads(request["body"]) for request in server.requests)
        self.assertEqual(first, second)
        self.assertTrue(uuid.UUID(first["messageId"]))

    def test_a_change_that_is_not_idempotent_is_not_repeated(self):
        with Server((500, {"code": "INTERNAL"}, {"X-Request-Id": "r"})) as server:
            with self.assertRaises(ModeratoError) as raised:
                server.client().moderation.mute_user(channel_id="c", muted_user_id="u")
        self.assertEqual((raised.exception.code, raised.exception.request_id), ("INTERNAL", "r"))

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

    def test_a_loop_reads_both_kinds_of_lists_to_their_end(self):
        def page(names, cursor):
            return 200, {"count": 3, "rows": [{"id": name} for name in names], "pagination": {"cursor": cursor}}

        link = {"Link": '</v1/channels/votes?cursor=n%2Fext&limit=2>; rel="next"'}
        with Server(
            page("ab", "next"), page("c", ""), (200, [{"id": "a"}, {"id": "b"}], link), (200, [{"id": "c"}])
        ) as server:
            client = server.client()
            self.assertEqual([row.id for row in client.channels.list_followers(user_id="u")], ["a", "b", "c"])
            votes = client.channels.list_votes(channel_id="c", epoch="all", limit=2)
            self.assertEqual([row.id for row in votes], ["a", "b", "c"])
        queries = [request["query"] for request in server.requests]
        self.assertEqual(queries[1], {"limit": ["100"], "userId": ["u"], "cursor": ["next"]})
        self.assertEqual(queries[3]["cursor"], ["n/ext"])
