"""`python -m claudekeeper`."""

import sys

from claudekeeper.cli.main import main

sys.exit(main())
