"""Every caller against every upstream: the vendors' own SDKs, through agentui, to the strict mock."""
