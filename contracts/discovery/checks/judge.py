"""Runs all checks in their order."""

from contracts.discovery.checks.evidence import Defect, Evidence
from contracts.discovery.checks.facts import fact_defects
from contracts.discovery.checks.headers import header_defects
from contracts.discovery.checks.links import link_defects
from contracts.discovery.checks.shapes import shape_defects
from contracts.discovery.checks.signatures import signature_defects


def defects_of(evidence: Evidence) -> list[Defect]:
    """Returns all defects, each once, by document."""
    defects = (
        *header_defects(evidence),
        *shape_defects(evidence),
        *signature_defects(evidence),
        *link_defects(evidence),
        *fact_defects(evidence),
    )
    return sorted(set(defects))
