-- Cited's first schema.
--
-- Conventions: a tenant-owned table has tenant_id first in its primary key, row level security
-- enabled AND forced, and one policy for the runtime role cited_app (the roles are created before
-- migrations run, see src/store/role.rs). The tenant of a transaction is the setting cited.tenant; without it
-- no tenant-owned row is visible. The setting is read in a scalar sub-select so that it is evaluated
-- once per query and not once per row. All character ranges count Unicode code points.

CREATE EXTENSION IF NOT EXISTS vector;

-- A customer of the deployment; everything else belongs to one.
CREATE TABLE tenant (
    tenant_id   uuid        PRIMARY KEY,
    name        text        NOT NULL CONSTRAINT tenant_name_unique UNIQUE, -- shown to operators only
    created_at  timestamptz NOT NULL DEFAULT now()
);
INSERT INTO tenant (tenant_id, name) VALUES ('00000000-0000-7000-8000-000000000001', 'default');

-- A vector space: vectors of different profiles are never compared. Not tenant-owned: a model is the
-- same space for everybody (a reference table when the database is distributed).
CREATE TABLE embedding_profile (
    profile_id  integer     GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- names the profile's own vector index
    model       text        NOT NULL,            -- model id as the provider knows it
    dimension   integer     NOT NULL CONSTRAINT embedding_profile_dimension CHECK (dimension BETWEEN 1 AND 4000), -- halfvec can be indexed up to 4,000
    distance    text        NOT NULL CONSTRAINT embedding_profile_distance CHECK (distance IN ('cosine')),
    created_at  timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT embedding_profile_space UNIQUE (model, dimension, distance)
);

-- A named set of documents that are searched together.
CREATE TABLE collection (
    tenant_id            uuid        NOT NULL REFERENCES tenant,
    collection_id        uuid        NOT NULL,   -- also the salt of the collection's term ids
    name                 text        NOT NULL,   -- what requests and URNs use
    profile_id           integer     NOT NULL REFERENCES embedding_profile, -- the one active vector space
    average_length       real        NOT NULL DEFAULT 0,  -- BM25 average length (terms) that chunk.weights were made with; 0 = none yet
    chunks_at_reference  bigint      NOT NULL DEFAULT 0,  -- chunks there were when average_length was taken
    created_at           timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, collection_id),
    CONSTRAINT collection_name_unique UNIQUE (tenant_id, name)
);

-- Counters of a collection, apart from it so that ingest never updates the row that every query reads.
CREATE TABLE collection_statistic (
    tenant_id      uuid   NOT NULL,
    collection_id  uuid   NOT NULL,
    documents      bigint NOT NULL DEFAULT 0,
    chunks         bigint NOT NULL DEFAULT 0,    -- BM25's N
    total_length   bigint NOT NULL DEFAULT 0,    -- sum of chunk.length; over chunks it is the true average length
    PRIMARY KEY (tenant_id, collection_id),
    FOREIGN KEY (tenant_id, collection_id) REFERENCES collection ON DELETE CASCADE
) WITH (fillfactor = 50);

-- How many chunks of a collection hold a term. A term that no chunk holds has no row, or zero.
CREATE TABLE term_statistic (
    tenant_id           uuid    NOT NULL,
    collection_id       uuid    NOT NULL,
    term_id             integer NOT NULL,        -- hash of (collection, stem), 1 to 1,000,000,000
    document_frequency  integer NOT NULL,        -- chunks with the term
    PRIMARY KEY (tenant_id, collection_id, term_id),
    FOREIGN KEY (tenant_id, collection_id) REFERENCES collection ON DELETE CASCADE
) WITH (fillfactor = 80);

-- One document in its current version.
CREATE TABLE document (
    tenant_id      uuid        NOT NULL,
    document_id    uuid        NOT NULL,         -- kept over versions; part of the URN
    collection_id  uuid        NOT NULL,
    source         text        NOT NULL,         -- the caller's own name for it, unique in its collection
    uri            text        NOT NULL,         -- where it was read from; the source when the caller gave nothing else
    loader         text        NOT NULL,         -- how it came: json, multipart, sample, …
    fetched_at     timestamptz NOT NULL,         -- when it was handed in or fetched
    etag           text,                         -- of the HTTP response it came in, where there was one
    content_hash   bytea       NOT NULL,         -- SHA-256 of the bytes as handed in
    fingerprint    bytea       NOT NULL,         -- SHA-256 of everything that decides the stored result; equal = unchanged
    title          text        NOT NULL,
    media_type     text        NOT NULL,
    metadata       jsonb       NOT NULL,         -- caller's own object; filters look here
    text           text        NOT NULL,         -- extracted text; ranges of chunks and quotes point into it
    characters     integer     NOT NULL,         -- length of text in code points
    version        integer     NOT NULL,         -- from 1, plus one per replacement; part of the URN
    position       bigint      NOT NULL,         -- job_item.position it came from: an older upload never overwrites a newer one
    chunks         integer     NOT NULL CONSTRAINT document_has_chunks CHECK (chunks > 0), -- zero chunks is a failure, never a document
    created_at     timestamptz NOT NULL,         -- of version 1
    updated_at     timestamptz NOT NULL,         -- of this version
    PRIMARY KEY (tenant_id, document_id),
    CONSTRAINT document_source_unique UNIQUE (tenant_id, collection_id, source),
    FOREIGN KEY (tenant_id, collection_id) REFERENCES collection ON DELETE CASCADE
);

-- A passage of a document: the unit that is found and cited.
CREATE TABLE chunk (
    tenant_id      uuid     NOT NULL,
    document_id    uuid     NOT NULL,
    ordinal        integer  NOT NULL,            -- from 0, in text order; part of the URN
    collection_id  uuid     NOT NULL,            -- repeated from document: candidates are checked without a join
    weights        sparsevec(1000000000) NOT NULL, -- BM25 document-side weight per term id; before the text, because a
                                                 -- lexical search reads it from every candidate and must not skip over text to it
    start_char     integer  NOT NULL,            -- range in document.text, end exclusive
    end_char       integer  NOT NULL,
    page           integer,                      -- from 1, where the format has pages
    heading        jsonb    NOT NULL,            -- heading path in force at the start: array of strings, outermost first
    splitter       text     NOT NULL,            -- which splitter made it, with its settings
    chunkers       text[]   NOT NULL,            -- chunkers applied after the splitter, in order
    tokens         integer  NOT NULL,            -- by the embedder's tokenizer, of text alone
    text           text     NOT NULL,            -- document.text at the range
    context        text,                         -- sentence that places the chunk in its document; embedded and indexed, never quoted
    length         integer  NOT NULL,            -- terms, BM25's |d|
    terms          integer[] NOT NULL,           -- distinct term ids, ascending
    PRIMARY KEY (tenant_id, document_id, ordinal),
    FOREIGN KEY (tenant_id, document_id) REFERENCES document ON DELETE CASCADE
);
-- Candidates of a lexical query. Term ids are salted by collection, so a posting list never mixes collections.
-- New entries wait in a pending list, which makes ingest five times cheaper; every search reads that
-- list whole, so it is kept short, and emptied when the queue is (settle_lexical_index).
CREATE INDEX chunk_terms ON chunk USING gin (terms) WITH (gin_pending_list_limit = 1024);

-- A chunk's vector in one space. Its HNSW index is one per profile and is made when the profile is
-- first used (src/store/profile.rs), because its dimension is only known then.
CREATE TABLE chunk_embedding (
    tenant_id       uuid    NOT NULL,
    document_id     uuid    NOT NULL,
    ordinal         integer NOT NULL,
    profile_id      integer NOT NULL REFERENCES embedding_profile,
    collection_id   uuid    NOT NULL,            -- repeated: a filtered vector scan checks it without a join
    embedding_hash  bytea   NOT NULL,            -- SHA-256 of the embedded text; equal text is never embedded twice
    embedding       halfvec NOT NULL,            -- unit length, profile's dimension
    PRIMARY KEY (tenant_id, document_id, ordinal, profile_id),
    FOREIGN KEY (tenant_id, document_id, ordinal) REFERENCES chunk ON DELETE CASCADE
);
-- Re-use of vectors by content, and the exact scan of a small collection.
CREATE INDEX chunk_embedding_reuse ON chunk_embedding (tenant_id, profile_id, embedding_hash);
CREATE INDEX chunk_embedding_collection ON chunk_embedding (tenant_id, collection_id, profile_id);

-- One accepted ingest request. The queue (job, job_item) stays on one node when the rest is
-- distributed, so it has no foreign keys into other tables.
CREATE TABLE job (
    tenant_id        uuid        NOT NULL,
    job_id           uuid        NOT NULL,
    collection_id    uuid        NOT NULL,
    collection_name  text        NOT NULL,       -- as requested; survives the collection
    state            text        NOT NULL CONSTRAINT job_state CHECK (state IN ('queued', 'running', 'succeeded', 'partial', 'failed', 'cancelled')),
    items            integer     NOT NULL CONSTRAINT job_items CHECK (items > 0),
    created_at       timestamptz NOT NULL,
    started_at       timestamptz,                -- first claim
    finished_at      timestamptz,                -- set with a terminal state
    PRIMARY KEY (tenant_id, job_id)
);
CREATE INDEX job_unfinished ON job (created_at) WHERE finished_at IS NULL;

-- Order of the queue and fencing tokens; both only grow.
CREATE SEQUENCE job_item_position;
CREATE SEQUENCE job_item_fence;

-- One document of a job: the unit of work, of failure and of retry.
CREATE TABLE job_item (
    tenant_id        uuid        NOT NULL,
    job_id           uuid        NOT NULL,
    ordinal          integer     NOT NULL,       -- place in the request, from 0
    position         bigint      NOT NULL DEFAULT nextval('job_item_position'), -- first in, first out
    source           text        NOT NULL,
    payload          jsonb,                      -- versioned description of the document; null once settled
    content          bytea,                      -- its bytes as handed in; null once settled
    content_bytes    bigint      NOT NULL,       -- size of content, kept
    state            text        NOT NULL CONSTRAINT job_item_state CHECK (state IN ('queued', 'running', 'succeeded', 'unchanged', 'failed', 'cancelled')),
    attempts         integer     NOT NULL DEFAULT 0, -- claims so far
    available_at     timestamptz NOT NULL,       -- not before; moves forward when a transient failure waits
    fence            bigint,                     -- fencing token of the latest claim; a settlement must present it
    lease_until      timestamptz,                -- claim is void after this unless the heartbeat moves it
    stage            text,                       -- where it failed: load, extract, split, chunk, embed, store
    cause            text,                       -- typed cause of a failure
    message          text,                       -- what to do about it, in words
    document_id      uuid,                       -- the document it became
    chunks           integer     NOT NULL DEFAULT 0,
    embedding_calls  integer     NOT NULL DEFAULT 0,
    finished_at      timestamptz,
    PRIMARY KEY (tenant_id, job_id, ordinal)
) WITH (fillfactor = 70);
CREATE INDEX job_item_queued  ON job_item (position) WHERE state = 'queued';
CREATE INDEX job_item_running ON job_item (lease_until) WHERE state = 'running';

-- Row level security ------------------------------------------------------------------------------

GRANT USAGE ON SCHEMA public TO cited_app;
GRANT SELECT ON tenant, embedding_profile TO cited_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON
    collection, collection_statistic, term_statistic, document, chunk, chunk_embedding, job, job_item TO cited_app;
GRANT USAGE ON SEQUENCE job_item_position, job_item_fence TO cited_app;

DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['collection', 'collection_statistic', 'term_statistic', 'document',
                                'chunk', 'chunk_embedding', 'job', 'job_item'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY tenant_only ON %I TO cited_app
            USING (tenant_id = (SELECT NULLIF(current_setting(''cited.tenant'', true), '''')::uuid))', name);
    END LOOP;
END $$;

-- A worker serves the queue of every tenant: it sees queue rows, and only those, without a tenant.
CREATE POLICY queue_worker ON job TO cited_app
    USING ((SELECT current_setting('cited.queue_worker', true)) = 'on');
CREATE POLICY queue_worker ON job_item TO cited_app
    USING ((SELECT current_setting('cited.queue_worker', true)) = 'on');

-- Lexical search ----------------------------------------------------------------------------------
--
-- Under row level security Postgres will not use an index for an operator that is not leakproof, and
-- array overlap is not: with the policy in force the GIN index above would never be used. So the
-- candidate query lives in this one function, owned by a role of its own that may read (and only
-- read) chunks and documents of every tenant; its body applies the tenant of the transaction itself,
-- which it sets like the functions below. Nothing else in the schema sees past a policy.
CREATE POLICY lexical_search ON chunk    FOR SELECT TO cited_lexical USING (true);
CREATE POLICY lexical_search ON document FOR SELECT TO cited_lexical USING (true);
GRANT USAGE ON SCHEMA public TO cited_lexical;
GRANT SELECT ON chunk, document TO cited_lexical;

-- Best chunks by BM25 among those of the given collections that hold a candidate term and whose
-- document passes the filter (null arguments do not filter).
CREATE FUNCTION lexical_search(
    in_tenant       uuid,
    in_collections  uuid[],
    candidate_terms integer[],   -- found by GIN: the rarest terms of the query
    query           sparsevec,   -- idf weight of every term of the query
    metadata_path   text,        -- jsonpath predicate over document.metadata
    source_prefix   text,
    document_ids    uuid[],
    pages           integer[],
    max_rows        integer)
RETURNS TABLE (document_id uuid, ordinal integer, score real)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = public, pg_temp
SET plan_cache_mode = force_custom_plan -- a generic plan cannot know how rare the terms are
SET enable_seqscan = off                -- fresh tables have no statistics yet; the GIN index is right at every size
AS $$
DECLARE
    this_tenant CONSTANT uuid := set_config('cited.tenant', in_tenant::text, true)::uuid;
BEGIN
    IF metadata_path IS NULL AND source_prefix IS NULL AND document_ids IS NULL AND pages IS NULL THEN
        RETURN QUERY
            -- IS NOT DISTINCT FROM cannot use the primary key, which would read the whole tenant.
            SELECT c.document_id, c.ordinal, (-(c.weights <#> query))::real AS bm25
            FROM chunk c
            WHERE c.terms && candidate_terms
              AND c.tenant_id IS NOT DISTINCT FROM this_tenant AND c.collection_id = ANY (in_collections)
            ORDER BY bm25 DESC, c.document_id, c.ordinal
            LIMIT max_rows;
    ELSE
        RETURN QUERY
            SELECT c.document_id, c.ordinal, (-(c.weights <#> query))::real AS bm25
            FROM chunk c
            JOIN document d ON d.tenant_id = c.tenant_id AND d.document_id = c.document_id
            WHERE c.terms && candidate_terms
              AND c.tenant_id IS NOT DISTINCT FROM this_tenant AND c.collection_id = ANY (in_collections)
              AND (pages IS NULL OR c.page = ANY (pages))
              AND (document_ids IS NULL OR c.document_id = ANY (document_ids))
              AND (source_prefix IS NULL OR starts_with(d.source, source_prefix))
              AND (metadata_path IS NULL OR d.metadata @@ metadata_path::jsonpath)
            ORDER BY bm25 DESC, c.document_id, c.ordinal
            LIMIT max_rows;
    END IF;
END $$;
GRANT CREATE ON SCHEMA public TO cited_lexical; -- a new owner needs it at this moment only
ALTER FUNCTION lexical_search OWNER TO cited_lexical;
REVOKE CREATE ON SCHEMA public FROM cited_lexical;
REVOKE EXECUTE ON FUNCTION lexical_search FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lexical_search TO cited_app;

-- Moves what waits in the pending list of the index above to its place. Only its owner may, and the
-- service is not; this is all that it can do with the owner's rights.
CREATE FUNCTION settle_lexical_index() RETURNS bigint
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = public, pg_temp
AS $$ SELECT gin_clean_pending_list('chunk_terms'::regclass) $$;
REVOKE EXECUTE ON FUNCTION settle_lexical_index FROM PUBLIC;
GRANT EXECUTE ON FUNCTION settle_lexical_index TO cited_app;

-- Reads of a question ------------------------------------------------------------------------------
--
-- A transaction around one read costs three round trips: begin and set the tenant, read, commit. A
-- question makes four reads, and is answered in little more time than their round trips take. Each of
-- these functions therefore sets the tenant itself, for the transaction that its one statement is, and
-- reads what the policies then let its caller see. They own no rights: SECURITY INVOKER is the default.

-- Collections by name, with the number of their chunks.
CREATE FUNCTION find_collections(in_tenant uuid, in_names text[])
RETURNS TABLE (collection_id uuid, name text, profile_id integer, average_length real, created_at timestamptz,
               model text, dimension integer, chunks bigint)
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM set_config('cited.tenant', in_tenant::text, true);
    RETURN QUERY
        SELECT c.collection_id, c.name, c.profile_id, c.average_length, c.created_at, p.model, p.dimension,
               COALESCE(s.chunks, 0)
        FROM collection c
        JOIN embedding_profile p ON p.profile_id = c.profile_id
        LEFT JOIN collection_statistic s ON s.tenant_id = c.tenant_id AND s.collection_id = c.collection_id
        WHERE c.tenant_id = in_tenant AND c.name = ANY (in_names);
END $$;

-- In how many chunks of which collection a term stands; a term without a row stands in none.
CREATE FUNCTION term_frequencies(in_tenant uuid, in_collections uuid[], in_terms integer[])
RETURNS TABLE (collection_id uuid, term_id integer, document_frequency integer)
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM set_config('cited.tenant', in_tenant::text, true);
    RETURN QUERY
        SELECT t.collection_id, t.term_id, t.document_frequency
        FROM term_statistic t
        WHERE t.tenant_id = in_tenant AND t.collection_id = ANY (in_collections) AND t.term_id = ANY (in_terms);
END $$;

-- Chunks with what a source shows of them and of their documents.
CREATE FUNCTION find_passages(in_tenant uuid, in_documents uuid[], in_ordinals integer[])
RETURNS TABLE (document_id uuid, ordinal integer, page integer, heading jsonb, text text, start_char integer,
               end_char integer, version integer, source text, uri text, title text, metadata jsonb,
               content_hash bytea, collection text)
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM set_config('cited.tenant', in_tenant::text, true);
    RETURN QUERY
        SELECT c.document_id, c.ordinal, c.page, c.heading, c.text, c.start_char, c.end_char,
               d.version, d.source, d.uri, d.title, d.metadata, d.content_hash, l.name
        FROM UNNEST(in_documents, in_ordinals) AS wanted (document_id, ordinal)
        JOIN chunk c ON c.tenant_id = in_tenant AND c.document_id = wanted.document_id AND c.ordinal = wanted.ordinal
        JOIN document d ON d.tenant_id = in_tenant AND d.document_id = c.document_id
        JOIN collection l ON l.tenant_id = in_tenant AND l.collection_id = c.collection_id;
END $$;

REVOKE EXECUTE ON FUNCTION find_collections, term_frequencies, find_passages FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_collections, term_frequencies, find_passages TO cited_app;
