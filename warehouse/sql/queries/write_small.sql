-- Back to every compression, for all other tables.
reset disabled_compression_methods
