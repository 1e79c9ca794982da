-- Answers that may be given again. An entry is good only while every document that it was written from has the
-- version that it was written from.

CREATE TABLE answer_cache (
    tenant_id   uuid        NOT NULL,
    key         bytea       NOT NULL,            -- SHA-256 of all that decides the answer, what was retrieved included
    answer      jsonb,                           -- the draft with its sources, validated anew when it is read; null while somebody writes it
    created_at  timestamptz NOT NULL,
    expires_at  timestamptz NOT NULL,            -- of an entry without an answer: when others no longer wait for it
    PRIMARY KEY (tenant_id, key)
);
CREATE INDEX answer_cache_age ON answer_cache (tenant_id, created_at);
CREATE INDEX answer_cache_expiry ON answer_cache (expires_at);

-- What a cached answer was written from.
CREATE TABLE answer_source (
    tenant_id    uuid    NOT NULL,
    document_id  uuid    NOT NULL,
    key          bytea   NOT NULL,
    version      integer NOT NULL,               -- of the document
    PRIMARY KEY (tenant_id, document_id, key),
    FOREIGN KEY (tenant_id, key) REFERENCES answer_cache ON DELETE CASCADE
);
CREATE INDEX answer_source_key ON answer_source (tenant_id, key);

GRANT SELECT, INSERT, UPDATE, DELETE ON answer_cache, answer_source TO cited_app;
DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['answer_cache', 'answer_source'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY tenant_only ON %I TO cited_app
            USING (tenant_id = (SELECT NULLIF(current_setting(''cited.tenant'', true), '''')::uuid))', name);
    END LOOP;
END $$;
-- Maintenance forgets old entries of every tenant.
CREATE POLICY queue_worker ON answer_cache TO cited_app
    USING ((SELECT current_setting('cited.queue_worker', true)) = 'on');

-- Looks an answer up; if there is none, takes it upon the caller to write it, for so long. Says whether there is one
-- (ready), the caller is to write it (claimed), somebody writes it (pending), or neither was asked for (missing).
CREATE FUNCTION claim_answer(in_tenant uuid, in_key bytea, in_lease interval)
RETURNS TABLE (state text, answer jsonb)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE known answer_cache%ROWTYPE;
BEGIN
    PERFORM set_config('cited.tenant', in_tenant::text, true);
    SELECT * INTO known FROM answer_cache a WHERE a.tenant_id = in_tenant AND a.key = in_key AND a.expires_at > now();
    IF FOUND THEN
        IF known.answer IS NULL THEN
            RETURN QUERY SELECT 'pending', NULL::jsonb;
            RETURN;
        END IF;
        IF NOT EXISTS (
            SELECT FROM answer_source s
            LEFT JOIN document d ON d.tenant_id = s.tenant_id AND d.document_id = s.document_id
            WHERE s.tenant_id = in_tenant AND s.key = in_key AND d.version IS DISTINCT FROM s.version
        ) THEN
            RETURN QUERY SELECT 'ready', known.answer;
            RETURN;
        END IF;
        DELETE FROM answer_cache a WHERE a.tenant_id = in_tenant AND a.key = in_key AND a.answer IS NOT NULL;
    END IF;
    IF in_lease IS NULL THEN
        RETURN QUERY SELECT 'missing', NULL::jsonb;
        RETURN;
    END IF;
    INSERT INTO answer_cache AS a (tenant_id, key, created_at, expires_at)
    VALUES (in_tenant, in_key, now(), now() + in_lease)
    ON CONFLICT (tenant_id, key) DO UPDATE SET answer = NULL, created_at = now(), expires_at = EXCLUDED.expires_at
        WHERE a.expires_at <= now();
    RETURN QUERY SELECT CASE WHEN FOUND THEN 'claimed' ELSE 'pending' END, NULL::jsonb;
END $$;

-- Keeps an answer, unless one of its documents is another one by now, and at most so many of a tenant.
CREATE FUNCTION keep_answer(in_tenant uuid, in_key bytea, in_answer jsonb, in_life interval, in_documents uuid[],
                            in_versions integer[], in_most integer)
RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM set_config('cited.tenant', in_tenant::text, true);
    -- The lock keeps a delete waiting, which then finds the entry.
    PERFORM FROM document d WHERE d.tenant_id = in_tenant AND d.document_id = ANY (in_documents)
        ORDER BY d.source FOR SHARE;
    DELETE FROM answer_cache a WHERE a.tenant_id = in_tenant AND a.key = in_key;
    IF EXISTS (
        SELECT FROM UNNEST(in_documents, in_versions) AS used (document_id, version)
        LEFT JOIN document d ON d.tenant_id = in_tenant AND d.document_id = used.document_id
        WHERE d.version IS DISTINCT FROM used.version
    ) THEN
        RETURN;
    END IF;
    INSERT INTO answer_cache (tenant_id, key, answer, created_at, expires_at)
    VALUES (in_tenant, in_key, in_answer, now(), now() + in_life)
    ON CONFLICT (tenant_id, key) DO UPDATE SET answer = EXCLUDED.answer, expires_at = EXCLUDED.expires_at;
    INSERT INTO answer_source (tenant_id, document_id, key, version)
    SELECT in_tenant, used.document_id, in_key, used.version
    FROM UNNEST(in_documents, in_versions) AS used (document_id, version)
    ON CONFLICT (tenant_id, document_id, key) DO UPDATE SET version = EXCLUDED.version;
    DELETE FROM answer_cache a WHERE a.tenant_id = in_tenant AND a.key IN
        (SELECT o.key FROM answer_cache o WHERE o.tenant_id = in_tenant ORDER BY o.created_at DESC OFFSET in_most);
END $$;

-- Lets others write an answer that the caller took upon itself.
CREATE FUNCTION release_answer(in_tenant uuid, in_key bytea) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM set_config('cited.tenant', in_tenant::text, true);
    DELETE FROM answer_cache WHERE tenant_id = in_tenant AND key = in_key AND answer IS NULL;
END $$;

REVOKE EXECUTE ON FUNCTION claim_answer, keep_answer, release_answer FROM PUBLIC;
GRANT EXECUTE ON FUNCTION claim_answer, keep_answer, release_answer TO cited_app;
