use super::*;

/// What is written of rows whose cells are divided by `|`: an empty one is no cell, `*` before a row makes it bold, and a
/// number before `>` says over how many columns a cell reaches.
fn read(rows: &[&str]) -> String {
    let mut content = Content::default();
    let mut parts = Parts::default();
    for line in rows {
        let mut row = Row { is_bold: line.starts_with('*'), ..Row::default() };
        for (column, cell) in line.trim_start_matches('*').split('|').enumerate() {
            let (columns, text) = cell.trim().split_once('>').unwrap_or(("1", cell.trim()));
            if columns != "1" {
                row.wide.insert(column, columns.parse().expect("a number"));
            }
            row.cells.push((column, text.to_owned()));
        }
        parts.push(row, &mut content).expect("fits");
    }
    parts.finish(&mut content).expect("fits");
    content.text
}

#[test]
fn lines_above_a_header_are_paragraphs() {
    let tests = [
        "|Water tests",
        "|Sampled by|Unni Rask",
        "|Week 21",
        "",
        "|Point|pH|Chlorine mg/l",
        "|Intake|7.1|0",
        "|Filter 2|7.42|",
        "",
        "|Incidents",
        "|Date|Point|What happened",
        "|19 May|Filter 2|Valve stuck",
        "|21 May|Intake|Foam",
    ];
    assert_eq!(
        read(&tests),
        "Water tests\nSampled by: Unni Rask\nWeek 21\n\n| Point: Intake | pH: 7.1 | Chlorine mg/l: 0 |\n| Point: Filter 2 | pH: 7.42 |\n\nIncidents\n\n| Date: 19 May | Point: Filter 2 | What happened: Valve stuck |\n| Date: 21 May | Point: Intake | What happened: Foam |"
    );
    let quote = [
        "Quotation 5512|||Date: 4 May",
        "For: Hotel Adler|||Valid: June",
        "Pos|Text|Qty|Price",
        "1|Blinds|12|80",
        "2|Hooks|9|1",
        "||Total:|81",
        "||Sum net|70",
    ];
    assert_eq!(
        read(&quote),
        "Quotation 5512\nDate: 4 May\n\nFor: Hotel Adler\nValid: June\n\n| Pos: 1 | Text: Blinds | Qty: 12 | Price: 80 |\n| Pos: 2 | Text: Hooks | Qty: 9 | Price: 1 |\n| Total: 81 |\n| Sum net: 70 |"
    );
}

#[test]
fn a_blank_row_ends_a_table_that_others_do_not_go_on_with() {
    let two = ["Ship|Crew", "Otter|4", "Heron|6", "", "Berth|Depth m", "B1|4.5", "B2|7", "", "Old berths are closed."];
    assert_eq!(
        read(&two),
        "| Ship: Otter | Crew: 4 |\n| Ship: Heron | Crew: 6 |\n\n| Berth: B1 | Depth m: 4.5 |\n| Berth: B2 | Depth m: 7 |\n\nOld berths are closed."
    );
    let groups = [
        "Course|Room|Lecturer|Credits",
        "",
        "Mosses|B-02|Dr. Fern|3",
        "Ferns|B-03|Dr. Reed|3",
        "",
        "Rocks|G-1||4",
        "",
        "Rate|5 %",
    ];
    assert_eq!(
        read(&groups),
        "| Course: Mosses | Room: B-02 | Lecturer: Dr. Fern | Credits: 3 |\n| Course: Ferns | Room: B-03 | Lecturer: Dr. Reed | Credits: 3 |\n\n| Course: Rocks | Room: G-1 | Credits: 4 |\n\nRate: 5 %"
    );
    assert_eq!(read(&["Name|City|Since"]), "| Name | City | Since |");
    assert_eq!(read(&["*Name|City", "", "1|2|3"]), "| Name | City |\n\n| 1 | 2 | 3 |");
}

#[test]
fn names_with_values_have_no_header() {
    let sheet = ["Project|Lock gate 3", "Manager|Ines Falk", "Budget|410000"];
    assert_eq!(read(&sheet), "Project: Lock gate 3\nManager: Ines Falk\nBudget: 410000");
    let form = ["Order no.:|DN-11|Date:|2026-04-22", "Customer:|Adler|Driver:|", "", "Received by:|A. Lindner"];
    assert_eq!(read(&form), "Order no.: DN-11\nDate: 2026-04-22\nCustomer: Adler\nDriver:\nReceived by: A. Lindner");
    assert_eq!(
        read(&["pH|2|8", "Oil|1|3", "", "Checked by|I. Falk", "On|2026-05-01"]),
        "| pH | 2 | 8 |\n| Oil | 1 | 3 |\n\nChecked by: I. Falk\nOn: 2026-05-01"
    );
    assert_eq!(read(&["Open?|All day", "Since?|1998", "By?|us"]), "Open? All day\nSince? 1998\nBy? us");
    // These are tables.
    assert_eq!(
        read(&["Item|Qty", "Screws|100", "Glue|2 tubes"]),
        "| Item: Screws | Qty: 100 |\n| Item: Glue | Qty: 2 tubes |"
    );
    assert_eq!(
        read(&["Setting|Value", "Name|gannet", "Limit|250"]),
        "| Setting: Name | Value: gannet |\n| Setting: Limit | Value: 250 |"
    );
    assert_eq!(
        read(&["*Ship|Berth", "Otter|4", "Heron|West"]),
        "| Ship: Otter | Berth: 4 |\n| Ship: Heron | Berth: West |"
    );
    assert_eq!(
        read(&["Ship|Captain", "Otter|Ann", "Heron|Bo"]),
        "| Ship: Otter | Captain: Ann |\n| Ship: Heron | Captain: Bo |"
    );
}

#[test]
fn a_long_part_of_names_with_values_stays_one() {
    let value = |number: usize| if number.is_multiple_of(2) { number.to_string() } else { "left".to_owned() };
    let mut rows: Vec<String> = (1..=MOST_HELD).map(|number| format!("Lamp {number}|{}", value(number))).collect();
    rows.extend(["Door|oak", "Roof|tin", "Floor|stone", "", "Ship|Crew", "Otter|4", "Heron|5"].map(str::to_owned));
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    let text = read(&rows);
    assert!(text.starts_with("Lamp 1: left\nLamp 2: 2\n"), "{text}");
    let end =
        "\nLamp 64: 64\nDoor: oak\nRoof: tin\nFloor: stone\n\n| Ship: Otter | Crew: 4 |\n| Ship: Heron | Crew: 5 |";
    assert!(text.ends_with(end), "{text}");
}

#[test]
fn names_in_several_rows_are_joined() {
    let body = "Oil|8|9|0.1";
    let joined = "| Paint: Oil | First half – Plan: 8 | First half – Actual: 9 | Change: 0.1 |";
    assert_eq!(read(&["Paint|2>First half||Change", "Paint|Plan|Actual|Change", body]), joined);
    assert_eq!(read(&["*Paint|2>First half||Change", "*Paint|Plan|Actual|Change", "Oil|8|9|0.1"]), joined);
    let words = read(&["Ship|2>Captain||Port", "Otter|Ann|Lee|Kiel", "Heron|Bo|Ray|Jena"]);
    assert_eq!(
        words,
        "| Ship: Otter | Captain: Ann | Lee | Port: Kiel |\n| Ship: Heron | Captain: Bo | Ray | Port: Jena |"
    );
}

#[test]
fn groups_of_columns_may_be_years_and_units_stand_below_names() {
    let quarters = ["Region|Team|2>2023||2>2024", "Region|Team|Q1|Q2|Q1|Q2", "North|A|10|12|11|15", "South|B|7|9|8|10"];
    assert_eq!(
        read(&quarters),
        "| Region: North | Team: A | 2023 – Q1: 10 | 2023 – Q2: 12 | 2024 – Q1: 11 | 2024 – Q2: 15 |\n| Region: South | Team: B | 2023 – Q1: 7 | 2023 – Q2: 9 | 2024 – Q1: 8 | 2024 – Q2: 10 |"
    );
    let years = ["Site|2>Sales||2>Costs", "Site|2023|2024|2023|2024", "Kiel|100.5|120.5|90.1|95.4"];
    assert_eq!(
        read(&years),
        "| Site: Kiel | Sales – 2023: 100.5 | Sales – 2024: 120.5 | Costs – 2023: 90.1 | Costs – 2024: 95.4 |"
    );
    let units = ["Part|Mass|Length", "|kg|mm", "Bolt|0.2|40", "Rod|1.4|900"];
    assert_eq!(
        read(&units),
        "| Part: Bolt | Mass – kg: 0.2 | Length – mm: 40 |\n| Part: Rod | Mass – kg: 1.4 | Length – mm: 900 |"
    );
    // A row without its name, and one of words below a wide name.
    let unnamed = read(&["Part|Mass|Length", "|n/a|free", "Bolt|0.2|40"]);
    assert!(unnamed.starts_with("| Mass: n/a | Length: free |"), "{unnamed}");
    let cities = read(&["Part|From|To", "|Kiel|Jena", "Bolt|Bonn|Ulm"]);
    assert!(cities.starts_with("| From: Kiel | To: Jena |"), "{cities}");
}

#[test]
fn a_long_table_is_not_held_back_whole() {
    let mut content = Content::default();
    let mut parts = Parts::default();
    for number in 0..=MOST_HELD {
        let cells = vec![(0, format!("B{number}")), (1, number.to_string()), (2, "x".to_owned())];
        parts.push(Row { cells, ..Row::default() }, &mut content).expect("fits");
        assert_eq!(parts.held.len(), if number + 1 < MOST_HELD { number + 1 } else { 0 });
    }
    assert_eq!(content.text.lines().count(), MOST_HELD + 1);
}
