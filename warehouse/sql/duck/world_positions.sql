-- One row per public node that was ever drawn: where, in a square from 0 to 1000. A node keeps its place.
create table if not exists out_world__positions (
    id varchar not null,
    x double not null,
    y double not null
);
