-- One row per table with checks and per fact that they assert: the value that was judged last, and its bounds.
create table if not exists out_checks__results (
    table_name varchar not null,  -- Table whose rows the fact is about
    check_name varchar not null,  -- Name of the table's checks, which states what is true if they pass
    blocking boolean not null,  -- True where a failure stops publishing
    fact varchar not null,  -- Fact by name: a count of violations, or a column's nulls, least or greatest value
    value double,  -- The fact as it was judged; null where it could not be determined, which fails
    minimum double not null,  -- Least value that passes
    maximum double,  -- Greatest value that passes; null where there is no limit
    passed boolean not null,  -- True if the value lies within its bounds
    judged_by varchar not null,  -- Who judged: Great Expectations with its version, or a comparison with the bounds
    judged_at timestamp not null  -- Time at which these values were judged first, UTC
);
