//! Evaluation folders: the files of a set, found and read.

use std::{
    fs::File,
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use flate2::bufread::MultiGzDecoder;

use super::{
    ClaimSet, Dataset, Judgement, OffCorpus, Parts, SetQuery, SetQuestion,
    line::{self, LineError},
    sample::keep_sample,
};

const LAYOUT: &str = "a set is a folder in the BEIR layout: corpus.jsonl or corpus.jsonl.gz, with queries.jsonl and \
                      qrels.tsv to measure retrieval, or qa.jsonl to measure answers";

/// Where each file may be, plain or compressed.
const CORPUS: &[&str] = &["corpus.jsonl", "corpus.jsonl.gz"];
const QUERIES: &[&str] = &["queries.jsonl", "queries.jsonl.gz"];
const JUDGEMENTS: &[&str] = &["qrels.tsv", "qrels/test.tsv"];
const QUESTIONS: &[&str] = &["qa.jsonl", "qa.jsonl.gz"];
const CONVERSATIONS: &[&str] = &["conversations.jsonl", "conversations.jsonl.gz"];
const CONVERSATION_JUDGEMENTS: &[&str] = &["qrels_conv.tsv", "qrels/conversations.tsv"];
const CLAIMS: &[&str] = &["claims.jsonl", "claims.jsonl.gz"];

/// Reads a set.
///
/// # Errors
/// When a file is missing, cannot be read, or does not belong to the others; the error names file and line.
pub fn read(folder: &Path) -> anyhow::Result<Dataset> {
    let name = name_of(folder)?;
    let corpus = find(folder, CORPUS).with_context(|| format!("{} holds no corpus; {LAYOUT}", folder.display()))?;
    let questions = find(folder, QUESTIONS).map_or(Ok(Vec::new()), |path| read_questions(&path))?;
    let (queries, judgements) = match (find(folder, QUERIES), find(folder, JUDGEMENTS)) {
        (Some(queries), Some(judgements)) => (lines(&queries, line::query)?, read_judgements(&judgements)?),
        (None, None) if !questions.is_empty() => (Vec::new(), Vec::new()),
        (queries, _) => {
            let missing = if queries.is_none() { QUERIES } else { JUDGEMENTS };
            bail!("{} holds no {}; {LAYOUT}", folder.display(), missing.join(" or "))
        }
    };
    let documents = lines(&corpus, line::document)?;
    let (conversations, conversation_judgements) =
        match (find(folder, CONVERSATIONS), find(folder, CONVERSATION_JUDGEMENTS)) {
            (Some(conversations), Some(judgements)) => {
                (lines(&conversations, line::conversation)?, read_judgements(&judgements)?)
            }
            _ => (Vec::new(), Vec::new()),
        };
    let parts = Parts { name, documents, queries, judgements, questions, conversations, conversation_judgements };
    Dataset::new(parts).with_context(|| format!("{} cannot be measured", folder.display()))
}

/// Reads the questions of a folder, without its documents: at most `limit` questions, the same ones every time.
///
/// # Errors
/// When the folder asks nothing or a file cannot be read.
pub fn read_off_corpus(folder: &Path, limit: Option<usize>) -> anyhow::Result<OffCorpus> {
    let mut queries = read_queries(folder)?;
    if let Some(limit) = limit {
        keep_sample(&mut queries, limit, |query| &query.id);
    }
    let name = folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy().into_owned();
    Ok(OffCorpus { name, queries })
}

/// Reads the labelled claims of a folder: at most `limit`, the same ones every time.
///
/// # Errors
/// When the folder has none or a file cannot be read; the error names file and line.
pub fn read_claims(folder: &Path, limit: Option<usize>) -> anyhow::Result<ClaimSet> {
    let name = name_of(folder)?;
    let path = find(folder, CLAIMS).with_context(|| format!("{} holds no claims.jsonl", folder.display()))?;
    let mut claims = lines(&path, line::claim)?;
    if let Some(limit) = limit {
        keep_sample(&mut claims, limit, |claim| &claim.id);
    }
    Ok(ClaimSet { name, claims })
}

fn read_queries(folder: &Path) -> anyhow::Result<Vec<SetQuery>> {
    if let Some(path) = find(folder, QUERIES) {
        return lines(&path, line::query);
    }
    let path = find(folder, QUESTIONS).with_context(|| {
        format!("{} holds neither queries.jsonl nor qa.jsonl; name a folder that asks something", folder.display())
    })?;
    let questions = read_questions(&path)?;
    Ok(questions.into_iter().map(|question| SetQuery { id: question.id, text: question.text }).collect())
}

fn name_of(folder: &Path) -> anyhow::Result<String> {
    let whole = folder.canonicalize().with_context(|| format!("{} cannot be found; {LAYOUT}", folder.display()))?;
    if !whole.is_dir() {
        bail!("{} is not a folder; {LAYOUT}", folder.display());
    }
    let name = whole.file_name().with_context(|| format!("{} has no name to call the set by", whole.display()))?;
    Ok(name.to_string_lossy().into_owned())
}

fn find(folder: &Path, names: &[&str]) -> Option<PathBuf> {
    names.iter().map(|name| folder.join(name)).find(|path| path.is_file())
}

/// The questions that can be asked without the page that they were written on.
fn read_questions(path: &Path) -> anyhow::Result<Vec<SetQuestion>> {
    Ok(lines(path, line::question)?.into_iter().flatten().collect())
}

fn read_judgements(path: &Path) -> anyhow::Result<Vec<Judgement>> {
    let mut is_first = true;
    let judgements = lines(path, |line| line::judgement(line, std::mem::take(&mut is_first)))?;
    Ok(judgements.into_iter().flatten().collect())
}

/// Reads a file line by line; empty lines do not count.
fn lines<T>(path: &Path, mut read: impl FnMut(&str) -> Result<T, LineError>) -> anyhow::Result<Vec<T>> {
    let file = BufReader::new(File::open(path).with_context(|| format!("{} cannot be opened", path.display()))?);
    let plain: Box<dyn Read> = if is_compressed(path) { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) };
    let mut items = Vec::new();
    for (number, line) in (1_usize..).zip(BufReader::new(plain).lines()) {
        let place = || format!("{}, line {number}", path.display());
        let line = line.with_context(place)?;
        if !line.trim().is_empty() {
            items.push(read(&line).with_context(place)?);
        }
    }
    Ok(items)
}

fn is_compressed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "gz")
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::{Compression, write::GzEncoder};

    use super::*;

    /// Files by name, and their content.
    type Files<'a> = &'a [(&'a str, &'a str)];

    /// A folder with these files.
    fn folder(files: Files<'_>) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, content) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            if is_compressed(&path) {
                let mut writer = GzEncoder::new(File::create(path).expect("a file"), Compression::fast());
                writer.write_all(content.as_bytes()).expect("written");
                writer.finish().expect("finished");
            } else {
                std::fs::write(path, content).expect("written");
            }
        }
        folder
    }

    const DOCUMENTS: &str =
        "{\"_id\": \"d1\", \"title\": \"Tea\", \"text\": \"Green.\"}\n\n{\"_id\": \"d2\", \"text\": \"Milk.\"}\n";
    const ONE_QUERY: &str = "{\"_id\": \"q1\", \"text\": \"tea?\"}\n";
    const ONE_JUDGEMENT: &str = "query-id\tcorpus-id\tscore\nq1\td1\t1\n";
    const ONE_QUESTION: &str = "{\"_id\": \"a1\", \"question\": \"which tea?\", \"answers\": [\"green\"], \"answerable\": true, \"gold_docs\": [\"d1\"]}\n";

    #[test]
    fn reads_plain_and_compressed_sets() {
        for (corpus, judgements) in [("corpus.jsonl", "qrels.tsv"), ("corpus.jsonl.gz", "qrels/test.tsv")] {
            let files = [
                (corpus, DOCUMENTS),
                ("queries.jsonl", ONE_QUERY),
                (judgements, ONE_JUDGEMENT),
                ("qa.jsonl", ONE_QUESTION),
            ];
            let folder = folder(&files);
            let set = read(folder.path()).expect("a set");
            assert_eq!((set.documents.len(), set.queries.len(), set.questions.len()), (2, 1, 1));
            assert_eq!(read_queries(folder.path()).expect("queries").len(), 1);
        }
    }

    #[test]
    fn questions_alone_are_a_set() {
        let folder = folder(&[("corpus.jsonl", DOCUMENTS), ("qa.jsonl", ONE_QUESTION)]);
        let set = read(folder.path()).expect("a set");
        assert_eq!((set.queries.len(), set.questions.len()), (0, 1));
        assert_eq!(read_queries(folder.path()).expect("queries")[0].text, "which tea?");
    }

    #[test]
    fn errors_name_the_file_and_the_line() {
        let cases: [(Files<'_>, &[&str]); 7] = [
            (&[], &["holds no corpus", "BEIR layout"]),
            (&[("corpus.jsonl", DOCUMENTS)], &["holds no queries.jsonl"]),
            (&[("corpus.jsonl", DOCUMENTS), ("queries.jsonl", ONE_QUERY)], &["holds no qrels.tsv or qrels/test.tsv"]),
            (
                &[
                    ("corpus.jsonl", "{\"_id\": \"d1\", \"text\": \"\"}\n\n{\"_id\": \"d2\"}\n"),
                    ("qa.jsonl", ONE_QUESTION),
                ],
                &["corpus.jsonl, line 3", "missing field `text`"],
            ),
            (
                &[("corpus.jsonl", DOCUMENTS), ("queries.jsonl", ONE_QUERY), ("qrels.tsv", "a\tb\tc\nq1\td1\tx\n")],
                &["qrels.tsv, line 2", "\"x\" is not a whole number"],
            ),
            (
                &[("corpus.jsonl", DOCUMENTS), ("queries.jsonl", ONE_QUERY), ("qrels.tsv", "q1\td9\t1\n")],
                &["cannot be measured", "no judgement names a document"],
            ),
            (
                &[("corpus.jsonl.gz", ""), ("queries.jsonl", ONE_QUERY), ("qrels.tsv", ONE_JUDGEMENT)],
                &["no judgement names"],
            ),
        ];
        for (files, parts) in cases {
            let folder = folder(files);
            let message = format!("{:#}", read(folder.path()).expect_err("not a set"));
            for part in parts {
                assert!(message.contains(part), "{part:?} is missing in {message:?}");
            }
        }
    }

    #[test]
    fn what_is_no_folder_or_no_archive_is_refused() {
        let folder = folder(&[("file", ""), ("queries.jsonl", ONE_QUERY), ("qrels.tsv", ONE_JUDGEMENT)]);
        assert!(read(&folder.path().join("nothing")).expect_err("missing").to_string().contains("cannot be found"));
        assert!(read(&folder.path().join("file")).expect_err("a file").to_string().contains("is not a folder"));
        std::fs::write(folder.path().join("corpus.jsonl.gz"), DOCUMENTS).expect("written");
        let message = format!("{:#}", read(folder.path()).expect_err("not compressed"));
        assert!(message.contains("corpus.jsonl.gz, line 1"), "{message}");
        assert!(read_queries(tempfile::tempdir().expect("a folder").path()).is_err());
    }
}
