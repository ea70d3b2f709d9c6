"""Writes moderato/_types.py and moderato/_operations.py from the OpenAPI document."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
DOCUMENT = json.loads((HERE / "../../docs/openapi/openapi.json").read_text("utf-8"))
CHOICES = json.loads((HERE / "../operations.json").read_text("utf-8"))
SCHEMAS = DOCUMENT["components"]["schemas"]

NOTICE = "# Generated from docs/openapi/openapi.json by generate.py; do not edit.\n"
TYPES_HEAD = """from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Optional
"""
OPERATIONS_HEAD = """from __future__ import annotations

from typing import Any, Optional, Sequence

from ._paging import Listing
from ._resource import EventsResource, Resource, segment
from ._transport import Options, Transport
from ._types import (
"""


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name.replace("[]", "")).lower()


def last(ref: str) -> str:
    return ref.rsplit("/", 1)[-1]


def type_of(schema: dict[str, Any], sequence: str = "list") -> str:
    """Return the Python type of a schema."""
    if "$ref" in schema:
        return last(schema["$ref"])
    if "anyOf" in schema:
        return f"Optional[{type_of(next(s for s in schema['anyOf'] if s.get('type') != 'null'), sequence)}]"
    kind = schema.get("type")
    if isinstance(kind, list):
        plain = type_of({**schema, "type": next(k for k in kind if k != "null")}, sequence)
        return f"Optional[{plain}]"
    if kind == "array":
        return f"{sequence}[{type_of(schema['items'], sequence)}]"
    if kind == "string":
        return "datetime" if schema.get("format") == "date-time" else "str"
    return {"integer": "int", "number": "float", "boolean": "bool"}.get(kind or "", "dict[str, Any]")


def optional(kind: str) -> str:
    return kind if kind.startswith("Optional[") else f"Optional[{kind}]"


def docstring(text: str, indent: str) -> str:
    lines = text.strip().replace("\\", "\\\\").replace('"""', "'''").split("\n")
    if lines[-1].endswith('"'):
        lines[-1] += " "
    body = ("\n" + indent).join(lines)
    body = "\n".join(line.rstrip() for line in body.split("\n"))
    end = "\n" + indent if len(lines) > 1 else ""
    return f'{indent}"""{body}{end}"""\n'


def class_of(name: str) -> str:
    """Return the dataclass of a schema."""
    schema = SCHEMAS[name]
    required = schema.get("required", [])
    text = f"\n\n@dataclass(frozen=True)\nclass {name}:\n" + docstring(schema.get("description") or name, "    ")
    members = sorted(schema["properties"].items(), key=lambda member: member[0] not in required)
    for member, of in members:
        kind = type_of(of)
        text += f"\n    {snake(member)}: " + (kind if member in required else f"{optional(kind)} = None") + "\n"
        if "description" in of:
            text += docstring(of["description"], "    ")
    return text


def operations() -> dict[str, list[dict[str, Any]]]:
    """Return the operations of the API by resource."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for path, item in DOCUMENT["paths"].items():
        for method, operation in item.items():
            if path.startswith("/v1/") and operation["operationId"] not in CHOICES["streams"]:
                tag = operation["tags"][0]
                resource = CHOICES["resources"].get(tag, tag.lower())
                groups.setdefault(resource, []).append({**operation, "path": path, "method": method.upper()})
    return groups


def data_of(operation: dict[str, Any]) -> dict[str, Any] | None:
    envelope = operation["responses"]["200"]["content"]["application/json"]["schema"]
    return envelope["properties"].get("data")


def parameters_of(operation: dict[str, Any]) -> list[tuple[str, str, bool]]:
    """Return the name, the type and whether it is required of each parameter."""
    if operation["method"] == "GET":
        query = [p for p in operation["parameters"] if p.get("in") in ("path", "query")]
        return [(p["name"], type_of(p["schema"], "Sequence"), p.get("required", False)) for p in query]
    schema = SCHEMAS[last(operation["requestBody"]["content"]["application/json"]["schema"]["$ref"])]
    required = schema.get("required", [])
    return [(name, type_of(of, "Sequence"), name in required) for name, of in schema["properties"].items()]


def method_of(operation: dict[str, Any]) -> str:
    identifier, method, path = operation["operationId"], operation["method"], f'"{operation["path"]}"'
    parameters, data = parameters_of(operation), data_of(operation)
    variables = re.findall(r"\{(\w+)\}", path)
    if variables:
        path = "f" + re.sub(r"\{(\w+)\}", lambda name: "{segment(" + snake(name[1]) + ")}", path)
    kind = "None" if data is None else type_of(data)
    is_list = {"cursor", "limit"} <= {name for name, _, _ in parameters} and method == "GET"
    signature = "".join(
        f"        {snake(name)}: " + (f"{of},\n" if needed else f"{optional(of)} = None,\n")
        for name, of, needed in sorted(parameters, key=lambda p: not p[2])
    )
    values = "{" + ", ".join(f'"{name}": {snake(name)}' for name, _, _ in parameters if name not in variables) + "}"
    if is_list:
        row = type_of(data["items"] if data["type"] == "array" else {}) if data and "type" in data else ""
        if not row:
            page = SCHEMAS[kind]["properties"]
            row = type_of((page.get("rows") or page["messages"])["items"])
        limit = next(p["schema"]["maximum"] for p in operation["parameters"] if p.get("name") == "limit")
        returns, call = f"Listing[{kind}, {row}]", f'self._list({path}, {values}, {kind}, {row}, {limit}, options)'
    elif method == "GET":
        returns, call = kind, f'self._get({path}, {values}, {kind}, options)'
    else:
        returns, call = kind, f'self._send("{method}", {path}, {values}, {kind}, options)'
    statement = call if returns == "None" else f"return {call}"
    if is_list:
        ignore = ""
    else:
        ignore = "" if returns == "None" else "  # type: ignore[no-any-return]"
    text = operation.get("description") or operation["summary"]
    if operation.get("deprecated"):
        text += "\n\nDeprecated."
    return (
        f"\n    def {snake(identifier)}(\n        self,\n        *,\n{signature}"
        f"        options: Optional[Options] = None,\n    ) -> {returns}:\n"
        f"{docstring(text, '        ')}        {statement}{ignore}\n"
    )


def payloads() -> dict[str, str]:
    """Return the schema of the payload of each event type."""
    found = {}
    for one in SCHEMAS["Event"]["anyOf"]:
        properties = SCHEMAS[last(one["$ref"])]["properties"]
        narrowed = next(part for part in properties["metadata"]["allOf"] if "properties" in part)
        found[narrowed["properties"]["subscriptionType"]["const"]] = last(properties["payload"]["$ref"])
    return found


def references(schema: Any) -> set[str]:
    """Return the names of the schemas to which a schema refers, directly or not."""
    if isinstance(schema, list):
        return set().union(*map(references, schema)) if schema else set()
    if not isinstance(schema, dict):
        return set()
    found = set().union(set(), *(references(value) for value in schema.values()))
    if "$ref" in schema and "/schemas/" in schema["$ref"]:
        name = last(schema["$ref"])
        found |= {name} | references(SCHEMAS[name])
    return found


def types() -> tuple[str, list[str]]:
    """Return the module of the types, and their names."""
    needed = {"EventMetadata", *payloads().values()} | references([SCHEMAS[p] for p in payloads().values()])
    for operation in (one for members in operations().values() for one in members):
        needed |= references(data_of(operation))
        if operation["method"] != "GET":
            body = SCHEMAS[last(operation["requestBody"]["content"]["application/json"]["schema"]["$ref"])]
            needed |= references(body["properties"])
    metadata = SCHEMAS["EventMetadata"]
    metadata["required"] = [name for name in metadata["required"] if name != "sequence"]  # live events have none
    names = sorted(needed)
    exported = "".join(f'    "{name}",\n' for name in names)
    text = NOTICE + TYPES_HEAD + f"\n__all__ = [\n{exported}]\n" + "".join(class_of(name) for name in names)
    text += "\n\n#: The payload of each type of events.\nEVENT_PAYLOADS: dict[str, type] = {\n"
    return text + "".join(f'    "{name}": {payload},\n' for name, payload in payloads().items()) + "}\n", names


def resources(names: list[str]) -> str:
    """Return the module of the operations."""
    text = ""
    groups = operations()
    for resource, members in groups.items():
        base = "EventsResource" if resource == "events" else "Resource"
        text += f'\n\nclass {resource.capitalize()}({base}):\n    """Operations: {resource}."""\n'
        text += "".join(method_of(operation) for operation in members)
    text += '\n\nclass Resources:\n    """All operations."""\n\n    def __init__(self, transport: Transport) -> None:\n'
    text += "        self._transport = transport\n"
    text += "".join(f"        self.{resource} = {resource.capitalize()}(transport)\n" for resource in groups)
    used = "".join(f"    {name},\n" for name in names if re.search(rf"\b{name}\b", text))
    return NOTICE + OPERATIONS_HEAD + used + ")\n" + text


if __name__ == "__main__":
    types_module, type_names = types()
    (HERE / "moderato/_types.py").write_text(types_module, "utf-8")
    (HERE / "moderato/_operations.py").write_text(resources(type_names), "utf-8")
