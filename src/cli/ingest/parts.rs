//! Documents that are sent together, and how files are read.

use std::path::Path;

use tokio::{fs::File, io::AsyncReadExt};

use super::{
    gather::Target,
    report::{Failure, TOO_LARGE},
};

/// A part has at most this many documents, …
const PART_DOCUMENTS: usize = 100;
/// … or this many bytes.
const PART_BYTES: u64 = 8 * 1024 * 1024;

/// Documents that are sent together.
pub(super) type Part = Vec<Target>;

/// The content of a file, unless it exceeds the limit, regardless of its reported size: it may grow, or be a pipe.
pub(super) async fn read(path: &Path, limit: u64) -> std::io::Result<Option<Vec<u8>>> {
    let mut content = Vec::new();
    let mut file = File::open(path).await?;
    if file.metadata().await?.len() > limit {
        return Ok(None);
    }
    let read = (&mut file).take(limit.saturating_add(1)).read_to_end(&mut content).await?;
    Ok((u64::try_from(read).unwrap_or(u64::MAX) <= limit).then_some(content))
}

/// The failure that the service would report for a file that is too large.
pub(super) fn too_large(source: String, limit: u64) -> Failure {
    let message = format!(
        "it is larger than the {limit} bytes that the service takes at once; split it into several, or raise \
         CITED_MAX_BODY_BYTES, at the service and here"
    );
    Failure { source, cause: TOO_LARGE.to_owned(), message }
}

/// Splits the documents into parts that are sent as one request each: either files or URLs.
pub(super) fn parts_of(targets: Vec<Target>) -> Vec<Part> {
    let (urls, files): (Part, Part) = targets.into_iter().partition(|target| matches!(target, Target::Url(_)));
    let mut parts: Vec<Part> = Vec::new();
    for kind in [files, urls] {
        let (mut part, mut bytes) = (Part::new(), 0);
        for target in kind {
            let size = if let Target::File { size, .. } = &target { *size } else { 0 };
            if !part.is_empty() && (part.len() >= PART_DOCUMENTS || bytes + size > PART_BYTES) {
                parts.push(std::mem::take(&mut part));
                bytes = 0;
            }
            bytes += size;
            part.push(target);
        }
        if !part.is_empty() {
            parts.push(part);
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_bounded_and_of_one_kind() {
        let file = |number: u64, size: u64| Target::File {
            path: format!("{number}").into(),
            source: format!("{number}"),
            size,
        };
        let mut targets: Vec<Target> = (0..150).map(|number| file(number, 10)).collect();
        targets.insert(3, Target::Url("https://example.org/".to_owned()));
        targets.push(file(200, PART_BYTES * 3));
        targets.push(file(201, PART_BYTES));
        targets.push(file(202, 1));
        let sizes: Vec<usize> = parts_of(targets).iter().map(Vec::len).collect();
        assert_eq!(sizes, [100, 50, 1, 1, 1, 1]);
    }
}
