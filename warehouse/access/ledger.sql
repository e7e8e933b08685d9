-- name: access_authorization
-- The authorization with an id.
select * from access_authorizations where payment_id = :payment_id

-- name: access_authorization_at
-- At most one row: the authorization that a payer signed with a nonce.
select * from access_authorizations
where chain_id = :chain_id and asset = :asset and payer = :payer and nonce = :nonce

-- name: access_authorizations_due
-- One row per authorization whose outcome on the chain is still open, oldest first.
select * from access_authorizations
where
    chain_id = :chain_id and closed_at is null
    and (state = 'stored' or (state = 'failed' and valid_before < :now_s))
order by stored_at, payment_id
limit :limit

-- name: access_authorized_amount
-- The sum of a payer's authorizations that the chain has not settled yet.
select cast(coalesce(sum(value), 0) as bigint) as amount
from access_authorizations
where payer = :payer and asset = :asset and chain_id = :chain_id and state = 'stored'

-- name: access_case
-- The case with an id.
select * from access_cases where case_id = :case_id

-- name: access_case_at
-- At most one row: the case of the transfer at a position of the chain.
select * from access_cases
where chain_id = :chain_id and transaction_hash = :transaction_hash and log_position = :log_position

-- name: access_case_of_supplement
-- At most one row: the case that offered a quote.
select c.* from access_supplements s join access_cases c on c.case_id = s.case_id where s.quote_id = :quote_id

-- name: access_cases_in_state
-- One row per case in a state, newest first.
select * from access_cases where state = :state order by recorded_at desc, case_id

-- name: access_cases_of_quote
-- One row per case that is filed under a quote, oldest first.
select * from access_cases where quote_id = :quote_id order by recorded_at, case_id

-- name: access_cases_of_transaction
-- One row per case of a transaction, in the order of its logs.
select * from access_cases
where chain_id = :chain_id and transaction_hash = :transaction_hash
order by log_position

-- name: access_changed_claims
-- One row per claim that changed after a seq, in its current state, without its owner and the transaction that paid.
select
    c.claim_id, c.quote_id, q.plan_id, c.tier, c.chain_id, c.block_number, c.amount as amount_units, c.state,
    c.issued_at, c.changed_at, c.access_expires_at, c.final_at
from access_claims c
join access_quotes q on q.quote_id = c.quote_id
where c.claim_id in (select entity_id from ledger_changes where seq > :seq and kind = 'claim')

-- name: access_claims_by_state
-- One row per state that any claim is in.
select state, count(*) as claims from access_claims group by state order by state

-- name: access_changed_keys
-- One row per key that changed after a seq, in its current state, without its owner and anything of its text.
select key_id, family_id, claim_id, tier, state, paid_until, created_at, changed_at
from api_keys
where key_id in (select entity_id from ledger_changes where seq > :seq and kind = 'key')

-- name: access_changed_quotes
-- One row per quote that changed after a seq, in its current state, without its payer and what only the payer knows. A
-- quote for the rest of another quote's price is left out, since it is not a separate sale.
select quote_id, plan_id, amount as amount_units, issued_at, expires_at, state
from access_quotes
where
    quote_id in (select entity_id from ledger_changes where seq > :seq and kind = 'quote')
    and quote_id not in (select quote_id from access_supplements)

-- name: access_changed_unmatched_payments
-- One row per case that changed after a seq, in its current state, without the sender of the money and the transaction.
select
    case_id as payment_id, quote_id, chain_id, asset, amount as amount_units, block_number, block_time_s, code, state,
    recorded_at, changed_at, refund_amount as refund_units
from access_cases
where case_id in (select entity_id from ledger_changes where seq > :seq and kind = 'unmatched_payment')

-- name: access_claim
-- The claim with an id.
{claims_with_terms}
where c.claim_id = :claim_id

-- name: access_claim_of_quote
-- The claim of a quote.
{claims_with_terms}
where c.quote_id = :quote_id

-- name: access_claim_of_request
-- The claim of a quote if the request that issued it had this Idempotency-Key.
{claims_with_terms}
where c.quote_id = :quote_id and c.idempotency_digest = :idempotency_digest

-- name: access_claim_of_transfer
-- The claim that uses the transfer at a position of the chain.
{claims_with_terms}
join access_payments p on p.claim_id = c.claim_id
where p.chain_id = :chain_id and p.transaction_hash = :transaction_hash and p.log_position = :log_position

-- name: access_close_authorization
-- Records that nothing more can happen to an authorization on the chain.
update access_authorizations set closed_at = :closed_at where payment_id = :payment_id and closed_at is null

-- name: access_close_quote
-- Marks one quote as claimed. An expired quote can still be claimed, through its case.
update access_quotes set state = 'claimed' where quote_id = :quote_id and state in ('open', 'expired')

-- name: access_edges_of_claim
-- One row per private edge of :payer that keys of the claim wrote, or that was :operator's before: its newest state as
-- JSON, and 1 if a key that names another operator, or none, wrote it too.
select
    {world_edge_body} as body,
    case
        when exists (
            select 1
            from ({world_edge_writes}) as w
            where w.actor = :payer and not exists (
                select 1
                from world_decision_payloads p
                join api_keys k on k.key_id = p.key_id
                join access_claims c on c.claim_id = k.claim_id
                join access_quotes q on q.quote_id = c.quote_id
                where p.seq = w.decision_seq and c.payer = :payer and q.operator = :operator
            )
        ) then 1
        else 0
    end as shared
from {world_edges_with_states}
where s.owner = :payer and exists (
    select 1
    from ({world_edge_writes}) as w
    left join world_decision_payloads p on p.seq = w.decision_seq
    left join api_keys k on k.key_id = p.key_id
    where k.claim_id = :claim_id or w.actor = :operator
)
order by s.id

-- name: access_file_case
-- Files one case on which nobody has acted under another quote of the sender.
update access_cases
set quote_id = :quote_id, proven = :proven, code = :code, changed_at = :changed_at
where case_id = :case_id and state = 'open'

-- name: access_forget_answers
-- Deletes the answers of authorizations that were paid or given up before :changed_before.
update access_authorizations set answer = null
where answer is not null and changed_at < :changed_before and state <> 'stored'

-- name: access_forget_answers_of
-- Deletes every answer that a payer bought.
update access_authorizations set answer = null where payer = :payer and answer is not null

-- name: access_insert_authorization
-- Inserts a new authorization, with the sealed answer that it buys if that exists already.
insert into access_authorizations (
    payment_id, quote_id, chain_id, asset, payer, nonce, pay_to, value, valid_after, valid_before, signature,
    request_digest, from_block, state, code, answer, stored_at, changed_at, closed_at
) values (
    :payment_id, :quote_id, :chain_id, :asset, :payer, :nonce, :pay_to, :value, :valid_after, :valid_before, :signature,
    :request_digest, :from_block, 'stored', null, :answer, :stored_at, :stored_at, null
)

-- name: access_insert_claim
-- Inserts a claim that was just issued.
insert into access_claims (
    claim_id, receipt_id, quote_id, payer, owner, tier, chain_id, transaction_hash, log_position, amount, block_number,
    block_hash, state, issued_at, changed_at, access_expires_at, idempotency_digest, request_digest, final_at
) values (
    :claim_id, :receipt_id, :quote_id, :payer, :owner, :tier, :chain_id, :transaction_hash, :log_position, :amount,
    :block_number, :block_hash, 'issued', :issued_at, :issued_at, :access_expires_at, :idempotency_digest,
    :request_digest, null
)

-- name: access_insert_payment
-- Inserts a transfer that a claim uses.
insert into access_payments (
    claim_id, quote_id, chain_id, transaction_hash, log_position, amount, block_number, block_hash, state, changed_at,
    final_at
) values (
    :claim_id, :quote_id, :chain_id, :transaction_hash, :log_position, :amount, :block_number, :block_hash, 'issued',
    :changed_at, null
)

-- name: access_insert_quote
-- Inserts a new quote.
insert into access_quotes (
    quote_id, plan_id, payer, operator, amount, issued_at, expires_at, amount_held_until, agent_id, user_id, quote_json,
    requirement_json, quote_hash, requirement_hash, signature_json, state
) values (
    :quote_id, :plan_id, :payer, :operator, :amount, :issued_at, :expires_at, :amount_held_until, :agent_id, :user_id,
    :quote_json, :requirement_json, :quote_hash, :requirement_hash, :signature_json, :state
)

-- name: access_insert_receipt
-- Inserts a new receipt.
insert into access_receipts (receipt_id, claim_id, body_json, receipt_hash, signature_json)
values (:receipt_id, :claim_id, :body_json, :receipt_hash, :signature_json)

-- name: access_insert_relay
-- Inserts a nonce of a relayer.
insert into access_relays (relayer, chain_id, nonce, payment_id, lost)
values (:relayer, :chain_id, :nonce, :payment_id, 0)

-- name: access_insert_relayed
-- Inserts a signed transaction.
insert into access_relayed_transactions (transaction_hash, relayer, chain_id, nonce, raw, fee, tip, signed_at)
values (:transaction_hash, :relayer, :chain_id, :nonce, :raw, :fee, :tip, :signed_at)

-- name: access_insert_supplement
-- Inserts a quote that a case offers for the difference.
insert into access_supplements (quote_id, case_id) values (:quote_id, :case_id)

-- name: access_forget_trial
-- Deletes a trial whose graph is gone.
delete from access_trials where family_id = :family_id

-- name: access_forget_trial_networks
-- Forgets the networks from which trials were requested on days before :day.
update access_trials set network_digest = null where day < :day and network_digest is not null

-- name: access_forget_trial_owner
-- Forgets the owner of a trial's keys.
update api_keys set owner = :forgotten where family_id = :family_id

-- name: access_keys_of_claim
-- One row per key of a claim.
select key_id from api_keys where claim_id = :claim_id order by key_id

-- name: access_keys_of_plan
-- One row if :owner has an active key, within its paid time, that a claim of the plan issued.
select 1
from api_keys k
join access_claims c on c.claim_id = k.claim_id
join access_quotes q on q.quote_id = c.quote_id
where k.owner = :owner and k.state = 'active' and q.plan_id = :plan_id
    and (k.paid_until is null or k.paid_until > :now)
limit 1

-- name: access_keys_of_trial
-- One row per key of a trial that is not revoked.
select key_id from api_keys where family_id = :family_id and state <> 'revoked' order by key_id

-- name: access_lose_relay
-- Records that a transaction which is not ours used a nonce.
update access_relays set lost = 1 where relayer = :relayer and chain_id = :chain_id and nonce = :nonce and lost = 0

-- name: access_mark_trial_erased
-- Records that the graph of a trial's owner is erased.
update access_trials set erased_at = :erased_at where family_id = :family_id and erased_at is null

-- name: access_move_authorization
-- Moves one authorization to a state, with its answer if that is new.
update access_authorizations
set state = :state, code = :code, answer = coalesce(:answer, answer), changed_at = :changed_at
where payment_id = :payment_id and state <> 'paid'

-- name: access_move_case
-- Moves one case from a state to another. The amount and the transaction of its refund stay once they are set.
update access_cases
set
    state = :state,
    refund_amount = coalesce(:refund_amount, refund_amount),
    refund_transaction_hash = coalesce(:refund_transaction_hash, refund_transaction_hash),
    changed_at = :changed_at
where case_id = :case_id and state = :from_state

-- name: access_move_claim
-- Moves one claim from a state to another, with the block in which its payment is now.
update access_claims
set state = :state, block_number = :block_number, block_hash = :block_hash, changed_at = :changed_at
where claim_id = :claim_id and state = :from_state

-- name: access_move_imports
-- Makes :owner the owner of the imports that keys of a claim began.
update world_imports
set owner = :owner
where key_id in (select key_id from api_keys where claim_id = :claim_id)

-- name: access_move_payloads
-- Makes :owner the owner of the decisions about what keys of a claim proposed.
update world_decision_payloads
set owner = :owner
where key_id in (select key_id from api_keys where claim_id = :claim_id)

-- name: access_move_payment
-- Records where one transfer of a claim is now.
update access_payments
set state = :state, block_number = :block_number, block_hash = :block_hash, changed_at = :changed_at
where
    claim_id = :claim_id and transaction_hash = :transaction_hash and log_position = :log_position
    and final_at is null

-- name: access_move_pending
-- Makes :owner the owner of proposals by keys of a claim that wait for an operator.
update world_pending
set owner = :owner
where seq in (
    select p.seq
    from world_decision_payloads p
    join api_keys k on k.key_id = p.key_id
    where k.claim_id = :claim_id
)

-- name: access_move_quote
-- Moves one open quote on.
update access_quotes set state = :state where quote_id = :quote_id and state = 'open'

-- name: access_move_requests
-- Makes :owner the sender of the requests that keys of a claim sent as :payer, except those whose idempotency key :owner
-- has used itself.
update world_requests
set scope = :owner
where scope = :payer
    and seq in (
        select p.seq
        from world_decision_payloads p
        join api_keys k on k.key_id = p.key_id
        where k.claim_id = :claim_id
    )
    and not exists (select 1 from world_requests as known where known.scope = :owner and known.key = world_requests.key)

-- name: access_moved_keys
-- One row per key that a migration gave to its payer, ordered by the operator that had it before and never signed.
select m.key_id, k.claim_id, m.from_owner, m.to_owner, m.nodes, m.edges, m.left_behind, m.moved_at
from access_moved_keys m
join api_keys k on k.key_id = m.key_id
order by m.from_owner, m.to_owner, m.key_id

-- name: access_moves_due
-- One row per operator and payer whose keys were moved and whose graph is still to be moved: key_id is one of those keys,
-- and others the number of other keys that the operator had or has.
select
    m.from_owner, m.to_owner, min(m.key_id) as key_id,
    (select count(*) from access_moved_keys o where o.from_owner = m.from_owner and o.to_owner <> m.to_owner)
    + (select count(*) from api_keys k where k.owner = m.from_owner) as others
from access_moved_keys m
where m.moved_at is null
group by m.from_owner, m.to_owner
order by m.from_owner, m.to_owner

-- name: access_newest_change
-- The newest change after a seq of a quote, claim, key or case; null if there is none.
select max(seq) as seq from ledger_changes
where seq > :seq and kind in ('quote', 'claim', 'key', 'unmatched_payment')

-- name: access_newest_final_block
-- At most one row: the newest block with a transfer of a claim that is no longer checked.
select block_number, block_hash
from access_payments
where chain_id = :chain_id and state = 'issued' and final_at is not null
order by block_number desc
limit 1

-- name: access_newest_relay
-- The highest nonce that was assigned to a relayer; null before the first.
select max(nonce) as nonce from access_relays where relayer = :relayer and chain_id = :chain_id

-- name: access_newest_supplement
-- The newest quote that a case offered.
select s.quote_id
from access_supplements s
join access_quotes q on q.quote_id = s.quote_id
where s.case_id = :case_id
order by q.expires_at desc, s.quote_id
limit 1

-- name: access_nodes_of_claim
-- One row per private node of :payer that keys of the claim wrote, or that was :operator's before: its newest state as
-- JSON, and 1 if a key that names another operator, or none, wrote it too.
select
    s.body,
    case
        when exists (
            select 1 from world_events e
            where e.segment in (select segment from world_segments)
                and e.entity_id = s.id and e.kind = 'node' and e.actor = :payer and not exists (
                select 1
                from world_decision_payloads p
                join api_keys k on k.key_id = p.key_id
                join access_claims c on c.claim_id = k.claim_id
                join access_quotes q on q.quote_id = c.quote_id
                where p.seq = e.decision_seq and c.payer = :payer and q.operator = :operator
            )
        ) then 1
        else 0
    end as shared
from world_nodes s
where s.owner = :payer and exists (
    select 1
    from world_events e
    left join world_decision_payloads p on p.seq = e.decision_seq
    left join api_keys k on k.key_id = p.key_id
    where e.segment in (select segment from world_segments)
        and e.entity_id = s.id and e.kind = 'node' and (k.claim_id = :claim_id or e.actor = :operator)
)
order by s.id

-- name: access_open_amounts
-- One row per open quote of a payer: its amount (smallest units).
select amount from access_quotes where payer = :payer and state = 'open'

-- name: access_own_claim
-- Makes :owner the owner of a claim.
update access_claims set owner = :owner where claim_id = :claim_id

-- name: access_own_keys
-- Makes :owner the owner of every key of a claim, including revoked ones.
update api_keys set owner = :owner where claim_id = :claim_id

-- name: access_payments_not_final
-- One row per transfer of a claim that may still leave the chain, those of the newest claims first (amounts in smallest
-- units).
select p.*
from access_payments p
join access_claims c on c.claim_id = p.claim_id
where p.final_at is null
order by c.issued_at desc, p.claim_id, p.transaction_hash, p.log_position
limit :limit

-- name: access_payments_of_claim
-- One row per transfer that a claim uses (amounts in smallest units).
select * from access_payments where claim_id = :claim_id order by transaction_hash, log_position

-- name: access_quote
-- The quote with an id.
select * from access_quotes where quote_id = :quote_id

-- name: access_quotes_past_grace
-- One row per open quote of a payer whose amount is no longer reserved.
select quote_id from access_quotes where payer = :payer and state = 'open' and amount_held_until < :now

-- name: access_receipt
-- The receipt of a claim.
select body_json, receipt_hash, signature_json from access_receipts where claim_id = :claim_id

-- name: access_record_case
-- Inserts a transfer that pays for nothing, unless it is recorded already.
insert into access_cases (
    case_id, chain_id, transaction_hash, log_position, asset, sender, recipient, amount, block_number, block_hash,
    block_time_s, code, quote_id, proven, state, refund_amount, refund_transaction_hash, recorded_at, changed_at
) values (
    :case_id, :chain_id, :transaction_hash, :log_position, :asset, :sender, :recipient, :amount, :block_number,
    :block_hash, :block_time_s, :code, :quote_id, :proven, 'open', null, null, :recorded_at, :recorded_at
)
on conflict (chain_id, transaction_hash, log_position) do nothing

-- name: access_relay_of_payment
-- The nonce under which an authorization is sent.
select * from access_relays where payment_id = :payment_id and lost = 0

-- name: access_relays_from
-- One row per nonce of a relayer from :nonce on, in order.
select * from access_relays where relayer = :relayer and chain_id = :chain_id and nonce >= :nonce order by nonce

-- name: access_release_lease
-- Releases one quote's lease.
delete from access_leases where quote_id = :quote_id and owner = :owner

-- name: access_settle_claim
-- Marks one claim as final: nobody needs to check its payment again.
update access_claims set final_at = :final_at where claim_id = :claim_id and final_at is null

-- name: access_settle_move
-- Records the outcome of moving an operator's graph to a payer.
update access_moved_keys
set nodes = :nodes, edges = :edges, left_behind = :left_behind, moved_at = :moved_at
where from_owner = :from_owner and to_owner = :to_owner and moved_at is null

-- name: access_settle_payment
-- Marks one transfer of a claim as final: nobody needs to check it again.
update access_payments set final_at = :final_at
where
    claim_id = :claim_id and transaction_hash = :transaction_hash and log_position = :log_position
    and final_at is null

-- name: access_spent_positions
-- Positions of a transaction's transfers that can't pay for anything any more: claims use them, or they are refunded or
-- due to be.
select log_position from access_payments where chain_id = :chain_id and transaction_hash = :transaction_hash
union
select log_position from access_cases
where chain_id = :chain_id and transaction_hash = :transaction_hash and state in ('refund_due', 'refunded')

-- name: access_take_lease
-- Takes the lease of one quote if nobody holds it and no claim has redeemed the quote.
insert into access_leases (quote_id, owner, expires_at)
select :quote_id, :owner, :expires_at
where not exists (select 1 from access_claims where quote_id = :quote_id)
on conflict (quote_id) do update set owner = excluded.owner, expires_at = excluded.expires_at
where access_leases.expires_at <= :now

-- name: access_take_trial
-- Inserts a trial if one is left for its wallet, network and day, and its challenge was not answered before.
insert into access_trials (
    family_id, challenge_sha256, wallet_digest, network_digest, day, issued_at, ends_at, erased_at
)
select :family_id, :challenge_sha256, :wallet_digest, :network_digest, :day, :issued_at, :ends_at, null
from (
{access_trial_room}
) room
where room.of_wallet = 1 and room.of_network = 1 and room.of_day = 1
on conflict (challenge_sha256) do nothing

-- name: access_transactions_of_nonce
-- One row per transaction that was signed for a nonce, newest first.
select * from access_relayed_transactions
where relayer = :relayer and chain_id = :chain_id and nonce = :nonce
order by signed_at desc, fee desc

-- name: access_transactions_of_payment
-- One row per transaction that was signed for an authorization, newest first.
select t.*
from access_relayed_transactions t
join access_relays r on r.relayer = t.relayer and r.chain_id = t.chain_id and r.nonce = t.nonce
where r.payment_id = :payment_id
order by t.signed_at desc, t.fee desc

-- name: access_trial
-- The trial of a signed challenge.
select family_id, issued_at, ends_at from access_trials where challenge_sha256 = :challenge_sha256

-- name: access_trial_nodes
-- At most one row, for the key of a trial: the number of its owner's nodes.
select (select count(*) from world_nodes n where n.owner = k.owner) as nodes
from api_keys k
join access_trials t on t.family_id = k.family_id
where k.key_id = :key_id

-- name: access_trial_networks
-- One row if a trial of a day before :day still has its network.
select 1 as there from access_trials where day < :day and network_digest is not null limit 1

-- name: access_trial_room
-- One row: 1 or 0 each for whether a trial is left for this wallet, for its network and on this day. A wallet has none
-- left if it had one since :wallet_since, or owns another key than :family_id.
select
    case
        when exists (
            select 1 from access_trials where wallet_digest = :wallet_digest and issued_at > :wallet_since
        ) then 0
        when exists (
            select 1 from api_keys k
            where
                k.owner = :owner and k.family_id <> :family_id
                and not exists (select 1 from access_trials t where t.family_id = k.family_id)
        ) then 0
        else 1
    end as of_wallet,
    case
        when (select count(*) from access_trials where day = :day and network_digest = :network_digest) < :most_of_network
            then 1
        else 0
    end as of_network,
    case when (select count(*) from access_trials where day = :day) < :most_a_day then 1 else 0 end as of_day

-- name: access_trials_of
-- One row per trial of an owner.
select t.family_id from access_trials t join api_keys k on k.key_id = t.family_id where k.owner = :owner

-- name: access_trials_over
-- One row per owner all of whose trials ended before :ended_before: whether its graph was erased for all of them, and
-- whether it has other keys (each 1 or 0).
select
    k.owner,
    min(case when t.erased_at is null then 0 else 1 end) as erased,
    max(
        case
            when exists (
                select 1 from api_keys o
                where o.owner = k.owner and not exists (select 1 from access_trials x where x.family_id = o.family_id)
            ) then 1
            else 0
        end
    ) as has_keys
from access_trials t
join api_keys k on k.key_id = t.family_id
group by k.owner
having max(t.ends_at) < :ended_before
order by k.owner

-- name: access_used_positions
-- Positions of a transaction's transfers that claims use.
select log_position from access_payments where chain_id = :chain_id and transaction_hash = :transaction_hash

-- name: add_key_uses
-- Adds :requests to a key's UTC day.
insert into api_key_uses (key_id, day, requests, last_used_at) values (:key_id, :day, :requests, :last_used_at)
on conflict (key_id, day) do update set
    requests = api_key_uses.requests + excluded.requests,
    last_used_at = case
        when excluded.last_used_at > api_key_uses.last_used_at then excluded.last_used_at
        else api_key_uses.last_used_at
    end

-- name: add_key_revocation
-- Inserts the record that a key revoked itself; times in UTC.
insert into api_key_revocations (key_id, revoked_at) values (:key_id, :revoked_at)

-- name: add_key_rotation
-- Inserts a rotation that a key requested; times in UTC.
insert into api_key_rotations (request_digest, key_id, successor_id, rotated_at)
values (:request_digest, :key_id, :successor_id, :rotated_at)

-- name: alive_key_of_claim
-- At most one row: the key of a claim that is not revoked; times in UTC.
select {key_columns}
from api_keys k where claim_id = :claim_id and state <> 'revoked'

-- name: callers_of_owner
-- One row per caller that has acted for :owner: ids of keys, of single payments and of sessions.
select key_id as caller from api_keys where owner = :owner
union
select payment_id from access_authorizations where payer = :owner
union
select session_id from connect_sessions where 'profile:' || profile_id = :owner

-- name: claims_with_terms
-- One row per claim, with the terms of its quote (amount in smallest units).
select
    c.claim_id, c.receipt_id, c.quote_id, q.plan_id, c.tier, c.payer, q.operator, c.owner, q.agent_id, q.user_id,
    c.chain_id, c.transaction_hash, c.log_position, c.amount, c.block_number, c.block_hash, c.state, c.issued_at,
    c.changed_at, c.access_expires_at, c.request_digest, c.final_at
from access_claims c
join access_quotes q on q.quote_id = c.quote_id

-- name: family_keys
-- One row per key of the family, newest first, at most :most, with the time of its last use; times in UTC.
select {key_columns}, max(u.last_used_at) as last_used_at
from api_keys k
left join api_key_uses u on u.key_id = k.key_id
where k.family_id = :family_id
group by k.key_id
order by k.created_at desc, k.key_id
limit :most

-- name: family_size
-- One row: the number of keys that the family has had.
select count(*) as keys from api_keys where family_id = :family_id

-- name: family_uses
-- One row per UTC day, from :since (YYYY-MM-DD) on, on which keys of the family were used: their counted requests.
select u.day, cast(sum(u.requests) as bigint) as requests
from api_key_uses u
join api_keys k on k.key_id = u.key_id
where k.family_id = :family_id and u.day >= :since
group by u.day
order by u.day

-- name: forget_key_uses_before
-- Deletes the use of keys on days before :day (YYYY-MM-DD).
delete from api_key_uses where day < :day

-- name: forget_key_uses_of
-- Deletes the use of every key of :owner.
delete from api_key_uses where key_id in (select key_id from api_keys where owner = :owner)

-- name: forget_sealed_keys
-- Deletes the sealed form of keys created before :created_before.
update api_keys set sealed = null where sealed is not null and created_at < :created_before

-- name: insert_key
-- Inserts an active key that was not used yet; times in UTC.
insert into api_keys (
    key_id, family_id, digest, pepper_version, hint, tier, owner, role, max_class, signer, claim_id, state, paid_until,
    sealed, created_at, changed_at, first_used_at
) values (
    :key_id, :family_id, :digest, :pepper_version, :hint, :tier, :owner, :role, :max_class, :signer, :claim_id, 'active',
    :paid_until, :sealed, :created_at, :created_at, null
)

-- name: key
-- At most one row: the key with this id; times in UTC.
select {key_columns}
from api_keys k where k.key_id = :key_id

-- name: key_by_digest
-- At most one row: the owner of a presented key, what it may use, and whether it was used before. Each request runs this.
select
    k.key_id, k.family_id, k.tier, k.owner, k.role, k.max_class, k.signer, k.paid_until,
    (select t.ends_at from access_trials t where t.family_id = k.family_id) as trial_ends_at,
    k.first_used_at is not null as used
from api_keys k where k.digest = :digest and k.state = 'active'

-- name: key_by_digest_in_any_state
-- At most one row: the key with this digest; times in UTC.
select {key_columns}
from api_keys k where k.digest = :digest

-- name: key_columns
-- The columns of a key without its digest and sealed form; times in UTC.
k.key_id, k.family_id, k.hint, k.tier, k.owner, k.role, k.max_class, k.signer, k.claim_id, k.state, k.paid_until,
k.created_at, k.changed_at, k.first_used_at,
(select t.ends_at from access_trials t where t.family_id = k.family_id) as trial_ends_at

-- name: key_rotation
-- At most one row: the rotation that answered a request; times in UTC.
select key_id, successor_id, rotated_at from api_key_rotations where request_digest = :request_digest

-- name: keys
-- One row per key, newest first, with its requests on all days and on :day (YYYY-MM-DD); times in UTC.
select
    {key_columns},
    max(u.last_used_at) as last_used_at, cast(coalesce(sum(u.requests), 0) as bigint) as requests,
    cast(coalesce(sum(case when u.day = :day then u.requests end), 0) as bigint) as requests_today
from api_keys k
left join api_key_uses u on u.key_id = k.key_id
group by k.key_id
order by k.created_at desc, k.key_id

-- name: record_first_key_use
-- Records a key's first use, and deletes its sealed form.
update api_keys set first_used_at = :first_used_at, sealed = null where key_id = :key_id and first_used_at is null

-- name: replaceable_key_of_claim
-- At most one row: the newest key of a claim, unless an operator has revoked it; times in UTC.
select {key_columns}
from api_keys k
where k.claim_id = :claim_id
    and (k.state <> 'revoked' or exists (select 1 from api_key_revocations r where r.key_id = k.key_id))
    and not exists (select 1 from api_keys n where n.claim_id = k.claim_id and n.created_at > k.created_at)

-- name: replaced_keys_of_claim
-- One row per key of a claim that was revoked since a time, latest revocation first; times in UTC.
select {key_columns}
from api_keys k
where k.claim_id = :claim_id and k.state = 'revoked' and k.changed_at >= :revoked_since
order by k.changed_at desc
limit :limit

-- name: revoked_itself
-- One row if the key has revoked itself.
select 1 from api_key_revocations where key_id = :key_id

-- name: sealed_key
-- At most one row: the sealed form of a key that was not used yet.
select sealed from api_keys where key_id = :key_id and sealed is not null

-- name: set_key_state
-- Moves a key from :from_state to :state. Revoking deletes the sealed form.
update api_keys set
    state = :state,
    changed_at = :changed_at,
    sealed = case when :state = 'revoked' then null else sealed end
where key_id = :key_id and state = :from_state
