"""What was requested against what was executed."""
