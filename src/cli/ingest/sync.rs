//! `cited ingest --sync`: keeps the documents of a folder in step with its files.
//!
//! Nothing is remembered on this machine: files and documents are compared by source and by the SHA-256 of their bytes,
//! which the service lists. Documents are deleted only after both sides are known completely, and after everything else
//! is stored, so that a file that was renamed can be found all the time.
//!
//! A picture, a file of no known format or a link, which a walk through a folder skips, is compared too if it is stored: it was
//! named once. A file that must be sent is read twice, once for its hash and once to be sent: a folder may be larger than the
//! memory. If it changes in between, it is stored as it is then.

use std::{
    collections::{BTreeMap, HashSet},
    ffi::OsString,
    fmt,
    path::Path,
};

use anyhow::{Context as _, bail};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    super::wording::counted,
    gather::{Found, Target, source_of},
    parts::{read, too_large},
    report::Failure,
    stop::Stop,
};
use crate::{
    cli::unreachable::unreachable,
    domain::fingerprint::{content_hash, hex},
    providers::remote::Client,
};

/// Number of documents that are listed at once.
const PAGE: usize = 200;

/// A stored document, as it is listed.
#[derive(Debug, Deserialize)]
struct Stored {
    id: String,
    source: String,
    metadata: Value,
    provenance: Provenance,
}

#[derive(Debug, Deserialize)]
struct Provenance {
    content_hash: String,
    /// Set for an attachment, which is replaced and deleted with its message.
    attached_to: Option<String>,
}

/// A file as it would be stored.
#[derive(Debug)]
struct Local {
    hash: String,
    target: Target,
}

/// The work to be done.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// Sources that are not stored.
    new: Vec<String>,
    /// Sources that are stored with other content or other metadata.
    changed: Vec<String>,
    /// Ids and sources of stored documents whose file is gone.
    gone: Vec<(String, String)>,
    /// Number of documents that are stored as they are.
    pub(super) unchanged: u64,
    /// Number of stored documents of the folder.
    stored: usize,
}

impl Plan {
    /// Compares the files of a folder with the documents of the collection; only what must be sent stays in `found`.
    /// `metadata` is that of the order, if it has any.
    ///
    /// # Errors
    /// If the documents cannot be listed completely.
    pub(super) async fn of(
        client: &Client,
        folder: &Folder<'_>,
        found: &mut Found,
        max_file_bytes: u64,
    ) -> anyhow::Result<Self> {
        let stored = folder.stored(client).await?;
        let sources: HashSet<&str> = stored.iter().map(|document| document.source.as_str()).collect();
        found.take_passed_over(|source| sources.contains(source));
        let mut local = Vec::new();
        let mut unread = Vec::new();
        for target in std::mem::take(&mut found.targets) {
            let Target::File { path, .. } = &target else { continue };
            let source = target.source().to_owned();
            match read(path, max_file_bytes).await {
                Ok(Some(content)) => local.push(Local { hash: hex(&content_hash(&content)), target }),
                Ok(None) => unread.push(too_large(source, max_file_bytes)),
                Err(error) => unread.push(Failure::here(source, error.to_string())),
            }
        }
        let (plan, changed) = compare(stored, local, &unread, folder.metadata);
        found.failed.extend(unread);
        found.targets = changed;
        Ok(plan)
    }

    /// Refuses to delete documents where that is doubtful.
    ///
    /// # Errors
    /// If files could not be read, or most of the documents would go.
    pub(super) fn check(&self, unreadable: usize, may_delete_most: bool) -> anyhow::Result<()> {
        if !self.gone.is_empty() && unreadable > 0 {
            bail!(
                "files or folders could not be read ({unreadable}), so it is not known which of {} documents are gone; \
                 nothing was done. Make them readable, or leave them out with --exclude",
                self.gone.len()
            );
        }
        if self.gone.len() * 2 > self.stored && !may_delete_most {
            bail!(
                "{} of the {} documents of the folder would be deleted, more than half; nothing was done. If the folder \
                 is the right one and complete, say --delete-most",
                self.gone.len(),
                self.stored
            );
        }
        Ok(())
    }

    /// Says what the command itself would do wrong, of the files that it cannot send; nothing if it would do everything.
    ///
    /// # Errors
    /// If a file cannot be sent.
    pub(super) fn foresee(&self, failed: &[Failure]) -> anyhow::Result<()> {
        let Some(first) = failed.first() else { return Ok(()) };
        let files = counted(failed.len(), "file");
        let kept = self.kept(failed).map(|kept| format!("; {kept}")).unwrap_or_default();
        bail!("{files} cannot be sent, such as {first}{kept}");
    }

    /// Says that the documents whose file is gone are kept because something else was not sent; `None` if they are not.
    pub(super) fn kept(&self, failed: &[Failure]) -> Option<String> {
        let is_kept = !self.gone.is_empty() && failed.iter().any(Failure::is_unsent);
        let gone = counted(self.gone.len(), "document");
        is_kept
            .then(|| format!("{gone} whose file is gone not deleted, since that waits until everything else is sent"))
    }

    /// The plan for programs, with the files that cannot be sent, and why the command itself would fail.
    pub(super) fn json(&self, failed: &[Failure], error: Option<&str>) -> Value {
        let gone: Vec<&str> = self.gone.iter().map(|(_, source)| source.as_str()).collect();
        json!({"add": self.new, "replace": self.changed, "delete": gone, "unchanged": self.unchanged, "failed": failed,
               "error": error})
    }

    /// Deletes the documents whose file is gone; returns how many.
    ///
    /// # Errors
    /// If the service does not delete one.
    pub(super) async fn delete_gone(&self, client: &Client) -> Result<u64, Stop> {
        let mut deleted = 0;
        for (id, source) in &self.gone {
            let answer = client.delete(&format!("/v1/documents/{id}")).await;
            let answer = answer.map_err(|error| unreachable(client, &error)).with_context(|| not_deleted(source))?;
            match answer.status {
                200 => deleted += 1,
                // Somebody else was quicker.
                404 => {}
                _ => return Err(Stop::by(client, &answer).await.context(not_deleted(source))),
            }
        }
        Ok(deleted)
    }
}

fn not_deleted(source: &str) -> String {
    format!("{source} was not deleted")
}

impl fmt::Display for Plan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gone = self.gone.iter().map(|(_, source)| ('-', source));
        let sent = self.new.iter().map(|source| ('+', source)).chain(self.changed.iter().map(|source| ('~', source)));
        for (mark, source) in sent.chain(gone) {
            writeln!(formatter, "{mark} {source}")?;
        }
        writeln!(
            formatter,
            "{} to add, {} to replace, {} to delete, {} unchanged; nothing was done",
            self.new.len(),
            self.changed.len(),
            self.gone.len(),
            self.unchanged
        )
    }
}

/// A folder whose documents are kept in step.
pub(super) struct Folder<'a> {
    collection: &'a str,
    /// Beginning of the sources of its files.
    prefix: String,
    /// Metadata that its documents are to have, if they are to have any.
    metadata: Option<&'a Value>,
}

impl<'a> Folder<'a> {
    /// The folder that the arguments name.
    ///
    /// # Errors
    /// If they name anything else, or a folder whose files have no common beginning.
    pub(super) fn of(targets: &[OsString], collection: &'a str, metadata: Option<&'a Value>) -> anyhow::Result<Self> {
        let [folder] = targets else { bail!("--sync takes one folder") };
        let path = Path::new(folder);
        let folder = path.display();
        if !path.is_dir() {
            bail!("--sync takes a folder, and {folder} is none");
        }
        let name = source_of(path).context("the name of the folder is not UTF-8; rename it")?;
        if name.is_empty() || name == "/" {
            bail!(
                "the sources of files in {folder} do not begin with the name of a folder, so they cannot be told from the \
                 other documents of the collection; name the folder from its parent, or by its whole path"
            );
        }
        Ok(Self { collection, prefix: format!("{name}/"), metadata })
    }

    /// All stored documents of the folder; none if the collection does not exist.
    async fn stored(&self, client: &Client) -> anyhow::Result<Vec<Stored>> {
        let (mut stored, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let mut query = url::form_urlencoded::Serializer::new(String::new());
            query.append_pair("collection", self.collection);
            query.append_pair("source_prefix", &self.prefix);
            query.append_pair("limit", &PAGE.to_string());
            if let Some(cursor) = &cursor {
                query.append_pair("cursor", cursor);
            }
            let answer = client.get(&format!("/v1/documents?{}", query.finish())).await;
            let mut answer = answer.map_err(|error| unreachable(client, &error))?;
            match answer.status {
                200 => {}
                404 => return Ok(Vec::new()),
                _ => return Err(Stop::by(client, &answer).await.into_error()),
            }
            let page = answer.body.get_mut("documents").map(Value::take).unwrap_or_default();
            let page: Vec<Stored> = serde_json::from_value(page)
                .with_context(|| format!("{} does not list documents as Cited does", client.base()))?;
            stored.extend(page.into_iter().filter(|document| document.provenance.attached_to.is_none()));
            cursor = answer.body.get("next_cursor").and_then(Value::as_str).map(str::to_owned);
            if cursor.is_none() {
                return Ok(stored);
            }
        }
    }
}

/// Compares stored documents with files; returns the plan and the files that must be sent. Of `unread` files nothing is
/// known but that they are there.
fn compare(
    stored: Vec<Stored>,
    local: Vec<Local>,
    unread: &[Failure],
    metadata: Option<&Value>,
) -> (Plan, Vec<Target>) {
    let mut plan = Plan { stored: stored.len(), ..Plan::default() };
    let mut by_source: BTreeMap<String, Stored> =
        stored.into_iter().map(|document| (document.source.clone(), document)).collect();
    let mut sent = Vec::new();
    for Local { hash, target } in local {
        let source = target.source().to_owned();
        match by_source.remove(&source) {
            Some(document)
                if document.provenance.content_hash == hash
                    && metadata.is_none_or(|metadata| *metadata == document.metadata) =>
            {
                plan.unchanged += 1;
            }
            Some(_) => {
                plan.changed.push(source);
                sent.push(target);
            }
            None => {
                plan.new.push(source);
                sent.push(target);
            }
        }
    }
    for Failure { source, .. } in unread {
        by_source.remove(source);
    }
    plan.gone = by_source.into_values().map(|document| (document.id, document.source)).collect();
    (plan, sent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(source: &str, hash: &str) -> Stored {
        Stored {
            id: format!("id of {source}"),
            source: source.to_owned(),
            metadata: json!({}),
            provenance: Provenance { content_hash: hash.to_owned(), attached_to: None },
        }
    }

    fn file(source: &str) -> Target {
        Target::File { path: source.into(), source: source.to_owned(), size: 1 }
    }

    fn local(source: &str, hash: &str) -> Local {
        Local { hash: hash.to_owned(), target: file(source) }
    }

    #[test]
    fn files_and_documents_are_compared_by_source_and_hash() {
        let there =
            || vec![stored("d/same", "1"), stored("d/changed", "1"), stored("d/gone", "1"), stored("d/unread", "1")];
        let here = || vec![local("d/same", "1"), local("d/changed", "2"), local("d/new", "3")];
        let (plan, sent) = compare(there(), here(), &[Failure::here("d/unread".to_owned(), "denied".to_owned())], None);
        assert_eq!(sent, [file("d/changed"), file("d/new")]);
        assert_eq!(
            plan.to_string(),
            "+ d/new\n~ d/changed\n- d/gone\n1 to add, 1 to replace, 1 to delete, 1 unchanged; nothing was done\n"
        );
        let other = json!({"team": "people"});
        let (plan, sent) = compare(there(), here(), &[], Some(&other));
        assert_eq!((plan.unchanged, sent.len(), plan.gone.len()), (0, 3, 2));
    }

    #[test]
    fn documents_wait_for_everything_that_could_be_sent() {
        let failure =
            |cause: &str| Failure { source: "d/a".to_owned(), cause: cause.to_owned(), message: "why".to_owned() };
        let gone = Plan { gone: vec![("id".to_owned(), "d/b".to_owned())], stored: 9, ..Plan::default() };
        for (failed, is_kept) in [
            (Failure::here("d/a".to_owned(), "denied".to_owned()), true),
            (failure("body_too_large"), true),
            (failure("unfit_name"), false),
            (failure("no_text_layer"), false),
        ] {
            assert_eq!(gone.kept(std::slice::from_ref(&failed)).is_some(), is_kept, "{failed:?}");
            assert_eq!(Plan::default().kept(std::slice::from_ref(&failed)), None, "nothing is gone");
            let foreseen = gone.foresee(&[failed]).expect_err("it fails").to_string();
            assert!(foreseen.starts_with("1 file cannot be sent, such as d/a: "), "{foreseen}");
            assert_eq!(foreseen.contains("not deleted"), is_kept, "{foreseen}");
        }
        assert!(gone.foresee(&[]).is_ok());
    }

    #[test]
    fn most_documents_are_deleted_only_on_request() {
        let plan = |gone: usize, stored: usize| Plan {
            gone: vec![("id".to_owned(), "source".to_owned()); gone],
            stored,
            ..Plan::default()
        };
        for (gone, of, is_fine) in [(0, 0, true), (5, 10, true), (6, 10, false), (1, 1, false)] {
            assert_eq!(plan(gone, of).check(0, false).is_ok(), is_fine, "{gone} of {of}");
            assert!(plan(gone, of).check(0, true).is_ok());
        }
        assert!(plan(1, 10).check(1, true).is_err() && plan(0, 10).check(1, false).is_ok());
    }
}
