"""What may be caught: one sentence each, saying where, what was found, what was expected and what to do.

AssayError
├── UsageError            wrong use of a command, option or file of settings (exit code 2)
│   ├── NoReaderError     no reader recognises the corpus
│   └── MissingExtraError an optional library is not installed
├── UnreadableError       a file of the corpus cannot be read (a finding, never the end of a run)
│   └── OutsideCorpusError a file or link points outside its corpus
└── RunError              a run folder cannot be written, is locked, or was made by another version
"""

from __future__ import annotations

__all__ = [
    "AssayError",
    "MissingExtraError",
    "NoReaderError",
    "OutsideCorpusError",
    "RunError",
    "UnreadableError",
    "UsageError",
]


class AssayError(Exception):
    """An error with a place and a remedy.

    Args:
        what: the fact, as a clause without a full stop.
        where: file, episode, frame or option that it concerns.
        found: what was there.
        expected: what should have been there.
        remedy: what the reader of the message can do.
    """

    def __init__(
        self,
        what: str,
        *,
        where: str | None = None,
        found: str | None = None,
        expected: str | None = None,
        remedy: str | None = None,
    ) -> None:
        self.what = what
        self.where = where
        self.found = found
        self.expected = expected
        self.remedy = remedy
        super().__init__(self.sentence())

    def sentence(self) -> str:
        """The message as one sentence."""
        head = f"{self.where}: {self.what}" if self.where else self.what
        facts = [
            f"{name} {value}"
            for name, value in (("found", self.found), ("expected", self.expected))
            if value is not None
        ]
        body = f"{head} ({', '.join(facts)})" if facts else head
        whole = f"{body}; {self.remedy}" if self.remedy else body
        return whole if whole.endswith("?") else f"{whole}."

    def __reduce__(self) -> tuple[object, ...]:
        # Errors cross process borders; Exception's own pickling forgets keyword arguments.
        return (_rebuild, (type(self), self.what, self.where, self.found, self.expected, self.remedy))


def _rebuild(kind: type[AssayError], what: str, *rest: str | None) -> AssayError:
    where, found, expected, remedy = rest
    return kind(what, where=where, found=found, expected=expected, remedy=remedy)


class UsageError(AssayError):
    """Wrong use of a command, an option or a file of settings."""


class NoReaderError(UsageError):
    """No reader recognises the corpus; the message says what each one missed."""


class MissingExtraError(UsageError):
    """An optional library is not installed; the message holds the install line."""


class UnreadableError(AssayError):
    """A file of the corpus cannot be read."""


class OutsideCorpusError(UnreadableError):
    """A file name or link leads outside the corpus."""


class RunError(AssayError):
    """A run folder cannot be written, is locked by another run, or does not fit this version."""
