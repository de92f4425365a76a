"""Simulated rigs with true clocks: how far content tells the lag of a camera, and when it must not speak."""
