-- The cosine similarity of a query to chunks that were found by their words. Each is looked up by its document, never by reading
-- all vectors of an index, whatever the planner knows of a collection that was just filled: so the index is tested by IS TRUE, and
-- OFFSET 0 keeps it from a join. Chunks without a vector in one of the indexes are left out.
CREATE FUNCTION chunk_similarities(in_tenant uuid, in_indexes uuid[], in_documents uuid[], in_ordinals integer[],
                                   in_query halfvec)
RETURNS TABLE (document_id uuid, ordinal integer, similarity double precision)
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM set_config('cited.tenant', in_tenant::text, true);
    RETURN QUERY
        SELECT wanted.document_id, wanted.ordinal, 1 - (e.embedding <=> in_query)
        FROM UNNEST(in_documents, in_ordinals) AS wanted (document_id, ordinal)
        CROSS JOIN LATERAL (SELECT e.embedding FROM chunk_embedding e
            WHERE e.tenant_id = in_tenant AND e.document_id = wanted.document_id AND e.ordinal = wanted.ordinal
              AND (e.index_id = ANY (in_indexes)) IS TRUE OFFSET 0) e;
END $$;

REVOKE EXECUTE ON FUNCTION chunk_similarities FROM PUBLIC;
GRANT EXECUTE ON FUNCTION chunk_similarities TO cited_app;
