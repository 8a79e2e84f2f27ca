"""Writes the schemas of an OpenAPI document as TypedDicts: types for checkers and editors, plain dicts at run time."""

from __future__ import annotations

import json
import keyword
import re
from typing import Any

HEADER = '''"""The objects of the API, made from its OpenAPI document.

They are plain dicts at run time; a type checker knows their keys and the types of their values.
"""

from __future__ import annotations

from typing import Any, Dict, List, Literal, TypedDict, Union

'''
SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}


def typed_dicts(document: dict[str, Any]) -> str:
    """The source text of a module with one name for each schema of the document."""
    return _Writer(document["components"]["schemas"]).write()


class _Writer:
    def __init__(self, schemas: dict[str, Any]) -> None:
        self._schemas = schemas
        self._names = set(schemas)
        self._classes: list[str] = []
        self._aliases: list[str] = []

    def write(self) -> str:
        for name, schema in self._schemas.items():
            if _is_closed_object(schema):
                self._write_class(name, schema)
            else:
                # Aliases are evaluated, and so come after the classes that they name.
                self._aliases.append(f"{name} = {self._type_of(schema, name)}\n")
        exported = "".join(f'    "{name}",\n' for name in sorted(self._names))
        return f"{HEADER}__all__ = [\n{exported}]\n\n\n" + "\n\n".join(self._classes) + "\n\n" + "".join(self._aliases)

    def _write_class(self, name: str, schema: dict[str, Any]) -> None:
        properties: dict[str, Any] = schema["properties"]
        types = {key: self._type_of(value, name + _camel(key)) for key, value in properties.items()}
        required = set(schema.get("required", ()))
        optional = [key for key in types if key not in required]
        note = _docstring(schema)
        if any(not key.isidentifier() or keyword.iskeyword(key) for key in types):
            self._classes.append(self._functional(name, types, required))
            return
        base = "TypedDict"
        # NotRequired is in no standard library before Python 3.11.
        if optional and len(optional) < len(types):
            base = f"_{name}Required"
            self._classes.append(_class(base, "TypedDict", "", [key for key in types if key in required], types, properties))
            self._classes.append(_class(name, f"{base}, total=False", note, optional, types, properties))
        else:
            total = ", total=False" if optional else ""
            self._classes.append(_class(name, f"{base}{total}", note, list(types), types, properties))

    def _functional(self, name: str, types: dict[str, str], required: set[str]) -> str:
        fields = ", ".join(f'"{key}": {json.dumps(value)}' for key, value in types.items())
        total = "" if required == set(types) else ", total=False"
        return f'{name} = TypedDict("{name}", {{{fields}}}{total})\n'

    def _type_of(self, schema: Any, name: str) -> str:
        if not isinstance(schema, dict):
            return "Any"
        if "$ref" in schema:
            return f'"{schema["$ref"].rsplit("/", 1)[-1]}"'
        if "const" in schema or "enum" in schema:
            return f"Literal[{', '.join(repr(value) for value in schema.get('enum', [schema.get('const')]))}]"
        for key in ("anyOf", "oneOf"):
            if key in schema:
                return _union([self._type_of(option, name + _suffix(option)) for option in schema[key]])
        if len(schema.get("allOf", ())) == 1:
            return self._type_of(schema["allOf"][0], name)
        if isinstance(schema.get("type"), list):
            return _union([self._type_of({**schema, "type": one}, name) for one in schema["type"]])
        return self._plain(schema, name)

    def _plain(self, schema: dict[str, Any], name: str) -> str:
        kind = schema.get("type")
        if kind == "array":
            return f"List[{self._type_of(schema.get('items'), name + 'Item')}]"
        if _is_closed_object(schema):
            self._names.add(name)
            self._write_class(name, schema)
            return f'"{name}"'
        if kind == "object" or "allOf" in schema:
            values = schema.get("additionalProperties")
            return f"Dict[str, {'Any' if schema.get('properties') else self._type_of(values or None, name + 'Value')}]"
        return "bytes" if schema.get("format") == "binary" else SCALARS.get(str(kind), "Any")


def _is_closed_object(schema: dict[str, Any]) -> bool:
    """False for objects that may have keys of any name."""
    return bool(schema.get("properties")) and schema.get("additionalProperties", False) is False


def _class(name: str, bases: str, note: str, keys: list[str], types: dict[str, str], properties: dict[str, Any]) -> str:
    lines = [f"class {name}({bases}):", *([f"    {note}", ""] if note else [])]
    for key in keys:
        lines.append(f"    {key}: {types[key]}")
        described = _docstring(properties[key])
        if described:
            lines.append(f"    {described}")
    return "\n".join(lines) + "\n"


def _docstring(schema: Any) -> str:
    text = schema.get("description", "") if isinstance(schema, dict) else ""
    return json.dumps(re.sub(r"\s+", " ", text), ensure_ascii=False) if text else ""


def _union(types: list[str]) -> str:
    unique = list(dict.fromkeys(types))
    return unique[0] if len(unique) == 1 else f"Union[{', '.join(unique)}]"


def _suffix(option: Any) -> str:
    """Of several objects each is named for the constant that tells it from the others."""
    properties = option.get("properties", {}) if isinstance(option, dict) else {}
    for value in properties.values():
        if "const" in value or "enum" in value:
            return _camel(str(value.get("const", value.get("enum", [""])[0])))
    return ""


def _camel(text: str) -> str:
    return "".join(word[:1].upper() + word[1:] for word in re.split(r"[^A-Za-z0-9]+", text))
