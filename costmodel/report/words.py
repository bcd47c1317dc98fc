"""The words of a study: texts by key and language, with figures filled in (plain replacement, nothing is evaluated)."""

from __future__ import annotations


class Words:
    """Texts of a study in one language; a missing key shows as itself."""

    def __init__(self, study, lang: str):
        self.texts, self.lang = study.texts, lang

    def __call__(self, key: str, figures: dict | None = None) -> str:
        """The text of a key, each `{name}` replaced by its figure."""
        title = self.texts.get(key)
        text = key if title is None else self.pick(title)
        for name, value in (figures or {}).items():
            text = text.replace("{" + name + "}", str(value))
        return text

    def pick(self, title) -> str:
        """A title in this language, English where there is none."""
        if isinstance(title, str):
            return title
        if isinstance(title, dict):
            return title.get(self.lang) or title["en"]
        return (title.ko if self.lang == "ko" else None) or title.en
