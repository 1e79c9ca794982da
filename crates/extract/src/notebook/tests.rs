use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{Cause, Extracted, extract, needs_isolation};
use domain::split::SplitterKind;

fn read(notebook: &Value) -> Extracted {
    extract(notebook.to_string().as_bytes(), "application/octet-stream", None).expect("readable")
}

/// The text of a notebook of these cells.
fn text(cells: &Value) -> String {
    read(&json!({"nbformat": 4, "metadata": {"kernelspec": {"language": "python"}}, "cells": cells})).text
}

/// The text below the code of a cell with this output.
fn printed(output: &Value) -> String {
    let text = text(&json!([{"cell_type": "code", "source": "x", "outputs": [output]}]));
    text.strip_prefix("```python\nx\n```").map(|rest| rest.trim_start().to_owned()).expect("code")
}

#[test]
fn cells_stand_one_below_the_other() {
    let notebook = json!({
        "cells": [
            {"cell_type": "code", "source": ["import tides\n", "tides.load()"], "outputs": []},
            {"cell_type": "markdown", "source": ["# Tides\n", "\n", "The *north* basin."], "metadata": {}},
            {"cell_type": "raw", "source": "---\ntoc: true\n---"},
            {"cell_type": "markdown", "source": "Run:\n\n```sh\npump"},
            {"cell_type": "code", "source": "2 + 2", "execution_count": 3, "outputs": [
                {"output_type": "stream", "name": "stdout", "text": ["one\n"]},
                {"output_type": "stream", "name": "stdout", "text": "two\n"},
                {"output_type": "execute_result", "data": {"text/plain": ["4"], "image/png": "iVBORw0KGgo="}},
            ]},
            {"cell_type": "markdown", "source": "End."},
        ],
        "metadata": {"kernelspec": {"language": "python", "name": "python3"}},
        "nbformat": 4, "nbformat_minor": 5,
    });
    let notebook = read(&notebook);
    let expected = "```python\nimport tides\ntides.load()\n```\n\n# Tides\n\nThe *north* basin.\n\n```\n---\ntoc: true\n---\n```\n\n\
        Run:\n\n```sh\npump\n```\n\n```python\n2 + 2\n```\n\n```\none\ntwo\n```\n\n```\n4\n```\n\nEnd.";
    assert_eq!(notebook.text, expected);
    assert_eq!((notebook.title.as_deref(), notebook.splitter), (Some("Tides"), SplitterKind::Markdown));
    assert_eq!(notebook.media_type, "application/x-ipynb+json");
}

#[test]
fn older_notebooks_are_read_too() {
    let notebook = read(&json!({"nbformat": 3, "metadata": {"title": "Log"}, "worksheets": [{"cells": [
        {"cell_type": "heading", "level": 2, "source": "Tides"},
        {"cell_type": "code", "language": "julia", "input": "1 + 1", "outputs": [
            {"output_type": "pyout", "text": "2", "png": "iVBORw0KGgo="},
            {"output_type": "pyerr", "ename": "Boom", "evalue": "twice", "traceback": ["\u{1b}[31mlong"]},
        ]},
    ]}]}));
    assert_eq!(notebook.text, "## Tides\n\n```julia\n1 + 1\n```\n\n```\n2\n```\n\n```\nBoom: twice\n```");
    assert_eq!(notebook.title.as_deref(), Some("Log"));
}

#[test]
fn outputs_are_text_of_a_bounded_length() {
    let table = "<style>td {}</style><table><thead><tr><th></th><th>port</th><th>high</th></tr></thead>\
        <tbody><tr><th>0</th><td>Nord</td><td>06:10</td></tr></tbody></table>";
    let cases = [
        (
            json!({"data": {"text/html": table, "text/plain": "   port   high"}}),
            "|  | port | high |\n|---|---|---|\n| 0 | Nord | 06:10 |",
        ),
        (json!({"data": {"text/html": "<script>x</script>", "text/plain": "<Plot>"}}), "```\n<Plot>\n```"),
        (json!({"data": {"text/markdown": "**two**", "text/plain": "x"}}), "**two**"),
        (json!({"data": {"image/png": "iVBORw0KGgo=", "application/json": {"a": [1]}}}), ""),
        (
            json!({"output_type": "stream", "text": "10%\r50%\r100%\r\n\u{1b}[1;31mred\u{1b}[0m\n"}),
            "```\n100%\nred\n```",
        ),
        (json!({"output_type": "stream", "text": "a ``` b"}), "````\na ``` b\n````"),
        (
            json!({"output_type": "error", "ename": "KeyError", "evalue": "'north'", "traceback": ["…"]}),
            "```\nKeyError: 'north'\n```",
        ),
    ];
    for (output, expected) in cases {
        assert_eq!(printed(&output), expected, "{output}");
    }
    let long = printed(&json!({"output_type": "stream", "text": "words of a line\n".repeat(1_000)}));
    assert!(long.len() < 2_100 && long.ends_with("words of a line\n[… 13952 more bytes]\n```"), "{long}");
    let many = json!([{"cell_type": "code", "source": "x", "outputs": vec![json!({"data": {"text/plain": "y"}}); 40]}]);
    assert!(text(&many).ends_with("y\n```\n\n(More outputs: 8)"));
}

#[test]
fn pictures_in_text_are_left_out() {
    let picture = format!("![tides](data:image/png;base64,{}) at noon", "iVBOR+/w0".repeat(100));
    let cells = json!([{"cell_type": "markdown", "source": picture, "attachments": {"a.png": {"image/png": "iVBOR"}}}]);
    assert_eq!(text(&cells), "![tides](data:image/png;base64,) at noon");
    let prose = json!([{"cell_type": "markdown", "source": "Write `;base64,` and the letters."}]);
    assert_eq!(text(&prose), "Write `;base64,` and the letters.");
}

#[test]
fn notebooks_are_told_by_their_content() {
    let notebook = br#" {"nbformat": 4, "cells": [{"cell_type": "markdown", "source": "Words."}]}"#;
    for declared in ["application/json", "text/plain", "application/octet-stream", "application/x-ipynb+json"] {
        let read = extract(notebook, declared, None).expect("readable");
        assert_eq!((&*read.text, &*read.media_type), ("Words.", "application/x-ipynb+json"), "{declared}");
        assert!(needs_isolation(notebook, declared));
    }
    for other in
        [r#"{"cells": [1]}"#, r#"{"nbformat": 4}"#, r#"[{"nbformat": 4, "cells": []}]"#, r#"{"a": "\"nbformat\""}"#]
    {
        assert_eq!(extract(other.as_bytes(), "application/json", None).expect("JSON").media_type, "application/json");
        assert!(!needs_isolation(other.as_bytes(), "application/json"));
    }
}

#[test]
fn each_failure_has_its_cause() {
    let deep = format!("{{\"nbformat\": 4, \"cells\": {}", "[".repeat(60_000));
    let cases = [
        ("{\"nbformat\": 4, \"cells\": [{]}", Cause::Malformed),
        ("{\"a\": 1}", Cause::Malformed),
        ("version https://git-lfs.github.com/spec/v1", Cause::Malformed),
        (&deep, Cause::Malformed),
        ("{\"nbformat\": 4, \"cells\": []}", Cause::Empty),
        (
            "{\"nbformat\": 4, \"cells\": [{\"source\": null, \"outputs\": null}, {\"source\": 1}, {\"source\": {}}]}",
            Cause::Empty,
        ),
    ];
    for (source, cause) in cases {
        let error = extract(source.as_bytes(), "application/x-ipynb+json", None).expect_err("unreadable");
        assert_eq!(error.cause, cause, "{error:?}");
    }
}

proptest! {
    #[test]
    fn any_cells_are_read(sources in prop::collection::vec("([a-c#`~\n\\[\\]|<>é漢]|\u{1b}\\[|;base64,|```|<td>){0,30}", 0..6), kind in "code|markdown|raw|heading") {
        let outputs: Vec<Value> = sources.iter().map(|text| json!({"output_type": "stream", "text": text, "data": {"text/html": text}})).collect();
        let cells: Vec<Value> = sources.iter().map(|text| json!({"cell_type": kind, "source": text, "outputs": outputs})).collect();
        let notebook = json!({"nbformat": 4, "cells": cells}).to_string();
        if let Ok(extracted) = extract(notebook.as_bytes(), "application/x-ipynb+json", None) {
            prop_assert!(!extracted.text.trim().is_empty());
        }
    }
}
