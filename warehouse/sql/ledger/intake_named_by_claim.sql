-- Ids of the intakes that a claim names, by their agent's id or by their own, and that no claim activates already.
select intake_id from intakes
where forgotten_at is null and activation_state <> 'activated' and (agent_id = :agent_id or intake_id = :user_id)
order by intake_id
