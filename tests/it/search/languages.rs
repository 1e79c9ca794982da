//! The lexical half in many languages, through the API.

use serde_json::{Value, json};

use crate::{database, harness::TestApp};

async fn collection(app: &TestApp, language: &str, texts: &[&str]) {
    let name = format!("words-{language}");
    let made = app.post("/v1/collections", json!({"name": name, "language": language})).await;
    assert_eq!((made.status, &made.body["language"]), (201, &json!(language)), "{made:?}");
    let documents: Vec<(String, &str)> =
        texts.iter().enumerate().map(|(number, text)| (format!("{number}.txt"), *text)).collect();
    let documents: Vec<(&str, &str)> = documents.iter().map(|(name, text)| (name.as_str(), *text)).collect();
    app.ingest(&name, &documents).await;
}

async fn found(app: &TestApp, language: &str, query: &str) -> Vec<String> {
    let request = json!({"query": query, "collections": [format!("words-{language}")], "mode": "lexical"});
    let reply = app.post("/v1/search", request).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    let sources = |results: &Vec<Value>| {
        results.iter().map(|result| result["source"].as_str().expect("a source").to_owned()).collect()
    };
    reply.body["results"].as_array().map(sources).expect("results")
}

#[tokio::test]
async fn other_forms_of_a_word_are_found_in_the_collections_language() {
    let app = TestApp::built_in().await;
    let families = [
        ("de", "Die Kündigungsfristen aller Verträge enden im März.", "Wie lang ist die Kündigungsfrist?"),
        ("fr", "Les salariées ont vingt-cinq jours de congés payés.", "Combien de jours de congé pour un salarié ?"),
        ("ru", "Отпуск сотрудников длится двадцать восемь дней.", "отпуск для сотрудника"),
        ("fi", "Työntekijöiden sopimukset päättyvät maaliskuussa.", "sopimuksen päättyminen"),
        ("tr", "Çalışanların izinleri yirmi gündür.", "calisan izin"),
        ("el", "Οι άδειες των υπαλλήλων διαρκούν είκοσι ημέρες.", "άδεια υπάλληλος"),
        ("ar", "الموظفون لهم إجازة سنوية", "إجازة الموظفين"),
        ("hi", "कर्मचारियों की छुट्टियाँ बीस दिन हैं", "कर्मचारी"),
        ("none", "従業員は年次有給休暇を二十日取得できます。", "有給休暇"),
    ];
    for (language, text, query) in families {
        collection(&app, language, &[text]).await;
        assert_eq!(found(&app, language, query).await, ["0.txt"], "{language}: {query}");
    }
    app.stop().await;
}

#[tokio::test]
async fn words_that_are_everywhere_in_a_language_find_nothing() {
    let app = TestApp::built_in().await;
    let texts = ["Der Urlaub dauert zwei Wochen, und das ist für alle so.", "Die Miete ist am Ersten fällig."];
    collection(&app, "de", &texts).await;
    assert_eq!(found(&app, "de", "das ist und für die").await, Vec::<String>::new());
    collection(&app, "none", &texts).await;
    assert_eq!(found(&app, "none", "das ist und für die").await.len(), 2);
    app.stop().await;
}

#[tokio::test]
async fn a_language_is_chosen_when_the_collection_is_made() {
    let app = TestApp::start(database::create().await, &[("CITED_LANGUAGE", "sv")]).await;
    app.ingest("avtal", &[("a.txt", "Uppsägningstiderna är tre månader.")]).await;
    assert_eq!(app.get("/v1/collections/avtal").await.body["language"], "sv");
    let wrong = app.post("/v1/collections", json!({"name": "klingon", "language": "tlh"})).await;
    wrong.assert_problem(422, "invalid_request");
    assert!(wrong.body.to_string().contains("/language"), "{wrong:?}");
    app.stop().await;
}
