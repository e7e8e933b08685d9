-- Capsules that :from_owner claimed are :to_owner's, where no node of them is :from_owner's any more.
update world_capsules
set claimed_by = :to_owner
where claimed_by = :from_owner
    and not exists (
        select 1
        from world_events e
        join world_nodes n on n.id = e.entity_id
        where e.decision_seq = world_capsules.seq and e.kind = 'node' and n.owner = :from_owner
    )
