-- The texts that :caller had judged are forgotten; that they were judged, and how, stays.
update guardrail_checks set action = '' where caller = :caller and action <> ''
