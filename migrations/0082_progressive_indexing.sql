-- Documents that are found by their words before their vectors are made.

-- `complete`: a document is stored together with its vectors. `progressive`: it is stored as soon as it is split, and
-- its vectors follow.
ALTER TABLE collection ADD COLUMN indexing text NOT NULL DEFAULT 'complete' -- of requests that say nothing else
    CONSTRAINT collection_indexing CHECK (indexing IN ('complete', 'progressive'));
ALTER TABLE job ADD COLUMN indexing text NOT NULL DEFAULT 'complete'        -- of its documents
    CONSTRAINT job_indexing CHECK (indexing IN ('complete', 'progressive'));

-- What a search in the collection's active space cannot find. Written together with the chunks and vectors that it counts.
ALTER TABLE document             ADD COLUMN bare_chunks integer NOT NULL DEFAULT 0; -- its chunks without a vector in that space
ALTER TABLE collection_statistic ADD COLUMN bare_chunks bigint  NOT NULL DEFAULT 0; -- of all its documents

-- An item has two halves: up to the stored document, and its vectors. In the second it has no content any more.
ALTER TABLE job_item
    ADD COLUMN half           smallint NOT NULL DEFAULT 1, -- 1: the document is to be stored. 2: it is stored and found by its words, its
                                                           -- vectors are to be made; stays when the item ends
    ADD COLUMN stored_version integer;                     -- in the second half, version of the document whose vectors are to be made
ALTER TABLE job_tally
    ADD COLUMN searchable       bigint NOT NULL DEFAULT 0,  -- items that have only the first half behind them, failed and cancelled ones included
    ADD COLUMN searchable_bytes bigint NOT NULL DEFAULT 0;  -- of those that wait or run, content_bytes: content that is not kept any more

-- The halves are claimed apart: vectors wait until there is nothing to store, or have a worker of their own.
DROP INDEX job_item_queued;
CREATE INDEX job_item_queued ON job_item (half, position) WHERE state = 'queued';

-- As before, and with what is searchable. Claims and heartbeats still touch no tally.
CREATE OR REPLACE FUNCTION tally_job_items() RETURNS trigger LANGUAGE plpgsql AS $$
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
               COALESCE(sum(sign) FILTER (WHERE half_done), 0) AS searchable,
               COALESCE(sum(sign * content_bytes) FILTER (WHERE half_done AND NOT settled), 0) AS searchable_bytes
        FROM (SELECT *, state NOT IN ('queued', 'running') AS settled,
                     half = 2 AND state NOT IN ('succeeded', 'unchanged') AS half_done
              FROM (SELECT tenant_id, job_id, state, content_bytes, chunks, embedding_calls, half, 1 AS sign FROM new_items
                    UNION ALL
                    SELECT tenant_id, job_id, state, content_bytes, chunks, embedding_calls, half, -1 FROM old_items) both_sides) sides
        WHERE settled OR half_done
        GROUP BY tenant_id, job_id
        -- Claimed, given back, held longer: the two sides are equal.
        HAVING bool_or(settled) OR sum(sign) FILTER (WHERE half_done) <> 0
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

-- A question needs to know how much of a collection has vectors.
DROP FUNCTION find_collections(uuid, text[]);

CREATE FUNCTION find_collections(in_tenant uuid, in_names text[])
RETURNS TABLE (collection_id uuid, name text, language text, profile_id integer, average_length real,
               created_at timestamptz, indexing text, model text, dimension integer, chunks bigint, bare_chunks bigint)
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM set_config('cited.tenant', in_tenant::text, true);
    RETURN QUERY
        SELECT c.collection_id, c.name, c.language, c.profile_id, c.average_length, c.created_at, c.indexing, p.model,
               p.dimension, COALESCE(s.chunks, 0), COALESCE(s.bare_chunks, 0)
        FROM collection c
        JOIN embedding_profile p ON p.profile_id = c.profile_id
        LEFT JOIN collection_statistic s ON s.tenant_id = c.tenant_id AND s.collection_id = c.collection_id
        WHERE c.tenant_id = in_tenant AND c.name = ANY (in_names);
END $$;

REVOKE EXECUTE ON FUNCTION find_collections FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_collections TO cited_app;
