import os
import tempfile
import unittest
from datetime import datetime, timezone
from pathlib import Path
from types import SimpleNamespace

from moderato import FileState, Tokens


class Stream(list):
    """Stands in for a stream of events."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


def event(name):
    return SimpleNamespace(cursor=f"after {name}", metadata=SimpleNamespace(message_id=name))


class FileStateTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.path = Path(directory.name) / "bot.json"

    def test_tokens_survive_a_restart(self):
        self.assertIsNone(FileState(self.path).tokens)
        tokens = Tokens("mdu_1", "mdr_1", datetime(2026, 11, 26, tzinfo=timezone.utc), ["users.read"])
        FileState(self.path).save_tokens(tokens)
        self.assertEqual(FileState(self.path).tokens, tokens)
        self.assertEqual(os.stat(self.path).st_mode & 0o777, 0o600)

    def test_each_event_is_handled_once(self):
        opened = []

        def handle(names, until=None):
            def listen(cursor):
                opened.append(cursor)
                return Stream(event(name) for name in names)

            handled = []
            for e in FileState(self.path).events(listen):
                if e.metadata.message_id == until:
                    break  # as if the program ended
                handled.append(e.metadata.message_id)
            return handled

        self.assertEqual(handle(["a", "b", "c"], until="c"), ["a", "b"])
        self.assertEqual(handle(["b", "c", "c", "d"]), ["c", "d"])
        self.assertEqual(handle(["d"]), [])
        self.assertEqual(opened, [None, "after b", "after d"])
