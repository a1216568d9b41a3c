"""What formulas and conditions share: the words they are cut into, the tree that these make, and the values that come out."""
