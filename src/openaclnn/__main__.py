"""`python -m openaclnn`: the same as the command `openaclnn`."""

import sys

from openaclnn.cli import main

sys.exit(main())
