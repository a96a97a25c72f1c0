"""``python -m relatum`` is the command ``relatum``."""

from relatum.cli import main

if __name__ == "__main__":
    main()
