-- Collections that move to another embedding model while they are used.

-- A vector space of a collection beside its active one: being filled, or kept from before a cut-over. What is ingested
-- gets a vector in each of them, so that either can be made the active one.
CREATE TABLE collection_profile (
    tenant_id      uuid        NOT NULL,
    collection_id  uuid        NOT NULL,
    profile_id     integer     NOT NULL REFERENCES embedding_profile,
    job_id         uuid,                         -- latest job that fills it; null for one that was made together with the collection
    created_at     timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, collection_id, profile_id),
    FOREIGN KEY (tenant_id, collection_id) REFERENCES collection ON DELETE CASCADE
);

GRANT SELECT, INSERT, UPDATE, DELETE ON collection_profile TO cited_app;
ALTER TABLE collection_profile ENABLE ROW LEVEL SECURITY;
ALTER TABLE collection_profile FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON collection_profile TO cited_app
    USING (tenant_id = (SELECT NULLIF(current_setting('cited.tenant', true), '')::uuid));

-- A job that embeds stored documents anew has an item for each of them, without content. Of an empty collection it has none.
ALTER TABLE job ADD COLUMN kind text NOT NULL DEFAULT 'ingest' CONSTRAINT job_kind CHECK (kind IN ('ingest', 'reembed'));
ALTER TABLE job DROP CONSTRAINT job_items;
ALTER TABLE job ADD CONSTRAINT job_items CHECK (items > 0 OR (items = 0 AND kind = 'reembed'));
