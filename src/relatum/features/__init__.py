"""Features of elements and pairs, and liftings of them."""
