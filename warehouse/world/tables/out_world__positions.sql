-- One row per public node that was ever drawn: its place in a square from 0 to 1000, where it stays.
create table if not exists out_world__positions (
    id varchar not null,  -- The node
    x double not null,  -- From the left, 0 to 1000
    y double not null  -- From the top, 0 to 1000
);
