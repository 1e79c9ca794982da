use super::*;
use crate::{Extracted, MAX_TEXT_BYTES, extract, needs_isolation};

fn extracted(text: &str) -> Extracted {
    extract(text.as_bytes(), "text/x-rst", None).expect("readable")
}

fn read(text: &str) -> String {
    extracted(text).text
}

#[test]
fn titles_rank_in_the_order_of_their_styles() {
    let text = "=====\nBroker\n=====\n\nTimeouts\n--------\n\nNone.\n\nKeys\n~~~~\n\nTwo.\n\nLimits\n------\n\nFew.\n";
    let page = extracted(text);
    assert_eq!(page.title.as_deref(), Some("Broker"));
    let levels: Vec<(u8, &str)> = page.headings.iter().map(|heading| (heading.level, heading.text.as_str())).collect();
    assert_eq!(levels, [(1, "Broker"), (2, "Timeouts"), (3, "Keys"), (2, "Limits")]);
    assert_eq!(page.text, "Broker\n\nTimeouts\n\nNone.\n\nKeys\n\nTwo.\n\nLimits\n\nFew.");
}

#[test]
fn inline_markup_is_read_as_its_text() {
    let rows = [
        ("*One* **two** ``three *four*`` `five`.", "One two three *four* five."),
        (
            "See :ref:`that <there>`, :doc:`guide/index`, :py:class:`~a.b.C` and :func:`!f`.",
            "See that, guide/index, C and f.",
        ),
        ("By :pep:`8` and `the site <https://example.org>`_, `there`_.", "By PEP 8 and the site, there."),
        ("It is so [#note]_ and so [1]_, says [Doe2020]_.", "It is so and so, says [Doe2020]."),
        (
            "An *asterisk, a * b, 2*3 and a\\*b\\* stay; so do x_ and __init__.",
            "An *asterisk, a * b, 2*3 and a*b* stay; so do x_ and __init__.",
        ),
        ("H\\ :sub:`2`\\ O, <b>not</b> & co.", "H2O, <b>not</b> & co."),
        ("Python_ is |big|.\n\n.. _Python: https://example.org\n.. |big| replace:: *very* big", "Python is very big."),
        (
            "See :ref:`keys` and :ref:`no-label`.\n\n.. _keys:\n\nAll keys\n========\n",
            "See All keys and no label.\n\nAll keys",
        ),
    ];
    for (text, expected) in rows {
        assert_eq!(read(text), expected, "{text}");
    }
}

#[test]
fn boxes_and_versions_have_their_label() {
    let rows = [
        (".. note:: It is\n   wet.\n\n   Very.", "Note: It is wet.\n\nVery."),
        (".. warning::\n\n   Hot.", "Warning: Hot."),
        (".. seealso::\n\n   - One", "See also:\n- One"),
        (".. versionadded:: 1.4\n   The key.", "Added in version 1.4: The key."),
        (".. deprecated:: 2.0", "Deprecated since version 2.0."),
        (".. admonition:: By the way\n\n   Yes.", "By the way\n\nYes."),
        (".. image:: a.png\n   :alt: A pump", "A pump"),
        (".. figure:: a.png\n\n   The pump.", "The pump."),
        (
            "A.\n\n.. toctree::\n   :maxdepth: 2\n\n   one\n   two\n\n.. a comment\n   of two lines\n\n.. [[[cog show(\"x\") ]]]\n\n.. include:: b.rst\n\nB.",
            "A.\n\nB.",
        ),
        (".. only:: html\n\n   Seen.", "Seen."),
        (".. [Doe2020] A book.", "[Doe2020] A book."),
    ];
    for (text, expected) in rows {
        assert_eq!(read(text), expected, "{text}");
    }
}

#[test]
fn objects_and_fields_are_named_before_their_text() {
    let rows = [
        (
            ".. py:function:: connect(host, *, port=5672)\n\n   Opens it.\n\n   :param str host: its name\n   :returns: a link\n   :raises OSError: if closed\n",
            "connect(host, *, port=5672): Opens it.\n\nhost: its name\n\nReturns: a link\n\nRaises OSError: if closed",
        ),
        (".. option:: -v, --verbose\n\n   Says all.", "-v, --verbose: Says all."),
        (".. confval:: ttl\n   :type: int\n   :default: 30\n\n   Seconds.", "ttl: type: int, default: 30\n\nSeconds."),
        (":Author: Doe\n:orphan:\n\nText.", "Author: Doe\n\nText."),
        ("term : kind\n   Its text.\nother\n   More.", "term : kind: Its text.\n\nother: More."),
        ("-a         Takes all.\n--long=X   Takes\n           more.", "-a: Takes all.\n\n--long=X: Takes more."),
    ];
    for (text, expected) in rows {
        assert_eq!(read(text), expected, "{text}");
    }
}

#[test]
fn lists_code_and_lines_keep_their_form() {
    let rows = [
        ("Do:\n\n#. One\n   more\n#. Two", "Do:\n\n1. One more\n2. Two"),
        ("* A\n\n  * B\n* C", "- A\n- B\n- C"),
        ("3. Three\n4. Four", "3. Three\n4. Four"),
        ("Run::\n\n   make x\n     y\n\nDone.", "Run:\n\n```\nmake x\n  y\n```\n\nDone."),
        (".. code-block:: c\n   :linenos:\n\n   int x;", "```\nint x;\n```"),
        ("| Street 1\n| Town", "Street 1\nTown"),
        ("A. Doe wrote\nit.", "A. Doe wrote it."),
    ];
    for (text, expected) in rows {
        assert_eq!(read(text), expected, "{text}");
    }
}

#[test]
fn tables_of_each_form_are_rows() {
    let expected = "| Key | Value |\n|---|---|\n| ttl | 30 s |\n| tries | 5 |";
    let rows = [
        "=====  =====\nKey    Value\n=====  =====\nttl    30\n       s\ntries  5\n=====  =====\n",
        "+-------+-------+\n| Key   | Value |\n+=======+=======+\n| ttl   | 30    |\n|       | s     |\n+-------+-------+\n| tries | 5     |\n+-------+-------+\n",
        ".. list-table::\n   :header-rows: 1\n\n   * - Key\n     - Value\n   * - ttl\n     - 30 s\n   * - tries\n     - 5\n",
        ".. csv-table::\n   :header: Key, Value\n\n   ttl, 30 s\n   tries, \"5\"\n",
    ];
    for text in rows {
        assert_eq!(read(text), expected, "{text}");
    }
    let spans = "+-----+-----+\n| A   | B   |\n+=====+=====+\n| one | x   |\n|     +-----+\n|     | y   |\n+-----+-----+\n| both      |\n+-----+-----+\n";
    assert_eq!(read(spans), "| A | B |\n|---|---|\n| one | x |\n| one | y |\n| both |  |");
    let crossed = "===  ===\nABCDE  y\n===  ===\n";
    assert_eq!(read(crossed), "| ABCDE | y |");
}

#[test]
fn it_is_told_by_its_name_or_by_what_only_it_has() {
    let text = b"Title\n=====\n\n.. note:: Wet.\n";
    assert!(looks_like_rst(text) && looks_like_rst(b".. _label:\n") && looks_like_rst(b"x\n.. code-block:: c\n"));
    assert!(!looks_like_rst(b".. and so on\n...\n.. std::vector\n.. a::b\n"));
    assert_eq!(extract(text, "text/plain", None).expect("readable").media_type, "text/x-rst");
    assert_eq!(extract(text, "text/markdown", None).expect("readable").media_type, "text/markdown");
    assert!(needs_isolation(text, "text/plain") && needs_isolation(b"Text", "text/x-rst"));
}

#[test]
fn deep_and_long_texts_are_read() {
    let deep: String = (0..2_000).map(|depth| format!("{}* x\n\n", " ".repeat(depth))).collect();
    assert!(read(&deep).contains('x'));
    let wide = "*a **b `c |d [e :f: g_ ".repeat(20_000);
    assert!(read(&wide).len() < MAX_TEXT_BYTES);
    let ruled = "=== ===\n".repeat(20_000);
    assert!(!read(&ruled).is_empty());
}

#[test]
fn a_name_in_a_field_is_no_list() {
    assert_eq!(read(":Author: P. Hask\n:Version: 4.1\n"), "Author: P. Hask\n\nVersion: 4.1");
}

#[test]
fn footnotes_stand_in_the_section_that_they_are_of() {
    let text = "Oil\n===\n\nIt dries [#f]_ and smells [2]_.\n\nLime\n====\n\nIt is wet.\n\n.. [#f] In a day,\n   or two.\n.. [2] A little.\n\n.. [#g] Never named.\n";
    let expected =
        "Oil\n\nIt dries and smells.\n\nIn a day, or two.\n\nA little.\n\nLime\n\nIt is wet.\n\nNever named.";
    assert_eq!(read(text), expected);
}
