-- One row per onboarding capsule; created_at in UTC.
insert into world_capsules (id, request_key, request_sha256, seq, public_seq, claimed_by, created_at)
values (:id, :request_key, :request_sha256, :seq, :public_seq, null, :created_at)
