"""Command lines that ask for something that does not exist."""


class UsageError(Exception):
    """What was typed cannot be meant; the text says why in one line."""
