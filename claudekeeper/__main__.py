"""`python -m claudekeeper`."""

import sys

from claudekeeper.cli import main

sys.exit(main())
