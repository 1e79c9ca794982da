//! Contents of documents as they wait in the queue: a large one is packed, so that neither a statement nor the database holds
//! all of it for long.

use std::io::{Read, Write};

use flate2::{Compression, read::ZlibDecoder, write::ZlibEncoder};

use crate::store::StoreError;

/// Contents of this size and more are packed.
const PACKED_FROM: usize = 1024 * 1024;
/// Bytes that are packed at a time. A content of which these have not become a quarter smaller stays as it is.
const STEP: usize = 1024 * 1024;

/// The content of a document that waits in the queue.
#[derive(Clone, Debug, Default)]
pub struct QueuedContent {
    /// Shorter than the content if that is packed.
    kept: Vec<u8>,
    bytes: usize,
}

impl From<Vec<u8>> for QueuedContent {
    fn from(content: Vec<u8>) -> Self {
        Self { bytes: content.len(), kept: content }
    }
}

impl QueuedContent {
    /// Size of the content.
    #[must_use]
    pub(crate) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// The bytes that are kept for it.
    #[must_use]
    pub(crate) fn kept(&self) -> &[u8] {
        &self.kept
    }

    /// Packs a large content, on a thread that may take its time.
    pub(crate) async fn pack(&mut self) {
        if self.bytes < PACKED_FROM || self.kept.len() < self.bytes {
            return;
        }
        let content = std::mem::take(&mut self.kept);
        let packing = tokio::task::spawn_blocking(move || packed(&content).unwrap_or(content));
        self.kept = packing.await.expect("packing bytes does not panic");
    }
}

/// A content in fewer bytes; `None` if that is not worth it.
fn packed(content: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    let mut read = 0;
    for part in content.chunks(STEP) {
        encoder.write_all(part).ok()?;
        read += part.len();
        if encoder.get_ref().len() > read / 4 * 3 {
            return None;
        }
    }
    let mut packed = encoder.finish().ok()?;
    packed.shrink_to_fit();
    Some(packed)
}

/// The content of which these bytes are kept. Where none are kept, it has been used before.
///
/// # Errors
/// [`StoreError::Inconsistent`] for bytes that no content was packed into.
pub(in crate::store) async fn unpacked(kept: Vec<u8>, bytes: i64) -> Result<Vec<u8>, StoreError> {
    let bytes = usize::try_from(bytes).unwrap_or_default();
    if kept.is_empty() || kept.len() >= bytes {
        return Ok(kept);
    }
    let unpacking = tokio::task::spawn_blocking(move || unpack(&kept, bytes));
    unpacking.await.expect("unpacking bytes does not panic")
}

fn unpack(kept: &[u8], bytes: usize) -> Result<Vec<u8>, StoreError> {
    let mut content = Vec::with_capacity(bytes);
    let read = ZlibDecoder::new(kept).take(bytes as u64 + 1).read_to_end(&mut content);
    match read {
        Ok(read) if read == bytes => Ok(content),
        _ => Err(StoreError::Inconsistent("a packed content of the queue cannot be unpacked".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn through_the_queue(content: Vec<u8>) -> (usize, Vec<u8>) {
        let mut queued = QueuedContent::from(content);
        queued.pack().await;
        let bytes = i64::try_from(queued.bytes()).expect("few");
        (queued.kept().len(), unpacked(queued.kept, bytes).await.expect("as it was"))
    }

    #[tokio::test]
    async fn a_large_content_waits_in_fewer_bytes_and_comes_back_as_it_was() {
        for size in [0, 1, PACKED_FROM - 1, PACKED_FROM, 3 * STEP + 7] {
            let text: Vec<u8> = b"Boats land here, day by day. ".iter().copied().cycle().take(size).collect();
            let (kept, back) = through_the_queue(text.clone()).await;
            assert_eq!(back, text);
            assert_eq!(kept < size, size >= PACKED_FROM, "{size}");
        }
    }

    #[tokio::test]
    async fn what_becomes_no_smaller_stays_as_it_is() {
        let mut state = 1_u32;
        let noise = |_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.to_be_bytes()[0]
        };
        let noise: Vec<u8> = (0..2 * STEP).map(noise).collect();
        let (kept, back) = through_the_queue(noise.clone()).await;
        assert_eq!((kept, back == noise), (noise.len(), true));
    }

    #[tokio::test]
    async fn bytes_that_cannot_be_unpacked_are_an_error() {
        let text = vec![b'a'; 2 * STEP];
        let packed = packed(&text).expect("smaller");
        for (kept, bytes) in [
            (packed[..packed.len() / 2].to_vec(), text.len()),
            (packed.clone(), text.len() - 1),
            (b"words".to_vec(), 9),
        ] {
            unpacked(kept, i64::try_from(bytes).expect("few")).await.expect_err("not packed");
        }
        assert_eq!(unpacked(Vec::new(), 9).await.expect("used before"), [0_u8; 0]);
    }
}
