"""Vectorised numerics without input or output: arrays in, arrays out."""
