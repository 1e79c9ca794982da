-- The best chunks by BM25, as before. Where documents are filtered, candidates are tested from the best downwards, until enough
-- have passed: a document is looked up for those that may be returned, and not for every chunk that holds a word.
CREATE OR REPLACE FUNCTION lexical_search(
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
    all_pass CONSTANT boolean := source_prefix IS NULL AND metadata_path IS NULL AND caller IS NULL;
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
            SELECT c.document_id, c.ordinal, c.bm25
            FROM (
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
                ORDER BY bm25 DESC, c.document_id, c.ordinal
                LIMIT CASE WHEN all_pass THEN max_rows END) c
            -- OFFSET keeps the planner from reading all documents at once.
            WHERE all_pass OR EXISTS (
                SELECT FROM document d WHERE d.tenant_id = this_tenant AND d.document_id = c.document_id
                    AND (source_prefix IS NULL OR starts_with(d.source, source_prefix))
                    AND (metadata_path IS NULL OR d.metadata @@ metadata_path::jsonpath)
                    AND may_see(d.allowed, d.denied, caller) OFFSET 0)
            ORDER BY c.bm25 DESC, c.document_id, c.ordinal
            LIMIT max_rows;
        rare := '{}';
    END LOOP;
END $$;
