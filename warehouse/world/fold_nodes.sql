-- Inserts the states of nodes in `arriving_nodes` as rows, retires the states that they follow, and blanks every
-- earlier state of nodes that are now erased.
create or replace temp table arriving_again as select distinct id from arriving_nodes where follows = 1;

insert into core_world__nodes
select
    id, revision, title, type, domain, properties, visibility, owner, immutable, erased, live, valid_from, valid_to,
    recorded_at, null, null, source, actor
from arriving_nodes;

insert into out_world__nodes
select id, revision, type, domain, owner, live, true, body
from arriving_nodes
positional join arriving_bodies;

update core_world__nodes
set retired_at = following.at, retired_revision = following.by
from (
    select
        id,
        revision,
        lead(recorded_at) over states as at,
        lead(revision) over states as by
    from core_world__nodes
    where id in (select id from arriving_again)
    window states as (partition by id order by revision)
) as following
where core_world__nodes.id = following.id
    and core_world__nodes.revision = following.revision
    and core_world__nodes.retired_revision is null
    and following.by is not null;

update core_world__nodes
set title = '', properties = '{}', owner = tomb.owner, source = tomb.source, actor = tomb.actor, erased = true,
    live = false
from arriving_nodes as tomb
where tomb.erased and core_world__nodes.id = tomb.id and core_world__nodes.revision < tomb.revision;

-- from any fold: earlier versions left forgotten nodes public
update core_world__nodes set visibility = 'private' where owner = 'forgotten' and visibility = 'public';

update out_world__nodes
set owner = tomb.owner, live = false, body = tomb.tombstone
from arriving_nodes as tomb
where tomb.erased and out_world__nodes.id = tomb.id and out_world__nodes.revision < tomb.revision;

update out_world__nodes
set newest = (retired_revision is null)
from core_world__nodes
where out_world__nodes.id in (select id from arriving_again)
    and core_world__nodes.id = out_world__nodes.id
    and core_world__nodes.revision = out_world__nodes.revision;

drop table arriving_again
