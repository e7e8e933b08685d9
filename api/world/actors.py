"""Converts the caller of a request to the author of a proposal."""

from contracts.access.tiers import Caller
from contracts.standing import KEYS_CLAIM, SourceClass
from contracts.world.proposal import Actor


def actor_of(caller: Caller, *, signed: bool = False) -> Actor:
    """Returns the author for writes of a key. Only a `signed` request may claim the class of a signed system."""
    may_claim = signed or caller.max_class is not SourceClass.SIGNED_SYSTEM
    return Actor("caller", caller.owner, max_class=caller.max_class if may_claim else KEYS_CLAIM)
