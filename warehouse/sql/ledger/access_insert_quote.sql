-- One new open quote.
insert into access_quotes (
    quote_id, plan_id, payer, operator, amount, issued_at, expires_at, amount_held_until, agent_id, user_id, quote_json,
    requirement_json, quote_hash, requirement_hash, signature_json, state
) values (
    :quote_id, :plan_id, :payer, :operator, :amount, :issued_at, :expires_at, :amount_held_until, :agent_id, :user_id,
    :quote_json, :requirement_json, :quote_hash, :requirement_hash, :signature_json, 'open'
)
