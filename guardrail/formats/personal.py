"""Account numbers and personal data: numbers with check digits, and addresses and telephone numbers in bulk."""

from __future__ import annotations

from collections.abc import Callable

from guardrail.formats import checksums
from guardrail.record import record

BULK = 5
"""A text with at least this many different addresses or numbers is a list of people and not a message to them."""


@record
class Number:
    """A number with a shape. Without `names`, only the check decides; otherwise one of them must precede the number in
    the text, since one in ten or eleven numbers passes a single check digit."""

    kind: str
    pattern: str
    check: Callable[[str], bool]
    names: str = ""


ACCOUNTS: tuple[Number, ...] = (
    Number(
        "card-number",
        r"\b(?:4\d{3}|5[1-5]\d{2}|2[2-7]\d{2}|3[47]\d{2}|6(?:011|[45]\d{2})|35\d{2})(?:[ -]?\d{4}){2}[ -]?\d{1,7}\b",
        checksums.card_number,
    ),
    Number("card-number", r"\b3[47]\d{2}[ -]?\d{6}[ -]?\d{5}\b", checksums.card_number),
    Number("iban", r"\b[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,4})?\b", checksums.iban),
    Number("routing-number", r"\b\d{9}\b", checksums.routing_number, r"(?i)routing|\baba\b|\brtn\b"),
)

PERSONAL: tuple[Number, ...] = (
    Number(
        "us-social-security-number",
        r"\b\d{3}-\d{2}-\d{4}\b",
        checksums.social_security_number,
    ),
    Number(
        "us-social-security-number",
        r"\b\d{9}\b",
        checksums.social_security_number,
        r"(?i)\bssn\b|social security",
    ),
    Number("brazilian-cpf", r"\b\d{3}\.\d{3}\.\d{3}-\d{2}\b", checksums.brazilian_cpf),
    Number("brazilian-cpf", r"\b\d{11}\b", checksums.brazilian_cpf, r"(?i)\bcpf\b"),
    Number("spanish-dni", r"\b(?:\d{8}|[XYZxyz]-?\d{7})-?[A-Za-z]\b", checksums.spanish_dni),
    Number(
        "italian-fiscal-code",
        r"\b[A-Za-z]{6}\d{2}[A-EHLMPR-Ta-ehlmpr-t]\d{2}[A-Za-z]\d{3}[A-Za-z]\b",
        checksums.italian_fiscal_code,
    ),
    Number(
        "french-insee",
        r"\b[12] ?\d{2} ?(?:0[1-9]|1[0-2]|[2-9]\d) ?(?:\d{2}|2[ABab]) ?\d{3} ?\d{3} ?\d{2}\b",
        checksums.french_insee,
    ),
    Number(
        "german-tax-id",
        r"\b\d{2} ?\d{3} ?\d{3} ?\d{3}\b",
        checksums.german_tax_id,
        r"(?i)steuer|\bidnr\b|tax",
    ),
    Number("dutch-bsn", r"\b\d{9}\b", checksums.dutch_bsn, r"(?i)\bbsn\b|burgerservice|sofinummer"),
    Number("polish-pesel", r"\b\d{11}\b", checksums.polish_pesel, r"(?i)pesel"),
    Number("swedish-personal-number", r"\b(?:19|20)?\d{6}[-+]\d{4}\b", checksums.swedish_personal_number),
    Number("finnish-personal-code", r"\b\d{6}[-+A]\d{3}[0-9A-FHJ-NPR-Y]\b", checksums.finnish_personal_code),
    Number("swiss-ahv", r"\b756\.\d{4}\.\d{4}\.\d{2}\b", checksums.swiss_ahv),
    Number("nhs-number", r"\b\d{3}[ -]?\d{3}[ -]?\d{4}\b", checksums.nhs_number, r"(?i)\bnhs\b"),
    Number("canadian-sin", r"\b\d{3}[ -]\d{3}[ -]\d{3}\b", checksums.canadian_sin, r"(?i)\bsin\b|social insurance"),
    Number("aadhaar", r"\b[2-9]\d{3}[ -]?\d{4}[ -]?\d{4}\b", checksums.aadhaar, r"(?i)aadha+r|uidai"),
    Number(
        "chinese-resident-id",
        r"\b[1-9]\d{5}(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[0-9Xx]\b",
        checksums.chinese_resident_id,
    ),
)

EMAIL = r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})*\.[A-Za-z]{2,24}\b"
TELEPHONE = r"\+\d{1,3}[ .-]?\(?\d{1,4}\)?(?:[ .-]?\d{2,4}){2,4}\b|\(\d{3}\) ?\d{3}-\d{4}\b|\b\d{3}[.-]\d{3}[.-]\d{4}\b"
