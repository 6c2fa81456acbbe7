"""python -m linkwise."""

import sys

from linkwise.cli import main

if __name__ == "__main__":
    sys.exit(main())
