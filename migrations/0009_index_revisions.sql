-- Changes with whatever a search of the index may find: a ranking that was made at one revision is right as long as the index
-- has it. Random, since a number would come again after a crash in which a commit was lost that a reader had seen.
ALTER TABLE index_statistic ADD COLUMN revision uuid NOT NULL DEFAULT gen_random_uuid();

CREATE FUNCTION renew_revision() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    NEW.revision := gen_random_uuid();
    RETURN NEW;
END $$;

-- Whoever changes chunks or vectors of an index writes its counters in the same transaction, with or without a change.
CREATE TRIGGER index_statistic_revision BEFORE UPDATE ON index_statistic FOR EACH ROW EXECUTE FUNCTION renew_revision();

DROP FUNCTION find_collections(uuid, text[]);

-- Collections by name, with their active index, its revision, how much there is in it, and whether it has a graph that can be
-- used: not one that is being built, or whose build was interrupted.
CREATE FUNCTION find_collections(in_tenant uuid, in_names text[])
RETURNS TABLE (collection_id uuid, index_id uuid, name text, language text, profile_id integer, created_at timestamptz,
               indexing text, is_restricted boolean, model text, dimension integer, revision uuid, chunks bigint,
               unembedded_chunks bigint, has_graph boolean)
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM set_config('cited.tenant', in_tenant::text, true);
    RETURN QUERY
        SELECT c.collection_id, c.index_id, c.name, c.language, i.profile_id, c.created_at, c.indexing,
               c.is_restricted, p.model, p.dimension, s.revision, s.chunks, s.unembedded_chunks,
               EXISTS (SELECT FROM pg_class g JOIN pg_index x ON x.indexrelid = g.oid AND x.indisvalid
                       WHERE g.relname = vector_graph_name(c.index_id) AND g.relnamespace = 'public'::regnamespace)
        FROM collection c
        JOIN collection_index i ON i.tenant_id = c.tenant_id AND i.index_id = c.index_id
        JOIN embedding_profile p ON p.profile_id = i.profile_id
        JOIN index_statistic s ON s.tenant_id = c.tenant_id AND s.index_id = c.index_id
        WHERE c.tenant_id = in_tenant AND c.name = ANY (in_names);
END $$;

REVOKE EXECUTE ON FUNCTION find_collections, renew_revision FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_collections TO cited_app;
