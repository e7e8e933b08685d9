"""Judges what an action would do before it is done: reads it into effects, and judges effects by a policy.

Pure: no socket, subprocess or clock, and nothing is written but what was compiled of its own YAML. The edges are
`guardrail.hooks` and `guardrail.daemon`.
"""
