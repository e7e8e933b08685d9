"""Judges what an action would do before it is done: reads it into effects, and judges effects by a policy.

The package is pure: it opens no socket, starts no process, reads no clock, and writes only the compiled form of its
own YAML. Side effects belong in `guardrail.hooks` and `guardrail.daemon`.
"""
