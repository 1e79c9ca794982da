-- The functions and triggers of Cited. Their rights, and the roles that may call them, are in 0004_security.sql.

-- Triggers -----------------------------------------------------------------------------------------

-- Keeps job_tally in step with whatever settles an item, or takes a settlement back. Claims and heartbeats settle
-- nothing and touch no tally.
CREATE FUNCTION tally_job_items() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    change record;
BEGIN
    FOR change IN
        SELECT tenant_id, job_id,
               COALESCE(sum(sign) FILTER (WHERE state = 'succeeded'), 0) AS succeeded,
               COALESCE(sum(sign) FILTER (WHERE state = 'unchanged'), 0) AS unchanged,
               COALESCE(sum(sign) FILTER (WHERE state = 'failed'), 0) AS failed,
               COALESCE(sum(sign) FILTER (WHERE state = 'cancelled'), 0) AS cancelled,
               COALESCE(sum(sign * content_bytes) FILTER (WHERE settled), 0) AS bytes,
               COALESCE(sum(sign * chunks) FILTER (WHERE state = 'succeeded'), 0) AS chunks,
               COALESCE(sum(sign * embedding_calls) FILTER (WHERE settled), 0) AS embedding_calls,
               COALESCE(sum(sign * (chunks - embedding_calls)) FILTER (WHERE state = 'succeeded'), 0) AS reused_vectors,
               COALESCE(sum(sign) FILTER (WHERE is_stored), 0) AS searchable,
               COALESCE(sum(sign * content_bytes) FILTER (WHERE is_stored AND NOT settled), 0) AS searchable_bytes
        FROM (SELECT *, state NOT IN ('queued', 'running') AS settled,
                     phase = 'embed' AND state NOT IN ('succeeded', 'unchanged') AS is_stored
              FROM (SELECT tenant_id, job_id, state, content_bytes, chunks, embedding_calls, phase, 1 AS sign FROM new_items
                    UNION ALL
                    SELECT tenant_id, job_id, state, content_bytes, chunks, embedding_calls, phase, -1 FROM old_items) both_sides) sides
        WHERE settled OR is_stored
        GROUP BY tenant_id, job_id
        -- Claimed, given back, held longer: the two sides are equal.
        HAVING bool_or(settled) OR sum(sign) FILTER (WHERE is_stored) <> 0
        ORDER BY tenant_id, job_id -- everybody locks tallies in this order
    LOOP
        UPDATE job_tally t
        SET succeeded = t.succeeded + change.succeeded, unchanged = t.unchanged + change.unchanged,
            failed = t.failed + change.failed, cancelled = t.cancelled + change.cancelled,
            bytes = t.bytes + change.bytes, chunks = t.chunks + change.chunks,
            embedding_calls = t.embedding_calls + change.embedding_calls,
            reused_vectors = t.reused_vectors + change.reused_vectors,
            searchable = t.searchable + change.searchable,
            searchable_bytes = t.searchable_bytes + change.searchable_bytes
        WHERE t.tenant_id = change.tenant_id AND t.job_id = change.job_id;
    END LOOP;
    RETURN NULL;
END $$;
CREATE TRIGGER job_item_tally AFTER UPDATE ON job_item
    REFERENCING OLD TABLE AS old_items NEW TABLE AS new_items
    FOR EACH STATEMENT EXECUTE FUNCTION tally_job_items();

-- Drops the sentences of an item wherever it lets go of its content: settled, cancelled, deleted, forgotten.
CREATE FUNCTION drop_written_contexts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.contexts := NULL;
    RETURN NEW;
END $$;
CREATE TRIGGER job_item_contexts BEFORE UPDATE ON job_item
    FOR EACH ROW WHEN (NEW.content IS NULL AND NEW.contexts IS NOT NULL) EXECUTE FUNCTION drop_written_contexts();

-- Citations last: what a replaced document said is kept, and that a deleted one was there. Both by triggers on document,
-- so that no writer can forget them.

-- Runs after the row is replaced and before its chunks are. Keeps the chunks that were searched, which are those that
-- were cited.
CREATE FUNCTION keep_document_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO document_version (tenant_id, document_id, version, source, uri, title, content_hash, text, chunks,
                                  stored_at, superseded_at)
    SELECT OLD.tenant_id, OLD.document_id, OLD.version, OLD.source, OLD.uri, OLD.title, OLD.content_hash, OLD.text,
           COALESCE(jsonb_agg(jsonb_build_array(c.start_char, c.end_char, c.page, c.heading, c.table_header) ORDER BY c.ordinal), '[]'),
           OLD.updated_at, NEW.updated_at
    FROM collection l
    JOIN chunk c ON c.tenant_id = l.tenant_id AND c.index_id = l.index_id AND c.document_id = OLD.document_id
    WHERE l.tenant_id = OLD.tenant_id AND l.collection_id = OLD.collection_id;
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

-- Metadata -----------------------------------------------------------------------------------------

-- The rows of document_field for one document.
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

-- Access control lists -----------------------------------------------------------------------------

-- Whether a caller who is these principals may see a document. A caller without a list of principals (null) sees all; one
-- who is nobody (an empty list) sees what everybody may.
CREATE FUNCTION may_see(allowed integer[], denied integer[], caller integer[]) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
    SELECT caller IS NULL OR ((allowed IS NULL OR allowed && caller) AND NOT denied && caller)
$$;

-- Keeps document_reader in step with the list of a document.
CREATE FUNCTION index_readers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM document_reader r WHERE r.tenant_id = NEW.tenant_id AND r.document_id = NEW.document_id;
    INSERT INTO document_reader (tenant_id, collection_id, document_id, principal_id)
    SELECT NEW.tenant_id, NEW.collection_id, NEW.document_id, reader FROM UNNEST(NEW.allowed) AS reader;
    RETURN NULL;
END $$;
CREATE TRIGGER document_readers AFTER INSERT ON document
    FOR EACH ROW WHEN (NEW.allowed IS NOT NULL) EXECUTE FUNCTION index_readers();
CREATE TRIGGER document_readers_changed AFTER UPDATE OF allowed ON document
    FOR EACH ROW WHEN (OLD.allowed IS DISTINCT FROM NEW.allowed) EXECUTE FUNCTION index_readers();

-- Lexical search ----------------------------------------------------------------------------------
--
-- Under row level security Postgres will not use an index for an operator that is not leakproof, and array overlap is
-- not: with the policy in force the GIN index chunk_terms would never be used. So the candidate query lives in this one
-- function, owned by a role of its own that may read (and only read) chunks and documents of every tenant; its body
-- applies the tenant of the transaction itself, which it sets like the functions below. Nothing else in the schema sees
-- past a policy.
--
-- Returns the best chunks by BM25 among those of the given indexes that hold a rare term or a pair of terms, and whose
-- document passes the filter. Planned once for each connection, not once for each question: what differs between
-- questions are values, and so is which chunks are looked at. Pairs of terms come by the term that they share: one in
-- `pair_heads`, and the others in ten places of `pair_others`, repeated where there are fewer. Ten such groups are
-- looked up by one statement; of what needs more statements, a chunk may be returned by each.
CREATE FUNCTION lexical_search(
    in_tenant       uuid,
    in_indexes      uuid[],
    rare_terms      integer[],   -- chunks with any of these are scored
    pair_heads      integer[],   -- and those with one of these
    pair_others     integer[],   -- together with one of its ten
    query           sparsevec,   -- idf weight of every term of the query
    metadata_path   text,        -- jsonpath predicate over document.metadata; this and what follows: null does not filter
    source_prefix   text,
    document_ids    uuid[],
    pages           integer[],
    caller          integer[],   -- principals that the caller is, as in may_see
    max_rows        integer)     -- of each statement
RETURNS TABLE (document_id uuid, ordinal integer, score real)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = public, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off                -- fresh tables have no statistics yet; the GIN index is right at every size
AS $$
DECLARE
    this_tenant CONSTANT uuid := set_config('cited.tenant', in_tenant::text, true)::uuid;
    rare integer[] := rare_terms;  -- in the first statement only
    h integer[];                   -- up to ten heads
    o integer[];                   -- their others, ten by ten
BEGIN
    FOR turn IN 0 .. (greatest(cardinality(pair_heads), 1) - 1) / 10 LOOP
        h := pair_heads[turn * 10 + 1 : turn * 10 + 10];
        o := pair_others[turn * 100 + 1 : turn * 100 + 100];
        -- A slice past the end is empty, and what overlaps with nothing is not looked up.
        -- IS NOT DISTINCT FROM and IS TRUE cannot use the primary key, which would be read whole.
        RETURN QUERY
            SELECT c.document_id, c.ordinal, (-(c.weights <#> query))::real AS bm25
            FROM chunk c
            WHERE (   c.terms && rare
                   OR c.terms @> h[1:1]   AND c.terms && o[1:10]
                   OR c.terms @> h[2:2]   AND c.terms && o[11:20]
                   OR c.terms @> h[3:3]   AND c.terms && o[21:30]
                   OR c.terms @> h[4:4]   AND c.terms && o[31:40]
                   OR c.terms @> h[5:5]   AND c.terms && o[41:50]
                   OR c.terms @> h[6:6]   AND c.terms && o[51:60]
                   OR c.terms @> h[7:7]   AND c.terms && o[61:70]
                   OR c.terms @> h[8:8]   AND c.terms && o[71:80]
                   OR c.terms @> h[9:9]   AND c.terms && o[81:90]
                   OR c.terms @> h[10:10] AND c.terms && o[91:100])
              AND c.tenant_id IS NOT DISTINCT FROM this_tenant AND (c.index_id = ANY (in_indexes)) IS TRUE
              AND (document_ids IS NULL OR c.document_id = ANY (document_ids))
              AND (pages IS NULL OR c.page = ANY (pages))
              AND (source_prefix IS NULL AND metadata_path IS NULL AND caller IS NULL OR EXISTS (
                  SELECT FROM document d WHERE d.tenant_id = c.tenant_id AND d.document_id = c.document_id
                      AND (source_prefix IS NULL OR starts_with(d.source, source_prefix))
                      AND (metadata_path IS NULL OR d.metadata @@ metadata_path::jsonpath)
                      AND may_see(d.allowed, d.denied, caller)))
            ORDER BY bm25 DESC, c.document_id, c.ordinal
            LIMIT max_rows;
        rare := '{}';
    END LOOP;
END $$;

-- In how many chunks of an index a term stands that a caller who is these principals may see, for pairs of index and term.
-- Each chunk that holds a term is looked at: for rare terms. Owned and bound to the tenant like lexical_search.
CREATE FUNCTION seen_frequencies(in_tenant uuid, in_indexes uuid[], in_terms integer[], caller integer[])
RETURNS TABLE (index_id uuid, term_id integer, document_frequency integer)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = public, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $$
DECLARE
    this_tenant CONSTANT uuid := set_config('cited.tenant', in_tenant::text, true)::uuid;
BEGIN
    RETURN QUERY
        SELECT wanted.index_id, wanted.term_id, (
            SELECT count(*)::integer FROM chunk c
            WHERE c.terms @> ARRAY[wanted.term_id]
              AND c.tenant_id IS NOT DISTINCT FROM this_tenant AND (c.index_id = wanted.index_id) IS TRUE
              AND EXISTS (SELECT FROM document d WHERE d.tenant_id = c.tenant_id AND d.document_id = c.document_id
                              AND may_see(d.allowed, d.denied, caller)))
        FROM UNNEST(in_indexes, in_terms) AS wanted (index_id, term_id);
END $$;

-- Moves what waits in the pending list of chunk_terms to its place. Only the owner of the index may, and the service is
-- not; this is all that it can do with the owner's rights.
CREATE FUNCTION settle_lexical_index() RETURNS bigint
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = public, pg_temp
AS $$ SELECT gin_clean_pending_list('chunk_terms'::regclass) $$;

-- Vector search ------------------------------------------------------------------------------------
--
-- Vectors are found whoever their neighbours are: each index is searched by itself, by a walk through a graph that holds
-- its vectors alone, or by comparing all of them where it has no graph.

-- The name of the graph of an index.
CREATE FUNCTION vector_graph_name(in_index uuid) RETURNS name
LANGUAGE sql IMMUTABLE AS $$ SELECT ('chunk_embedding_graph_' || replace(in_index::text, '-', ''))::name $$;

-- The nearest chunks of each index, at most so many of each graph and of all compared indexes together, in no order. A
-- chunk may be returned twice: an index whose graph returns too few (dead entries, a walk that ends early) is compared as
-- well. Which indexes have a graph is told by find_collections; a graph that was dropped since makes a walk a comparison.
--
-- The planner recognises a graph by the literals, and is kept from comparing everything, which looks cheapest to it in a
-- table that it has no statistics of. A comparison reads the vectors of its indexes and no others, without parallel
-- workers: they would make one search faster and take the processors from all others. The tenant is set here, as in the
-- reads of a question below.
CREATE FUNCTION nearest_chunks(in_tenant uuid, in_walked uuid[], in_ef_searches integer[], in_compared uuid[],
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
             WHERE e.index_id = %2$L ORDER BY (e.embedding::halfvec(%1$s)) <=> $1 LIMIT $2',
            vector_dims(in_query), in_walked[i])
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

-- Reads of a question ------------------------------------------------------------------------------
--
-- A transaction around one read costs three round trips: begin and set the tenant, read, commit. A
-- question makes four reads, and is answered in little more time than their round trips take. Each of
-- these functions therefore sets the tenant itself, for the transaction that its one statement is, and
-- reads what the policies then let its caller see. They own no rights: SECURITY INVOKER is the default.

-- Collections by name, with their active index, how much there is in it, and whether it has a graph that can be used: not
-- one that is being built, or whose build was interrupted.
CREATE FUNCTION find_collections(in_tenant uuid, in_names text[])
RETURNS TABLE (collection_id uuid, index_id uuid, name text, language text, profile_id integer, created_at timestamptz,
               indexing text, is_restricted boolean, model text, dimension integer, chunks bigint, unembedded_chunks bigint,
               has_graph boolean)
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM set_config('cited.tenant', in_tenant::text, true);
    RETURN QUERY
        SELECT c.collection_id, c.index_id, c.name, c.language, i.profile_id, c.created_at, c.indexing,
               c.is_restricted, p.model, p.dimension, COALESCE(s.chunks, 0), COALESCE(s.unembedded_chunks, 0),
               EXISTS (SELECT FROM pg_class g JOIN pg_index x ON x.indexrelid = g.oid AND x.indisvalid
                       WHERE g.relname = vector_graph_name(c.index_id) AND g.relnamespace = 'public'::regnamespace)
        FROM collection c
        JOIN collection_index i ON i.tenant_id = c.tenant_id AND i.index_id = c.index_id
        JOIN embedding_profile p ON p.profile_id = i.profile_id
        LEFT JOIN index_statistic s ON s.tenant_id = c.tenant_id AND s.index_id = c.index_id
        WHERE c.tenant_id = in_tenant AND c.name = ANY (in_names);
END $$;

-- In how many chunks of an index a term stands, for pairs of index and term; a pair without a row stands in none.
CREATE FUNCTION term_frequencies(in_tenant uuid, in_indexes uuid[], in_terms integer[])
RETURNS TABLE (index_id uuid, term_id integer, document_frequency integer)
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM set_config('cited.tenant', in_tenant::text, true);
    RETURN QUERY
        SELECT t.index_id, t.term_id, t.document_frequency
        FROM UNNEST(in_indexes, in_terms) AS wanted (index_id, term_id)
        CROSS JOIN LATERAL (
            SELECT t.index_id, t.term_id, t.document_frequency FROM term_statistic t
            WHERE t.tenant_id = in_tenant AND t.index_id = wanted.index_id AND t.term_id = wanted.term_id
            OFFSET 0) t; -- each looked up by the primary key, whatever the planner knows of the table
END $$;

-- Chunks with what a source shows of them and of their documents, and their context, which no source shows. Of documents
-- that the caller may not see, as may_see judges it, nothing, whoever found them. A chunk whose document has the version
-- that is known of it comes without everything else: a version does not change. No document has a version 0.
CREATE FUNCTION find_passages(in_tenant uuid, in_documents uuid[], in_ordinals integer[], in_known integer[],
                              in_caller integer[])
RETURNS TABLE (document_id uuid, ordinal integer, page integer, heading jsonb, text text, start_char integer,
               end_char integer, version integer, source text, uri text, title text, metadata jsonb,
               content_hash bytea, collection text, table_header text, context text)
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM set_config('cited.tenant', in_tenant::text, true);
    -- Each row is looked up by its whole key, whatever the planner knows of the tables: OFFSET 0 keeps it from joining
    -- them, for which it would read a collection that was just filled as a whole. An index is not searched for a null.
    RETURN QUERY
        SELECT wanted.document_id, wanted.ordinal, c.page, c.heading, c.text, c.start_char, c.end_char, d.version,
               CASE WHEN is_read THEN d.source END, CASE WHEN is_read THEN d.uri END, CASE WHEN is_read THEN d.title END,
               CASE WHEN is_read THEN d.metadata END, CASE WHEN is_read THEN d.content_hash END, l.name, c.table_header, c.context
        FROM UNNEST(in_documents, in_ordinals, in_known) AS wanted (document_id, ordinal, known)
        CROSS JOIN LATERAL (SELECT * FROM document d
            WHERE d.tenant_id = in_tenant AND d.document_id = wanted.document_id
              AND may_see(d.allowed, d.denied, in_caller) OFFSET 0) d
        CROSS JOIN LATERAL (SELECT * FROM collection l
            WHERE l.tenant_id = in_tenant AND l.collection_id = d.collection_id OFFSET 0) l
        CROSS JOIN LATERAL (SELECT d.version <> wanted.known AS is_read) known
        LEFT JOIN LATERAL (SELECT * FROM chunk c
            WHERE c.tenant_id = in_tenant AND c.document_id = CASE WHEN is_read THEN wanted.document_id END
              AND c.index_id = l.index_id AND c.ordinal = wanted.ordinal OFFSET 0) c ON true
        WHERE NOT is_read OR c.document_id IS NOT NULL;
END $$;

-- Stretches of documents' texts, in the order asked for; null where the document is gone or has another version by now.
CREATE FUNCTION find_text_ranges(in_tenant uuid, in_documents uuid[], in_versions integer[], in_starts integer[],
                                 in_ends integer[])
RETURNS TABLE (text text)
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM set_config('cited.tenant', in_tenant::text, true);
    RETURN QUERY
        SELECT substring(d.text FROM wanted.first + 1 FOR wanted.last - wanted.first)
        FROM UNNEST(in_documents, in_versions, in_starts, in_ends) WITH ORDINALITY
             AS wanted (document_id, version, first, last, place)
        LEFT JOIN document d ON d.tenant_id = in_tenant AND d.document_id = wanted.document_id
                            AND d.version = wanted.version
        ORDER BY wanted.place;
END $$;

-- Model calls of a day -----------------------------------------------------------------------------

-- Adds the most that a call may cost, unless the day would then cost more than the limit. The row is locked
-- from the comparison to the end of the statement's transaction, so that any number of processes keep the
-- limit together. Returns what the day has cost so far.
CREATE FUNCTION reserve_daily_cost(in_tenant uuid, in_day date, in_amount bigint, in_limit bigint)
RETURNS TABLE (is_reserved boolean, cost_nano_usd bigint)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
BEGIN
    PERFORM set_config('cited.tenant', in_tenant::text, true);
    RETURN QUERY
        INSERT INTO usage_daily AS u (tenant_id, day, cost_nano_usd, calls)
        SELECT in_tenant, in_day, in_amount, 1 WHERE in_amount <= in_limit
        ON CONFLICT (tenant_id, day) DO UPDATE
            SET cost_nano_usd = u.cost_nano_usd + EXCLUDED.cost_nano_usd, calls = u.calls + 1
            WHERE u.cost_nano_usd + EXCLUDED.cost_nano_usd <= in_limit
        RETURNING true, u.cost_nano_usd;
    IF NOT FOUND THEN
        RETURN QUERY SELECT false, COALESCE(
            (SELECT u.cost_nano_usd FROM usage_daily u WHERE u.tenant_id = in_tenant AND u.day = in_day), 0);
    END IF;
END $$;

-- Replaces the amount that was reserved for calls by what they really cost.
CREATE FUNCTION settle_daily_cost(in_tenant uuid, in_day date, in_reserved bigint, in_cost bigint) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM set_config('cited.tenant', in_tenant::text, true);
    UPDATE usage_daily SET cost_nano_usd = GREATEST(cost_nano_usd - in_reserved + in_cost, 0)
    WHERE tenant_id = in_tenant AND day = in_day;
END $$;

-- Cached answers -----------------------------------------------------------------------------------

-- Looks an answer up; if there is none, claims it for the ask to write, for so long. Says whether there is one
-- (ready), the ask is to write it (claimed), somebody writes it (pending), or neither was asked for (missing).
CREATE FUNCTION claim_answer(in_tenant uuid, in_key bytea, in_lease interval, in_ask uuid)
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
    INSERT INTO answer_cache AS a (tenant_id, key, created_at, expires_at, claimed_by)
    VALUES (in_tenant, in_key, now(), now() + in_lease, in_ask)
    ON CONFLICT (tenant_id, key) DO UPDATE
        SET answer = NULL, created_at = now(), expires_at = EXCLUDED.expires_at, claimed_by = EXCLUDED.claimed_by
        WHERE a.expires_at <= now();
    RETURN QUERY SELECT CASE WHEN FOUND THEN 'claimed' ELSE 'pending' END, NULL::jsonb;
END $$;

-- Gives up the claim of this ask on an answer, if it has one.
CREATE FUNCTION release_answer(in_tenant uuid, in_key bytea, in_ask uuid) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM set_config('cited.tenant', in_tenant::text, true);
    DELETE FROM answer_cache
    WHERE tenant_id = in_tenant AND key = in_key AND answer IS NULL AND claimed_by = in_ask;
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

-- Audit --------------------------------------------------------------------------------------------

-- Writes rows of any tenants, given as an array of objects with the columns as members: asks that end at the same time
-- share one write, and so one flush of the log. A second row of the same ask is left out.
-- Owned by the role cited_worker (0004_security.sql).
CREATE FUNCTION write_ask_audit(in_rows jsonb) RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    INSERT INTO ask_audit SELECT * FROM jsonb_populate_recordset(NULL::ask_audit, in_rows)
    ON CONFLICT (tenant_id, ask_id) DO NOTHING;
$$;

-- Keys and tenants ---------------------------------------------------------------------------------

-- The key of this id, whoever's it is: before a key is known, so is no tenant. The one way to reach a key of an unknown
-- tenant; owned by the role cited_keys (0004_security.sql).
CREATE FUNCTION find_api_key(in_key_id text)
RETURNS TABLE (tenant_id uuid, code bytea, former_code bytea, scopes text[], collections text[], principals text[],
               grace_until timestamptz, expires_at timestamptz, revoked_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT k.tenant_id, k.code, k.former_code, k.scopes, k.collections, k.principals, k.grace_until, k.expires_at, k.revoked_at
    FROM api_key k WHERE k.key_id = in_key_id;
$$;

-- Every tenant, for the operator; owned by the role cited_keys too.
CREATE FUNCTION list_tenants()
RETURNS TABLE (tenant_id uuid, name text, created_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT t.tenant_id, t.name, t.created_at FROM tenant t ORDER BY t.name;
$$;

-- The record of changes and refusals -----------------------------------------------------------------

-- Writes events of any tenants, to be sealed; owned by cited_worker.
CREATE FUNCTION write_security_events(in_rows jsonb) RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH written AS (
        INSERT INTO security_event SELECT * FROM jsonb_populate_recordset(NULL::security_event, in_rows)
        ON CONFLICT (tenant_id, event_id) DO NOTHING
        RETURNING tenant_id, event_id)
    INSERT INTO security_event_waiting SELECT tenant_id, event_id FROM written;
$$;

-- Deletes the seals of a tenant up to this number, and their events; owned by cited_record.
CREATE FUNCTION forget_security_events(in_tenant uuid, in_number bigint) RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    DELETE FROM security_event e USING security_seal s, unnest(s.events) AS sealed (event_id)
    WHERE s.tenant_id = in_tenant AND s.number <= in_number
      AND e.tenant_id = in_tenant AND e.event_id = sealed.event_id;
    DELETE FROM security_seal s WHERE s.tenant_id = in_tenant AND s.number <= in_number;
$$;

-- Deletes the events and seals of tenants that do not exist any more; owned by cited_record.
CREATE FUNCTION drop_orphaned_security_events() RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    orphans uuid[];
BEGIN
    WITH RECURSIVE known AS ( -- a step of the index per tenant, not per event
        (SELECT e.tenant_id FROM security_event e ORDER BY e.tenant_id LIMIT 1)
        UNION ALL
        SELECT (SELECT e.tenant_id FROM security_event e WHERE e.tenant_id > k.tenant_id ORDER BY e.tenant_id LIMIT 1)
        FROM known k WHERE k.tenant_id IS NOT NULL)
    SELECT array_agg(k.tenant_id) INTO orphans FROM known k
    WHERE k.tenant_id <> '00000000-0000-0000-0000-000000000000' AND NOT EXISTS (SELECT FROM tenant t WHERE t.tenant_id = k.tenant_id);
    DELETE FROM security_event e WHERE e.tenant_id = ANY (orphans);
    DELETE FROM security_event_waiting w WHERE w.tenant_id = ANY (orphans);
    DELETE FROM security_seal s WHERE s.tenant_id = ANY (orphans);
END
$$;
