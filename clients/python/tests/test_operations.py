import json
import re
import unittest
from pathlib import Path
from unittest import mock

from moderato import Moderato

ROOT = Path(__file__).parents[3]


class Operations(unittest.TestCase):
    def test_every_operation_of_the_api_has_a_method(self):
        paths = json.loads((ROOT / "docs/openapi/openapi.json").read_text("utf-8"))["paths"]
        choices = json.loads((ROOT / "clients/operations.json").read_text("utf-8"))
        moderato = Moderato(base_url="http://server", client_id="bot")
        found = set()
        for path, item in paths.items():
            for verb, operation in item.items() if path.startswith("/v1/") else []:
                identifier, tag = operation["operationId"], operation["tags"][0]
                found.add(identifier)
                if identifier in choices["streams"]:
                    resource, name = choices["streams"][identifier].split(".")
                    self.assertTrue(callable(getattr(getattr(moderato, resource), name)))
                    continue
                resource = getattr(moderato, choices["resources"].get(tag, tag.lower()))
                method = getattr(resource, re.sub(r"([A-Z])", r"_\1", identifier).lower())
                arguments = {
                    name: "x" if annotation == "str" else None
                    for name, annotation in method.__annotations__.items()
                    if name != "return" and not annotation.startswith("Optional")
                }
                with mock.patch.object(moderato._transport, "call", return_value=(None, {})) as call:
                    result = method(**arguments)
                    if hasattr(result, "fetch"):
                        result.fetch()
                self.assertEqual(call.call_args.args, (verb.upper(), re.sub(r"{\w+}", "x", path)), identifier)
        self.assertGreater(len(found), 40)
        self.assertLessEqual({*choices["streams"]}, found)
