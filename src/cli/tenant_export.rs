//! `cited tenants export`: everything of a tenant as files, by the interfaces that its own keys open.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{BufWriter, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use time::format_description::well_known::Rfc3339;
use uuid::Uuid;

use super::{
    refusal::refusal,
    service_call::{PAGE, answered, encoded, number, text, whole_list, with},
    unreachable::unreachable,
    wording::counted,
};
use crate::{providers::remote::Client, service::context::Context};

/// Longest time of an export; the key that it makes ends then by itself.
const LONGEST: Duration = Duration::from_hours(24);
/// The file that is written last: a folder without it holds no whole export.
const MANIFEST: &str = "manifest.json";
/// Lists of a tenant: path, member that holds the rows, and file. That of events is the last, to hold those of the export.
const LISTS: [(&str, &str, &str); 4] = [
    ("/v1/keys", "keys", "keys.ndjson"),
    ("/v1/erasures", "erasures", "erasures.ndjson"),
    ("/v1/audit", "asks", "asks.ndjson"),
    ("/v1/security-events", "events", "security-events.ndjson"),
];

/// Exports a tenant into a folder that is new or empty, with the operator's key; returns what was exported, in words.
///
/// # Errors
/// If anything of it cannot be read or written whole; the folder then has no manifest.
pub(super) async fn export(operator: &Client, tenant: Uuid, folder: &Path) -> anyhow::Result<String> {
    let path = format!("/v1/tenants/{tenant}");
    let about = answered(operator, operator.get(&path).await).await?;
    make_folder(folder)?;
    let clock = Context::system().clock;
    let expires_at = (clock.now() + LONGEST).format(&Rfc3339)?;
    let key = json!({"name": "cited tenants export", "scopes": ["admin", "read"], "expires_at": expires_at});
    let issued = answered(operator, operator.post(&format!("{path}/keys"), &key).await).await?;
    let client = operator.clone().with_key(Some(text(&issued, "secret").to_owned()));
    let mut export = Export { client, folder: folder.to_owned(), files: Vec::new() };
    let exported = export.all(&about).await;
    let path = format!("/v1/keys/{}", text(issued.get("key").unwrap_or(&Value::Null), "id"));
    let revoked = answered(&export.client, export.client.delete(&path).await).await;
    exported?;
    revoked.context("the key that was made for the export could not be revoked; it ends within a day")?;
    export.finish(&about, &clock.now().format(&Rfc3339)?)
}

/// Makes the folder for nobody but its user.
fn make_folder(folder: &Path) -> anyhow::Result<()> {
    let shown = folder.display();
    DirBuilder::new().recursive(true).mode(0o700).create(folder).with_context(|| format!("{shown} cannot be made"))?;
    if fs::read_dir(folder).with_context(|| format!("{shown} cannot be read"))?.next().is_some() {
        bail!("{shown} is not empty; name a new folder");
    }
    Ok(())
}

/// Takes the rows out of a list.
fn rows_of(list: &mut Value, path: &str, member: &str) -> anyhow::Result<Vec<Value>> {
    match list.get_mut(member).map(Value::take) {
        Some(Value::Array(rows)) => Ok(rows),
        _ => bail!("{path} answered without {member}; is this service of another version?"),
    }
}

/// An export that is being written.
struct Export {
    client: Client,
    folder: PathBuf,
    /// The files that are whole, with their numbers of lines.
    files: Vec<Value>,
}

impl Export {
    async fn all(&mut self, about: &Value) -> anyhow::Result<()> {
        self.object("tenant.json", about)?;
        let (path, member) = ("/v1/collections", "collections");
        let mut listed = answered(&self.client, whole_list(&self.client, path, member).await).await?;
        let collections = rows_of(&mut listed, path, member)?;
        let mut described = Vec::with_capacity(collections.len());
        for (place, collection) in collections.into_iter().enumerate() {
            // Names of collections may be longer than those of files, and hold other characters.
            let file = format!("collection-{:04}.ndjson", place + 1);
            let path = format!("/v1/collections/{}", encoded(text(&collection, "name")));
            self.download(&format!("{path}/export"), &file).await?;
            let acl = answered(&self.client, self.client.get(&format!("{path}/acl")).await).await?;
            let indexes = answered(&self.client, self.client.get(&format!("{path}/indexes")).await).await?;
            let Some(indexes) = indexes.get("indexes") else { bail!("{path}/indexes answered without indexes") };
            let described_as = with(with(collection, "acl", acl), "indexes", indexes.clone());
            described.push(with(described_as, "file", file));
        }
        self.object("collections.json", &json!(described))?;
        for (path, member, file) in LISTS {
            self.list(path, member, file).await?;
        }
        Ok(())
    }

    /// Writes the manifest.
    fn finish(mut self, about: &Value, exported_at: &str) -> anyhow::Result<String> {
        let files = std::mem::take(&mut self.files);
        let documents = files.iter().filter(|file| text(file, "file").starts_with("collection-"));
        let [collections, documents] = documents
            .fold([0, 0], |[collections, documents], file| [collections + 1, documents + number(file, "lines")]);
        let told = format!(
            "{}: {}, {}\n",
            self.folder.display(),
            counted(collections, "collection"),
            counted(documents, "document")
        );
        let manifest = json!({"tenant": text(about, "id"), "name": text(about, "name"), "exported_at": exported_at, "files": files,
                              "left_out": ["former versions of documents", "chunks and vectors", "secrets of keys", "the queue and jobs"]});
        self.object(MANIFEST, &manifest)?;
        Ok(told)
    }

    /// Writes a value as a file.
    fn object(&mut self, file: &str, value: &Value) -> anyhow::Result<()> {
        let mut written = self.create(file)?;
        serde_json::to_writer_pretty(&mut written, value)?;
        self.end(file, written, None)
    }

    /// Writes all rows of a list as lines of a file.
    async fn list(&mut self, path: &str, member: &str, file: &str) -> anyhow::Result<()> {
        let mut written = self.create(file)?;
        let (mut cursor, mut lines) = (None, 0_u64);
        loop {
            let (rows, next) = self.page(path, member, cursor.as_deref()).await?;
            for row in &rows {
                serde_json::to_writer(&mut written, row)?;
                written.write_all(b"\n")?;
                lines += 1;
            }
            cursor = next;
            if cursor.is_none() {
                return self.end(file, written, Some(lines));
            }
        }
    }

    /// A page of a list, and where the next one begins.
    async fn page(
        &self,
        path: &str,
        member: &str,
        cursor: Option<&str>,
    ) -> anyhow::Result<(Vec<Value>, Option<String>)> {
        let cursor = cursor.map(|cursor| format!("&cursor={}", encoded(cursor))).unwrap_or_default();
        let page = self.client.get(&format!("{path}?limit={PAGE}{cursor}")).await;
        let mut page = answered(&self.client, page).await?;
        let next = page.get("next_cursor").and_then(Value::as_str).map(str::to_owned);
        Ok((rows_of(&mut page, path, member)?, next))
    }

    /// Writes a response as it comes into a file.
    async fn download(&mut self, path: &str, file: &str) -> anyhow::Result<()> {
        let download = self.client.download(path, LONGEST).await.map_err(|error| unreachable(&self.client, &error))?;
        let mut response = match download {
            Ok(response) => response,
            Err(answer) => return Err(refusal(&self.client, &answer).await),
        };
        let mut written = self.create(file)?;
        let mut lines = 0;
        let broken = || format!("{path} broke off, so that the export is not whole");
        while let Some(part) = response.chunk().await.with_context(broken)? {
            lines += part.iter().map(|byte| u64::from(*byte == b'\n')).sum::<u64>();
            written.write_all(&part)?;
        }
        self.end(file, written, Some(lines))
    }

    fn create(&self, file: &str) -> anyhow::Result<BufWriter<File>> {
        let path = self.folder.join(file);
        let created = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        Ok(BufWriter::new(created.with_context(|| format!("{} cannot be written", path.display()))?))
    }

    /// Ends a file, which is on the disk then.
    fn end(&mut self, file: &str, written: BufWriter<File>, lines: Option<u64>) -> anyhow::Result<()> {
        let written = written.into_inner().with_context(|| format!("{file} cannot be written"))?;
        written.sync_all()?;
        self.files.push(json!({"file": file, "bytes": written.metadata()?.len(), "lines": lines}));
        Ok(())
    }
}
