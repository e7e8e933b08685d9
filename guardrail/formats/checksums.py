"""The checks that a number or token contains in itself: check digits, checksums, readable headers."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import zlib
from collections.abc import Callable

from guardrail.formats.values import is_made_of_words

_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


Check = Callable[[str], bool]
"""Decides whether a text has the check digits of its format."""


def digits_of(text: str) -> list[int]:
    """Returns the ASCII digits of a text, as numbers."""
    return [int(char) for char in text if char in "0123456789"]


def luhn(text: str) -> bool:
    """ISO/IEC 7812: every second digit from the right counts double; the sum is a multiple of ten."""
    total = 0
    for place, digit in enumerate(reversed(digits_of(text))):
        total += digit if place % 2 == 0 else digit * 2 - 9 * (digit > 4)
    return total % 10 == 0


def card_number(text: str) -> bool:
    """13 to 19 digits with a Luhn digit that are not a repetition of a few digits."""
    digits = digits_of(text)
    return 13 <= len(digits) <= 19 and len(set(digits)) >= 4 and luhn(text)


_IBAN_LENGTHS = {
    "AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BR": 29, "BY": 28,
    "CH": 21, "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18,
    "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HR": 21, "HU": 28, "IE": 22,
    "IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LI": 21, "LT": 20, "LU": 20,
    "LV": 21, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MR": 27, "MT": 31, "MU": 30, "NL": 18, "NO": 15, "PK": 24,
    "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "SA": 24, "SE": 24, "SI": 19, "SK": 24, "SM": 27,
    "TN": 24, "TR": 26, "UA": 29, "VA": 22, "VG": 24, "XK": 20,
}  # fmt: skip


def iban(text: str) -> bool:
    """ISO 13616: a length by country, and 1 modulo 97."""
    compact = text.replace(" ", "").replace("-", "").upper()
    if _IBAN_LENGTHS.get(compact[:2]) != len(compact) or not compact.isalnum() or not compact.isascii():
        return False
    return int("".join(str(int(char, 36)) for char in compact[4:] + compact[:4])) % 97 == 1


def routing_number(text: str) -> bool:
    """ABA routing transit number: nine digits, weights 3, 7, 1, a known Federal Reserve prefix."""
    digits = digits_of(text)
    if len(digits) != 9 or len(set(digits)) < 3:
        return False
    prefix = digits[0] * 10 + digits[1]
    known = 1 <= prefix <= 12 or 21 <= prefix <= 32 or 61 <= prefix <= 72 or prefix == 80
    weighted = sum(digit * weight for digit, weight in zip(digits, (3, 7, 1) * 3, strict=True))
    return known and weighted % 10 == 0


def social_security_number(text: str) -> bool:
    """A number that the US administration assigns: no area 000, 666 or 9xx, no group 00, no serial 0000."""
    digits = "".join(char for char in text if char.isdigit())
    area, group, serial = digits[:3], digits[3:5], digits[5:]
    return (
        len(digits) == 9
        and area not in ("000", "666")
        and area < "900"
        and group != "00"
        and serial != "0000"
        and digits not in ("123456789", "078051120", "219099999")
        and len(set(digits)) > 2
    )


def _weighted(digits: list[int], weights: tuple[int, ...]) -> int:
    return sum(digit * weight for digit, weight in zip(digits, weights, strict=False))


def brazilian_cpf(text: str) -> bool:
    """Two check digits, each 11 minus the weighted sum modulo 11."""
    digits = digits_of(text)
    if len(digits) != 11 or len(set(digits)) == 1:
        return False
    for length in (9, 10):
        rest = _weighted(digits[:length], tuple(range(length + 1, 1, -1))) * 10 % 11 % 10
        if rest != digits[length]:
            return False
    return True


def spanish_dni(text: str) -> bool:
    """DNI and NIE: the number modulo 23 determines the letter."""
    compact = text.replace("-", "").replace(" ", "").upper()
    number = compact[:-1].replace("X", "0", 1).replace("Y", "1", 1).replace("Z", "2", 1)
    return number.isdigit() and "TRWAGMYFPDXBNJZSQVHLCKE"[int(number) % 23] == compact[-1]


def italian_fiscal_code(text: str) -> bool:
    """Odd and even positions have separate tables; the sum modulo 26 determines the last letter."""
    odd = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)
    code, total = text.upper(), 0
    for place, char in enumerate(code[:15]):
        value = int(char) if char.isdigit() else ord(char) - 65
        total += odd[value] if place % 2 == 0 else value
    return chr(65 + total % 26) == code[-1]


def french_insee(text: str) -> bool:
    """The key is 97 minus the number modulo 97; Corsica writes 2A and 2B for 19 and 18."""
    compact = text.replace(" ", "").upper().replace("2A", "19").replace("2B", "18")
    return len(compact) == 15 and compact.isdigit() and 97 - int(compact[:13]) % 97 == int(compact[13:])


def german_tax_id(text: str) -> bool:
    """ISO 7064 MOD 11, 10; one or two digits repeat among the first ten."""
    digits = digits_of(text)
    if len(digits) != 11 or digits[0] == 0 or not 8 <= len(set(digits[:10])) <= 9:
        return False
    product = 10
    for digit in digits[:10]:
        product = ((digit + product) % 10 or 10) * 2 % 11
    return (11 - product) % 10 == digits[10]


def dutch_bsn(text: str) -> bool:
    """The eleven test: weights 9 to 2 and minus 1."""
    digits = digits_of(text)
    return len(digits) == 9 and len(set(digits)) > 2 and _weighted(digits, (9, 8, 7, 6, 5, 4, 3, 2, -1)) % 11 == 0


def polish_pesel(text: str) -> bool:
    """Weights 1, 3, 7, 9; the sum with the check digit is a multiple of ten."""
    digits = digits_of(text)
    return (
        len(digits) == 11
        and len(set(digits)) > 2
        and _weighted(digits, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1)) % 10 == 0
        and 1 <= (digits[2] * 10 + digits[3]) % 20 <= 12
        and 1 <= digits[4] * 10 + digits[5] <= 31
    )


def swedish_personal_number(text: str) -> bool:
    """A date and a Luhn digit over the last ten digits."""
    digits = digits_of(text)[-10:]
    month, day = digits[2] * 10 + digits[3], digits[4] * 10 + digits[5]
    return 1 <= month <= 12 and 1 <= day <= 31 and luhn("".join(map(str, digits)))


def finnish_personal_code(text: str) -> bool:
    """A date and a sign from the number modulo 31."""
    digits = digits_of(text[:-1])
    number = int("".join(map(str, digits)))
    return "0123456789ABCDEFHJKLMNPRSTUVWXY"[number % 31] == text[-1].upper()


def swiss_ahv(text: str) -> bool:
    """EAN-13 with the country's prefix 756."""
    digits = digits_of(text)
    return len(digits) == 13 and (_weighted(digits, (1, 3) * 6) + digits[12]) % 10 == 0


def nhs_number(text: str) -> bool:
    """Weights 10 to 2, modulo 11."""
    digits = digits_of(text)
    return (
        len(digits) == 10
        and len(set(digits)) > 2
        and (11 - _weighted(digits, tuple(range(10, 1, -1))) % 11) % 11 == digits[9]
    )


def canadian_sin(text: str) -> bool:
    """Nine digits with a Luhn digit; numbers that begin with 0 or 8 are not assigned to people."""
    digits = digits_of(text)
    return len(digits) == 9 and digits[0] not in (0, 8) and len(set(digits)) > 3 and luhn(text)


_VERHOEFF_PRODUCT = (
    "0123456789", "1234067895", "2340178956", "3401289567", "4012395678",
    "5987604321", "6598710432", "7659821043", "8765932104", "9876543210",
)  # fmt: skip
_VERHOEFF_PLACE = (
    "0123456789", "1576283094", "5803796142", "8916043527", "9453126870", "4286573901", "2793806415", "7046913258",
)  # fmt: skip


def aadhaar(text: str) -> bool:
    """Twelve digits with a Verhoeff check digit."""
    digits = digits_of(text)
    if len(digits) != 12 or digits[0] < 2 or len(set(digits)) < 4:
        return False
    check = 0
    for place, digit in enumerate(reversed(digits)):
        check = int(_VERHOEFF_PRODUCT[check][int(_VERHOEFF_PLACE[place % 8][digit])])
    return check == 0


def chinese_resident_id(text: str) -> bool:
    """ISO 7064 MOD 11-2 over 17 digits; X stands for ten."""
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    return "10X98765432"[_weighted(digits_of(text[:17]), weights) % 11] == text[-1].upper()


def github_token(token: str) -> bool:
    """The last six characters are the CRC-32 of the part before them, in base 62."""
    body, check = token[4:-6], token[-6:]
    value, digits = zlib.crc32(body.encode()), ""
    while value:
        value, digit = divmod(value, 62)
        digits = _BASE62[digit] + digits
    return digits.rjust(6, "0") == check


def json_web_token(token: str) -> bool:
    """The first part is a JSON object in base64."""
    try:
        header = base64.urlsafe_b64decode(token.split(".")[0] + "===")
        return isinstance(json.loads(header), dict)
    except (binascii.Error, ValueError):
        return False


def base58_check(text: str) -> bool:
    """The last four bytes are the start of the double SHA-256 of those before it."""
    number = 0
    for char in text:
        number = number * 58 + _BASE58.index(char)
    data = number.to_bytes((number.bit_length() + 7) // 8, "big")
    return hashlib.sha256(hashlib.sha256(data[:-4]).digest()).digest()[:4] == data[-4:]


def is_no_name(token: str) -> bool:
    """Names of functions may begin like tokens, such as `sk_X509_NAME_new_null`."""
    return not is_made_of_words(token)


def is_no_hash(token: str) -> bool:
    """File names contain hashes after a dash, such as `icon.ico-<md5>.png`."""
    return any(char not in "0123456789abcdef" for char in token.rpartition("-")[2])
