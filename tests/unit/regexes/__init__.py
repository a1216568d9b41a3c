"""Tests of JavaScript's regular expressions and of the scripts that replace by them."""
