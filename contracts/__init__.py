"""Words and laws: models, rules and data. Pure: no network, no database, no clock."""
