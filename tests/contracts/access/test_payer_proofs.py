import pytest
from eth_account import Account
from eth_account.messages import encode_defunct, encode_typed_data
from pydantic import ValidationError

from contracts.access.proofs import (
    AskContract,
    NotProved,
    PayerProof,
    Proved,
    check_claim_proof,
    claim_typed_data,
    contract_says,
    typed_digest,
)
from contracts.access.provider_views import Silence

PAYER = Account.from_key("0x" + "11" * 32)
STRANGER = Account.from_key("0x" + "22" * 32)
HASH = "ab" * 32
ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141


def checked(kind: str, signature: str, quote_hash: str = HASH, chain_id: int = 8453):
    return check_claim_proof(
        PayerProof(type=kind, signature=signature),
        payer=PAYER.address.lower(),
        quote_hash=quote_hash,
        chain_id=chain_id,
    )


def typed_signature(signer=PAYER, quote_hash: str = HASH, chain_id: int = 8453):
    return signer.sign_typed_data(full_message=claim_typed_data(quote_hash, chain_id))


def test_the_payer_proves_by_typed_data_or_by_a_personal_message():
    message = PAYER.sign_message(encode_defunct(text=HASH)).signature.hex()
    typed = typed_signature().signature.hex()
    assert checked("eip712", f"0x{typed}") == Proved()
    assert checked("eip191", f"0x{message}") == Proved()
    assert checked("eip191", f"0x{typed}") == NotProved()
    assert checked("eip712", f"0x{message}") == NotProved()


def test_a_signature_of_another_signer_quote_or_chain_proves_nothing():
    for signature in (
        typed_signature(STRANGER),
        typed_signature(quote_hash="cd" * 32),
        typed_signature(chain_id=1),
    ):
        assert checked("eip712", f"0x{signature.signature.hex()}") == NotProved()


def test_both_twins_of_a_signature_prove_so_bytes_are_no_identity():
    signature = typed_signature()
    twin = signature.r.to_bytes(32) + (ORDER - signature.s).to_bytes(32) + bytes([55 - signature.v])
    assert twin != bytes(signature.signature)
    assert checked("eip712", f"0x{twin.hex()}") == Proved()


@pytest.mark.parametrize(
    "signature", ["0x00", "0x" + "00" * 65, "0x" + "ff" * 65, "0x" + "12" * 64, "0x" + "12" * 4096]
)
def test_bytes_that_are_no_signature_prove_nothing(signature):
    assert checked("eip712", signature) == NotProved()
    assert checked("eip191", signature) == NotProved()


@pytest.mark.parametrize("signature", ["", "0x", "0x1", "12" * 65, "0x" + "zz" * 65, "0x" + "12" * 4097])
def test_a_signature_that_is_not_hex_is_refused_before_it_is_checked(signature):
    with pytest.raises(ValidationError):
        PayerProof(type="eip712", signature=signature)


def test_a_contract_is_asked_about_the_digest_of_the_same_message():
    question = checked("erc1271", "0x1234")
    assert isinstance(question, AskContract)
    signable = encode_typed_data(full_message=claim_typed_data(HASH, 8453))
    digest = typed_digest(claim_typed_data(HASH, 8453))
    assert Account._recover_hash(digest, signature=bytes(typed_signature().signature)) == PAYER.address
    assert signable.version == b"\x01"
    assert question.address == PAYER.address.lower()
    assert question.data == ("0x1626ba7e" + digest.hex() + f"{64:064x}" + f"{2:064x}" + "1234".ljust(64, "0"))


MAGIC = "0x1626ba7e" + "0" * 56
MUTE = Silence("host", "timeout")


@pytest.mark.parametrize(
    ("answers", "quorum", "says"),
    [
        ([MAGIC], 1, True),
        (["0x1626BA7E" + "0" * 56], 1, True),
        *(
            ([result], 1, False)
            for result in ("0x", "0x1626ba7e", "0x" + "0" * 64, "0xffffffff" + "0" * 56, MAGIC[:-1] + "1")
        ),
        ([MAGIC, MAGIC], 2, True),
        ([MAGIC, MAGIC, MUTE], 2, True),
        (["0x", "0x1626"], 2, False),
        ([MAGIC, "0x"], 2, "rpc_disagree"),
        ([MAGIC, MUTE], 2, "rpc_unavailable"),
        ([MUTE], 1, "rpc_unavailable"),
        ([], 0, "rpc_unavailable"),
    ],
)
def test_only_the_magic_value_from_enough_providers_confirms_a_contracts_signature(answers, quorum, says):
    assert contract_says(answers, quorum) == says
