-- At most one row: the last key of the slice of :size keys after :after; none where fewer are left.
select key from counters where key > :after order by key limit 1 offset :size - 1
