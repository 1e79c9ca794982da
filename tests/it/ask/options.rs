//! Questions for options of commands, over manual pages and release notes that name them too.

use serde_json::{Value, json};

use crate::harness::TestApp;

const PAGE: (&str, &str) = (
    "paint.1.txt",
    "PAINT(1)            User Commands            PAINT(1)\n\nNAME\n       paint - colour a wall\n\nOPTIONS\n       \
     Colours are applied in order.\n\n       -a, --all\n              colour every side\n\n       -z, --dry\n              \
     wait until the wall is dry\n\nSEE ALSO\n       brush(1)\n",
);
const OTHER: (&str, &str) = (
    "brush.1.txt",
    "BRUSH(1)            User Commands            BRUSH(1)\n\nNAME\n       brush - clean a brush\n\nOPTIONS\n       \
     -z, --soap\n              wash with soap\n",
);
const NEWS: (&str, &str) = (
    "NEWS.txt",
    "GNU paint NEWS\n\n* Noteworthy changes in release 2.1 (2020-01-02)\n\n** Bug fixes\n\n  paint -z no longer blocks the \
     terminal when paint -z is called twice.\n\n* Noteworthy changes in release 2.0 (2019-01-02)\n\n** New features\n\n  \
     The lid of the bucket closes by itself.\n",
);

async fn ask(app: &TestApp, question: &str) -> Value {
    let answer = app.ask(json!({"question": question, "collections": ["manuals"]})).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body
}

#[tokio::test]
async fn an_option_is_answered_by_its_entry_and_an_unknown_one_not_at_all() {
    let app = TestApp::built_in().await;
    app.ingest("manuals", &[PAGE, OTHER, NEWS]).await;
    for (question, expected) in [
        ("What does the -z option of paint do?", "-z, --dry wait until the wall is dry [^1]"),
        ("What does paint -a do?", "-a, --all colour every side [^1]"),
        ("What does -z do in brush?", "-z, --soap wash with soap [^1]"),
    ] {
        let answer = ask(&app, question).await;
        assert_eq!(answer["answer"], expected, "{question}: {answer}");
    }
    let unknown = ask(&app, "What does the -q option of paint do?").await;
    assert_eq!(unknown["outcome"], "abstained", "{unknown}");
    app.stop().await;
}
