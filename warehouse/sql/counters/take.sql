-- Takes one of :limit in the window ending at :window_end_s; no row where all are taken, and then nothing is written.
-- A caller whose clock is at most one window late counts in the newer window, which keeps that window's limit true.
insert into counters (key, window_end_s, used) values (:key, :window_end_s, 1)
on conflict (key) do update set
    used = case
        when counters.window_end_s between excluded.window_end_s and excluded.window_end_s + :window_s
            then counters.used + 1
        else 1
    end,
    window_end_s = case
        when counters.window_end_s between excluded.window_end_s and excluded.window_end_s + :window_s
            then counters.window_end_s
        else excluded.window_end_s
    end
where counters.used < :limit
    or counters.window_end_s not between excluded.window_end_s and excluded.window_end_s + :window_s
returning used, window_end_s
