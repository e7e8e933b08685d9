-- Forget the events beyond the newest ones that are kept.
delete from core_feed__events
where id in (from (from core_feed__events order by occurred_at desc, id desc offset $kept) select id)
