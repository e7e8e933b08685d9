-- One row per open quote of a payer whose amount need not be held any longer.
select quote_id from access_quotes where payer = :payer and state = 'open' and amount_held_until < :now
