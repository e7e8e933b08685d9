-- Deletes the counters of a slice of keys, (:after, :until], whose window ended before :ended_s.
delete from counters where key > :after and key <= :until and window_end_s < :ended_s
