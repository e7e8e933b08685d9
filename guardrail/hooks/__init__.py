"""The edges at which agents act: the questions that harnesses ask before a tool runs, and the answers."""
