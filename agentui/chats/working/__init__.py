"""The working variables of branches: what turns and people wrote, kept where it was written."""
