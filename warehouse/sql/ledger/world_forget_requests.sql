-- Which requests :scope sent is forgotten.
delete from world_requests where scope = :scope
