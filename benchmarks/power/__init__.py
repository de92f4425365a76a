"""The power study: graded faults planted in real clips, and what each gate makes of them."""
