"""JSON bodies, read strictly: what two parsers could understand differently is refused, not guessed.

The front bounds their size. A room with write routes makes its router with `route_class=JsonRoute`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Coroutine
from typing import Any, NoReturn

from fastapi import Request, Response

from api.routes import WorkRoute
from contracts.errors import BodyInvalid, MediaTypeUnsupported

DEEPEST = 64
"""Levels of arrays and objects within one another."""


def strict_json(body: bytes) -> Any:
    """The value that `body` is: UTF-8, no key twice, finite numbers, no lone surrogates, at most 64 levels deep.

    Raises `BodyInvalid`.
    """
    try:
        value = json.loads(
            body.decode(), object_pairs_hook=_object, parse_constant=_not_finite, parse_float=_finite_float
        )
    except UnicodeDecodeError:
        raise BodyInvalid("The body is not UTF-8.") from None
    except json.JSONDecodeError as error:
        raise BodyInvalid(f"The body is not JSON: {error.msg} at character {error.pos}.") from None
    except RecursionError:
        raise BodyInvalid(f"At most {DEEPEST} levels of arrays and objects.") from None
    except ValueError:
        # what Python says of an integer with thousands of digits
        raise BodyInvalid("A number in the body has too many digits.") from None
    # a lone surrogate can only come from an escape, and depth only from brackets
    if b"\\u" in body or body.count(b"[") + body.count(b"{") > DEEPEST:
        _look_through(value)
    return value


class JsonRoute(WorkRoute):
    """A route whose body, where it takes one, is strict JSON and is refused before any of it is understood."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        answer = super().get_route_handler()
        if self.body_field is None:
            return answer

        async def answer_json(request: Request) -> Response:
            return await answer(_StrictRequest(request, await _read(request)))

        return answer_json


class _StrictRequest(Request):
    """A request whose JSON was read before."""

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


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))
        raise BodyInvalid(f"The key {_shown(twice)} comes twice in one object.")
    return made


def _not_finite(name: str) -> NoReturn:
    raise BodyInvalid(f"{name} is not JSON.")


def _finite_float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise BodyInvalid(f"The number {text[:20]} is too large.")
    return number


def _look_through(value: Any) -> None:
    level, depth = [value], 0
    while level:
        inner: list[Any] = []
        for each in level:
            if isinstance(each, str):
                _refuse_lone_surrogates(each)
            elif isinstance(each, dict):
                for key in each:
                    _refuse_lone_surrogates(key)
                inner += each.values()
            elif isinstance(each, list):
                inner += each
        depth += any(isinstance(each, dict | list) for each in level)
        if depth > DEEPEST:
            raise BodyInvalid(f"At most {DEEPEST} levels of arrays and objects.")
        level = inner


def _refuse_lone_surrogates(text: str) -> None:
    if not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
        raise BodyInvalid("A text in the body holds half of a surrogate pair.")


def _shown(key: str) -> str:
    return json.dumps(key[:40])
