-- Places of what is no longer a live public node.
delete from out_world__positions
where id not in (
    select id from out_world__nodes where newest and live and body->>'$.visibility' = 'public'
)
