-- More than one set of chunks for the documents of a collection: the one that is searched, and beside it one that is being
-- made with other settings, or that was searched before. A cut-over makes it the one that is searched.

-- An owner that is no superuser is bound by the policies too, which show nothing without a tenant.
ALTER TABLE collection NO FORCE ROW LEVEL SECURITY;
ALTER TABLE document NO FORCE ROW LEVEL SECURITY;
ALTER TABLE document_field NO FORCE ROW LEVEL SECURITY;

-- One way to cut the documents of a collection, with the statistics of the chunks that come of it.
CREATE TABLE chunking (
    tenant_id            uuid        NOT NULL,
    chunking_id          uuid        NOT NULL,   -- also the salt of its term ids; the first one of a collection has the collection's id
    collection_id        uuid        NOT NULL,
    splitter             jsonb       NOT NULL,   -- settings as requests have them: {"kind", "unit", "size", "overlap"}
    context              jsonb,                  -- settings as requests have them: {"on_failure"}. Null: no sentences are asked for
    average_length       real        NOT NULL DEFAULT 0, -- BM25 average length (terms) that chunk.weights were made with; 0 = none yet
    chunks_at_reference  bigint      NOT NULL DEFAULT 0, -- chunks there were when average_length was taken
    job_id               uuid,                   -- latest job that fills it from stored documents; null where none did
    created_at           timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, chunking_id),
    FOREIGN KEY (tenant_id, collection_id) REFERENCES collection ON DELETE CASCADE
);
CREATE INDEX chunking_collection ON chunking (tenant_id, collection_id);
INSERT INTO chunking (tenant_id, chunking_id, collection_id, splitter, context, average_length, chunks_at_reference, created_at)
SELECT tenant_id, collection_id, collection_id, splitter, context, average_length, chunks_at_reference, created_at FROM collection;

ALTER TABLE collection ADD COLUMN chunking_id uuid;              -- the one that is searched
UPDATE collection SET chunking_id = collection_id;
ALTER TABLE collection
    ALTER COLUMN chunking_id SET NOT NULL,
    ADD CONSTRAINT collection_chunking FOREIGN KEY (tenant_id, chunking_id) REFERENCES chunking DEFERRABLE INITIALLY DEFERRED,
    DROP COLUMN splitter, DROP COLUMN context, DROP COLUMN average_length, DROP COLUMN chunks_at_reference;

-- Statistics are those of a chunking.
ALTER TABLE collection_statistic RENAME TO chunking_statistic;
ALTER TABLE chunking_statistic RENAME COLUMN collection_id TO chunking_id; -- `documents` are those that have chunks in it
ALTER TABLE chunking_statistic
    DROP CONSTRAINT collection_statistic_tenant_id_collection_id_fkey,
    ADD FOREIGN KEY (tenant_id, chunking_id) REFERENCES chunking ON DELETE CASCADE;
ALTER TABLE chunking_statistic RENAME CONSTRAINT collection_statistic_pkey TO chunking_statistic_pkey;
ALTER TABLE term_statistic RENAME COLUMN collection_id TO chunking_id;
ALTER TABLE term_statistic
    DROP CONSTRAINT term_statistic_tenant_id_collection_id_fkey,
    ADD FOREIGN KEY (tenant_id, chunking_id) REFERENCES chunking ON DELETE CASCADE;

-- Chunks and vectors are those of a chunking.
ALTER TABLE chunk_embedding DROP CONSTRAINT chunk_embedding_tenant_id_document_id_ordinal_fkey, DROP CONSTRAINT chunk_embedding_pkey;
ALTER TABLE chunk RENAME COLUMN collection_id TO chunking_id; -- of which a document may have more than one beside each other
ALTER TABLE chunk DROP CONSTRAINT chunk_pkey, ADD PRIMARY KEY (tenant_id, document_id, chunking_id, ordinal);
ALTER TABLE chunk_embedding RENAME COLUMN collection_id TO chunking_id;
ALTER TABLE chunk_embedding
    ADD PRIMARY KEY (tenant_id, document_id, chunking_id, ordinal, profile_id),
    ADD FOREIGN KEY (tenant_id, document_id, chunking_id, ordinal) REFERENCES chunk ON DELETE CASCADE;
ALTER INDEX chunk_embedding_collection RENAME TO chunk_embedding_chunking;

-- A document as a chunking beside the active one has it. What the active one has stands in document.
CREATE TABLE document_chunking (
    tenant_id     uuid    NOT NULL,
    document_id   uuid    NOT NULL,
    chunking_id   uuid    NOT NULL,
    version       integer NOT NULL,              -- of the document that was cut; with any other the chunks here are out of date. 0: vectors are missing
    fingerprint   bytea   NOT NULL,              -- as document.fingerprint, with these settings
    request_hash  bytea,                         -- as document.request_hash
    chunks        integer NOT NULL CONSTRAINT document_chunking_has_chunks CHECK (chunks > 0),
    PRIMARY KEY (tenant_id, document_id, chunking_id),
    FOREIGN KEY (tenant_id, document_id) REFERENCES document ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, chunking_id) REFERENCES chunking ON DELETE CASCADE
);
CREATE INDEX document_chunking_of ON document_chunking (tenant_id, chunking_id);

GRANT SELECT, INSERT, UPDATE, DELETE ON chunking, document_chunking TO cited_app;
DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['chunking', 'document_chunking'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY tenant_only ON %I TO cited_app
            USING (tenant_id = (SELECT NULLIF(current_setting(''cited.tenant'', true), '''')::uuid))', name);
    END LOOP;
END $$;

-- What was cited is what was searched.
CREATE OR REPLACE FUNCTION keep_document_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO document_version (tenant_id, document_id, version, source, uri, title, content_hash, text, chunks,
                                  stored_at, superseded_at)
    SELECT OLD.tenant_id, OLD.document_id, OLD.version, OLD.source, OLD.uri, OLD.title, OLD.content_hash, OLD.text,
           COALESCE(jsonb_agg(jsonb_build_array(c.start_char, c.end_char, c.page, c.heading) ORDER BY c.ordinal), '[]'),
           OLD.updated_at, NEW.updated_at
    FROM collection l
    JOIN chunk c ON c.tenant_id = l.tenant_id AND c.chunking_id = l.chunking_id AND c.document_id = OLD.document_id
    WHERE l.tenant_id = OLD.tenant_id AND l.collection_id = OLD.collection_id;
    RETURN NULL;
END $$;

-- The functions that a question is answered by, as they were, but for the active chunking of the collections.
DROP FUNCTION find_collections(uuid, text[]);
CREATE FUNCTION find_collections(in_tenant uuid, in_names text[])
RETURNS TABLE (collection_id uuid, chunking_id uuid, name text, language text, profile_id integer, average_length real,
               created_at timestamptz, indexing text, model text, dimension integer, chunks bigint, bare_chunks bigint)
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM set_config('cited.tenant', in_tenant::text, true);
    RETURN QUERY
        SELECT c.collection_id, c.chunking_id, c.name, c.language, c.profile_id, k.average_length, c.created_at, c.indexing,
               p.model, p.dimension, COALESCE(s.chunks, 0), COALESCE(s.bare_chunks, 0)
        FROM collection c
        JOIN chunking k ON k.tenant_id = c.tenant_id AND k.chunking_id = c.chunking_id
        JOIN embedding_profile p ON p.profile_id = c.profile_id
        LEFT JOIN chunking_statistic s ON s.tenant_id = c.tenant_id AND s.chunking_id = c.chunking_id
        WHERE c.tenant_id = in_tenant AND c.name = ANY (in_names);
END $$;

DROP FUNCTION term_frequencies(uuid, uuid[], integer[]);
CREATE FUNCTION term_frequencies(in_tenant uuid, in_chunkings uuid[], in_terms integer[])
RETURNS TABLE (chunking_id uuid, term_id integer, document_frequency integer)
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM set_config('cited.tenant', in_tenant::text, true);
    RETURN QUERY
        SELECT t.chunking_id, t.term_id, t.document_frequency
        FROM term_statistic t
        WHERE t.tenant_id = in_tenant AND t.chunking_id = ANY (in_chunkings) AND t.term_id = ANY (in_terms);
END $$;

CREATE OR REPLACE FUNCTION find_passages(in_tenant uuid, in_documents uuid[], in_ordinals integer[])
RETURNS TABLE (document_id uuid, ordinal integer, page integer, heading jsonb, text text, start_char integer,
               end_char integer, version integer, source text, uri text, title text, metadata jsonb,
               content_hash bytea, collection text, context text)
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM set_config('cited.tenant', in_tenant::text, true);
    RETURN QUERY
        SELECT c.document_id, c.ordinal, c.page, c.heading, c.text, c.start_char, c.end_char,
               d.version, d.source, d.uri, d.title, d.metadata, d.content_hash, l.name, c.context
        FROM UNNEST(in_documents, in_ordinals) AS wanted (document_id, ordinal)
        JOIN document d ON d.tenant_id = in_tenant AND d.document_id = wanted.document_id
        JOIN collection l ON l.tenant_id = in_tenant AND l.collection_id = d.collection_id
        JOIN chunk c ON c.tenant_id = in_tenant AND c.document_id = wanted.document_id AND c.chunking_id = l.chunking_id
            AND c.ordinal = wanted.ordinal;
END $$;
REVOKE EXECUTE ON FUNCTION find_collections, term_frequencies FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_collections, term_frequencies TO cited_app;

DROP FUNCTION lexical_search(uuid, uuid[], integer[], integer[], integer[], sparsevec, text, text, uuid[], integer[], integer);

CREATE FUNCTION lexical_search(
    in_tenant       uuid,
    in_chunkings    uuid[],
    rare_terms      integer[],   -- chunks with any of these are scored
    pair_heads      integer[],   -- and those with one of these
    pair_others     integer[],   -- together with one of its ten
    query           sparsevec,   -- idf weight of every term of the query
    metadata_path   text,        -- jsonpath predicate over document.metadata; this and what follows: null does not filter
    source_prefix   text,
    document_ids    uuid[],
    pages           integer[],
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
              AND c.tenant_id IS NOT DISTINCT FROM this_tenant AND (c.chunking_id = ANY (in_chunkings)) IS TRUE
              AND (document_ids IS NULL OR c.document_id = ANY (document_ids))
              AND (pages IS NULL OR c.page = ANY (pages))
              AND (source_prefix IS NULL AND metadata_path IS NULL OR EXISTS (
                  SELECT FROM document d WHERE d.tenant_id = c.tenant_id AND d.document_id = c.document_id
                      AND (source_prefix IS NULL OR starts_with(d.source, source_prefix))
                      AND (metadata_path IS NULL OR d.metadata @@ metadata_path::jsonpath)))
            ORDER BY bm25 DESC, c.document_id, c.ordinal
            LIMIT max_rows;
        rare := '{}';
    END LOOP;
END $$;
GRANT CREATE ON SCHEMA public TO cited_lexical; -- a new owner needs it at this moment only
ALTER FUNCTION lexical_search OWNER TO cited_lexical;
REVOKE CREATE ON SCHEMA public FROM cited_lexical;
REVOKE EXECUTE ON FUNCTION lexical_search FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lexical_search TO cited_app;

-- What 0090 could not fill in for such an owner.
INSERT INTO document_field (tenant_id, collection_id, document_id, key, number, text)
SELECT d.tenant_id, d.collection_id, d.document_id, f.key, f.number, f.text
FROM document d CROSS JOIN LATERAL metadata_fields(d.metadata) f
ON CONFLICT DO NOTHING;
ALTER TABLE collection FORCE ROW LEVEL SECURITY;
ALTER TABLE document FORCE ROW LEVEL SECURITY;
ALTER TABLE document_field FORCE ROW LEVEL SECURITY;

-- A profile's own function for the vector search is made when the service starts (src/store/profile.rs).
DO $$
DECLARE outdated regprocedure;
BEGIN
    FOR outdated IN SELECT oid FROM pg_proc WHERE proname LIKE 'nearest\_chunks\_%' LOOP
        EXECUTE 'DROP FUNCTION ' || outdated;
    END LOOP;
END $$;
