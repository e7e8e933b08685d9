-- Inserts the states of edges in `arriving_edges` as rows, retires the states that they follow, and blanks every
-- earlier state of edges that are now forgotten.
create or replace temp table arriving_again as select distinct id from arriving_edges where follows = 1;

insert into core_world__edges
select
    id, revision, source, target, type, properties, visibility, owner, live, valid_from, valid_to, recorded_at, null,
    null, stated_in, actor
from arriving_edges;

insert into out_world__edges
select id, revision, source, target, owner, live, true, body
from arriving_edges
positional join arriving_bodies;

update core_world__edges
set retired_at = following.at, retired_revision = following.by
from (
    select
        id,
        revision,
        lead(recorded_at) over states as at,
        lead(revision) over states as by
    from core_world__edges
    where id in (select id from arriving_again)
    window states as (partition by id order by revision)
) as following
where core_world__edges.id = following.id
    and core_world__edges.revision = following.revision
    and core_world__edges.retired_revision is null
    and following.by is not null;

update core_world__edges
set properties = '{}', owner = tomb.owner, stated_in = tomb.stated_in, actor = tomb.actor, live = false
from arriving_edges as tomb
where tomb.actor = 'forgotten' and core_world__edges.id = tomb.id and core_world__edges.revision < tomb.revision;

-- from any fold: earlier versions left forgotten edges public
update core_world__edges set visibility = 'private' where owner = 'forgotten' and visibility = 'public';

update out_world__edges
set owner = tomb.owner, live = false, body = tomb.tombstone
from arriving_edges as tomb
where tomb.actor = 'forgotten' and out_world__edges.id = tomb.id and out_world__edges.revision < tomb.revision;

update out_world__edges
set newest = (retired_revision is null)
from core_world__edges
where out_world__edges.id in (select id from arriving_again)
    and core_world__edges.id = out_world__edges.id
    and core_world__edges.revision = out_world__edges.revision;

drop table arriving_again
