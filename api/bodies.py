"""Reads JSON bodies strictly: refuses anything that two parsers could understand differently.

The front limits their size; this module counts depth and number of parts in the raw bytes before decoding. A room with
write routes creates its router with `route_class=JsonRoute`.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any, ClassVar, NoReturn

from fastapi import Request, Response

from api.receiving import BODY_LIMIT_BYTES
from api.routes import WorkRoute
from contracts.errors import BodyInvalid, MediaTypeUnsupported
from contracts.secret_texts import refuse_secrets

DEEPEST = 64
"""Levels of nested arrays and objects."""

MOST_CONTAINERS = 5_000
"""Arrays and objects in a body of up to 64 KiB."""

MOST_CONTAINERS_OF_LARGER = 50_000
"""Arrays and objects in a larger body. The largest graph that fits into a MiB of statements has 30,000."""

MOST_KEYS = 1_000
"""Keys in one object. Each key that a model does not know is a separate error."""

_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def strict_json(body: bytes) -> Any:
    """Decodes a body: UTF-8, no repeated key, finite numbers, no lone surrogates, within the limits above.

    Raises `BodyInvalid`.
    """
    _refuse_structure(body)
    try:
        value = json.loads(
            body.decode(), object_pairs_hook=_object, parse_constant=_not_finite, parse_float=_finite_float
        )
    except UnicodeDecodeError:
        raise BodyInvalid("The body is not UTF-8.") from None
    except json.JSONDecodeError as error:
        raise BodyInvalid(f"The body is not JSON: {error.msg} at character {error.pos}.") from None
    except ValueError:
        # Python's error for an integer with thousands of digits.
        raise BodyInvalid("A number in the body has too many digits.") from None
    if _SURROGATE.search(body):
        _refuse_lone_surrogates_in(value)
    return value


class JsonRoute(WorkRoute):
    """A route whose body, if it accepts one, must be strict JSON, which is checked before a model reads it.

    A body that is stored must not contain secrets (`contracts.secret_texts`).
    """

    keeps_texts: ClassVar[bool] = True

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        answer = super().get_route_handler()
        if self.body_field is None:
            return answer

        async def answer_json(request: Request) -> Response:
            value = await _read(request)
            if self.keeps_texts:
                refuse_secrets(value)
            return await answer(_StrictRequest(request, value))

        return answer_json


class ReadingRoute(JsonRoute):
    """A route that answers a question or judges an action. It accepts texts with secrets because nobody can read them
    back: the guardrail's log shortens them or leaves them out."""

    keeps_texts = False


class _StrictRequest(Request):
    """A request whose JSON is already decoded."""

    def __init__(self, request: Request, value: Any) -> None:
        super().__init__(request.scope, request.receive)
        self._body = request._body
        self._json = value


async def _read(request: Request) -> Any:
    body = await request.body()
    if not body:
        return None
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise MediaTypeUnsupported("Send the body as application/json.")
    return strict_json(body)


def _refuse_structure(body: bytes) -> None:
    if body.count(b"[") + body.count(b"{") <= DEEPEST:
        return
    most = MOST_CONTAINERS if len(body) <= BODY_LIMIT_BYTES else MOST_CONTAINERS_OF_LARGER
    brackets = _STRING.sub(b"", body).translate(None, _NO_BRACKETS)
    if len(brackets) > 2 * most:
        raise BodyInvalid(f"At most {most:,} arrays and objects; send less at once.")
    depth = 0
    for bracket in brackets:
        depth += 1 if bracket in b"[{" else -1
        if depth > DEEPEST:
            raise BodyInvalid(f"At most {DEEPEST} levels of arrays and objects.")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(pairs) > MOST_KEYS:
        raise BodyInvalid(f"At most {MOST_KEYS:,} keys in one object.")
    if len(members) != len(pairs):
        counts = Counter(key for key, _ in pairs)
        twice = next(key for key, count in counts.items() if count > 1)
        raise BodyInvalid(f"The key {_shown(twice)} occurs twice in one object.")
    return members


def _not_finite(name: str) -> NoReturn:
    raise BodyInvalid(f"{name} is not JSON.")


def _finite_float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise BodyInvalid(f"The number {text[:20]} is too large.")
    return number


def _refuse_lone_surrogates_in(value: Any) -> None:
    level = [value]
    while level:
        inner: list[Any] = []
        for part in level:
            if isinstance(part, str):
                _refuse_lone_surrogates(part)
            elif isinstance(part, dict):
                for key in part:
                    _refuse_lone_surrogates(key)
                inner += part.values()
            elif isinstance(part, list):
                inner += part
        level = inner


def _refuse_lone_surrogates(text: str) -> None:
    if not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
        raise BodyInvalid("A text in the body contains half of a surrogate pair.")


def _shown(key: str) -> str:
    return json.dumps(key[:40])
