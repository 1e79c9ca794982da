-- Stretches of documents' texts, in the order asked for; null where the document is gone or has
-- another version by now. Like the reads in 0001 it sets the tenant itself: one round trip.
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
