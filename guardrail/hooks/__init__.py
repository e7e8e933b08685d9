"""The edges at which agents act: what harnesses ask before a tool runs, and what they are answered."""
