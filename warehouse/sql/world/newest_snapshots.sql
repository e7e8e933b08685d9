-- The two newest holder lists that are kept as snapshots, newest first.
select block, block_time, sum_raw from out_holders__lists where snapshot order by block desc limit 2
