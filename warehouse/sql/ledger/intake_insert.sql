-- One new intake.
insert into intakes (
    intake_id, graph_key, lane, profile_id, source, received_at, consent_at, consent_version, current_state,
    review_state, activation_state, changed_at, details_json, agent_id, identity_digest, repeats, linked_to,
    idempotency_digest, request_digest
)
values (
    :intake_id, :graph_key, :lane, :profile_id, :source, :received_at, :consent_at, :consent_version, :current_state,
    :review_state, :activation_state, :received_at, :details_json, :agent_id, :identity_digest, :repeats, :linked_to,
    :idempotency_digest, :request_digest
)
