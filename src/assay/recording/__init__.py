"""Recordings of messages: MCAP and rosbag2 files, their encodings, and what their schemas mean as streams.

Readers build on these; nothing here knows of folders or corpora.
"""
