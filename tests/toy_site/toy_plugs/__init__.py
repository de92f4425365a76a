"""Plugs of a third party: a format, a feature, a statistic and two gates, found through entry points."""
