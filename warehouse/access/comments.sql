-- What each column of paid access means; applied to an empty copy of the schema.
comment on column raw_ledger__quotes.quote_id is 'Id of the quote';
comment on column raw_ledger__quotes.plan_id is 'The plan that was asked for';
comment on column raw_ledger__quotes.amount_units is 'What it asks for, in the coin''s smallest unit';
comment on column raw_ledger__quotes.issued_at is 'When it was made, UTC';
comment on column raw_ledger__quotes.expires_at is 'Until when a payment counts, UTC';
comment on column raw_ledger__quotes.state is 'open, claimed or expired';

comment on column raw_ledger__claims.claim_id is 'Id of the claim';
comment on column raw_ledger__claims.quote_id is 'The quote that it redeemed';
comment on column raw_ledger__claims.plan_id is 'The plan of the quote';
comment on column raw_ledger__claims.tier is 'Tier of the key that was issued';
comment on column raw_ledger__claims.chain_id is 'EIP-155 id of the chain that was paid on';
comment on column raw_ledger__claims.block_number is 'Block that holds the payment';
comment on column raw_ledger__claims.amount_units is 'What was paid, in the coin''s smallest unit';
comment on column raw_ledger__claims.state is 'issued, or reversed while its payment is off the chain';
comment on column raw_ledger__claims.issued_at is 'When claim and key were issued, UTC';
comment on column raw_ledger__claims.changed_at is 'When its state changed last, UTC';
comment on column raw_ledger__claims.access_expires_at is 'From when on the key has the free tier, UTC; null: never';
comment on column raw_ledger__claims.final_at is 'Since when nobody need look at the payment again, UTC; null: not yet';

comment on column raw_ledger__keys.key_id is 'Id of the key, which tells nothing of its text';
comment on column raw_ledger__keys.family_id is 'The first key of those that followed one another by rotation';
comment on column raw_ledger__keys.claim_id is 'The claim that issued it; null for keys that the operator made';
comment on column raw_ledger__keys.tier is 'free, basic or pro';
comment on column raw_ledger__keys.state is 'active, suspended or revoked';
comment on column raw_ledger__keys.paid_until is 'Until when the tier is paid, UTC; null: without end';
comment on column raw_ledger__keys.created_at is 'When it was made, UTC';
comment on column raw_ledger__keys.changed_at is 'When its state changed last, UTC';

comment on column raw_ledger__unmatched_payments.payment_id is 'Id of its case';
comment on column raw_ledger__unmatched_payments.quote_id is 'The quote of its sender that it came for; null while no claim of one named it';
comment on column raw_ledger__unmatched_payments.chain_id is 'EIP-155 id of the chain';
comment on column raw_ledger__unmatched_payments.asset is 'Contract of the token that came';
comment on column raw_ledger__unmatched_payments.amount_units is 'How much came, in that token''s smallest unit, decimal';
comment on column raw_ledger__unmatched_payments.block_number is 'Block that holds the transfer';
comment on column raw_ledger__unmatched_payments.paid_at is 'Time of that block, UTC';
comment on column raw_ledger__unmatched_payments.code is 'Why it pays nothing, as the claim was answered';
comment on column raw_ledger__unmatched_payments.state is 'open, supplement_offered, claimed, issued by the operator, refund_due or refunded';
comment on column raw_ledger__unmatched_payments.recorded_at is 'When it was recorded, UTC';
comment on column raw_ledger__unmatched_payments.changed_at is 'When its state changed last, UTC';
comment on column raw_ledger__unmatched_payments.refund_units is 'How much goes, or went, back to the sender, in that token''s smallest unit; null: nothing';

comment on column core_access__state.only_row is 'Always true';
comment on column core_access__state.seq is 'The ledger''s seq up to which changes are taken over';

comment on column out_access__revenue_daily.day is 'UTC day on which claims were issued';
comment on column out_access__revenue_daily.plan_id is 'The plan that was bought';
comment on column out_access__revenue_daily.claims is 'Claims issued that day whose payment holds';
comment on column out_access__revenue_daily.revenue_units is 'What those paid, in the coin''s smallest unit';
comment on column out_access__revenue_daily.reversed_claims is 'Claims issued that day whose payment has left the chain';
comment on column out_access__revenue_daily.reversed_units is 'What those had paid, in the coin''s smallest unit';

comment on column out_access__funnel.day is 'UTC day on which quotes were made';
comment on column out_access__funnel.plan_id is 'The plan that was asked for';
comment on column out_access__funnel.quotes is 'Quotes made that day';
comment on column out_access__funnel.paid is 'Those of them that money came for, whether it matched or not';
comment on column out_access__funnel.claimed is 'Those of them that a key was issued for';
