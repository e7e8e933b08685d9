-- At most one row: what of the settings was seen, and when (UTC).
select chain_id, missing_payment_settings, app_url, checked_at from out_intake__settings
