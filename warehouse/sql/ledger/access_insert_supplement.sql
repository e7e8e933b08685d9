-- One quote that a case offers for the difference.
insert into access_supplements (quote_id, case_id) values (:quote_id, :case_id)
