-- At most one row: the decision of the request :key of :scope, and its verdict.
select world_requests.request_sha256, world_requests.seq, world_decisions.verdict
from world_requests
join world_decisions on world_decisions.seq = world_requests.seq
where world_requests.scope = :scope and world_requests.key = :key
