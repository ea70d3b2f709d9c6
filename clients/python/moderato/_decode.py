from __future__ import annotations

from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, Tuple, TypeVar, Union, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")


def decode(kind: Any, value: Any) -> Any:
    """Return a JSON value as a value of a type. Fields that the type does not have are left out."""
    if value is None or kind is None:
        return None
    origin = get_origin(kind)
    if origin is Union:  # Optional
        return decode(get_args(kind)[0], value)
    if origin is list:
        return [decode(get_args(kind)[0], one) for one in value]
    if kind is datetime:
        return timestamp(value)
    if is_dataclass(kind):
        return cast(Any, kind)(**{name: decode(of, value.get(key)) for name, key, of in _fields_of(kind)})
    return value


def timestamp(text: str) -> datetime:
    """Return the time that an RFC 3339 text names."""
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def camel(name: str) -> str:
    """Return the name that the API has for a Python name: channel_id is channelId."""
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


@lru_cache(maxsize=None)
def _fields_of(kind: Any) -> Tuple[Tuple[str, str, Any], ...]:
    """Return the name, the JSON name and the type of each field."""
    types = get_type_hints(kind)
    return tuple((f.name, camel(f.name), types[f.name]) for f in fields(kind))
