"""Topics of help, and the search for those that fit some words best.

Invariants: the command of a topic shows it. A topic that has all words of a question
comes before one that lacks a word, and a word in a name or a title counts for more than
one in the text.

    best(topics(), "chain rule")[0].command          # "gradcli help paths"
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from ..ops import ALIASES, FUNCTIONS, offered
from .catalog import spellings_of
from .line import Line, Part, aligned
from .pages import pages, parts

MAX_TOPICS = 10
"""Largest number of topics that a search lists."""

MAX_TITLE_CHARACTERS = 76
"""Largest length of the line on a topic, in characters."""

_IN_NAME, _IN_TITLE, _MAX_IN_TEXT, _PHRASE = 12.0, 6.0, 3.0, 4.0
"""Points of a word in a name, in a title and in a text, and of all words in a row."""

_SHORT = 3
"""Number of letters up to which a word is not the beginning of another."""


@dataclass(frozen=True, slots=True)
class Topic:
    """Something that there is help on.

    command  what is typed to see it
    name     the word that it is known by, or nothing
    title    what it is about, in one line
    text     the text that is searched
    weight   the factor of its points
    """

    command: str
    name: str
    title: str
    text: str
    weight: float = 1.0


def topics() -> Iterator[Topic]:
    """Yield the pages, their sections and the functions as topics."""
    for page in pages():
        yield Topic(f"gradcli help {page.name}", page.name, page.about, page.title)
        for text in parts(page.text)[1:]:
            heading, _, body = text.partition("\n")
            heading = heading.removeprefix("## ").strip()
            name, colon, title = heading.partition(":")
            if " " in name or not colon:
                name, title = "", heading
            command = f"gradcli help {name or ' '.join(_words(heading))}"
            weight = 0.5 if page.name == "errors" else 1.0
            about = title.strip() if name else f"{title.strip()} ({page.name})"
            yield Topic(command, name.strip("`"), about, body, weight)
    for name in offered():
        doc = FUNCTIONS[name].doc
        aliases = (alias for alias, meant in ALIASES.items() if meant == name)
        text = " ".join((doc, *aliases, *spellings_of(name).values()))
        yield Topic(f"gradcli ops {name}", name, doc, text, 0.75)


def section_of(words: str) -> str | None:
    """Return the section whose heading has exactly these words; None if there is
    none."""
    wanted = _words(words)
    for page in pages():
        for text in parts(page.text)[1:]:
            if wanted and _words(text.partition("\n")[0]) == wanted:
                return text
    return None


def best(known: Iterable[Topic], question: str) -> list[Topic]:
    """Return the topics that fit a question, the best first, each command once."""
    words = _words(question)
    scored = ((_score(topic, words), topic) for topic in known)
    fitting = [(score, topic) for score, topic in scored if score[0]]
    fitting.sort(key=lambda pair: pair[0], reverse=True)
    most = fitting[0][0][0] if fitting else 0
    once = {t.command: t for (count, _), t in reversed(fitting) if count == most}
    return [*reversed(once.values())][:MAX_TOPICS]


def listed(fitting: Sequence[Topic]) -> Iterator[Line]:
    """Yield a line for each topic: the command that shows it, and what it is about."""
    rows: Iterator[list[Part]] = (
        [(each.command, "name"), ("  ", "plain"), (_brief(each.title), "plain")]
        for each in fitting
    )
    return aligned(rows, 1)


def _brief(title: str) -> str:
    title = " ".join(title.replace("`", "").split())
    if len(title) <= MAX_TITLE_CHARACTERS:
        return title
    return title[:MAX_TITLE_CHARACTERS].rpartition(" ")[0] + " …"


def _words(text: str) -> list[str]:
    """Return the words of a text in small letters, with their numbers and without their
    signs."""
    return re.findall(r"[^\W_]+(?:_[^\W_]+)*", text.lower())


def _score(topic: Topic, words: Sequence[str]) -> tuple[int, float]:
    """Return how many of the words a topic has, and its points."""
    name, title = _words(topic.name), _words(topic.title)
    text = Counter(_words(topic.text))
    count, points = 0, 0.0
    for word in words:
        meant = _meaning(word)
        own = _IN_NAME * any(map(meant, name)) + _IN_TITLE * any(map(meant, title))
        own += min(_MAX_IN_TEXT, sum(n for each, n in text.items() if meant(each)))
        count += own > 0
        points += own
    phrase = " ".join(words)
    if len(words) > 1 and phrase in f"{' '.join(title)} {' '.join(_words(topic.text))}":
        points += _PHRASE
    return count, points * topic.weight


def _meaning(word: str) -> Callable[[str], bool]:
    """Return a function that says whether a word of a text is one that was asked for,
    or begins with it."""
    if len(word) <= _SHORT:
        return lambda each: each == word
    stem = word.removesuffix("s")
    return lambda each: each.startswith(stem)
