import unittest

from moderato._sse import Message, Parser


class ParserTest(unittest.TestCase):
    def test_messages(self):
        stream = 'retry: 2000\n: listening\nid: a\n\nid: b\ndata: {"x":\ndata: 1}\n\nevent: missed\ndata:{}\n\nid: c\ndata: 1'
        parser = Parser()
        messages = [message for message in map(parser.push, stream.split("\n")) if message]
        self.assertEqual(
            messages, [Message("message", "a", None), Message("message", "b", '{"x":\n1}'), Message("missed", "b", "{}")]
        )
