"""The command line: arguments, bars and exit codes; no logic. The only package that prints.

Machine output goes to stdout, progress and errors to stderr. Exit codes, first that holds: 2 wrong use or no
reader; 4 our own error; 1 something was rejected; 3 nothing rejected but something required was not
measured; 0 everything accepted; 130 interrupted.
"""

from assay.cli import judging, looking
from assay.cli.app import app, main
from assay.cli.later import register

__all__ = ["app", "judging", "looking", "main"]

register()
