-- How the sender of an intake is reached and called.
insert into intake_contacts (intake_id, person_json) values (:intake_id, :person_json)
