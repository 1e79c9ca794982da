-- Functions in a form that a database that is split up by tenants can run as well: conditions name the tenant, the catalog is
-- read apart from rows of a tenant, rows that are inserted together take their tenant from a row, and what is inserted or else
-- updated compares nothing but values of the row.

-- Whether an index has a graph that can be used: not one that is being built, or whose build was interrupted.
CREATE FUNCTION has_vector_graph(in_index uuid) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN EXISTS (SELECT FROM pg_class g JOIN pg_index x ON x.indexrelid = g.oid AND x.indisvalid
                   WHERE g.relname = vector_graph_name(in_index) AND g.relnamespace = 'public'::regnamespace);
END $$;
REVOKE EXECUTE ON FUNCTION has_vector_graph FROM PUBLIC;
GRANT EXECUTE ON FUNCTION has_vector_graph TO cited_app;

-- Collections by name, with their active index, its revision, how much there is in it, and whether it has a graph.
CREATE OR REPLACE FUNCTION find_collections(in_tenant uuid, in_names text[])
RETURNS TABLE (collection_id uuid, index_id uuid, name text, language text, profile_id integer, created_at timestamptz,
               indexing text, is_restricted boolean, model text, dimension integer, revision uuid, chunks bigint,
               unembedded_chunks bigint, has_graph boolean)
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM set_config('cited.tenant', in_tenant::text, true);
    RETURN QUERY
        SELECT c.collection_id, c.index_id, c.name, c.language, i.profile_id, c.created_at, c.indexing,
               c.is_restricted, p.model, p.dimension, s.revision, s.chunks, s.unembedded_chunks,
               has_vector_graph(c.index_id)
        FROM collection c
        JOIN collection_index i ON i.tenant_id = c.tenant_id AND i.index_id = c.index_id
        JOIN embedding_profile p ON p.profile_id = i.profile_id
        JOIN index_statistic s ON s.tenant_id = c.tenant_id AND s.index_id = c.index_id
        WHERE c.tenant_id = in_tenant AND c.name = ANY (in_names);
END $$;

-- The nearest chunks of each index, as before; a walk through a graph names its tenant too.
CREATE OR REPLACE FUNCTION nearest_chunks(in_tenant uuid, in_walked uuid[], in_ef_searches integer[], in_compared uuid[],
                               in_query halfvec, max_rows integer)
RETURNS TABLE (document_id uuid, ordinal integer, similarity double precision)
LANGUAGE plpgsql VOLATILE
SET enable_sort = off
SET enable_seqscan = off
SET max_parallel_workers_per_gather = 0
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    compared uuid[] := in_compared;
    found_rows bigint;
BEGIN
    PERFORM set_config('cited.tenant', in_tenant::text, true);
    FOR i IN 1 .. cardinality(in_walked) LOOP
        PERFORM set_config('hnsw.ef_search', in_ef_searches[i]::text, true);
        RETURN QUERY EXECUTE format(
            'SELECT e.document_id, e.ordinal, 1 - ((e.embedding::halfvec(%1$s)) <=> $1) FROM chunk_embedding e
             WHERE e.tenant_id = %3$L AND e.index_id = %2$L ORDER BY (e.embedding::halfvec(%1$s)) <=> $1 LIMIT $2',
            vector_dims(in_query), in_walked[i], in_tenant)
            USING in_query, max_rows;
        GET DIAGNOSTICS found_rows = ROW_COUNT;
        IF found_rows < max_rows THEN
            compared := compared || in_walked[i];
        END IF;
    END LOOP;
    IF cardinality(compared) > 0 THEN
        RETURN QUERY
            SELECT e.document_id, e.ordinal, 1 - (e.embedding <=> in_query) AS nearness
            FROM chunk_embedding e
            WHERE e.tenant_id = in_tenant AND e.index_id = ANY (compared)
            ORDER BY nearness DESC, e.document_id, e.ordinal
            LIMIT max_rows;
    END IF;
END $$;

-- As before (0008_kept_answers.sql).
CREATE OR REPLACE FUNCTION claim_answer(in_tenant uuid, in_key bytea, in_lease interval, in_ask uuid, in_caller integer[])
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
            WHERE s.tenant_id = in_tenant AND s.key = in_key
              AND (d.version IS DISTINCT FROM s.version OR NOT may_see(d.allowed, d.denied, in_caller))
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
    INSERT INTO answer_cache AS a (tenant_id, key, created_at, expires_at, claimed_by)
    VALUES (in_tenant, in_key, now(), now() + in_lease, in_ask)
    ON CONFLICT (tenant_id, key) DO UPDATE
        SET answer = NULL, created_at = EXCLUDED.created_at, expires_at = EXCLUDED.expires_at, claimed_by = EXCLUDED.claimed_by
        WHERE a.expires_at <= EXCLUDED.created_at;
    RETURN QUERY SELECT CASE WHEN FOUND THEN 'claimed' ELSE 'pending' END, NULL::jsonb;
END $$;

-- As before (0003_functions.sql).
CREATE OR REPLACE FUNCTION keep_answer(in_tenant uuid, in_key bytea, in_answer jsonb, in_life interval, in_documents uuid[],
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
    SELECT a.tenant_id, used.document_id, a.key, used.version
    FROM answer_cache a CROSS JOIN UNNEST(in_documents, in_versions) AS used (document_id, version)
    WHERE a.tenant_id = in_tenant AND a.key = in_key
    ON CONFLICT (tenant_id, document_id, key) DO UPDATE SET version = EXCLUDED.version;
    DELETE FROM answer_cache a WHERE a.tenant_id = in_tenant AND a.key IN
        (SELECT o.key FROM answer_cache o WHERE o.tenant_id = in_tenant ORDER BY o.created_at DESC OFFSET in_most);
END $$;

-- Adds the most that a call may cost, as before: the row is made by the first call of a day, and locked by the update.
CREATE OR REPLACE FUNCTION reserve_daily_cost(in_tenant uuid, in_day date, in_amount bigint, in_limit bigint)
RETURNS TABLE (is_reserved boolean, cost_nano_usd bigint)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
BEGIN
    PERFORM set_config('cited.tenant', in_tenant::text, true);
    FOR attempt IN 1 .. 2 LOOP
        RETURN QUERY
            UPDATE usage_daily u SET cost_nano_usd = u.cost_nano_usd + in_amount, calls = u.calls + 1
            WHERE u.tenant_id = in_tenant AND u.day = in_day AND u.cost_nano_usd + in_amount <= in_limit
            RETURNING true, u.cost_nano_usd;
        IF FOUND THEN
            RETURN;
        END IF;
        EXIT WHEN attempt = 2 OR in_amount > in_limit;
        INSERT INTO usage_daily (tenant_id, day, cost_nano_usd, calls) VALUES (in_tenant, in_day, 0, 0)
        ON CONFLICT (tenant_id, day) DO NOTHING;
    END LOOP;
    RETURN QUERY SELECT false, COALESCE(
        (SELECT u.cost_nano_usd FROM usage_daily u WHERE u.tenant_id = in_tenant AND u.day = in_day), 0);
END $$;
