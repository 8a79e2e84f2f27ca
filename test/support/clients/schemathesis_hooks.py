"""Lets schemathesis meet what exists: among the ids that it makes up, it sends those of real resources."""

import json
import os
import urllib.parse
import uuid
import zlib

import schemathesis

# Ids by the name of the parameter or field, as the test's tenants have them.
KNOWN = json.loads(os.environ["SCHEMATHESIS_IDS"])
# A wait is a wait after a second as after a minute.
LONGEST_WAIT = 1
LONGEST_QUERY = 24_000


def is_id(value):
    try:
        return isinstance(value, str) and str(uuid.UUID(value)) == value.lower()
    except ValueError:
        return False


def known(name, value):
    """Half of the ids become those of what exists; which ones depends on the id alone."""
    if name not in KNOWN or not is_id(value) or uuid.UUID(value).int % 2 == 0:
        return value
    return KNOWN[name]


def replaced(value, name=None):
    if isinstance(value, dict):
        return {key: replaced(inner, key) for key, inner in value.items()}
    if isinstance(value, list):
        return [replaced(inner, name.removesuffix("s") if name else None) for inner in value]
    return known(name, value)


def ends_something(case):
    """What is deleted, revoked or replaced would be missing for all that comes later."""
    path = case.operation.path
    return case.method == "DELETE" or path.endswith(("/revoke", "/roll", "/members/{user_id}"))


def chance(text, out_of):
    """The same for the same text, in every run."""
    return zlib.crc32(text.encode()) % out_of


def mostly_right(headers):
    """Most requests name the right organization and no condition: otherwise nothing else would be met."""
    for name, value in list(headers.items()):
        if not isinstance(value, str) or chance(value, 8) == 0:
            continue
        if name == "X-Organization-Id":
            headers[name] = KNOWN["organization_id"]
        elif name in ("If-Match", "Last-Event-ID"):
            del headers[name]


def spared(path_parameters):
    """What other requests need is not ended: what is made in the run may be."""
    return {
        name: str(uuid.uuid5(uuid.NAMESPACE_OID, value)) if value in KNOWN.values() and is_id(value) else value
        for name, value in path_parameters.items()
    }


def shortened(query):
    """A head of more than 32 KiB closes the connection, so that its 431 may not be read."""
    while len(urllib.parse.urlencode(query, doseq=True, errors="replace")) > LONGEST_QUERY:
        longest = max(query, key=lambda name: len(str(query[name])))
        value = query[longest]
        query[longest] = value[: len(value) // 2] if isinstance(value, (str, list)) else ""


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.headers is not None:
        mostly_right(case.headers)
    if ends_something(case):
        if isinstance(case.path_parameters, dict):
            case.path_parameters = spared(case.path_parameters)
    else:
        if isinstance(case.path_parameters, dict):
            case.path_parameters = replaced(case.path_parameters)
        if isinstance(case.body, dict):
            case.body = replaced(case.body)
    if isinstance(case.query, dict):
        case.query = replaced(case.query)
        shortened(case.query)
        wait = case.query.get("wait")
        if isinstance(wait, int) and LONGEST_WAIT < wait <= 60:
            case.query["wait"] = LONGEST_WAIT
