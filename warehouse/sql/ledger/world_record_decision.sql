-- One row per decision; decided_at in UTC.
insert into world_decisions (seq, number, decided_at, verdict, commitment, link)
values (:seq, :number, :decided_at, :verdict, :commitment, :link)
