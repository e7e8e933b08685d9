-- Keep one answer of a source about ETH, in the columns' order.
insert into raw_market__eth_prices
values (
    $source,
    $fetched_at,
    $observed_at,
    $latency_ms,
    $quality,
    $suspicious,
    $reason,
    $price_usd,
    $block
)
