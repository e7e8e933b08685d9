-- One row per state of a node, with its record as JSON, for questions of keys about what was. Private states are for
-- their owners: no published document may be made of this without asking for owner is null.
create table if not exists out_world__nodes (
    id varchar not null,  -- The node
    revision bigint not null,  -- Revision that wrote this state
    type varchar not null,  -- Node type of the ontology
    domain varchar not null,  -- Domain of the type
    owner varchar,  -- Whose private node it is; null for public ones
    live boolean not null,  -- Whether the state is part of the live graph while it is the newest
    newest boolean not null,  -- Whether no later state is folded
    body varchar not null  -- The state as a JSON record
);
