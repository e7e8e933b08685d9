"""`svc bench`: what the README's table says, measured in one run against what a user would pick instead."""
