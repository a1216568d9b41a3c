"""Tests of node types, one file each."""
