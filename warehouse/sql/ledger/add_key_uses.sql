-- Adds :requests to a key's UTC day.
insert into api_key_uses (key_id, day, requests, last_used_at) values (:key_id, :day, :requests, :last_used_at)
on conflict (key_id, day) do update set
    requests = api_key_uses.requests + excluded.requests,
    last_used_at = case
        when excluded.last_used_at > api_key_uses.last_used_at then excluded.last_used_at
        else api_key_uses.last_used_at
    end
