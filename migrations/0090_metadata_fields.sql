-- Typed, indexed metadata, and a random sample of a collection's documents: a filtered search starts from the documents
-- that pass if they are few, and needs to know beforehand whether they are.

-- The values of a document's metadata, one row for each key and, of an array, each element. It finds documents that may
-- pass a filter; whether they do is decided by document.metadata itself, so long texts may be cut here.
CREATE TABLE document_field (
    tenant_id      uuid             NOT NULL,
    collection_id  uuid             NOT NULL,    -- repeated from document: a filter is looked up in a collection
    document_id    uuid             NOT NULL,
    key            text COLLATE "C" NOT NULL,    -- of the metadata object, its first 256 characters
    number         double precision,             -- value of a number, else null
    text           text COLLATE "C",             -- first 256 characters of a string, or true or false; null for all else
    FOREIGN KEY (tenant_id, document_id) REFERENCES document ON DELETE CASCADE
);
-- Holds all that a look-up needs. A string has no number, so both kinds are found by a prefix of the index.
CREATE INDEX document_field_value ON document_field (tenant_id, collection_id, key, number, text, document_id);
CREATE INDEX document_field_document ON document_field (tenant_id, document_id);

GRANT SELECT, INSERT, DELETE ON document_field TO cited_app;
ALTER TABLE document_field ENABLE ROW LEVEL SECURITY;
ALTER TABLE document_field FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON document_field TO cited_app
    USING (tenant_id = (SELECT NULLIF(current_setting('cited.tenant', true), '')::uuid));

-- The rows of one document.
CREATE FUNCTION metadata_fields(metadata jsonb)
RETURNS TABLE (key text, number double precision, text text)
LANGUAGE sql IMMUTABLE AS $$
    SELECT DISTINCT left(m.key, 256),
           CASE jsonb_typeof(v.value) WHEN 'number' THEN v.value::double precision END,
           CASE WHEN jsonb_typeof(v.value) IN ('string', 'boolean') THEN left(v.value #>> '{}', 256) END
    FROM jsonb_each(metadata) m
    CROSS JOIN LATERAL (
        SELECT m.value WHERE jsonb_typeof(m.value) <> 'array' OR m.value = '[]'
        UNION ALL
        SELECT jsonb_array_elements(CASE jsonb_typeof(m.value) WHEN 'array' THEN m.value ELSE '[]' END)) v
$$;
REVOKE EXECUTE ON FUNCTION metadata_fields FROM PUBLIC;
GRANT EXECUTE ON FUNCTION metadata_fields TO cited_app;

INSERT INTO document_field (tenant_id, collection_id, document_id, key, number, text)
SELECT d.tenant_id, d.collection_id, d.document_id, f.key, f.number, f.text
FROM document d CROSS JOIN LATERAL metadata_fields(d.metadata) f;

-- A collection's documents in random order: the last 32 bits of our version 7 UUIDs are random (RFC 9562, 5.7; what stands
-- before them counts).
CREATE INDEX document_sample ON document (tenant_id, collection_id, "right"(document_id::text, 8));
-- Sources by how they start, whatever the collation of the database.
CREATE INDEX document_source_start ON document (tenant_id, collection_id, source COLLATE "C");
-- Chunks by page.
CREATE INDEX chunk_page ON chunk (tenant_id, collection_id, page, document_id) WHERE page IS NOT NULL;
