-- One row per intake, forgotten ones too.
create table if not exists raw_ledger__intakes (
    graph_key varchar primary key,  -- What names the intake outside the ledger; its id can't be worked out from it
    lane varchar not null,  -- agent, human or enterprise
    profile_id varchar not null,  -- Runtime profile that was chosen
    day date not null,  -- UTC day of receipt
    current_state varchar not null,  -- received, provisioned, awaiting_activation or active
    review_state varchar not null,  -- pending_review, approved or changes_requested
    activation_state varchar not null,  -- not_started, awaiting_payment, activated or suspended
    repeats boolean not null,  -- Whether its sender had registered in this lane before
    forgotten boolean not null  -- Whether its sender asked to be forgotten
);
