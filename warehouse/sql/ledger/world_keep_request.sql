-- One row per request that was approved or escalated.
insert into world_requests (scope, key, request_sha256, seq) values (:scope, :key, :request_sha256, :seq)
