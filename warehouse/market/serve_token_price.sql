-- Set the one row that is served of the token.
insert into out_market__token_price
values (
    $token_address,
    $source,
    $quality,
    $reason,
    $stale,
    $observed_at,
    $fetched_at,
    $age_s,
    $price,
    $mcap_usd,
    $volume_24h_usd,
    $change_24h_percent,
    $change_1h_percent,
    $buys_24h,
    $sells_24h,
    $liquidity_usd,
    $pool,
    $pools,
    $block,
    $change_check,
    $sources
)
