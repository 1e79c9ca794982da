//! Tables and sections: what is found and cited is the row, and the section that it says it is.

use std::fmt::Write as _;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use crate::harness::{Answer, TestApp};

async fn ask(app: &TestApp, collection: &str, question: &str, validation: &str) -> Answer {
    let body = json!({"question": question, "collections": [collection], "validation": validation});
    let answer = app.ask(body).await;
    assert_eq!((answer.status, &answer.body["outcome"]), (200, &json!("answered")), "{answer:?}");
    answer
}

async fn chunks(app: &TestApp, answer: &Answer) -> Vec<Value> {
    let id = answer.body["sources"][0]["document_id"].as_str().expect("id");
    let page = app.get(&format!("/v1/documents/{id}/chunks?limit=200")).await;
    page.body["chunks"].as_array().expect("chunks").clone()
}

#[tokio::test]
async fn a_table_answers_with_one_row() {
    let app = TestApp::built_in().await;
    let csv = "name,phone\nAnn,555-0101\nBob,555-0102\nCyd,555-0103\n";
    let document = json!({"source": "staff.csv", "text": csv, "media_type": "text/csv"});
    let stored = app.post("/v1/documents?wait=true", json!({"collection": "csv", "documents": [document]})).await;
    assert_eq!(stored.body["state"], "succeeded", "{stored:?}");
    let page = "# Staff\n\nPhones of the office:\n\n| Name | Phone |\n|---|---|\n| Ann | 555-0101 |\n| Bob | 555-0102 |\n| Cyd | 555-0103 |\n";
    app.ingest("markdown", &[("staff.md", page)]).await;
    for (collection, expected) in
        [("csv", "name: Bob | phone: 555-0102 [^1]"), ("markdown", "Name: Bob | Phone: 555-0102 [^1]")]
    {
        for validation in ["cited", "supported"] {
            let answer = ask(&app, collection, "What is Bob's phone number?", validation).await;
            assert_eq!(answer.body["answer"], expected, "{answer:?}");
            let quote = answer.body["citations"][0]["quote"]["text"].as_str().expect("a quote");
            assert!(quote.contains("555-0102") && !quote.contains("555-0103"), "{quote}");
        }
    }
    app.stop().await;
}

#[tokio::test]
async fn each_chunk_of_a_long_table_has_its_header() {
    let app = TestApp::built_in().await;
    let mut page =
        String::from("# Stations\n\nWhere they stand:\n\n| Station | Commissioned | Altitude |\n|---|---|---|\n");
    for number in 0..120 {
        let _ = writeln!(page, "| Tarn{number} | March {} | {} m |", 1900 + number, 300 + number);
    }
    app.ingest("stations", &[("stations.md", &page)]).await;
    let answer = ask(&app, "stations", "What is the altitude of Tarn93?", "cited").await;
    assert_eq!(answer.body["answer"], "Station: Tarn93 | Altitude: 393 m [^1]");
    let chunks = chunks(&app, &answer).await;
    assert!(chunks.len() > 5);
    for chunk in &chunks {
        let text = chunk["text"].as_str().expect("text");
        let is_first = chunk["ordinal"] == 0;
        assert!(is_first || text.starts_with("| Tarn"), "{text}");
        assert!(text.ends_with(" m |"), "{text}");
        let header =
            if is_first { Value::Null } else { json!("Where they stand:\n| Station | Commissioned | Altitude |") };
        assert_eq!(chunk["table_header"], header);
        assert_eq!(chunk["heading"], json!(["Stations"]));
    }
    app.stop().await;
}

#[tokio::test]
async fn a_row_that_fits_in_no_chunk_answers_by_its_name() {
    let app = TestApp::built_in().await;
    let stations = ["Tarn", "Beck", "Fell", "Moor", "Rigg", "Scar"];
    let column = |number: usize| match number {
        45 => "commissioning budget".to_owned(),
        _ => format!("reading number {number}"),
    };
    let columns: String = (1..60).map(|number| format!(",{}", column(number))).collect();
    let mut csv = format!("station{columns}\n");
    for (row, name) in stations.iter().enumerate() {
        let values: String = (1..60).map(|number| format!(",{row}{number} units")).collect();
        let _ = writeln!(csv, "{name}{values}");
    }
    let document = json!({"source": "stations.csv", "text": csv, "media_type": "text/csv"});
    let stored = app.post("/v1/documents?wait=true", json!({"collection": "wide", "documents": [document]})).await;
    assert_eq!(stored.body["state"], "succeeded", "{stored:?}");
    for (row, name) in stations.iter().enumerate() {
        let question = format!("What is the commissioning budget of {name}?");
        let answer = ask(&app, "wide", &question, "supported").await;
        let text = answer.body["answer"].as_str().expect("an answer");
        assert!(text.starts_with(&format!("station: {name}: ")), "{text}");
        assert!(text.contains(&format!("commissioning budget: {row}45 units")), "{text}");
        assert!(stations.iter().all(|other| other == name || !text.contains(other)), "{text}");
    }
    let answer = ask(&app, "wide", "What is the commissioning budget of Fell?", "cited").await;
    let chunks = chunks(&app, &answer).await;
    let of_fell = chunks.iter().filter(|chunk| chunk["table_header"] == "| station: Fell: |").count();
    assert_eq!((chunks.len(), of_fell), (2 * stations.len(), 1), "{chunks:?}");
    app.stop().await;
}

#[tokio::test]
async fn a_header_of_two_rows_names_the_columns_of_each_chunk() {
    let app = TestApp::built_in().await;
    let mut page = String::from("| | Year ended March 31, | |\n|---|---|---|\n| (In thousands) | 2019 | 2018 |\n");
    for number in 0..90 {
        let _ = writeln!(page, "| Cost of Tarn{number} | {} | {} |", 4_000 + number, 3_000 + number);
    }
    app.ingest("costs", &[("costs.md", &page)]).await;
    let answer = ask(&app, "costs", "What was the cost of Tarn87 in 2018?", "supported").await;
    let expected = "Cost of Tarn87 (In thousands) | Year ended March 31, 2018: 3087 [^1]";
    assert_eq!(answer.body["answer"], expected, "{answer:?}");
    let cited = answer.body["citations"][0]["source_index"].as_u64().expect("an index");
    let source = &answer.body["sources"][usize::try_from(cited).expect("small")];
    assert_eq!(source["table_header"], "| | Year ended March 31, | |\n| (In thousands) | 2019 | 2018 |");
    for (claim, verdict) in [
        ("Tarn87 had a cost of 3087 in 2018. [^1]", "supported"),
        ("Tarn87 had a cost of 4087 in 2018. [^1]", "contradicted"),
    ] {
        let checked = app.post("/v1/check", json!({"text": claim, "urns": [source["urn"]]})).await;
        assert_eq!(checked.body["claims"][0]["verdict"], verdict, "{checked:?}");
    }
    app.stop().await;
}

#[tokio::test]
async fn a_cited_row_is_checked_below_its_header() {
    let app = TestApp::built_in().await;
    let mut page = String::from("| Station | Altitude |\n|---|---|\n");
    for number in 0..120 {
        let _ = writeln!(page, "| Tarn{number} | {} m |", 300 + number);
    }
    app.ingest("stations", &[("stations.md", &page)]).await;
    let found = app.post("/v1/search", json!({"query": "Tarn119", "collections": ["stations"]})).await;
    let mut results = found.body["results"].as_array().expect("results").iter();
    let is_last = |source: &&Value| source["text"].as_str().is_some_and(|text| text.contains("| Tarn119 |"));
    let source = results.find(is_last).expect("the last rows are found");
    assert!(
        !source["text"].as_str().expect("text").contains("Altitude"),
        "the header is in an earlier chunk: {found:?}"
    );
    assert_eq!(source["table_header"], "| Station | Altitude |");
    let urn = utf8_percent_encode(source["urn"].as_str().expect("a urn"), NON_ALPHANUMERIC);
    let cited = app.get(&format!("/v1/citations/{urn}")).await;
    assert_eq!(cited.body["passage"]["table_header"], source["table_header"], "{cited:?}");
    let check = async || {
        let body = json!({"text": "The altitude of Tarn119 is 419 m. [^1]", "urns": [source["urn"]]});
        let checked = app.post("/v1/check", body).await;
        assert_eq!(checked.body["claims"][0]["verdict"], "supported", "{checked:?}");
        checked.body["sources"][0]["title"].as_str().expect("a title").to_owned()
    };
    let current = check().await;
    assert!(current.contains("Station") && current.contains("Altitude"), "{current}");
    app.ingest("stations", &[("stations.md", "The stations are closed.")]).await;
    assert_eq!(check().await, current, "the version that was cited has it too");
    app.stop().await;
}

#[tokio::test]
async fn a_citation_names_the_section_that_it_is_from() {
    let app = TestApp::built_in().await;
    let page = "# Leave\n\n## Annual leave\n\nEveryone has 28 days of paid annual leave a year, on top of public holidays.\n\n\
                ## Sick notes\n\nA sick note is due on the third day of an illness and goes to the people team.\n";
    app.ingest("leave", &[("leave.md", page)]).await;
    let answer = ask(&app, "leave", "When is a sick note due?", "cited").await;
    let index = answer.body["citations"][0]["source_index"].as_u64().and_then(|index| usize::try_from(index).ok());
    let source = &answer.body["sources"][index.expect("an index")];
    assert_eq!(source["heading"], json!(["Leave", "Sick notes"]), "{answer:?}");
    app.stop().await;
}

#[tokio::test]
async fn a_question_over_all_rows_reads_the_whole_table() {
    let app = TestApp::built_in().await;
    let mut csv = String::from("station,keeper,material,altitude\n");
    for number in 0..60 {
        let material = if number % 20 == 7 { "granite" } else { "timber" };
        let altitude = if number == 23 { 999 } else { 300 + number };
        let _ = writeln!(csv, "Tarn{number},keeper {number} of the lake district,{material},{altitude} m");
    }
    let others: Vec<(String, String)> =
        (0..40).map(|day| (format!("{day}.md"), format!("# Day {day}\n\nThe boat left pier {day} at noon."))).collect();
    let others: Vec<(&str, &str)> = others.iter().map(|(source, text)| (source.as_str(), text.as_str())).collect();
    app.ingest("csv", &others).await;
    let document = json!({"source": "stations.csv", "text": csv, "media_type": "text/csv"});
    let stored = app.post("/v1/documents?wait=true", json!({"collection": "csv", "documents": [document]})).await;
    assert_eq!(stored.body["state"], "succeeded", "{stored:?}");
    let highest = ask(&app, "csv", "Which station has the highest altitude?", "cited").await;
    let text = highest.body["answer"].as_str().expect("an answer");
    assert!(text.starts_with("station: Tarn23 ") && !text.contains("Tarn59"), "{text}");
    assert!(chunks(&app, &highest).await.len() > 2, "the table is in several chunks");
    let source = &highest.body["sources"][0];
    assert!(source["text"].as_str().is_some_and(|text| text.contains("Tarn0") && text.contains("Tarn59")), "{source}");
    let urn = utf8_percent_encode(source["urn"].as_str().expect("a urn"), NON_ALPHANUMERIC);
    let resolved = app.get(&format!("/v1/citations/{urn}")).await;
    assert_eq!((resolved.status, &resolved.body["passage"]["text"]), (200, &source["text"]), "{resolved:?}");
    for question in ["Which stations are of granite?", "How many stations are of granite?"] {
        let listed = app.ask(json!({"question": question, "collections": ["csv"], "validation": "cited"})).await;
        let text = listed.body["answer"].as_str().expect("an answer");
        for (number, is_listed) in [(7, true), (27, true), (47, true), (8, false), (40, false)] {
            assert_eq!(text.contains(&format!("Tarn{number} ")), is_listed, "{question} {text}");
        }
    }
    let apart = json!({"merge_neighbours": false});
    let body = json!({"question": "Which station has the highest altitude?", "collections": ["csv"], "stages": apart});
    let answer = app.ask(body).await;
    assert_eq!(answer.body["outcome"], "passages", "no row of a part is known to be the highest: {answer:?}");
    app.stop().await;
}
