-- Whether anything came to an owner from another is asked with most writes, and of most owners nothing did.
create index world_capsules_of_claimer on world_capsules (claimed_by) where claimed_by is not null;

create index access_claims_of_operator on access_claims (owner) where owner <> payer;
