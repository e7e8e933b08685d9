"""Defines the errors about one intake, for clients and for operators."""

from typing import ClassVar

from contracts.errors import Conflict, Leads, NotFound, OperatorProblem


class IntakeNotFound(NotFound):
    code = "intake_not_found"
    title = "No intake has this id"
    leads: ClassVar[Leads] = ("register", "docs")


class RegistrationErased(Conflict):
    code = "registration_erased"
    title = "The registration with this Idempotency-Key was erased"
    leads: ClassVar[Leads] = ("register", "docs")


class IntakeUnknown(OperatorProblem):
    code = "intake_unknown"
