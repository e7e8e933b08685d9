-- Set the one row that is served of ETH.
insert into out_market__eth_price
values (
    $source,
    $quality,
    $reason,
    $stale,
    $observed_at,
    $fetched_at,
    $age_s,
    $price,
    $block,
    $sources
)
