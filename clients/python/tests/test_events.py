import json
import threading
import time
import unittest

from moderato import ModeratoError

from .server import Server


def ban(id, sequence):
    event = {"metadata": {"subscriptionType": "channel.ban", "sequence": sequence}, "payload": {}}
    return f"id: {id}\ndata: {json.dumps(event)}\n\n"


def end(code):
    return f"event: end\ndata: {json.dumps({'message': code, 'data': {'code': code}})}\n\n"


def heartbeat(id):
    return f"id: {id}\n: nothing new\n\n"


def next_of(stream, count):
    return [next(stream).metadata.sequence for _ in range(count)]


class Events(unittest.TestCase):
    def test_a_stream_resumes_after_a_break_silence_and_the_end_of_the_server(self):
        codes = []
        with Server(
            heartbeat("0") + ban("a", 1),
            heartbeat("a") + ban("b", 2) + "(silence)",
            heartbeat("c") + end("UNAVAILABLE"),
            heartbeat("c") + ban("d", 3),
        ) as server:
            with server.client().events.listen(
                idle_timeout=0.1, on_disconnect=lambda error: codes.append(error.code)
            ) as stream:
                self.assertEqual(stream.cursor, "0")
                self.assertEqual(next_of(stream, 3), [1, 2, 3])
        cursors = [request["query"].get("cursor") for request in server.requests]
        self.assertEqual(cursors, [None, ["a"], ["b"], ["c"]])
        self.assertEqual(codes, ["CONNECTION_FAILED", "TIMEOUT", "UNAVAILABLE"])
        with self.assertRaises(StopIteration):
            next(stream)

    def test_a_token_that_ends_is_renewed(self):
        token = {"access_token": "mdu_2", "refresh_token": "mdr_2", "expires_in": 60}
        with Server(
            heartbeat("0") + ban("a", 1) + end("TOKEN_EXPIRED"),
            (401, {"code": "TOKEN_EXPIRED"}),
            (200, token),
            heartbeat("a") + ban("b", 2),
        ) as server:
            with server.client().events.listen() as stream:
                self.assertEqual(next_of(stream, 2), [1, 2])
        tokens = [request["token"] for request in server.requests if request["path"] == "/v1/events"]
        self.assertEqual(tokens, ["Bearer mdu_1", "Bearer mdu_1", "Bearer mdu_2"])

    def test_an_error_that_another_try_does_not_help_is_raised(self):
        with Server(heartbeat("0") + end("NOT_CHANNEL_MODERATOR"), (400, {"code": "CURSOR_INVALID"})) as server:
            with self.assertRaises(ModeratoError) as raised:
                next(server.client().events.listen())
            self.assertEqual(raised.exception.code, "NOT_CHANNEL_MODERATOR")
            with self.assertRaises(ModeratoError) as raised:
                server.client().events.listen(cursor="old")
            self.assertEqual(raised.exception.code, "CURSOR_INVALID")

    def test_lost_chat_is_reported_and_chat_keeps_the_cursor(self):
        chat = {"metadata": {"subscriptionType": "channel.chat.message"}, "payload": {"message": "hi"}}
        missed = 'id: \nevent: missed\ndata: {"missedMessages":3}\n\n'
        counts = []
        with Server(heartbeat("0") + missed + f"data: {json.dumps(chat)}\n\n") as server:
            with server.client().events.listen(on_missed=counts.append) as stream:
                event = next(stream)
        self.assertEqual((counts, event.payload.message, event.cursor), ([3], "hi", "0"))

    def test_a_stream_that_is_closed_while_it_connects_again_ends(self):
        streams = []

        def close():
            streams[0].close()
            return heartbeat("a") + ban("b", 2) + "(silence)"

        with Server(heartbeat("0") + ban("a", 1), close) as server:
            streams.append(server.client().events.listen())
            self.assertEqual([event.metadata.sequence for event in streams[0]], [1])

    def test_another_thread_closes_a_stream(self):
        with Server(heartbeat("0") + "(silence)") as server:
            stream = server.client().events.listen()
            timer = threading.Timer(0.05, stream.close)
            timer.start()
            begun = time.monotonic()
            self.assertEqual(list(stream), [])
            self.assertLess(time.monotonic() - begun, 20)
            timer.join()
