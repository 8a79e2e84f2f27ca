"""Runs a program step by step, and prints what each step saw as a line of JSON. A step that fails prints its error, and the program goes on."""

import asyncio
import dataclasses
import json
import sys
import time


def plain(value):
    """What JSON has of a value: models of the clients as they came, other objects by their fields."""
    for method in ("to_dict", "model_dump"):
        if hasattr(value, method) and not isinstance(value, type):
            options = {} if method == "to_dict" else {"mode": "json", "by_alias": True}
            return plain(getattr(value, method)(**options))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return plain(dataclasses.asdict(value))
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)


def described(error):
    """The fields of an error that a caller can tell failures apart by. Of a group it is the first error."""
    while getattr(error, "exceptions", None):
        error = error.exceptions[0]
    fields = {name: plain(getattr(error, name, None)) for name in ("status_code", "code", "param", "body")}
    nested = getattr(error, "error", None)
    if nested is not None:
        fields["code"] = getattr(nested, "code", None)
    return {"type": type(error).__name__, "bases": [base.__name__ for base in type(error).__mro__], "message": str(error), **fields}


def _report(name, started, outcome):
    line = {"step": name, "seconds": round(time.monotonic() - started, 3), **outcome}
    print(json.dumps(line), flush=True)


def step(name, call):
    """Returns what `call` returns; None if it failed."""
    started = time.monotonic()
    try:
        value = call()
        _report(name, started, {"value": plain(value)})
        return value
    except Exception as error:
        _report(name, started, {"error": described(error)})
        return None


async def async_step(name, call):
    """The same for a call that returns an awaitable."""
    started = time.monotonic()
    try:
        value = await call()
        _report(name, started, {"value": plain(value)})
        return value
    except (Exception, asyncio.CancelledError) as error:
        _report(name, started, {"error": described(error)})
        return None


def given():
    """What the test hands over: a JSON object in the first argument."""
    return json.loads(sys.argv[1])
