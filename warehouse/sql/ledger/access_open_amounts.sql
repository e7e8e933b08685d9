-- One row per open quote of a payer: its amount (smallest units).
select amount from access_quotes where payer = :payer and state = 'open'
