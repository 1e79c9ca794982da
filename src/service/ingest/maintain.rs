//! Maintenance of a collection after a claim.

use super::{batch::ClaimHandle, pipeline::Processor};
use crate::{
    domain::lexical::{bm25::ReferenceLength, reweigh::reweigh},
    service::ServiceError,
};

impl Processor {
    /// Recomputes the weights of a collection's indexes whose average length has drifted.
    pub(super) async fn maintain(
        &self,
        handle: ClaimHandle,
        collection: uuid::Uuid,
        job_has_ended: bool,
    ) -> Result<(), ServiceError> {
        for (index, lengths) in self.store.collections().index_lengths(handle.tenant, collection).await? {
            let reference =
                ReferenceLength { terms: f64::from(lengths.reference), chunks: lengths.chunks_at_reference };
            let Some(current) = ReferenceLength::of(lengths.total_length, lengths.chunks) else { continue };
            let is_due = reference.needs_reweighing(current) || (job_has_ended && reference.has_drifted(current));
            if lengths.reference > 0.0 && is_due {
                tracing::info!(collection_id = %collection, index_id = %index, "weighing chunks again for their new average length");
                self.store.collections().reweigh(handle.tenant, index, reweigh).await?;
            }
        }
        Ok(())
    }
}
