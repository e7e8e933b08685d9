-- Deletes the counters of a slice of keys, (:after, :until], whose window ended before :ended_s, but for those that
-- another process is just writing or sweeping: waiting for them could deadlock.
delete from counters where key in (
    select key from counters where key > :after and key <= :until and window_end_s < :ended_s for update skip locked
)
