//! Markdown: the text as it is, but for three things that are no part of its common syntax and would be read as running text,
//! front matter, definition lists and footnotes, and for tables, whose rows are written with bars at their ends.

mod definitions;
mod footnotes;
mod front_matter;

use super::{
    ExtractError,
    bars::{self, Marked},
    content::Content,
};

/// Adds a Markdown document; its title is that of its front matter, if it has one.
pub(super) fn document(text: &str, content: &mut Content) -> Result<(), ExtractError> {
    let (front, body) = front_matter::parted(text);
    if let Some(title) = &front.title {
        content.name(title);
    }
    let body = definitions::written_out(&footnotes::written_out(body));
    let body = bars::closed(&body, Marked::ByDelimiter);
    content.set_text(front.above(body.into_owned()))
}

#[cfg(test)]
mod tests {
    use crate::{Extracted, extract};

    fn read(text: &str) -> Extracted {
        extract(text.as_bytes(), "text/markdown", None).expect("readable")
    }

    #[test]
    fn front_matter_is_the_title_and_what_it_says_of_the_document() {
        let matter = "---\ntitle: \"paint-mix\"\nsection: 1\nlayout: post\ndraft: false\ndescription: Mix the colours of a tin\nowner: Workshop\nupdated: 2024-05-01\ntags: [paint, tin]\nkeywords:\n  - tin\n---\n\n";
        let says = "Mix the colours of a tin\n\nOwner: Workshop\nUpdated: 2024-05-01\n\n";
        let page = read(&format!("{matter}### Use\n\nPour it."));
        assert_eq!(page.text, format!("# paint-mix\n\n{says}### Use\n\nPour it."));
        assert_eq!(page.title.as_deref(), Some("paint-mix"));
        // A page with a heading of its own keeps it.
        let headed = read(&format!("{matter}# Mixing\n\nPour it."));
        assert_eq!(headed.text, format!("# Mixing\n\n{says}Pour it."));
        assert_eq!(headed.title.as_deref(), Some("paint-mix"));
        let untitled = read("---\nsummary: >-\n  Mix the colours\n  of a tin.\nid: 4\n...\nPour it.");
        assert_eq!(untitled.text, "Mix the colours of a tin.\n\nPour it.");
        // What the text says anyway is not said twice.
        assert_eq!(read("---\ndescription: 'Pour it.'\n---\nPour it. Stir it.").text, "Pour it. Stir it.");
    }

    #[test]
    fn what_is_no_front_matter_stays() {
        for text in [
            "---\n\nA text below a rule: and more of it.\n\n---\n\nMore.",
            "---\ntitle: never ended\n\nText.",
            "---\ntitle: nothing else\n---\n",
            "Text.\n\n---\ntitle: below\n---\n",
        ] {
            assert_eq!(read(text).text, text);
        }
    }

    #[test]
    fn definitions_begin_with_their_term() {
        let text = "# Words\n\nTin\n: holds paint,\n  and its lid\n: holds air\n\nOil pot:\n\n:   *Old*: for oil.\n\n    It is red.\n\nA text below.\n";
        let expected = "# Words\n\nTin: holds paint,\nand its lid\n\nTin: holds air\n\nOil pot: *Old*: for oil.\n\nIt is red.\n\nA text below.\n";
        assert_eq!(read(text).text, expected);
        assert_eq!(read("Tin\nPot\n: holds paint").text, "Tin, Pot: holds paint");
    }

    #[test]
    fn other_lines_with_a_colon_stay() {
        for text in [
            "```\nTin\n: holds paint\n```\n",
            "# Tin\n: holds paint\n",
            "- Tin\n: holds paint\n",
            ": holds paint\n",
            ":::note\n\nText.\n\n:::\n",
            "This line is a sentence.\n: holds paint\n",
            "| a | b |\n: c\n",
        ] {
            assert_eq!(read(text).text, text);
        }
    }

    #[test]
    fn notes_have_their_number_in_brackets() {
        let text =
            "Tins[^1] and pots [^lid].\n\n| Tin | Lid[^1] |\n|---|---|\n\n[^1]: Of *tin*.\n[^lid]: Without a lid.\n";
        let expected =
            "Tins (1) and pots (lid).\n\n| Tin | Lid (1) |\n|---|---|\n\n(1) Of *tin*.\n(lid) Without a lid.\n";
        assert_eq!(read(text).text, expected);
        for text in [
            "No note[^1], and none here: [^2]\n",
            "A class `[^a]` of signs.\n\n```\n[^a]: code\n```\n",
            "It is `[^1]: a` and ``b ` [^1]: c``.\n",
            "[^not a name]: of a note\n",
        ] {
            assert_eq!(read(text).text, text);
        }
        assert_eq!(read("`[^1]` is code[^1].\n\n[^1]: So.\n").text, "`[^1]` is code (1).\n\n(1) So.\n");
    }
}
