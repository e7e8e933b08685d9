-- One row per table: the facts that passed its checks last, so that equal facts are not judged again.
create table if not exists core_checks__passed (
    suite varchar primary key,  -- Table whose checks passed
    asserted_sha256 varchar not null,  -- SHA-256 of the facts that passed and of the version of the judge
    passed_at timestamp not null  -- Time at which they passed, UTC
);
