"""Adds examples to the description: recorded exchanges, one body per problem code, and published bodies.

`tests/record_examples.py` records into `contracts/openapi/examples/`, one file per operation. It records only what an
installation can't show itself when it publishes: answers to requests with a body or parameters, answers from the
ledger, and documents whose figures an installation may not have.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from contracts.access import case_access, recovery, refusals, trial_keys
from contracts.access.plans import PLANS_PATH, load_plans
from contracts.access.rail import usd_of
from contracts.access.signed_payments import PAYMENT_PATH, PaymentLinks, PaymentPending
from contracts.errors import RequestProblem, problems_by_code
from contracts.guardrail import RulesetInvalid, loaded_guardrail
from contracts.intake import intake_problems
from contracts.problem_links import ProblemLinks
from contracts.problems import problem_body
from contracts.secret_texts import SecretInText

EXAMPLES_DIR = Path(__file__).parents[1] / "openapi" / "examples"
PROBLEM_EXAMPLES = EXAMPLES_DIR / "problems.json"
"""Recorded problem bodies, by code."""
PRICES = EXAMPLES_DIR / "prices.json"
"""USD by plan: the price of each plan in the recorded purchases."""

RECORDED_AT = "https://svc.example"
"""Base address of the recorded installation."""

RECORDED_PLANS = "{plans}"
"""Placeholder in recorded texts for the ids of all plans."""

_RULESET = re.compile(r"\d+ rules of ruleset [0-9a-f]+")

PROBLEM_CODES = "x-problem-codes"
"""Key under which the committed description lists a response's problem codes. Publishing turns them into examples."""

DEFINING_PROBLEMS = (refusals, recovery, trial_keys, case_access, intake_problems, SecretInText)
"""Definitions of `RequestProblem` outside of `contracts.errors`, imported so that the classes are found."""

_PAYMENT_ID = "pay_0123456789abcdef0123456789abcdef"
_PURCHASES = PLANS_PATH.rpartition("/")[0] + "/"
_PROBLEM_REF = "#/components/examples/"


def add_recorded(described: dict[str, Any], base_url: str) -> None:
    """Adds recorded exchanges to parameters, request bodies and answers, in place, with the address `base_url`.

    Omits the answers of purchases if the price of a bought plan has changed since the recording.
    """
    are_priced_now = json.loads(PRICES.read_text()).items() <= prices_now().items()
    for path, operations in described["paths"].items():
        for operation in operations.values():
            for exchange in recorded(operation["operationId"]):
                _add_request(described, operation, exchange)
                if are_priced_now or not path.startswith(_PURCHASES):
                    _add_answer(operation, exchange, base_url)


def add_problems(described: dict[str, Any], base_url: str) -> None:
    """Replaces the codes of each response by references to one body per code, in place, and defines these bodies."""
    bodies: dict[str, Any] = json.loads(PROBLEM_EXAMPLES.read_text())
    classes = problems_by_code()
    codes: set[str] = set()
    for media in _with_codes([described["paths"], described["components"]["responses"]]):
        named = media.pop(PROBLEM_CODES)
        media["examples"] = {code: {"$ref": _PROBLEM_REF + code} for code in named}
        codes.update(named)
    described["components"]["examples"] = {
        code: {
            "summary": classes[code].title,
            "value": _localised(bodies.get(code) or _rendered(classes[code], base_url), base_url),
        }
        for code in sorted(codes)
    }


def add_pending(described: dict[str, Any], base_url: str) -> None:
    """Adds the single example of a pending signed payment to every operation that has such an answer, in place.

    Its link is a template, because no payment has the example's id.
    """
    example = PaymentPending(
        payment_id=_PAYMENT_ID,
        retry_after=5,
        links=PaymentLinks(payment=base_url + PAYMENT_PATH, receipt=None),
    )
    name = example.code
    operations = [operation for item in described["paths"].values() for operation in item.values()]
    answers = [operation["responses"].get("202", {}) for operation in operations]
    answers += described["components"]["responses"].values()
    for media in (media for answer in answers for media in answer.get("content", {}).values()):
        if media["schema"].get("$ref", "").endswith("/PaymentPending"):
            media["examples"] = {name: {"$ref": _PROBLEM_REF + name}}
            described["components"]["examples"][name] = {"value": example.model_dump(mode="json", by_alias=True)}


def recorded(operation_id: str) -> list[dict[str, Any]]:
    """Returns recorded exchanges of one operation: `{name, request: {path, query, header, body}, status, example}`.

    An exchange with an example that is not JSON also has a `mediaType`.
    """
    file = EXAMPLES_DIR / f"{operation_id}.json"
    exchanges: list[dict[str, Any]] = json.loads(file.read_text()) if file.exists() else []
    return exchanges


def prices_now() -> dict[str, str]:
    """Returns the current prices in USD, by plan."""
    return {plan.id: usd_of(plan.price) for plan in load_plans().values()}


def references(node: Any) -> Iterator[str]:
    """Yields every `$ref` within a part of the description."""
    if isinstance(node, dict):
        if isinstance(ref := node.get("$ref"), str):
            yield ref
        for value in node.values():
            yield from references(value)
    elif isinstance(node, list):
        for value in node:
            yield from references(value)


def resolved(described: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    """Returns a part of the description, or the component that it refers to."""
    if "$ref" not in part:
        return part
    _, _, kind, name = part["$ref"].split("/")
    component: dict[str, Any] = described["components"][kind][name]
    return component


def _add_request(described: dict[str, Any], operation: dict[str, Any], exchange: dict[str, Any]) -> None:
    request = exchange["request"]
    for parameter in (resolved(described, each) for each in operation.get("parameters", [])):
        values = request.get(parameter["in"], {})
        if parameter["name"] in values:
            parameter.setdefault("example", values[parameter["name"]])
    if "body" in request and exchange["status"] < 400:
        for media in operation.get("requestBody", {}).get("content", {}).values():
            media.setdefault("examples", {})[exchange["name"]] = {"value": request["body"]}


def _add_answer(operation: dict[str, Any], exchange: dict[str, Any], base_url: str) -> None:
    content = operation["responses"].get(str(exchange["status"]), {}).get("content", {})
    if (example := exchange.get("example")) and content:
        media = content.get(exchange.get("mediaType")) or next(iter(content.values()))
        shown = example | {"value": _localised(example["value"], base_url)}
        media.setdefault("examples", {})[exchange["name"]] = shown


def _localised(value: Any, base_url: str) -> Any:
    """Replaces address, plans and ruleset in a recorded value by this installation's. Signed values remain as recorded,
    because their hash covers their addresses."""
    if isinstance(value, str):
        told = value.replace(RECORDED_AT, base_url).replace(RECORDED_PLANS, ", ".join(load_plans()))
        return _RULESET.sub(lambda found: _ruleset_text() or found[0], told)
    if isinstance(value, list):
        return [_localised(item, base_url) for item in value]
    if isinstance(value, dict) and "signature" not in value:
        judged = _ruleset() if "rules_checked" in value else {}
        return {name: judged.get(name, _localised(item, base_url)) for name, item in value.items()}
    return value


def _ruleset_text() -> str | None:
    ruleset = _ruleset()
    return f"{ruleset['rules_checked']} rules of ruleset {ruleset['ruleset_version']}" if ruleset else None


def _ruleset() -> dict[str, Any]:
    """Returns the members of verdicts that identify the loaded rules; empty if the rules can't be loaded."""
    try:
        guardrail = loaded_guardrail()
    except RulesetInvalid:
        return {}
    return {"rules_checked": guardrail.rules_checked, "ruleset_version": guardrail.ruleset_version}


def _rendered(problem: type[RequestProblem], base_url: str) -> Any:
    """Renders the body of a problem that can't be provoked at will, as the service would."""
    example = problem(f"{problem.title}.")
    links = ProblemLinks(base_url, sells=True).of(example, "GET", "/api/example")
    return json.loads(problem_body(example, "/api/example", "0123456789abcdef", links))


def _with_codes(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict) and PROBLEM_CODES in node:
        yield node
    elif isinstance(node, dict | list):
        for value in node.values() if isinstance(node, dict) else node:
            yield from _with_codes(value)
