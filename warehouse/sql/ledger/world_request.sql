-- At most one row: the decision of the request :key of :scope.
select request_sha256, seq from world_requests where scope = :scope and key = :key
