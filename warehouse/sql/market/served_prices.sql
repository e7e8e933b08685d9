-- The prices that were chosen, USD; no row before the first choice, and where no source is configured.
select price from out_market__token_price
union all
select price from out_market__eth_price
