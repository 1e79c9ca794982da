-- Pairs of terms that share their first term are looked up together: the index then reads that term's entries once,
-- not once for each pair. What is found, and all else, is as it was.
CREATE OR REPLACE FUNCTION lexical_search(
    in_tenant       uuid,
    in_collections  uuid[],
    rare_terms      integer[],   -- chunks with any of these are scored
    term_pairs      integer[],   -- flat, two by two: chunks with both terms of a pair are scored as well
    query           sparsevec,   -- idf weight of every term of the query
    metadata_path   text,        -- jsonpath predicate over document.metadata; this and what follows: null does not filter
    source_prefix   text,
    document_ids    uuid[],
    pages           integer[],
    max_rows        integer)
RETURNS TABLE (document_id uuid, ordinal integer, score real)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = public, pg_temp
SET enable_seqscan = off                -- fresh tables have no statistics yet; the GIN index is right at every size
AS $$
DECLARE
    this_tenant CONSTANT uuid := set_config('cited.tenant', in_tenant::text, true)::uuid;
    candidate text := format('c.terms && %L::integer[]', rare_terms);
    documents text := '';
    first integer;
    others integer[];
BEGIN
    FOR first, others IN
        SELECT term_pairs[place], array_agg(term_pairs[place + 1])
        FROM generate_series(1, cardinality(term_pairs), 2) AS place GROUP BY 1
    LOOP
        candidate := candidate || format(' OR c.terms @> %L::integer[] AND c.terms && %L::integer[]',
                                         ARRAY[first], others);
    END LOOP;
    IF source_prefix IS NOT NULL OR metadata_path IS NOT NULL THEN
        documents := 'JOIN document d ON d.tenant_id = c.tenant_id AND d.document_id = c.document_id
                          AND ($5 IS NULL OR starts_with(d.source, $5))
                          AND ($4 IS NULL OR d.metadata @@ $4::jsonpath)';
    END IF;
    RETURN QUERY EXECUTE
        -- IS NOT DISTINCT FROM cannot use the primary key, which would read the whole tenant.
        'SELECT c.document_id, c.ordinal, (-(c.weights <#> $3))::real AS bm25
         FROM chunk c ' || documents || '
         WHERE (' || candidate || ')
           AND c.tenant_id IS NOT DISTINCT FROM $1 AND c.collection_id = ANY ($2)
           AND ($6 IS NULL OR c.document_id = ANY ($6))
           AND ($7 IS NULL OR c.page = ANY ($7))
         ORDER BY bm25 DESC, c.document_id, c.ordinal
         LIMIT $8'
        USING this_tenant, in_collections, query, metadata_path, source_prefix, document_ids, pages, max_rows;
END $$;
