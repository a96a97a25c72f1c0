"""Branch-and-cut for any intersection of properties."""
