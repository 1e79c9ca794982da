-- The cosine similarity of a query to chunks that were found by their words, each looked up by its whole key: OFFSET 0 keeps the
-- planner from reading a collection that was just filled as a whole. Chunks without a vector are left out.
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
            WHERE e.tenant_id = in_tenant AND e.document_id = wanted.document_id AND e.index_id = ANY (in_indexes)
              AND e.ordinal = wanted.ordinal OFFSET 0) e;
END $$;

REVOKE EXECUTE ON FUNCTION chunk_similarities FROM PUBLIC;
GRANT EXECUTE ON FUNCTION chunk_similarities TO cited_app;
