-- name: intake_append_step
-- Appends the next step of an intake.
insert into intake_steps (intake_id, position, name, taken_at, taken_by)
select :intake_id, 1 + coalesce(max(position), 0), :name, :taken_at, :taken_by
from intake_steps where intake_id = :intake_id

-- name: intake_changed
-- One row per intake that changed after a seq, in its current state, without anything that identifies its sender.
select
    graph_key, lane, profile_id, substr(received_at, 1, 10) as day, current_state, review_state, activation_state,
    repeats, case when forgotten_at is null then 0 else 1 end as forgotten
from intakes
where intake_id in (select entity_id from ledger_changes where seq > :seq and kind = 'intake')

-- name: intake_counts
-- One row per lane that has registrations: all, those of new identities, approved ones, active ones.
select
    lane,
    count(*) as registrations,
    count(*) - sum(repeats) as distinct_count,
    sum(case when review_state = 'approved' then 1 else 0 end) as approved,
    sum(case when activation_state = 'activated' then 1 else 0 end) as active
from intakes
group by lane

-- name: intake_days
-- One row per UTC day since :since and lane: registrations.
select substr(received_at, 1, 10) as day, lane, count(*) as registrations
from intakes
where received_at >= :since
group by substr(received_at, 1, 10), lane
order by day desc, lane

-- name: intake_first_of_identity
-- The first intake of an identity within its lane.
select intake_id from intakes
where lane = :lane and identity_digest = :identity_digest
order by received_at, intake_id
limit 1

-- name: intake_forget
-- Forgets an intake except lane, profile, day, states and the keyed digest of its Idempotency-Key, so that a late retry
-- doesn't register anyone again.
update intakes
set
    source = 'forgotten', received_at = substr(received_at, 1, 10) || 'T00:00:00.000000Z', consent_at = null,
    consent_version = null, details_json = '{}', agent_id = null, identity_digest = null, linked_to = null,
    request_digest = null, claim_id = null, payer = null, changed_at = :forgotten_at,
    forgotten_at = :forgotten_at
where intake_id = :intake_id

-- name: intake_forget_contact
-- Deletes the contact data and the name of an intake's sender.
delete from intake_contacts where intake_id = :intake_id

-- name: intake_forget_links
-- Removes the links of other intakes to an intake.
update intakes set linked_to = null where linked_to = :intake_id

-- name: intake_forget_steps
-- Deletes the steps of an intake.
delete from intake_steps where intake_id = :intake_id

-- name: intake_forgotten
-- At most one row: the intake with an id, if it is forgotten.
select intake_id from intakes where intake_id = :intake_id and forgotten_at is not null

-- name: intake_insert
-- Inserts a new intake.
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

-- name: intake_insert_contact
-- Inserts the contact data and the name of an intake's sender.
insert into intake_contacts (intake_id, person_json) values (:intake_id, :person_json)

-- name: intake_linked_to
-- Ids of the intakes of the same identity that are linked to one.
select intake_id from intakes where linked_to = :intake_id order by intake_id

-- name: intake_list
-- The newest intakes that are not forgotten, without contact and person.
select intake_id, lane, profile_id, source, received_at, current_state, review_state, activation_state, linked_to
from intakes
where forgotten_at is null
order by received_at desc, intake_id
limit :most

-- name: intake_move
-- Sets an intake's states.
update intakes
set
    current_state = :current_state, review_state = :review_state, activation_state = :activation_state,
    changed_at = :changed_at
where intake_id = :intake_id

-- name: intake_named_by_claim
-- Ids of the intakes that a claim names, by their agent's id or by their own, and that are not activated yet.
select intake_id from intakes
where forgotten_at is null and activation_state <> 'activated' and (agent_id = :agent_id or intake_id = :user_id)
order by intake_id

-- name: intake_newest_change
-- The newest change of an intake after a seq; null if there is none.
select max(seq) as seq from ledger_changes where seq > :seq and kind = 'intake'

-- name: intake_of_claim
-- Ids of the intakes that a claim activated.
select intake_id from intakes where claim_id = :claim_id and forgotten_at is null order by intake_id

-- name: intake_of_graph_key
-- At most one row: the current state of the intake that a key of the graph names; none if it is forgotten.
select lane, profile_id, substr(received_at, 1, 10) as day, current_state
from intakes
where graph_key = :graph_key and forgotten_at is null

-- name: intake_of_request
-- The intake that a request with an Idempotency-Key created, with the digest of that request.
select intake_id, request_digest from intakes where idempotency_digest = :idempotency_digest

-- name: intake_one
-- At most one row: the intake with an id, with the personal data of its sender; none if it is forgotten.
select i.*, c.person_json
from intakes i
join intake_contacts c on c.intake_id = i.intake_id
where i.intake_id = :intake_id and i.forgotten_at is null

-- name: intake_other_claim
-- The oldest issued claim, other than :claim_id, that names the intake by its agent's id or by its own.
select c.claim_id, c.payer
from access_claims c
join access_quotes q on q.quote_id = c.quote_id
join intakes i on i.intake_id = q.user_id or i.agent_id = q.agent_id
where i.intake_id = :intake_id and c.claim_id <> :claim_id and c.state = 'issued'
order by c.issued_at, c.claim_id
limit 1

-- name: intake_recent
-- The newest intakes without anything that identifies their senders, in an order that does not reveal the time of day.
select lane, substr(received_at, 1, 10) as day, profile_id, current_state
from (
    select lane, received_at, profile_id, current_state, intake_id
    from intakes where forgotten_at is null
    order by received_at desc, intake_id
    limit :most
) newest
order by day desc, lane, profile_id, current_state

-- name: intake_record_claim
-- Records the claim that activated an intake, and its payer.
update intakes set claim_id = :claim_id, payer = :payer where intake_id = :intake_id

-- name: intake_steps_of
-- One row per step of an intake, in order.
select position, name, taken_at, taken_by from intake_steps where intake_id = :intake_id order by position
