"""Judges what an action would do before it is done: reads it into effects, and judges effects by a policy.

Pure: no socket, subprocess, clock or write. The edges are `guardrail.hooks` and `guardrail.daemon`.
"""
