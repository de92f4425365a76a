"""Whether streams share one time."""
