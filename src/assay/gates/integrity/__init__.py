"""Whether the files hold what they say."""
