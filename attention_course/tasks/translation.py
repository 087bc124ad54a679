"""English sentences and their French translations from a small grammar that knows which word comes from which.

French makes a translator work: nouns have a gender, articles and adjectives agree with them, colours follow the noun
that sizes precede, `le` is cut to `l'` before a vowel, negation goes around the verb, and `a` becomes `de` behind it.
"""

import random

import torch

from attention_course.tasks.sequences import SequencePairs

PAD, END = 0, 1  # "." ends every sentence

# English: singular, plural. French: singular, plural, gender. The first ten can be subjects.
NOUNS = (
    ("cat", "cats", "chat", "chats", "m"),
    ("dog", "dogs", "chien", "chiens", "m"),
    ("bird", "birds", "oiseau", "oiseaux", "m"),
    ("mouse", "mice", "souris", "souris", "f"),
    ("horse", "horses", "cheval", "chevaux", "m"),
    ("bee", "bees", "abeille", "abeilles", "f"),
    ("cow", "cows", "vache", "vaches", "f"),
    ("goose", "geese", "oie", "oies", "f"),
    ("squirrel", "squirrels", "écureuil", "écureuils", "m"),
    ("ant", "ants", "fourmi", "fourmis", "f"),
    ("tree", "trees", "arbre", "arbres", "m"),
    ("house", "houses", "maison", "maisons", "f"),
    ("star", "stars", "étoile", "étoiles", "f"),
    ("apple", "apples", "pomme", "pommes", "f"),
    ("boat", "boats", "bateau", "bateaux", "m"),
    ("island", "islands", "île", "îles", "f"),
)
N_SUBJECTS = 10

# French: masculine, feminine, masculine plural, feminine plural, masculine before a vowel.
SIZES = {
    "small": ("petit", "petite", "petits", "petites", "petit"),
    "big": ("grand", "grande", "grands", "grandes", "grand"),
    "old": ("vieux", "vieille", "vieux", "vieilles", "vieil"),
    "beautiful": ("beau", "belle", "beaux", "belles", "bel"),
    "new": ("nouveau", "nouvelle", "nouveaux", "nouvelles", "nouvel"),
}
COLOURS = {
    "black": ("noir", "noire", "noirs", "noires"),
    "white": ("blanc", "blanche", "blancs", "blanches"),
    "green": ("vert", "verte", "verts", "vertes"),
    "grey": ("gris", "grise", "gris", "grises"),
    "red": ("rouge", "rouge", "rouges", "rouges"),
}
# English: third person, plural. French: the same.
VERBS = (
    ("sees", "see", "voit", "voient"),
    ("loves", "love", "aime", "aiment"),
    ("follows", "follow", "suit", "suivent"),
    ("hears", "hear", "entend", "entendent"),
    ("finds", "find", "trouve", "trouvent"),
    ("draws", "draw", "dessine", "dessinent"),
    ("watches", "watch", "regarde", "regardent"),
    ("avoids", "avoid", "évite", "évitent"),
)
ADVERBS = {"often": "souvent", "always": "toujours"}
# French: masculine, feminine, masculine plural, feminine plural, masculine and feminine before a vowel.
DETERMINERS = {
    "the": ("le", "la", "les", "les", "l'", "l'"),
    "a": ("un", "une", "des", "des", "un", "une"),
    "this": ("ce", "cette", "ces", "ces", "cet", "cette"),
    "my": ("mon", "ma", "mes", "mes", "mon", "mon"),
}

_VOWELS = ("a", "e", "i", "o", "u", "é", "î")

Link = tuple[str, set[int]]  # a French word, and the English positions it comes from


def translation_pairs(n_sentences: int, generator: torch.Generator) -> SequencePairs:
    """Draw sentences; the source is English, the target French, both filled up with `PAD` to the longest possible.

    Every choice is uniform and independent: number, article, noun, colour or none and size or none for subject and
    object; verb; negation (none, "not", "never"); adverb or none. Beside "never" stands no adverb.

    Args:
        n_sentences: Size of the batch.
        generator: Source of randomness (on the CPU).

    Returns:
        Indices into `VOCABULARY`, source `(batch, N_SOURCE)` and target `(batch, N_TARGET)`. A row of `gold` marks
        the English words its French word comes from: both halves of a negation come from "not" or "never", and a
        verb from the English verb or its "does". Rows of padding have none.
    """
    draw = random.Random(int(torch.randint(2**62, (1,), generator=generator)))
    source, target, links = [], [], []
    for row in range(n_sentences):
        english, french = _sentence(draw)
        source.append(_padded(english, N_SOURCE))
        target.append(_padded([word for word, _ in french], N_TARGET))
        links += [(row, place, origin) for place, (_, origins) in enumerate(french) for origin in origins]
    gold = torch.zeros(n_sentences, N_TARGET, N_SOURCE, dtype=torch.bool)
    gold[tuple(torch.tensor(links, dtype=torch.long).reshape(-1, 3).T)] = True
    source, target = (torch.tensor(rows, dtype=torch.long) for rows in (source, target))
    return SequencePairs(source.reshape(n_sentences, N_SOURCE), target.reshape(n_sentences, N_TARGET), gold)


def to_words(symbols: torch.Tensor) -> list[str]:
    """The words of one sentence `(n_symbols,)`, without padding."""
    return [VOCABULARY[symbol] for symbol in symbols.tolist() if symbol != PAD]


def to_text(symbols: torch.Tensor) -> str:
    """One sentence `(n_symbols,)` as it is written: no space after `l'` nor before the period."""
    return " ".join(to_words(symbols)).replace("' ", "'").replace(" .", ".")


def from_text(sentence: str) -> torch.Tensor:
    """An English sentence of the grammar as a source `(1, N_SOURCE)`.

    Raises:
        ValueError: If it is too long, or has a word that the vocabulary lacks.
    """
    words = sentence.replace(".", " .").split()
    unknown = [word for word in words if word not in IDS]
    if unknown or len(words) > N_SOURCE:
        raise ValueError(
            f"sentence must have at most {N_SOURCE} words of the vocabulary, got {len(words)}, unknown: {unknown}"
        )
    return torch.tensor([_padded(words, N_SOURCE)])


def _padded(words: list[str], length: int) -> list[int]:
    return [IDS[word] for word in words] + [PAD] * (length - len(words))


def _sentence(draw: random.Random) -> tuple[list[str], list[Link]]:
    """English words, and French words with the English positions they come from."""
    negation = draw.choice((None, "not", "never"))
    adverb = draw.choice((None, *ADVERBS)) if negation != "never" else None

    english, french, plural = _noun_phrase(draw, NOUNS[:N_SUBJECTS], first=0, negated=False)
    third_person, base, *french_forms = draw.choice(VERBS)
    agreeing, french_verb = (base if plural else third_person), french_forms[plural]

    auxiliary = ["do" if plural else "does", "not"] if negation == "not" else []
    never = ["never"] if negation == "never" else []
    middle = [*auxiliary, *never, *([adverb] if adverb else []), base if auxiliary else agreeing]
    place = {word: len(english) + index for index, word in enumerate(middle)}
    verb_origins = {place[middle[-1]]} | ({place[auxiliary[0]]} if auxiliary else set())
    if negation:
        french.append((_elided("ne", french_verb), {place[negation]}))
    french.append((french_verb, verb_origins))
    if negation:
        french.append(({"not": "pas", "never": "jamais"}[negation], {place[negation]}))
    if adverb:
        french.append((ADVERBS[adverb], {place[adverb]}))
    english += middle

    object_english, object_french, _ = _noun_phrase(draw, NOUNS, first=len(english), negated=negation is not None)
    english += [*object_english, "."]
    return english, [*french, *object_french, (".", {len(english) - 1})]


def _noun_phrase(draw: random.Random, nouns, *, first: int, negated: bool) -> tuple[list[str], list[Link], bool]:
    """English words, French words with English positions counted from `first`, and whether they are plural."""
    *forms, gender = draw.choice(nouns)
    plural = draw.random() < 0.5
    english_noun, french_noun = forms[plural], forms[2 + plural]
    determiner = draw.choice(tuple(DETERMINERS))
    size, colour = draw.choice((None, *SIZES)), draw.choice((None, *COLOURS))

    described = [word for word in (size, colour, english_noun) if word]
    english = [_english_determiner(determiner, plural, negated, described[0]), *described]
    place = {word: first + index for index, word in enumerate(english)}

    agreement = 2 * plural + (gender == "f")
    before_vowel = french_noun.startswith(_VOWELS)
    links = []
    if size:
        form = 4 if agreement == 0 and before_vowel else agreement
        links.append((SIZES[size][form], {place[size]}))
    links.append((french_noun, {place[english_noun]}))
    if colour:
        links.append((COLOURS[colour][agreement], {place[colour]}))
    word = _french_determiner(determiner, agreement, links[0][0], after_negation=negated, before_size=bool(size))
    return english, [(word, {first}), *links], plural


def _english_determiner(determiner: str, plural: bool, negated: bool, next_word: str) -> str:
    if determiner == "this":
        return "these" if plural else "this"
    if determiner == "a" and plural:
        return "any" if negated else "some"
    if determiner == "a":
        return "an" if next_word.startswith(_VOWELS) else "a"
    return determiner


def _french_determiner(
    determiner: str, agreement: int, next_word: str, *, after_negation: bool, before_size: bool
) -> str:
    plural, vowel = agreement >= 2, next_word.startswith(_VOWELS)
    if determiner == "a" and (after_negation or (plural and before_size)):
        return _elided("de", next_word)
    return DETERMINERS[determiner][agreement + 4 if vowel and not plural else agreement]


def _elided(word: str, next_word: str) -> str:
    return word[0] + "'" if next_word.startswith(_VOWELS) else word


# All words of the sources but the period.
ENGLISH = (
    *("the", "a", "an", "some", "any", "this", "these", "my", "do", "does", "not", "never"),
    *ADVERBS,
    *SIZES,
    *COLOURS,
    *(word for noun in NOUNS for word in noun[:2]),
    *(word for verb in VERBS for word in verb[:2]),
)
_FRENCH = (
    *(form for forms in DETERMINERS.values() for form in forms),
    *("de", "d'", "ne", "n'", "pas", "jamais"),
    *ADVERBS.values(),
    *(form for forms in (*SIZES.values(), *COLOURS.values()) for form in forms),
    *(word for noun in NOUNS for word in noun[2:4]),
    *(word for verb in VERBS for word in verb[2:]),
)
VOCABULARY = tuple(dict.fromkeys(["<pad>", ".", *ENGLISH, *_FRENCH]))
IDS = {word: index for index, word in enumerate(VOCABULARY)}
N_SOURCE = N_TARGET = 13  # article, size, colour, noun, does, not, often, verb, article, size, colour, noun, period
