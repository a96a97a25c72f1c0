"""Tables of pairs on Apache Spark. Begin with `engine`."""
