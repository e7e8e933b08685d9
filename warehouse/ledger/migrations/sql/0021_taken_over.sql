-- Most writes query whether an owner received anything from another owner, and most owners never did.
create index world_capsules_of_claimer on world_capsules (claimed_by) where claimed_by is not null;

create index access_claims_of_operator on access_claims (owner) where owner <> payer;
