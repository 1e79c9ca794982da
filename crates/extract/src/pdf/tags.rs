//! Tagged PDF (ISO 32000-2, 14.7 and 14.8): which block each piece of marked content is a part of, in reading order.

use std::collections::{HashMap, HashSet};

use hayro_interpret::hayro_syntax::{
    Pdf,
    object::{Array, Dict, MaybeRef, Name, Object, ObjectIdentifier},
    xref::XRef,
};

use super::super::grid::Span;

/// Most parts of the structure that are read.
const MOST: usize = 2_000_000;
/// Longest chain of names for one role.
const MOST_ROLES: usize = 8;
/// Deepest level of a heading, and of a list.
const DEEPEST: u8 = 9;
/// Roles that begin a block within another; all others are parts of a block.
const BLOCKS: [&str; 20] = [
    "P",
    "Caption",
    "BlockQuote",
    "Note",
    "FENote",
    "BibEntry",
    "Index",
    "Document",
    "DocumentFragment",
    "Part",
    "Art",
    "Sect",
    "Div",
    "Aside",
    "L",
    "TOC",
    "Table",
    "TR",
    "Figure",
    "Formula",
];

/// The block that marked content is a part of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tag {
    /// Its place in reading order; the same for all of a block that stands together.
    pub(super) block: usize,
    pub(super) kind: Kind,
}

/// Marked content.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Piece {
    pub(super) tag: Tag,
    /// Number of pieces before it in reading order.
    pub(super) order: usize,
}

/// The kind of a block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Text,
    /// A heading of this level.
    Heading(u8),
    /// An entry of a list in so many others.
    Item(u8),
    Cell(TableCell),
}

/// A cell of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TableCell {
    /// Tells the table from others.
    pub(super) table: usize,
    /// Tells the row from others, also of other tables.
    pub(super) row: usize,
    /// Number of cells before it in its row.
    pub(super) place: usize,
    pub(super) is_header: bool,
    pub(super) span: Span,
}

/// The blocks of a document by page and by number of their marked content.
#[derive(Debug, Default)]
pub(super) struct Tags(HashMap<(ObjectIdentifier, i32), Piece>);

impl Tags {
    /// The blocks of a document; none if it is not tagged, or says itself that its tags are doubtful.
    pub(super) fn of(pdf: &Pdf) -> Self {
        let xref = pdf.xref();
        let catalogue = xref.get::<Dict<'_>>(xref.root_id()).unwrap_or_default();
        let is_suspect = catalogue.get::<Dict<'_>>("MarkInfo").and_then(|info| info.get::<bool>("Suspects"));
        let Some(root) = catalogue.get::<Dict<'_>>("StructTreeRoot").filter(|_| is_suspect != Some(true)) else {
            return Self::default();
        };
        let mut walk = Walk::new(xref, root.get::<Dict<'_>>("RoleMap").unwrap_or_default());
        let mut open = walk.below(&root, Context::default());
        while let Some((part, context)) = open.pop() {
            match part {
                Object::Number(number) => walk.add(i32::try_from(number.as_i64()).ok(), context),
                Object::Dict(part) => {
                    let context = Context { page: part.get_ref("Pg").map(Into::into).or(context.page), ..context };
                    // The content of a form (XObject) is numbered by itself.
                    if part.contains_key("MCID") && !part.contains_key("Stm") {
                        walk.add(part.get::<i32>("MCID"), context);
                    } else {
                        let context = walk.enter(&part, context);
                        open.extend(walk.below(&part, context));
                    }
                }
                _ => {}
            }
        }
        Self(walk.found)
    }

    /// Whether there are several headings: then all that look like one are tagged.
    pub(super) fn have_headings(&self) -> bool {
        let headings = self.0.values().filter(|piece| matches!(piece.tag.kind, Kind::Heading(_)));
        headings.map(|piece| piece.tag.block).collect::<HashSet<_>>().len() > 1
    }

    /// The marked content of this number on a page.
    pub(super) fn get(&self, page: ObjectIdentifier, number: i32) -> Option<Piece> {
        self.0.get(&(page, number)).copied()
    }
}

/// The parts around a part of the structure.
#[derive(Clone, Copy, Default)]
struct Context {
    page: Option<ObjectIdentifier>,
    /// The block that it is in, by its number among the parts.
    block: Option<(usize, Kind)>,
    /// Number of sections and of lists around it.
    sections: u8,
    lists: u8,
    table: Option<usize>,
    row: Option<usize>,
}

/// A walk through the structure, in reading order.
struct Walk<'a> {
    xref: &'a XRef,
    roles: Dict<'a>,
    found: HashMap<(ObjectIdentifier, i32), Piece>,
    /// The part that the last content was found in, and the place of its block.
    last: Option<usize>,
    block: usize,
    /// Parts that were entered: they have an end, whatever the file says.
    entered: HashSet<ObjectIdentifier>,
    /// Number of parts that were seen, and of those that are no content.
    parts: usize,
    dicts: usize,
    /// Number of cells by row.
    cells: Vec<usize>,
}

impl<'a> Walk<'a> {
    fn new(xref: &'a XRef, roles: Dict<'a>) -> Self {
        let (found, entered, cells) = (HashMap::new(), HashSet::new(), Vec::new());
        Self { xref, roles, found, last: None, block: 0, entered, parts: 0, dicts: 0, cells }
    }

    /// The parts below a part that were not seen before, the last first.
    fn below(&mut self, part: &Dict<'a>, context: Context) -> Vec<(Object<'a>, Context)> {
        let below: Vec<MaybeRef<Object<'a>>> = match part.get::<Array<'a>>("K") {
            Some(parts) => parts.raw_iter().take(MOST - self.parts).collect(),
            None => part.get_raw::<Object<'a>>("K").into_iter().collect(),
        };
        self.parts = MOST.min(self.parts + below.len());
        let new = below.into_iter().rev().filter_map(|part| match part {
            MaybeRef::NotRef(part) => Some(part),
            MaybeRef::Ref(reference) if self.entered.insert(reference.into()) => self.xref.get(reference.into()),
            MaybeRef::Ref(_) => None,
        });
        new.map(|part| (part, context)).collect()
    }

    /// The context of what is below a part.
    fn enter(&mut self, part: &Dict<'a>, context: Context) -> Context {
        let role = part.get::<Name<'_>>("S").map(|name| self.role(&name)).unwrap_or_default();
        let mut inner = context;
        self.dicts += 1;
        let number = self.dicts;
        match role.as_str() {
            "Sect" => inner.sections = context.sections.saturating_add(1),
            "L" | "TOC" => inner.lists = context.lists.saturating_add(1).min(DEEPEST),
            "Table" => inner = Context { table: Some(number), row: None, block: None, lists: 0, ..context },
            "TR" if context.table.is_some() => {
                inner.row = Some(self.cells.len());
                self.cells.push(0);
            }
            "TH" | "TD" => {
                let cell = self.cell(part, role == "TH", context);
                inner.block = Some((number, cell.map_or(Kind::Text, Kind::Cell)));
            }
            _ => {}
        }
        // Cells, entries and headings are one block each, whatever is in them.
        let is_whole = inner.block.is_some_and(|(_, kind)| kind != Kind::Text);
        let is_cell = matches!(inner.block, Some((_, Kind::Cell(_))));
        match role.as_str() {
            "LI" | "TOCI" if !is_cell => inner.block = Some((number, Kind::Item(inner.lists.saturating_sub(1)))),
            _ if is_whole => {}
            role => match level_of(role, context.sections) {
                Some(level) => inner.block = Some((number, Kind::Heading(level))),
                None if inner.block.is_some() && !BLOCKS.contains(&role) => {}
                None => inner.block = Some((number, Kind::Text)),
            },
        }
        inner
    }

    fn cell(&mut self, part: &Dict<'_>, is_header: bool, context: Context) -> Option<TableCell> {
        let (table, row) = context.table.zip(context.row)?;
        let count = self.cells.get_mut(row)?;
        *count += 1;
        Some(TableCell { table, row, place: *count - 1, is_header, span: span_of(part) })
    }

    /// Adds marked content of a page.
    fn add(&mut self, number: Option<i32>, context: Context) {
        let (Some(number), Some(page), Some((part, kind))) = (number, context.page, context.block) else { return };
        if self.last != Some(part) {
            self.last = Some(part);
            self.block += 1;
        }
        let piece = Piece { tag: Tag { block: self.block, kind }, order: self.found.len() };
        self.found.insert((page, number), piece);
    }

    /// The standard name of a role, which a document may call as it likes.
    fn role(&self, name: &Name<'_>) -> String {
        let mut name = name.as_str().to_owned();
        for _ in 0..MOST_ROLES {
            let Some(standard) = self.roles.get::<Name<'_>>(name.as_bytes()) else { break };
            name = standard.as_str().to_owned();
        }
        name
    }
}

/// How far a cell reaches, by its attributes.
fn span_of(part: &Dict<'_>) -> Span {
    let attributes: Vec<Dict<'_>> = match part.get::<Object<'_>>("A") {
        Some(Object::Dict(attributes)) => vec![attributes],
        Some(Object::Array(attributes)) => attributes.iter::<Dict<'_>>().collect(),
        _ => Vec::new(),
    };
    let extent = |name: &str| {
        let extent = attributes.iter().find_map(|attributes| attributes.get::<u32>(name));
        extent.and_then(|extent| usize::try_from(extent).ok()).unwrap_or(1)
    };
    Span { columns: extent("ColSpan"), rows: extent("RowSpan") }
}

/// The level of a role that is a heading. The level of `H` is that of its section.
fn level_of(role: &str, sections: u8) -> Option<u8> {
    match role {
        "Title" => Some(1),
        "H" => Some(sections.clamp(1, DEEPEST)),
        _ => role.strip_prefix('H')?.parse().ok().filter(|level| (1..=DEEPEST).contains(level)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{super::content::Content, document, test_file};

    /// Reads a page with this content and structure, whose root is object 6.
    fn read(page: &[String], structure: &[&str]) -> Content {
        let stream = test_file::stream(&page.concat());
        let objects = [
            "<</Type/Catalog/Pages 2 0 R/MarkInfo<</Marked true>>/StructTreeRoot 6 0 R>>",
            "<</Type/Pages/Kids[3 0 R]/Count 1>>",
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>",
            &stream,
            "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
        ];
        let file = test_file::of_objects(objects.iter().chain(structure));
        let mut content = Content::default();
        document(&file, None, &mut content).expect("a PDF with text");
        content
    }

    fn drawn(x: u16, y: u16, text: &str) -> String {
        format!("BT /F 12 Tf {x} {y} Td ({text}) Tj ET\n")
    }

    /// A line of text in marked content.
    fn line(number: u8, y: u16, text: &str) -> String {
        format!("/Span <</MCID {number}>> BDC {}EMC\n", drawn(72, y, text))
    }

    #[test]
    fn headings_are_those_of_the_structure() {
        let content = read(
            &[
                line(0, 700, "Annual"),
                line(1, 686, "leave"),
                line(2, 672, "28 days a year."),
                line(3, 658, "Carrying over"),
                line(4, 644, "Illness"),
                line(5, 630, "A note is due."),
            ],
            &[
                "<</Type/StructTreeRoot/RoleMap<</Kop/H1/Kopje/Kop2/Kop2/H2>>/K 7 0 R>>",
                "<</S/Document/Pg 3 0 R/K[8 0 R 9 0 R 10 0 R 11 0 R 12 0 R]>>",
                "<</S/Kop/K[0 <</Type/MCR/MCID 1/Pg 3 0 R>>]>>",
                "<</S/P/K 2>>",
                "<</S/Kopje/K <</S/Span/K 3>>>>",
                "<</S/Sect/K[<</S/Sect/K[<</S/H/K 4>>]>>]>>",
                "<</S/P/K[5]>>",
            ],
        );
        let headings: Vec<(u8, &str)> = content.headings.iter().map(|found| (found.level, &*found.text)).collect();
        assert_eq!(headings, [(1, "Annual leave"), (2, "Carrying over"), (2, "Illness")]);
        assert_eq!(content.text, "Annual leave\n\n28 days a year.\n\nCarrying over\n\nIllness\n\nA note is due.");
    }

    #[test]
    fn order_entries_and_cells_are_those_of_the_structure() {
        let artifact = format!("/Artifact BMC {}EMC\n", drawn(72, 40, "Example Ltd"));
        let content = read(
            &[
                line(0, 388, "last."),
                line(1, 700, "* One"),
                line(2, 686, "more"),
                line(3, 672, "- Two"),
                line(4, 500, "Kind"),
                line(5, 480, "Days"),
                line(6, 460, "28"),
                line(7, 440, "Annual"),
                line(8, 420, "Sick"),
                line(10, 410, "30"),
                line(9, 400, "Text comes"),
                artifact,
            ],
            &[
                "<</Type/StructTreeRoot/K[7 0 R]>>",
                "<</S/Document/Pg 3 0 R/K[8 0 R 9 0 R <</S/P/K[9 0]>>]>>",
                "<</S/L/K[<</S/LI/K[<</S/LBody/K[1 2 <</S/L/K[<</S/LI/K 3>>]>>]>>]>>]>>",
                "<</S/Table/K[<</S/THead/K <</S/TR/K[<</S/TH/K 4>><</S/TH>><</S/TH/K 5>>]>>>> 10 0 R 11 0 R]>>",
                "<</S/TR/K[<</S/TD/K <</S/P/K 7>>>><</S/TD/A<</O/Table/ColSpan 2>>/K 6>>]>>",
                "<</S/TR/K[<</S/TD/K 8>><</S/TD>><</S/TD/K 10>>]>>",
            ],
        );
        let rows = "| Kind |  | Days |\n|---|---|---|\n| Annual | 28 |  |\n| Sick |  | 30 |";
        let text = format!("* One more\n  - Two\n\n{rows}\n\nText comes\nlast.\n\nExample Ltd");
        assert_eq!(content.text, text);
    }

    #[test]
    fn tags_that_leave_text_out_are_not_followed() {
        let content = read(
            &[line(0, 700, "Second."), drawn(72, 650, "First comes this, of which no tag knows.")],
            &["<</K 7 0 R>>", "<</S/H1/Pg 3 0 R/K 0>>"],
        );
        assert_eq!(content.text, "Second.\n\nFirst comes this, of which no tag knows.");
        assert_eq!(content.headings, []);
    }

    #[test]
    fn a_structure_that_holds_itself_has_an_end() {
        let content = read(
            &[line(0, 700, "Leave"), line(1, 686, "28 days.")],
            &[
                "<</K 7 0 R>>",
                "<</S/Document/K[7 0 R 8 0 R 9 0 R]>>",
                "<</S/H3/Pg 3 0 R/K[0 7 0 R]>>",
                "<</S/P/Pg 3 0 R/K[1 8 0 R]>>",
            ],
        );
        assert_eq!(content.text, "Leave\n\n28 days.");
    }
}
