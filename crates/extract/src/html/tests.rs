#![expect(clippy::string_slice, reason = "a test may stop on what it did not expect")]

use super::*;

fn read(html: &str) -> Content {
    let mut content = Content::default();
    page(html, &mut content).expect("a page");
    content
}

#[test]
fn main_content_with_headings() {
    let content = read(
        "<!doctype html><html><head><title>Leave &amp; more</title><style>p {}</style></head><body>
         <header><h1>Site</h1></header><nav><ul><li>Home</li></ul></nav>
         <div><h2>Annual <em>leave</em><a href=#x>¶</a></h2>
         <p>Everyone has <b>28</b> days\n of leave.<br>Paid.</p><script>alert(1)</script>
         <ul><li>First</li><li><p>Second</p></li></ul><p hidden>Gone</p></div>
         <footer>© 2026</footer></body></html>",
    );
    assert_eq!(content.text, "Annual leave\n\nEveryone has 28 days of leave.\nPaid.\n- First\n- Second");
    assert_eq!(content.title.as_deref(), Some("Leave & more"));
    assert_eq!(content.headings.len(), 1);
    assert_eq!((content.headings[0].level, &content.text[content.headings[0].bytes.clone()]), (2, "Annual leave"));
}

#[test]
fn marks_that_lead_to_a_heading_are_no_part_of_it_and_other_signs_are() {
    for (html, heading) in [
        ("<h1>Introduction to C#</h1>", "Introduction to C#"),
        ("<h2>C#<a href=#c>#</a></h2>", "C#"),
        ("<h2>Rates <a href=#r> § </a></h2>", "Rates"),
        ("<h2><a href=#r>#1 of all</a></h2>", "#1 of all"),
        ("<h2>Rates ¶</h2>", "Rates"),
        ("<h2>Rates<a class=headerlink href=#r>\u{f0c1}</a></h2>", "Rates"),
        ("<h2>Rates \u{f0c1}</h2>", "Rates"),
        ("<h2><a href='page.html#r'>⚓\u{fe0e}</a> Rates</h2>", "Rates"),
        ("<h2><a href=#r></a>Rates</h2>", "Rates"),
    ] {
        let content = read(&format!("{html}<p>Text</p>"));
        assert_eq!(&content.text[content.headings[0].bytes.clone()], heading, "{html}");
    }
}

#[test]
fn marks_that_lead_to_a_term_or_caption_are_no_part_of_it() {
    let list = "<dl><dt>open()<a class=headerlink href=#open>¶</a></dt><dd>Opens.</dd></dl>";
    assert_eq!(read(list).text, "open(): Opens.");
    assert_eq!(read("<table><caption>Rates<a href=#t>\u{f0c1}</a></caption></table>").text, "Rates");
    assert_eq!(read("<p>See <a href=x.html>§</a> and <a href=#n>1</a>.</p>").text, "See § and 1.");
}

#[test]
fn marked_content_is_taken_alone() {
    let page = "<div>Menu</div><main><header>Kept</header><p>Text</p><aside>Note</aside></main><div>Related</div>";
    assert_eq!(read(page).text, "Kept\n\nText\n\nNote");
    assert_eq!(read("<article>One</article><article>Two</article>").text, "One\n\nTwo");
    assert_eq!(read("<main> </main><p>Text</p>").text, "Text");
    assert_eq!(read("just words & more").text, "just words & more");
}

#[test]
fn tables_are_rows_and_layout_is_not() {
    let table = "<table><caption>Rates</caption><tr><th>Name</th><th>Rate</th></tr><tr><td><p>A</p><p>b</p></td><td>5</td></tr></table>";
    assert_eq!(read(table).text, "Rates\n\n| Name | Rate |\n|---|---|\n| A b | 5 |");
    let layout =
        "<table><tr><td>Side</td><td><table><tr><td>x</td><td>y</td></tr></table><p>Words</p></td></tr></table>";
    assert_eq!(read(layout).text, "Side\n\n| x | y |\n\nWords");
    let spans =
        "<table><tr><th>Name<th colspan=2>Rate</tr><tr><td rowspan=2>A<td>5<td>6</tr><tr><td>7<td>8|9</tr></table>";
    assert_eq!(read(spans).text, "| Name | Rate |  |\n|---|---|---|\n| A | 5 | 6 |\n| A | 7 | 8\\|9 |");
    assert_eq!(read("<table><tr><th>Rate<td>5</tr><tr><th>Unit<td></tr></table>").text, "| Rate | 5 |\nUnit");
}

#[test]
fn definitions_keep_their_terms() {
    let list = "<dl><dt>-a</dt><dt>--all</dt><dd>Take all.</dd><dt>Note:</dt><dd><p>One.</p><p>Two.</p></dd><dt>Run</dt><dd><pre>x</pre></dd></dl>";
    assert_eq!(read(list).text, "-a, --all: Take all.\n\nNote: One.\n\nTwo.\n\nRun:\n\n```\nx\n```");
    assert_eq!(read("<dl><dt>Alone</dt></dl><p>Text</p>").text, "Alone:\n\nText");
}

#[test]
fn preformatted_text_keeps_its_lines() {
    assert_eq!(read("<p>Run:</p><pre>if x:\n    y()\n</pre>").text, "Run:\n\n```\nif x:\n    y()\n```");
    assert_eq!(read("<pre>echo ```\n</pre>").text, "````\necho ```\n````");
    assert_eq!(
        read("<p>Run:</p><p> <code>mix oil -n 2</code>\n</p><p>Then:</p>").text,
        "Run:\n\n```\nmix oil -n 2\n```\n\nThen:"
    );
    assert_eq!(
        read("<p><code>mix</code></p><p>Run <code>mix oil</code></p><p><code>It dries.</code></p>").text,
        "mix\n\nRun mix oil\n\nIt dries."
    );
    assert_eq!(read("<pre>Type: string\nDefault: “|”</pre>").text, "Type: string\nDefault: “|”");
    let commented = "$ mix --slow oil     # add a colour to the oil\n$ dry --all           # wait until it is dry.";
    assert_eq!(read(&format!("<pre>{commented}</pre>")).text, format!("```\n{commented}\n```"));
    assert_eq!(read("<p><code>mix oil\n  -n 2</code></p>").text, "```\nmix oil -n 2\n```");
    let mixed = "To mix it slowly, give the option twice:\n\n  mix -nn oil\n\n  dry\n\nThen the paint dries for a day, as \"oil\" does.";
    let expected = "To mix it slowly, give the option twice:\n\n```\n  mix -nn oil\n\n  dry\n```\n\nThen the paint dries for a day, as \"oil\" does.";
    assert_eq!(read(&format!("<pre>{mixed}</pre>")).text, expected);
    for code in [
        "if a:\n    return b",
        "SELECT name FROM paint\nWHERE dry;",
        "for paint in oil chalk; do\n  mix $paint\ndone",
        "# Dry the paint for a day, and not for two.\ndry = 1",
    ] {
        assert_eq!(read(&format!("<pre>{code}</pre>")).text, format!("```\n{code}\n```"));
    }
    // A whole text file in a page.
    let letter = "Paint that dries too slowly can be\nhelped by warmth, which takes a day.";
    assert_eq!(read(&format!("<pre>{letter}</pre>")).text, letter);
}

#[test]
fn numbered_lists_keep_their_numbers() {
    let steps = "<p>Steps:</p><ol><li>Open</li><li><p>Stir</p><p>Well.</p></li><li>Wait<ul><li>a day</ul></ol>";
    assert_eq!(read(steps).text, "Steps:\n\n1. Open\n2. Stir\n\nWell.\n\n3. Wait\n- a day");
    assert_eq!(read("<ol start=4><li>Paint</li><li value=9>Dry</li></ol>").text, "4. Paint\n9. Dry");
    assert_eq!(read("<ol type=a><li>Paint</ol><ol reversed><li>Dry</ol><li>Lone").text, "a. Paint\n- Dry\n- Lone");
}

#[test]
fn what_leads_elsewhere_by_its_markup_is_left_out() {
    for part in [
        "<div role=navigation><h3>Navigation</h3><a href=b>next</a></div>",
        "<div role=search>Find</div>",
        "<div class='big navheader'><a href=b>Oil</a></div>",
        "<p>Next: <a rel=next href=b>Oil paint</a>, Up: <a rel=up href=t>Paints</a> [<a rel=index href=i>Index</a>]</p>",
        "<div><p>Next: <a rel='nofollow NEXT' href=b>Oil</a></p></div>",
    ] {
        assert_eq!(read(&format!("<h1>Paint</h1>{part}<p>It dries.</p>")).text, "Paint\n\nIt dries.", "{part}");
    }
    for part in [
        "<p>Go on with <a rel=next href=b>oil</a>, which takes a day to dry.</p>",
        "<p><a rel=nofollow href=b>Oil</a></p>",
        "<div class=navigator>Map</div>",
    ] {
        assert_ne!(read(&format!("<h1>Paint</h1>{part}<p>It dries.</p>")).text, "Paint\n\nIt dries.", "{part}");
    }
}

#[test]
fn lines_of_names_of_the_pages_around_are_left_out() {
    let links =
        |names: &str| names.split(' ').map(|name| format!("<a href={name}.html>{name}</a>\n")).collect::<String>();
    let line = links("Next Previous Contents");
    assert_eq!(read(&format!("<body>{line}<hr><h2>Oil</h2><p>It dries.</p><hr>{line}")).text, "Oil\n\nIt dries.");
    assert_eq!(read("<p>[&lt; Prev] [Table of Contents] [Next &gt;]</p><p>It dries.").text, "It dries.");
    for text in ["Next", "Contents Index", "Next, the oil", "The last index", "Up next week"] {
        assert_eq!(read(&format!("<p>{text}</p>")).text, text);
    }
}

#[test]
fn deep_nesting_does_not_overflow() {
    for nested in ["<div>", "<div><code>", "<ul><li>", "<div class=a>"] {
        assert!(read(&format!("{}words", nested.repeat(20_000))).text.ends_with("words"), "{nested}");
    }
}

#[test]
fn bullets_and_numbers_in_place_of_terms_make_lists() {
    let list =
        "<p>Codes:</p><dl><dt>o</dt><dd>23 - Some files were left out</dd><dt>—</dt><dd>24 - Files went</dd></dl>";
    assert_eq!(read(list).text, "Codes:\n- 23 - Some files were left out\n- 24 - Files went");
    let steps = "<dl><dt>1.</dt><dd>Open</dd><dt>(2)</dt><dd>Close</dd><dt>a</dt><dd>all</dd></dl>";
    assert_eq!(read(steps).text, "1. Open\n2. Close\n\na: all");
}

#[test]
fn a_bold_first_row_and_words_over_numbers_are_headers() {
    let row =
        |cells: &str| format!("<tr>{}</tr>", cells.split('|').map(|c| format!("<td>{c}</td>")).collect::<String>());
    let table =
        |rows: &[&str]| read(&format!("<table>{}</table>", rows.iter().map(|r| row(r)).collect::<String>())).text;
    assert_eq!(
        table(&["<b>Name</b>|<strong>Desk</strong>", "Ada|front"]),
        "| Name | Desk |\n|---|---|\n| Ada | front |"
    );
    assert_eq!(
        table(&["Size|Price|Stock", "S|3|40", "M|4|2"]),
        "| Size | Price | Stock |\n|---|---|---|\n| S | 3 | 40 |\n| M | 4 | 2 |"
    );
    assert_eq!(table(&["<b>Name</b>|Ada", "<b>Desk</b>|front"]), "| Name | Ada |\n| Desk | front |");
}

#[test]
fn menus_above_the_content_are_left_out() {
    let menu = |targets: [&str; 3]| {
        let links = targets.iter().map(|target| format!("<li><a href={target}>Page {target}</a> |</li>"));
        format!("<ul>{}</ul>", links.collect::<String>())
    };
    let others = menu(["a.html", "b.html", "c.html"]);
    let text = "Paint dries in a day, and shines at night. ".repeat(20);
    let text = text.trim();
    assert_eq!(
        read(&format!("<div>Paints<br>of Bern</div>{others}<h1>Oil</h1><p>{text}</p>")).text,
        format!("Paints\nof Bern\n\nOil\n\n{text}")
    );
    // Contents, and links that are or may be content.
    for page in [
        format!("{}<p>{text}</p>", menu(["#a", "#b", "#c"])),
        format!("<h1>Oil</h1>{others}<p>{text}</p>"),
        format!("<p>{text}</p>{others}"),
        format!("{others}<p>Three pages.</p>"),
        format!("{}<p>{text}</p>", others.replace(" |", " of Bern")),
        format!("<main>{others}<p>{text}</p></main>"),
    ] {
        assert!(read(&page).text.contains("- Page "), "{page}");
    }
}

#[test]
fn a_header_of_two_rows_names_each_column() {
    let table = "<table><tr><th rowspan=2>Kind</th><th colspan=2>Indoors</th><th colspan=2>Outdoors</th></tr>
        <tr><th>Litres</th><th>Hours</th><th>Litres</th><th>Hours</th></tr>
        <tr><td>Oil</td><td>8</td><td>24</td><td>9</td><td>30</td></tr>
        <tr><td>Chalk</td><td colspan=2>not kept</td><td>7</td><td>5</td></tr></table>";
    let expected = "| Kind | Indoors – Litres | Indoors – Hours | Outdoors – Litres | Outdoors – Hours |\n|---|---|---|---|---|\n\
        | Oil | 8 | 24 | 9 | 30 |\n| Chalk | not kept |  | 7 | 5 |";
    assert_eq!(read(table).text, expected);
}

#[test]
fn links_of_a_page_to_itself_are_left_out() {
    let entry = |title: &str| format!("<li>1.2 <a href='#{title}'>{title}</a></li>");
    let list = |titles: [&str; 3]| format!("<ul>{}</ul>", titles.map(entry).concat());
    let body = "<h2>1. Oil <a href=#oil>¶</a></h2><p>Dries.</p><p><b>Chalk</b></p><p>Shines.</p><h2>Lime</h2><p>Lasts.";
    let text = "1. Oil\n\nDries.\n\nChalk\n\nShines.\n\nLime\n\nLasts.";
    let contents = list(["Oil", "Chalk", "Lime"]);
    assert_eq!(read(&format!("{contents}{body}")).text, text);
    assert_eq!(read(&format!("<main><div>Table of contents {contents}</div>{body}</main>")).text, text);
    // Links to other pages, to what is not there, and with more than the headings say.
    for list in [
        contents.replace("href='#", "href='other-"),
        list(["Oil", "Tin", "Lead"]),
        contents.replace("</li>", " is what most walls are painted with</li>"),
        "<ul><li><a href=#oil>Oil</a></ul>".to_owned(),
    ] {
        assert_ne!(read(&format!("{list}{body}")).text, text, "{list}");
    }
}

#[test]
fn the_same_page_in_other_languages_is_left_out() {
    let link = |code: &str, told: &str| format!("<a href=../{code}/a.html {told}>&nbsp;{code}&nbsp;</a> |");
    let told = format!("<p><span>Available Languages: </span>{}{}</p>", link("de", "hreflang=de"), link("en", ""));
    let codes = format!("<p>Available Languages: {}</p>", link("en", ""));
    let named = "<ul><li><a href=/b hreflang=fr>Français</a><li><a href=/c hreflang=sr>Srpski / српски</a></ul>";
    for group in [told.as_str(), &codes, named] {
        assert_eq!(read(&format!("{group}<p>Oil dries.</p>{group}")).text, "Oil dries.", "{group}");
    }
    let told = "<p>There is <a href=/d hreflang=de>a report on paint in German</a> as well.</p>";
    assert!(read(told).text.contains("German"));
    assert!(read("<p>The domain is <a href=https://host.example/x>ch</a></p>").text.contains("ch"));
}

#[test]
fn lines_of_values_are_items() {
    let page = "<p>The code is one of:<br>0 - Dry<br>1&nbsp;-&nbsp;Wet, paint<br>&nbsp; again<br>16 - On fire</p>";
    assert_eq!(read(page).text, "The code is one of:\n- 0 - Dry\n- 1\u{a0}-\u{a0}Wet, paint again\n- 16 - On fire");
    for lines in ["One<br>2-3 days<br>4-5 days<br>6-7 days", "1 - Dry<br>2 - Wet<br>Done"] {
        assert_eq!(read(&format!("<p>{lines}</p>")).text, lines.replace("<br>", "\n"));
    }
}

#[test]
fn lists_keep_their_letters_and_roman_numbers() {
    let nested = "<ol><li>Stir<ol type=a><li>slowly<li>twice</ol><li>Dry<ol type=I start=3><li>well<li>again</ol></ol>";
    assert_eq!(read(nested).text, "1. Stir\na. slowly\nb. twice\n\n2. Dry\nIII. well\nIV. again");
    assert_eq!(read("<ol type=A start=26><li>Oil<li>Chalk</ol>").text, "Z. Oil\n\n27. Chalk");
}

#[test]
fn text_above_and_below_the_line_stays_apart() {
    for (html, text) in [
        ("<p>10<sup>6</sup> J and 10<sup>-3</sup> m<sup>2</sup> of H<sub>2</sub>O</p>", "10⁶ J and 10⁻³ m² of H₂O"),
        ("<p>2<sup>1</sup>/<sub>2</sub> of x<sub>max</sub></p>", "2¹/₂ of x_(max)"),
        ("<p>Oil<sup><a href='#n3'>3</a></sup> dries.</p>", "Oil[3] dries."),
        ("<p>Oil<a href='#n3'><sup>3</sup></a> dries<sup>[4]</sup>.</p>", "Oil[3] dries[4]."),
        ("<p>Oil<a epub:type=noteref href='#n1'>1</a> dries.</p>", "Oil[1] dries."),
        ("<table><tr><td>3 m<sup>2</sup></td><td>10<sup>5</sup></td></tr></table>", "| 3 m² | 10⁵ |"),
        ("<p><a href='#top'>10<sup>6</sup> tins</a><sub> </sub></p>", "10⁶ tins"),
    ] {
        assert_eq!(read(html).text, text, "{html}");
    }
    assert_eq!(super::closed("10<sup>6</sup>"), "10<sup>6</sup>");
}

#[test]
fn text_that_is_struck_out_is_left_out() {
    let page = "<p>A tin costs <del>€14</del> <ins>€17</ins>, a crate <s>€50</s> <strike>€60</strike> €70.</p>";
    assert_eq!(read(page).text, "A tin costs €17, a crate €70.");
    assert_eq!(read("<p><span style='text-decoration: line-through'>€5</span> €6</p>").text, "€6");
    // The tag is never closed.
    assert_eq!(read("<p>A tin costs <s>€14.<p>A crate costs €70.").text, "A tin costs €14.\n\nA crate costs €70.");
}

#[test]
fn panels_that_a_control_shows_are_read() {
    for panel in [
        "<div role=tabpanel hidden><p>Oil.</p></div>",
        "<div role=tabpanel aria-hidden=true><p>Oil.</p></div>",
        "<button aria-controls='o p'>Show</button><i></i><div id=p hidden><p>Oil.</p></div>",
        "<a href='#p'>Show</a><i></i><div id=p style='display: none'><p>Oil.</p></div>",
        "<button data-bs-target='#p'>Show</button><i></i><div id=p hidden><p>Oil.</p></div>",
        "<button id=b>Show</button><i></i><div aria-labelledby=b hidden><p>Oil.</p></div>",
        "<button>Show</button> <div hidden><p>Oil.</p></div>",
        "<div hidden=until-found><p>Oil.</p></div>",
    ] {
        let text = read(panel).text;
        assert_eq!(text.trim_start_matches("Show").trim(), "Oil.", "{panel}");
    }
    let accordion = read("<h3><button>Where is oil?</button></h3><div hidden><p>In the shed.</p></div>");
    assert_eq!(accordion.text, "Where is oil?\n\nIn the shed.");
    assert_eq!(accordion.headings.len(), 1);
    assert_eq!(read("<h3>Oil <button>Copy</button></h3><p>Text</p>").text, "Oil\n\nText");
}

#[test]
fn what_a_page_hides_is_left_out() {
    for hidden in [
        "<div hidden>Old.</div>",
        "<p style='color: red; DISPLAY: none'>Old.</p>",
        "<p style='visibility:hidden'>Old.</p>",
        "<button aria-controls=m>Menu</button><ul id=m hidden><li><a href=/a>Oil</a><li><a href=/b>Chalk</a></ul>",
        "<button aria-controls=d>Ask</button><div id=d role=dialog hidden>Old.</div>",
    ] {
        assert_eq!(read(&format!("{hidden}<p>Text.</p>")).text, "Text.", "{hidden}");
    }
    assert_eq!(read("<body style='display:none'><p>Text.</p></body>").text, "Text.");
}

#[test]
fn code_beside_the_numbers_of_its_lines_is_code() {
    let code = "<table><tr><td><pre>1\n2\n3</pre></td><td><pre>mix(\n    oil=4,\n)</pre></td></tr></table>";
    assert_eq!(read(code).text, "```\nmix(\n    oil=4,\n)\n```");
    let inline = "<pre><span class=linenos>1</span>mix(\n<span class=linenos>2</span>    oil=4)</pre>";
    assert_eq!(read(inline).text, "```\nmix(\n    oil=4)\n```");
    let data = "<table><tr><td>1 3</td><td><pre>a = 1;</pre></td></tr></table>";
    assert!(read(data).text.contains("1 3"));
}

#[test]
fn a_sign_that_is_no_link_and_a_link_to_an_editor_are_no_text() {
    assert_eq!(read("<dl><dt>open()<a class=headerlink>¶</a></dt><dd>Opens.</dd></dl>").text, "open(): Opens.");
    let edit = "<h2>Oil<span class=mw-editsection>[<a>edit</a>]</span></h2><p>It dries.</p>";
    assert_eq!(read(edit).text, "Oil\n\nIt dries.");
    assert_eq!(read("<ol><li><a href=#m1>^</a> Vik, 1999. <a href=#m2>↩</a></li></ol>").text, "1. Vik, 1999.");
}

#[test]
fn cells_of_a_row_around_a_table_are_paragraphs() {
    let layout =
        "<table><tr><td><p>One.<p>Two.<ul><li>a<li>b</ul><table><tr><td>x<td>y</table>Three.</td></tr></table>";
    assert_eq!(read(layout).text, "One.\n\nTwo.\n- a\n- b\n\n| x | y |\n\nThree.");
}

#[test]
fn notes_of_a_chapter_are_read_with_their_mark() {
    let read = |note: &str| {
        let mut content = Content::default();
        let text = "<header><h1>Oil</h1></header><p>It dries<a epub:type=noteref href='#n1'>1</a>.</p>";
        chapter(
            &format!("<title>Book</title>{text}<aside epub:type=footnote id=n1>{note}</aside><p>Slowly.</p>"),
            &mut content,
        )
        .expect("a chapter");
        content.text
    };
    assert_eq!(read("<p>In a day.</p>"), "Oil\n\nIt dries[1].\n\n[1] In a day.\n\nSlowly.");
    assert_eq!(read("<p>15 days.</p>"), "Oil\n\nIt dries[1].\n\n[1] 15 days.\n\nSlowly.");
    assert_eq!(read("<p>1. In a day.</p>"), "Oil\n\nIt dries[1].\n\n1. In a day.\n\nSlowly.");
}
