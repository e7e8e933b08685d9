"""Defines the errors about one intake, for clients and for operators."""

from contracts.errors import NotFound, OperatorProblem


class IntakeNotFound(NotFound):
    code = "intake_not_found"
    title = "No intake has this id"


class IntakeUnknown(OperatorProblem):
    code = "intake_unknown"
