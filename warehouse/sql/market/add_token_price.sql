-- Keep one answer of a source about the token, in the columns' order.
insert into raw_market__token_prices
values (
    $token_address,
    $source,
    $fetched_at,
    $observed_at,
    $latency_ms,
    $quality,
    $suspicious,
    $reason,
    $price_usd,
    $mcap_usd,
    $volume_24h_usd,
    $change_24h_percent,
    $change_1h_percent,
    $buys_24h,
    $sells_24h,
    $liquidity_usd,
    $pool,
    $pools,
    $block
)
