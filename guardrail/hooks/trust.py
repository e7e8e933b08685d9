"""Records which policy files a person trusted, and reads the policy file of a workspace."""

from __future__ import annotations

import os
from pathlib import Path

from guardrail.hooks.directories import config_directory
from guardrail.hooks.files import read_private_json, write_private_json
from guardrail.policy_file import PolicyInvalid
from guardrail.record import record
from guardrail.user_policy import MAX_BYTES, UserPolicy, load_user_policy, policy_digest

POLICY_NAME = ".svc-guardrail.yaml"


@record
class WorkspacePolicy:
    """The policy of a workspace. `problem` is the reason why its file could not be read; then the person is asked
    about every action."""

    policy: UserPolicy | None = None
    problem: str | None = None


def trust_store() -> Path:
    """Returns the file that contains the digests that a person trusted."""
    return Path(config_directory()) / "trusted.json"


def workspace_policy(root: Path | None) -> WorkspacePolicy:
    """Loads the policy file at the root of a workspace. Its rows that allow count if a person trusted exactly these
    bytes."""
    if root is None:
        return WorkspacePolicy()
    path = root / POLICY_NAME
    try:
        source = read_policy(path)
    except FileNotFoundError:
        return WorkspacePolicy()
    except OSError as error:
        return WorkspacePolicy(problem=f"The policy file {path} can't be read: {error.strerror or error}.")
    try:
        return WorkspacePolicy(load_user_policy(source, POLICY_NAME, trusted=is_trusted(path, source)))
    except PolicyInvalid as error:
        return WorkspacePolicy(problem=f"The policy file has a mistake: {error}.")


def read_policy(path: Path) -> bytes:
    """Returns the bytes of a policy file, at most one more than permitted, which is enough to refuse it."""
    with path.open("rb") as file:
        return file.read(MAX_BYTES + 1)


def is_trusted(path: Path, source: bytes) -> bool:
    """Decides whether a person trusted exactly these bytes at this path. A store inside the work tree proves
    nothing."""
    real, store = Path(os.path.realpath(path)), trust_store()
    if Path(os.path.realpath(store)).is_relative_to(real.parent):
        return False
    return read_private_json(store).get(str(real)) == policy_digest(source)


def trust(path: Path, source: bytes) -> None:
    """Records that a person trusts these bytes at this path."""
    trusted = read_private_json(trust_store())
    trusted[os.path.realpath(path)] = policy_digest(source)
    write_private_json(trust_store(), trusted)
