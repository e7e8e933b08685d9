"""Every command of `svc` with its options and help text, a module for each panel of `svc --help`. Contains no work."""
