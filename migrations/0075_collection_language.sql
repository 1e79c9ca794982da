-- What the words of a collection are stemmed in, chosen when it is made.

-- An ISO 639-1 code or 'none'. Collections from before this column were analysed as English.
ALTER TABLE collection ADD COLUMN language text NOT NULL DEFAULT 'en';

-- A question needs it before it can look up its terms.
DROP FUNCTION find_collections(uuid, text[]);

CREATE FUNCTION find_collections(in_tenant uuid, in_names text[])
RETURNS TABLE (collection_id uuid, name text, language text, profile_id integer, average_length real,
               created_at timestamptz, model text, dimension integer, chunks bigint)
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM set_config('cited.tenant', in_tenant::text, true);
    RETURN QUERY
        SELECT c.collection_id, c.name, c.language, c.profile_id, c.average_length, c.created_at, p.model,
               p.dimension, COALESCE(s.chunks, 0)
        FROM collection c
        JOIN embedding_profile p ON p.profile_id = c.profile_id
        LEFT JOIN collection_statistic s ON s.tenant_id = c.tenant_id AND s.collection_id = c.collection_id
        WHERE c.tenant_id = in_tenant AND c.name = ANY (in_names);
END $$;

REVOKE EXECUTE ON FUNCTION find_collections FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_collections TO cited_app;
