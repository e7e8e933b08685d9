"""Random histories of facts, and a model simple enough to trust: it replays what was accepted.

The model decides what holds at an instant by looking at every claim, without precomputed ends.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from world_writes import no_rules

from contracts.settings import Settings
from contracts.standing import SourceClass
from contracts.times import utc_text
from contracts.world.proposal import Act, Actor, NodeDraft, Proposal
from warehouse.ledger.ledger import Ledger, open_ledger
from warehouse.world.due import settle_due
from warehouse.world.forget import forget_nodes
from warehouse.world.write import propose

OWNER = "local:ada"
START = datetime(2026, 1, 1, tzinfo=UTC)
CLASSES = ["hearsay", "inference", "document", "signed_system", "owner"]
"""Lowest first: the index is the rank."""

SUBJECTS = ["door", "Gate", "window"]
VALUES = ["open", "shut", "ajar"]
CEILINGS = ["hearsay", "document", "document", "owner"]


@dataclass(frozen=True)
class Said:
    """One claim of the model, as it is believed at some time."""

    id: str
    subject: str
    value: str
    source: str
    rank: int
    band: int
    start: str
    end: str | None
    said_at: str
    confirmed_rank: int = -1
    confirmed_at: str = ""
    retracted: bool = False
    forgotten: bool = False

    @property
    def highest(self) -> int:
        return max(self.rank, self.confirmed_rank)

    def ends(self, other: Said) -> bool:
        """Decides whether this claim, which does not begin before `other`, ends it."""
        if other.confirmed_rank == 4 and self.highest < 4:
            return False
        if other.confirmed_rank >= self.highest and max(self.said_at, self.start) <= other.confirmed_at:
            return False
        if self.source == other.source:
            return True
        mine, its = (self.highest, self.band), (other.highest, other.band)
        return mine > its if self.start == other.start else mine >= its


@dataclass
class Model:
    """Everything that was accepted: the time and last revision of each change, and the resulting claims."""

    log: list[tuple[str, int, dict[str, Said]]] = field(default_factory=list)

    def now(self) -> dict[str, Said]:
        return self.log[-1][2] if self.log else {}

    def believed(self, recorded: int | str) -> dict[str, Said]:
        """Returns the claims as they were believed at an instant or a revision."""
        beliefs: dict[str, Said] = {}
        for instant, revision, claims in self.log:
            if (revision if isinstance(recorded, int) else instant) <= recorded:  # type: ignore[operator]
                beliefs = claims
        return beliefs

    def holding(self, subject: str, as_of: str, recorded: int | str) -> list[Said]:
        """Returns the claims that held according to what was believed, highest standing first, without any forgotten by
        now."""
        forgotten = {claim.id for claim in self.now().values() if claim.forgotten}
        claims = [
            claim
            for claim in self.believed(recorded).values()
            if claim.subject == subject and not claim.retracted and not claim.forgotten
        ]
        held = [claim for claim in claims if _holds(claim, claims, as_of) and claim.id not in forgotten]
        held.sort(key=lambda claim: claim.id)
        held.sort(key=lambda claim: (claim.start, claim.said_at), reverse=True)
        return sorted(held, key=lambda claim: (claim.highest, claim.band), reverse=True)


def _holds(claim: Said, claims: list[Said], instant: str, *, before: bool = False) -> bool:
    """Decides whether a claim holds at an instant; with `before`, whether it held until then, so that it can end
    then."""
    if claim.start > instant or (claim.end is not None and claim.end <= instant):
        return False
    for other in claims:
        later = (other.start, other.said_at, other.id) > (claim.start, claim.said_at, claim.id)
        if later and other.start <= instant and other.ends(claim):
            return False
        confirmed = max(other.confirmed_at, other.start) if other.confirmed_at else "~"
        overrules = other.value != claim.value and claim.highest <= other.confirmed_rank
        in_time = confirmed < instant or (confirmed == instant and not before)
        if overrules and claim.start <= confirmed and in_time and _holds(other, claims, confirmed, before=True):
            return False
    return True


@dataclass
class History:
    """A randomly filled ledger with its model."""

    ledger: Ledger
    model: Model
    random: Random
    now: list[datetime]
    revisions: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, seed: int, directory: Path) -> History:
        now = [START]
        ledger = open_ledger(Settings(_env_file=None), directory, clock=lambda: now[0])
        return cls(ledger, Model(), Random(seed), now)

    def grow(self, changes: int) -> None:
        for _ in range(changes):
            self.now[0] += timedelta(minutes=self.random.randint(1, 40))
            act = self.random.choices(["states", "corrects", "retracts", "confirms", "forgets", "waits"], _WEIGHTS)[0]
            if act == "forgets":
                self._forget()
            elif act == "waits":
                settle_due(self.ledger)
            else:
                self._propose(act)

    def _propose(self, act: str) -> None:
        random, now, known = self.random, utc_text(self.now[0]), self.model.now()
        name = f"claim{len(self.model.log)}-{random.getrandbits(32):08x}"
        ceiling = random.choice(CEILINGS)
        claimed = random.choice(CLASSES[:3])
        confidence = random.choice([None, 0.1, 0.5, 0.9])
        act = act if known else "states"
        target = None if act == "states" else known[random.choice(list(known))]
        start = random.choice([None, utc_text(START + timedelta(hours=random.randint(-30, 60)))])
        if target is not None and act == "corrects" and random.random() < 0.5:
            start = None
        begins = start or (target.start if target is not None and act == "corrects" else now)
        end = random.choice([None, None, random.randint(1, 30)])
        until = None if end is None else utc_text(datetime.fromisoformat(begins) + timedelta(hours=end))
        said = Said(
            id=name,
            subject=target.subject if target is not None and act == "corrects" else random.choice(SUBJECTS),
            value=random.choice(VALUES),
            source=random.choice(["ann", "ben", "cay"]),
            rank=min(CLASSES.index(claimed), CLASSES.index(ceiling)),
            band=1 if confidence is None else (confidence >= 0.3) + (confidence >= 0.7),
            start=begins,
            end=until,
            said_at=now,
        )
        properties: dict[str, Any] = {"subject": said.subject, "predicate": "state", "value": said.value}
        if act in ("retracts", "confirms"):
            properties = {}
        if confidence is not None:
            properties["confidence"] = confidence
        acts = () if target is None else (Act(act, name, target.id, "a reason"),)  # type: ignore[arg-type]
        draft = NodeDraft(
            id=name, type="Observation", title=name, properties=properties, valid_from=start, valid_to=until
        )
        decision = propose(
            self.ledger,
            Proposal(
                actor=Actor("caller", OWNER, max_class=SourceClass(ceiling)),
                source=said.source,
                nodes=(draft,),
                source_class=SourceClass(claimed),
                acts=acts,
            ),
            alignment=no_rules,
        )
        expected = self._after(act, said, target, CLASSES.index(ceiling))
        assert (decision.verdict == "approved") == (expected is not None), (act, said, target, decision.stages)
        if expected is not None:
            self.model.log.append((now, self.ledger.head(), expected))

    def _after(self, act: str, said: Said, target: Said | None, ceiling: int) -> dict[str, Said] | None:
        """Returns the claims after an accepted proposal, or None if it must be rejected."""
        now, known = said.said_at, self.model.now()
        if target is None:
            claims = {**known, said.id: said}
        elif target.forgotten or target.retracted or target.highest > ceiling:
            return None
        elif act == "confirms":
            others = [claim for claim in known.values() if claim.subject == target.subject]
            standing = [claim for claim in others if not claim.retracted and not claim.forgotten]
            if target.start <= now and not _holds(target, standing, now):
                return None
            confirmed = replace(
                target, confirmed_rank=max(target.highest, ceiling), confirmed_at=max(now, target.start)
            )
            return {**known, target.id: confirmed}
        else:
            claims = {**known, target.id: replace(target, retracted=True)}
            if act == "corrects":
                corrected = replace(
                    said,
                    rank=max(said.rank, target.highest),
                    confirmed_rank=ceiling,
                    confirmed_at=max(now, said.start),
                )
                claims[said.id] = corrected
        # the name of a source that stands above what the key may claim is refused
        if act in ("states", "corrects"):
            new, before, after = claims[said.id], list(known.values()), list(claims.values())
            for old in known.values():
                stronger = old.source == new.source and old.rank > ceiling and old.subject == new.subject
                present = not claims[old.id].retracted and not old.forgotten
                if stronger and present and _ender(old, after) == new.id != _ender(old, before):
                    return None
        return claims

    def _forget(self) -> None:
        known = self.model.now()
        if not known:
            return
        gone = self.random.choice(list(known))
        with self.ledger.transaction() as tx:
            forget_nodes(tx, [gone], "eve")
        claims = {**known, gone: replace(known[gone], forgotten=True)}
        self.model.log.append((utc_text(self.now[0]), self.ledger.head(), claims))

    def question(self) -> tuple[str, str, int | str]:
        """Returns the id of a claim, an instant of the world, and an instant or a revision of belief."""
        random = self.random
        believed = random.choice(self.model.log)
        claim = random.choice(list(self.model.now()))
        edges = [said.start for said in self.model.now().values()] + [time for time, _, _ in self.model.log]
        instant = datetime.fromisoformat(random.choice(edges)) + timedelta(seconds=random.choice([-1, 0, 0, 1, 4_000]))
        recorded: int | str = random.randint(0, self.ledger.head())
        if random.random() < 0.6:
            recorded = utc_text(datetime.fromisoformat(believed[0]) + timedelta(seconds=random.choice([-1, 0, 1])))
        return claim, utc_text(instant), recorded


_WEIGHTS = [50, 12, 8, 12, 4, 6]


def _ender(claim: Said, claims: list[Said]) -> str | None:
    """Finds the claim that ends another by checking each moment at which one could."""
    standing = [
        other for other in claims if other.subject == claim.subject and not other.retracted and not other.forgotten
    ]
    claim = next((other for other in standing if other.id == claim.id), claim)
    moments = {other.start for other in standing} | {max(c.confirmed_at, c.start) for c in standing if c.confirmed_at}
    for moment in sorted(moment for moment in moments if moment >= claim.start):
        if claim.end is not None and claim.end <= moment:
            return None
        if not _holds(claim, standing, moment):
            for other in sorted(standing, key=lambda each: (each.said_at, each.id)):
                later = (other.start, other.said_at, other.id) > (claim.start, claim.said_at, claim.id)
                if other.start == moment and later and other.ends(claim):
                    return other.id
            overruling = [
                other.id
                for other in standing
                if other.confirmed_at
                and max(other.confirmed_at, other.start) == moment
                and other.value != claim.value
                and claim.highest <= other.confirmed_rank
            ]
            return overruling[0] if overruling else None
    return None
