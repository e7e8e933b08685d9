-- One row per column of a table with checks: statistics of its values, gathered at most hourly.
create table if not exists out_checks__columns (
    table_name varchar not null,  -- Table of the column
    column_name varchar not null,  -- Name of the column
    rows bigint not null,  -- Rows of the table
    nulls bigint not null,  -- Rows without a value
    distinct_about bigint not null,  -- Different values, estimated to within a few percent
    least double,  -- Least value, rounded to a double; null where values are not numbers
    greatest double,  -- Greatest value, likewise
    deciles double[],  -- Values below which 10, 20 ... 90 % of the rows lie, estimated; null where values are not numbers
    gathered_at timestamp not null  -- Time of gathering, UTC
);
