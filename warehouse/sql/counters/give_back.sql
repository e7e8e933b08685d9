-- Takes one off what was counted in the window that is still open at :now_s.
update counters set used = used - 1 where key = :key and used > 0 and window_end_s > :now_s
