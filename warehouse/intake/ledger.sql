-- name: intake_append_step
-- The next step of an intake.
insert into intake_steps (intake_id, position, name, taken_at, taken_by)
select :intake_id, 1 + coalesce(max(position), 0), :name, :taken_at, :taken_by
from intake_steps where intake_id = :intake_id

-- name: intake_changed
-- One row per intake that changed above a seq, as it is now, without anything that says whose it is.
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
-- What is left of a forgotten intake: lane, profile, day and states, and the keyed digest of its Idempotency-Key, so that
-- a late retry registers nobody again.
update intakes
set
    source = 'forgotten', received_at = substr(received_at, 1, 10) || 'T00:00:00.000000Z', consent_at = null,
    consent_version = null, details_json = '{}', agent_id = null, identity_digest = null, linked_to = null,
    request_digest = null, claim_id = null, payer = null, changed_at = :forgotten_at,
    forgotten_at = :forgotten_at
where intake_id = :intake_id

-- name: intake_forget_contact
-- How the sender of an intake was reached and called is forgotten.
delete from intake_contacts where intake_id = :intake_id

-- name: intake_forget_links
-- Who is linked to an intake is forgotten.
update intakes set linked_to = null where linked_to = :intake_id

-- name: intake_forget_steps
-- The steps of an intake are forgotten.
delete from intake_steps where intake_id = :intake_id

-- name: intake_forgotten
-- The intake with an id, where it is forgotten.
select intake_id from intakes where intake_id = :intake_id and forgotten_at is not null

-- name: intake_insert
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

-- name: intake_insert_contact
-- How the sender of an intake is reached and called.
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
-- An intake's new states.
update intakes
set
    current_state = :current_state, review_state = :review_state, activation_state = :activation_state,
    changed_at = :changed_at
where intake_id = :intake_id

-- name: intake_named_by_claim
-- Ids of the intakes that a claim names, by their agent's id or by their own, and that no claim activates already.
select intake_id from intakes
where forgotten_at is null and activation_state <> 'activated' and (agent_id = :agent_id or intake_id = :user_id)
order by intake_id

-- name: intake_newest_change
-- The newest change of an intake above a seq; null where there is none.
select max(seq) as seq from ledger_changes where seq > :seq and kind = 'intake'

-- name: intake_of_claim
-- Ids of the intakes that a claim activated.
select intake_id from intakes where claim_id = :claim_id and forgotten_at is null order by intake_id

-- name: intake_of_graph_key
-- The intake that a key of the graph names, as it is now; none where it is forgotten.
select lane, profile_id, substr(received_at, 1, 10) as day, current_state
from intakes
where graph_key = :graph_key and forgotten_at is null

-- name: intake_of_request
-- The intake that a request under an Idempotency-Key made, with the digest of that request.
select intake_id, request_digest from intakes where idempotency_digest = :idempotency_digest

-- name: intake_one
-- The intake with an id, with names of its sender; none where it is forgotten.
select i.*, c.person_json
from intakes i
join intake_contacts c on c.intake_id = i.intake_id
where i.intake_id = :intake_id and i.forgotten_at is null

-- name: intake_other_claim
-- The oldest claim that holds and names the intake, by its agent's id or by its own, and is not :claim_id.
select c.claim_id, c.payer
from access_claims c
join access_quotes q on q.quote_id = c.quote_id
join intakes i on i.intake_id = q.user_id or i.agent_id = q.agent_id
where i.intake_id = :intake_id and c.claim_id <> :claim_id and c.state = 'issued'
order by c.issued_at, c.claim_id
limit 1

-- name: intake_recent
-- The newest intakes without anything that says whose they are; in an order that does not say when within a day.
select lane, substr(received_at, 1, 10) as day, profile_id, current_state
from (
    select lane, received_at, profile_id, current_state, intake_id
    from intakes where forgotten_at is null
    order by received_at desc, intake_id
    limit :most
) newest
order by day desc, lane, profile_id, current_state

-- name: intake_record_claim
-- Which claim activated an intake, and who paid.
update intakes set claim_id = :claim_id, payer = :payer where intake_id = :intake_id

-- name: intake_steps_of
-- One row per step of an intake, in order.
select position, name, taken_at, taken_by from intake_steps where intake_id = :intake_id order by position
