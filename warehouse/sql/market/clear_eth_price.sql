-- Take away the row that is served of ETH.
delete from out_market__eth_price
