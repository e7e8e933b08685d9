-- At most one row: who a presented key stands for, what it may use, and whether it was used before; asked by each request.
select key_id, family_id, tier, owner, paid_until, first_used_at is not null as used
from api_keys where digest = :digest and state = 'active'
