-- How much tenants keep, and how much they may.

-- UTF-8 bytes of the text and the metadata of a document.
ALTER TABLE document ADD COLUMN bytes integer NOT NULL GENERATED ALWAYS AS (octet_length(text) + octet_length(metadata::text)) STORED;
-- The same of the document when this version was replaced. Of versions that are there already, those of the text.
ALTER TABLE document_version ADD COLUMN bytes integer NOT NULL GENERATED ALWAYS AS (octet_length(text)) STORED;
ALTER TABLE document_version ALTER COLUMN bytes DROP EXPRESSION;

CREATE OR REPLACE FUNCTION keep_document_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO document_version (tenant_id, document_id, version, source, uri, title, content_hash, text, chunks,
                                  stored_at, superseded_at, bytes)
    SELECT OLD.tenant_id, OLD.document_id, OLD.version, OLD.source, OLD.uri, OLD.title, OLD.content_hash, OLD.text,
           COALESCE(jsonb_agg(jsonb_build_array(c.start_char, c.end_char, c.page, c.heading, c.table_header) ORDER BY c.ordinal), '[]'),
           OLD.updated_at, NEW.updated_at, OLD.bytes
    FROM collection l
    JOIN chunk c ON c.tenant_id = l.tenant_id AND c.index_id = l.index_id AND c.document_id = OLD.document_id
    WHERE l.tenant_id = OLD.tenant_id AND l.collection_id = OLD.collection_id;
    RETURN NULL;
END $$;

-- How much a collection keeps, written in the transactions that store and delete. How many documents it has stands in
-- index_statistic. A collection that nothing was stored in has no row.
CREATE TABLE collection_storage (
    tenant_id        uuid   NOT NULL,
    collection_id    uuid   NOT NULL,
    bytes            bigint NOT NULL,            -- sum of document.bytes
    former_versions  bigint NOT NULL,            -- rows of document_version
    former_bytes     bigint NOT NULL,            -- sum of document_version.bytes
    PRIMARY KEY (tenant_id, collection_id),
    FOREIGN KEY (tenant_id, collection_id) REFERENCES collection ON DELETE CASCADE
) WITH (fillfactor = 50);

-- How much a tenant may keep. Null, or no row: as the deployment has it.
CREATE TABLE tenant_quota (
    tenant_id        uuid   PRIMARY KEY REFERENCES tenant ON DELETE CASCADE,
    documents        bigint,
    bytes            bigint,                     -- of documents and former versions together
    collections      bigint,
    former_versions  bigint                      -- that are kept of each document: not a bar, the oldest go
);

DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['collection_storage', 'tenant_quota'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY tenant_only ON %I TO cited_app
            USING (tenant_id = (SELECT NULLIF(current_setting(''cited.tenant'', true), '''')::uuid))', name);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO cited_app', name);
    END LOOP;
END $$;

-- What is there already, counted as the runtime role: the policies bind the owner too.
DO $$
DECLARE tenant uuid;
BEGIN
    SET LOCAL ROLE cited_app;
    FOR tenant IN SELECT tenant_id FROM list_tenants() LOOP
        PERFORM set_config('cited.tenant', tenant::text, true);
        INSERT INTO collection_storage
        SELECT d.tenant_id, d.collection_id, sum(d.bytes), COALESCE(sum(v.versions), 0), COALESCE(sum(v.bytes), 0)
        FROM document d
        LEFT JOIN (SELECT tenant_id, document_id, count(*) AS versions, sum(bytes) AS bytes FROM document_version
                   WHERE tenant_id = tenant GROUP BY 1, 2) v USING (tenant_id, document_id)
        WHERE d.tenant_id = tenant
        GROUP BY 1, 2;
    END LOOP;
    RESET ROLE;
END $$;
