"""Whether every link of the attempt is there."""
