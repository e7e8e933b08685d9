-- An Idempotency-Key is scoped to the quote that a claim redeems, and a quote has at most one claim: no index is needed.
drop index access_claims_of_request;
