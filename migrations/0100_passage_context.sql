-- What judges a passage may see the sentence that says how it relates to its document.

DROP FUNCTION find_passages(uuid, uuid[], integer[]);

-- Chunks with what a source shows of them and of their documents, and their context, which no source shows.
CREATE FUNCTION find_passages(in_tenant uuid, in_documents uuid[], in_ordinals integer[])
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
        JOIN chunk c ON c.tenant_id = in_tenant AND c.document_id = wanted.document_id AND c.ordinal = wanted.ordinal
        JOIN document d ON d.tenant_id = in_tenant AND d.document_id = c.document_id
        JOIN collection l ON l.tenant_id = in_tenant AND l.collection_id = c.collection_id;
END $$;

REVOKE EXECUTE ON FUNCTION find_passages FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_passages TO cited_app;
