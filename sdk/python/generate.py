"""Makes the generated parts of the Python SDK: the models, the requests, and the client without `async`.

Called by scripts/sdk with the folder of the documents that sdk/native_document.py wrote.
"""

import subprocess
import sys
from pathlib import Path

import unasync

PACKAGE = Path(__file__).parent / "src" / "cited"
OPTIONS = [
    "--input-file-type=openapi",
    "--openapi-scopes=schemas",
    "--target-python-version=3.10",
    "--use-standard-collections",
    "--use-union-operator",
    "--use-schema-description",
    "--use-field-description",
    "--enum-field-as-literal=all",
    "--collapse-root-models",
    "--use-type-alias",
    "--use-double-quotes",
    "--disable-timestamp",
    "--formatters=builtin",
]
#: Names with `async`, and those without.
NAMES = {
    "AsyncAdministration": "Administration",
    "AsyncCited": "Cited",
    "AsyncClient": "Client",
    "AsyncTransport": "Transport",
    "aclose": "close",
    "aiter_lines": "iter_lines",
    "aiter_sse": "iter_sse",
    "aread": "read",
    "async_sleep": "sleep",
    "asynccontextmanager": "contextmanager",
}


def generate(document: Path, module: str, kind: str, *options: str) -> None:
    """Makes a module of types."""
    target = PACKAGE / f"{module}.py"
    command = ["datamodel-codegen", f"--input={document}", f"--output={target}", f"--output-model-type={kind}"]
    subprocess.run([*command, *OPTIONS, *options], check=True)


def main(documents: Path) -> None:
    """Makes all parts."""
    generate(documents / "responses.json", "models", "pydantic_v2.BaseModel", "--use-annotated")
    generate(documents / "requests.json", "requests", "typing.TypedDict", "--no-use-closed-typed-dict")
    sources = [str(path) for path in (PACKAGE / "_async").glob("*.py") if path.name != "__init__.py"]
    rule = unasync.Rule("/_async/", "/_sync/", additional_replacements=NAMES)
    unasync.unasync_files(sources, rules=[rule])
    note = '"""The client without `async`, made from `cited._async` by `make sdk`: change that one."""\n'
    (PACKAGE / "_sync" / "__init__.py").write_text(note, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
