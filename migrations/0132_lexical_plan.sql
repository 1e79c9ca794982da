-- The lexical search is planned once for each connection, not once for each question: what differs between questions
-- are values, and so is which chunks are looked at. Pairs of terms come by the term that they share: one in
-- `pair_heads`, and the others in ten places of `pair_others`, repeated where there are fewer. Ten such groups are
-- looked up by one statement; of what needs more statements, a chunk may be returned by each.
DROP FUNCTION lexical_search(uuid, uuid[], integer[], integer[], sparsevec, text, text, uuid[], integer[], integer);

CREATE FUNCTION lexical_search(
    in_tenant       uuid,
    in_collections  uuid[],
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
        -- IS NOT DISTINCT FROM cannot use the primary key, which would read the whole tenant.
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
              AND c.tenant_id IS NOT DISTINCT FROM this_tenant AND c.collection_id = ANY (in_collections)
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
