"""Plans of what an agent remembers: which stores, for how long, who may write, what is looked up how."""
