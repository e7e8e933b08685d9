-- One row per suite: the last block whose rows passed it, so that rows are checked when they are new and not again.
create table if not exists core_checks__watermarks (
    suite varchar primary key,
    block bigint not null
);

-- One row per suite: what it asserted when it last passed, so that equal facts are not judged again.
create table if not exists core_checks__passed (
    suite varchar primary key,
    asserted_sha256 varchar not null,
    passed_at timestamp not null
);
