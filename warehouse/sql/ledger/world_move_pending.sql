-- What :from_owner proposed and waits for an operator is :to_owner's.
update world_pending set owner = :to_owner where owner = :from_owner
