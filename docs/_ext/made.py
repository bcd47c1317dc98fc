"""Pages made from the documents and their schemas when the site is built.

They are not committed: their figures come from the solver and would be stale with the next change of an engine. Each
folder of `FOLDERS` is written anew under the sources of the site, and git ignores it.
"""

from __future__ import annotations

from pathlib import Path

FOLDERS = ("techniques", "reference", "library")


def pages() -> dict[str, str]:
    """Path under the sources of the site, to the text of the page (MyST markdown)."""
    import reference
    import shelves
    import techniques

    return techniques.pages() | reference.pages() | shelves.pages()


def write(root: Path, made: dict[str, str], folders=FOLDERS) -> None:
    """Write pages below `root`, unless they stand there already; other pages of the folders are removed."""
    for folder in folders:
        for old in (root / folder).glob("*.md"):
            if f"{folder}/{old.name}" not in made:
                old.unlink()
    for path, text in made.items():
        file = root / path
        file.parent.mkdir(exist_ok=True)
        if not file.is_file() or file.read_text("utf-8") != text:
            file.write_text(text, "utf-8")


def setup(app) -> dict:
    """Make the pages before sources are looked for."""
    app.connect("builder-inited", lambda app: write(Path(app.srcdir), pages()))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
