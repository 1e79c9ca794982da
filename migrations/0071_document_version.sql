-- Citations that last: what a replaced document said, and that a deleted one was there.
--
-- Both are kept by triggers on document, so that no writer can forget them.

-- A version that was replaced. It goes with its document.
CREATE TABLE document_version (
    tenant_id      uuid        NOT NULL,
    document_id    uuid        NOT NULL,
    version        integer     NOT NULL,
    source         text        NOT NULL,         -- these five as they were in document
    uri            text        NOT NULL,
    title          text        NOT NULL,
    content_hash   bytea       NOT NULL,
    text           text        NOT NULL,
    chunks         jsonb       NOT NULL,         -- array by ordinal of [start_char, end_char, page, heading]; the text at a range is the chunk's
    stored_at      timestamptz NOT NULL,         -- when this version was stored
    superseded_at  timestamptz NOT NULL,         -- when the next one was
    PRIMARY KEY (tenant_id, document_id, version),
    FOREIGN KEY (tenant_id, document_id) REFERENCES document ON DELETE CASCADE
);

-- A document that was deleted: nothing of what it said.
CREATE TABLE deleted_document (
    tenant_id    uuid        NOT NULL,
    document_id  uuid        NOT NULL,
    version      integer     NOT NULL,           -- its last one
    deleted_at   timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, document_id)
);

-- Runs after the row is replaced and before its chunks are.
CREATE FUNCTION keep_document_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO document_version (tenant_id, document_id, version, source, uri, title, content_hash, text, chunks,
                                  stored_at, superseded_at)
    SELECT OLD.tenant_id, OLD.document_id, OLD.version, OLD.source, OLD.uri, OLD.title, OLD.content_hash, OLD.text,
           COALESCE(jsonb_agg(jsonb_build_array(c.start_char, c.end_char, c.page, c.heading) ORDER BY c.ordinal), '[]'),
           OLD.updated_at, NEW.updated_at
    FROM chunk c WHERE c.tenant_id = OLD.tenant_id AND c.document_id = OLD.document_id;
    RETURN NULL;
END $$;
CREATE TRIGGER keep_version AFTER UPDATE OF version ON document
    FOR EACH ROW WHEN (OLD.version <> NEW.version) EXECUTE FUNCTION keep_document_version();

CREATE FUNCTION keep_deleted_document() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO deleted_document (tenant_id, document_id, version, deleted_at)
    VALUES (OLD.tenant_id, OLD.document_id, OLD.version, now());
    RETURN NULL;
END $$;
CREATE TRIGGER keep_deleted AFTER DELETE ON document FOR EACH ROW EXECUTE FUNCTION keep_deleted_document();

GRANT SELECT, INSERT, DELETE ON document_version TO cited_app;
GRANT SELECT, INSERT ON deleted_document TO cited_app;
DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['document_version', 'deleted_document'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY tenant_only ON %I TO cited_app
            USING (tenant_id = (SELECT NULLIF(current_setting(''cited.tenant'', true), '''')::uuid))', name);
    END LOOP;
END $$;
