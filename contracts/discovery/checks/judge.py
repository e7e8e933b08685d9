"""All checks in their order."""

from __future__ import annotations

from contracts.discovery.checks.evidence import Evidence, Finding
from contracts.discovery.checks.facts import fact_findings
from contracts.discovery.checks.headers import header_findings
from contracts.discovery.checks.links import link_findings
from contracts.discovery.checks.shapes import shape_findings
from contracts.discovery.checks.signatures import signature_findings


def findings_of(evidence: Evidence) -> list[Finding]:
    """Everything that is wrong with what was read, once each, by document."""
    found = (
        *header_findings(evidence),
        *shape_findings(evidence),
        *signature_findings(evidence),
        *link_findings(evidence),
        *fact_findings(evidence),
    )
    return sorted(set(found))
