//! What is put in order after a claim.

use super::{batch::ClaimHandle, process::Processor};
use crate::{
    domain::lexical::{bm25::ReferenceLength, reweigh::reweigh},
    service::ServiceError,
};

impl Processor {
    /// Makes a collection's weights again when its average length has drifted.
    pub(super) async fn maintain(
        &self,
        handle: ClaimHandle,
        collection: uuid::Uuid,
        job_has_ended: bool,
    ) -> Result<(), ServiceError> {
        let lengths = self.store.collection_lengths(handle.tenant, collection).await?;
        let reference = ReferenceLength { terms: f64::from(lengths.reference), chunks: lengths.chunks_at_reference };
        let Some(current) = ReferenceLength::of(lengths.total_length, lengths.chunks) else { return Ok(()) };
        let is_due = reference.needs_reweighing(current) || (job_has_ended && reference.has_drifted(current));
        if lengths.reference > 0.0 && is_due {
            tracing::info!(collection_id = %collection, "weighing the collection again for its new average length");
            self.store.reweigh(handle.tenant, collection, reweigh).await?;
        }
        Ok(())
    }
}
