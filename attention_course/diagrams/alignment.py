"""The memory as a row of boxes, of which some are another sentence's, and the word that the decoder then writes."""

from collections.abc import Collection, Sequence

from attention_course.diagrams.diagram import Diagram

LEFT = 4
BOX = 50
GAP = 4
ROW = 62


def exchanged_memory(
    words: Sequence[str], others: Sequence[str], rows: Sequence[tuple[str, Collection[int], str, float]]
) -> Diagram:
    """A row of boxes for each exchange: the memory's tokens, those of the other sentence marked, and what is written.

    Args:
        words: Of the sentence whose memory is read.
        others: Of the other sentence, one for each of `words`.
        rows: For each exchange what it is called, the places that hold the other sentence's tokens, the next word
            that the decoder writes, and its probability.

    Raises:
        ValueError: If the sentences are not of one length.
    """
    if len(words) != len(others):
        raise ValueError(f"others must have a word for each of the {len(words)} words, got {len(others)}")
    said = "; ".join(f"{name}: {written}, {share:.0%}" for name, _, written, share in rows)
    picture = Diagram(
        f"The memory of a sentence with some of its tokens exchanged, and the next French word. Each row holds the "
        f"encoder's tokens of “{' '.join(words)}”, a box each; marked boxes are the tokens of “{' '.join(others)}” "
        f"instead. On the right stand the word that the decoder writes and its probability. {said}.",
        height=14 + ROW * len(rows),
    )
    end = LEFT + len(words) * (BOX + GAP)
    for number, (name, places, written, share) in enumerate(rows):
        top = 8 + number * ROW
        picture.text(LEFT, top + 8, name, quiet=True)
        for place, word in enumerate(words):
            other = place in places
            picture.box(
                LEFT + place * (BOX + GAP),
                top + 20,
                BOX,
                30,
                others[place] if other else word,
                tone="key" if other else "plain",
            )
        picture.arrow((end + 2, top + 35), (end + 30, top + 35))
        picture.text(end + 40, top + 35, f"{written}  {share:.0%}", bold=True)
    return picture
