-- An intake's new states.
update intakes
set
    current_state = :current_state, review_state = :review_state, activation_state = :activation_state,
    changed_at = :changed_at
where intake_id = :intake_id
