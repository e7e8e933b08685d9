-- One row per intake, including forgotten ones.
create table if not exists raw_ledger__intakes (
    graph_key varchar primary key,  -- Name of the intake outside the ledger; its id can't be worked out from it
    lane varchar not null,  -- agent, human or enterprise
    profile_id varchar not null,  -- Runtime profile that was chosen
    day date not null,  -- UTC day of receipt
    current_state varchar not null,  -- received, provisioned, awaiting_activation or active
    review_state varchar not null,  -- pending_review, approved or changes_requested
    activation_state varchar not null,  -- not_started, awaiting_payment, activated or suspended
    repeats boolean not null,  -- True if its sender had registered in this lane before
    forgotten boolean not null  -- True if its sender asked to be forgotten
);
