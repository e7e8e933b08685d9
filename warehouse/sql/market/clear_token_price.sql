-- Take away the row that is served of the token.
delete from out_market__token_price
