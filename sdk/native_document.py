"""Writes the parts of the OpenAPI document that the SDKs are generated from: native.json, requests.json, responses.json.

Left out are the operations that have clients of their own (OpenAI, MCP, pages), and the bounds of values: the service
checks them and says what is wrong, and a client that checks them too refuses what a newer service allows.
"""

import json
import sys
from pathlib import Path
from typing import Any

FOREIGN = {"openai", "mcp"}
BOUNDS = {"minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "pattern", "example", "examples"}
FORMATS = {"uri", "int32", "int64", "double", "float"}


def is_native(operation: dict[str, Any]) -> bool:
    """Whether the operation is called by this API's own clients."""
    media_types = {name for response in operation["responses"].values() for name in response.get("content", {})}
    return not FOREIGN & set(operation["tags"]) and "text/html" not in media_types


def unbounded(value: Any) -> Any:
    """The schema without bounds; members may have any name."""
    if isinstance(value, list):
        return [unbounded(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {}
    for key, inside in value.items():
        if key == "properties":
            kept[key] = {name: unbounded(schema) for name, schema in inside.items()}
        elif key == "additionalProperties" and isinstance(inside, dict) and set(inside) <= {"description"}:
            kept[key] = True
        elif key not in BOUNDS and not (key == "format" and inside in FORMATS):
            kept[key] = unbounded(inside)
    return kept


def collect(value: Any, schemas: dict[str, Any], found: set[str]) -> set[str]:
    """Adds the names of the schemas that a value leads to."""
    if isinstance(value, list):
        for item in value:
            collect(item, schemas, found)
    elif isinstance(value, dict):
        reference = value.get("$ref")
        name = reference.rsplit("/", 1)[-1] if isinstance(reference, str) else None
        if name and name not in found:
            found.add(name)
            collect(schemas[name], schemas, found)
        for inside in value.values():
            collect(inside, schemas, found)
    return found


def write(document: dict[str, Any], folder: Path) -> None:
    """Writes the parts into the folder."""
    paths = {}
    for path, methods in document["paths"].items():
        own = {method: unbounded(operation) for method, operation in methods.items() if is_native(operation)}
        if own:
            paths[path] = own
    operations = [operation for methods in paths.values() for operation in methods.values()]
    schemas = {name: unbounded(schema) for name, schema in document["components"]["schemas"].items()}
    requests = collect([operation.get("requestBody") for operation in operations], schemas, set())
    responses = collect([operation["responses"] for operation in operations], schemas, set())
    for name, part, names in [
        ("native", paths, requests | responses),
        ("requests", {}, requests),
        ("responses", {}, responses),
    ]:
        components = {**document["components"], "schemas": {name: schemas[name] for name in schemas if name in names}}
        content = json.dumps({**document, "paths": part, "components": components}, ensure_ascii=False, indent=2)
        (folder / f"{name}.json").write_text(content, encoding="utf-8")


if __name__ == "__main__":
    write(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")), Path(sys.argv[2]))
