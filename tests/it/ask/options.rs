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

const RESET: (&str, &str) = (
    "git-reset.1.txt",
    "GIT-RESET(1)            Git Manual            GIT-RESET(1)\n\nNAME\n       git-reset - move the branch to another \
     commit\n\nSYNOPSIS\n       git reset [--soft | --mixed | --hard | --keep] [<commit>]\n\nOPTIONS\n       \
     --soft\n              Leaves the index and the files as they are, and moves only the branch. All changes of the \
     commits after it are left to be committed.\n\n       --mixed\n              Empties the index and leaves the \
     files as they are. This is the default.\n\n       --hard\n              Throws away all changes of files that \
     are followed.\n\n       --keep\n              Resets the index and those files that differ between the two \
     commits. It stops where one of them has changes that were not committed, to keep those changes.\n\nSEE ALSO\n       \
     git-revert(1)\n",
);
const FAQ: (&str, &str) = (
    "faq.md",
    "# Questions about git\n\n## How do I undo the last commit and keep my changes?\n\nRun `git reset --soft HEAD~1`: the \
     commit is gone, and its changes are in the index.\n\n## How do I keep a password out of the history?\n\nDo not \
     commit it. Keep it in a file that `.gitignore` names.\n",
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

#[tokio::test]
async fn no_option_is_answered_by_the_entry_of_another() {
    let app = TestApp::built_in().await;
    app.ingest("manuals", &[RESET, FAQ]).await;
    for question in ["What does git reset --soft do?", "What does the --soft option of git reset do?"] {
        let answer = ask(&app, question).await;
        let text = answer["answer"].as_str().expect("an answer");
        assert!(text.starts_with("--soft Leaves the index and the files as they are"), "{question}: {text}");
        assert!(!text.contains("--keep"), "{question}: {text}");
    }
    let keep = ask(&app, "What does git reset --keep do?").await;
    let text = keep["answer"].as_str().expect("an answer");
    assert!(text.starts_with("--keep Resets the index") && !text.contains("--soft"), "{text}");
    // The words of this one are nearer to the entry of `--keep`, which does something else.
    let undo = ask(&app, "How do I undo the last commit but keep my changes?").await;
    let text = undo["answer"].as_str().expect("an answer");
    assert!(text.contains("git reset --soft HEAD~1") && !text.contains("--keep"), "{undo}");
    app.stop().await;
}
