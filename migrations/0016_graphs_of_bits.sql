-- A very large index has a graph of bits: of each number of a vector, whether it is low, middling or high among those of its
-- place. Such a graph is a third as large and takes less to build; its nearest are taken more generously, and compared exactly
-- by the vectors themselves.

-- The name of the graph of an index over bits.
CREATE FUNCTION vector_bits_name(in_index uuid) RETURNS name
LANGUAGE sql IMMUTABLE AS $$ SELECT ('chunk_embedding_bits_' || replace(in_index::text, '-', ''))::name $$;

-- The kind of the graph of an index that can be used, 'vectors' or 'bits': not one that is being built, or whose build was
-- interrupted. Where there are both, one is about to be dropped; that of vectors finds more.
CREATE FUNCTION vector_graph_kind(in_index uuid) RETURNS text
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (SELECT max(CASE g.relname WHEN vector_bits_name(in_index) THEN 'bits' ELSE 'vectors' END)
            FROM pg_class g JOIN pg_index x ON x.indexrelid = g.oid AND x.indisvalid
            WHERE g.relname IN (vector_graph_name(in_index), vector_bits_name(in_index))
              AND g.relnamespace = 'public'::regnamespace);
END $$;

-- The expression over chunk_embedding that the graph of an index over bits is made of, as its definition has it: what is low
-- and what is high is kept there and nowhere else. NULL if there is no such graph.
CREATE FUNCTION vector_bits_expression(in_index uuid) RETURNS text
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (SELECT pg_get_indexdef(x.indexrelid, 1, false)
            FROM pg_class g JOIN pg_index x ON x.indexrelid = g.oid
            WHERE g.relname = vector_bits_name(in_index) AND g.relnamespace = 'public'::regnamespace);
END $$;

DROP FUNCTION find_collections(uuid, text[]);

-- Collections by name, as before, with the kind of the graph that each has.
CREATE FUNCTION find_collections(in_tenant uuid, in_names text[])
RETURNS TABLE (collection_id uuid, index_id uuid, name text, language text, profile_id integer, created_at timestamptz,
               indexing text, is_restricted boolean, model text, dimension integer, revision uuid, chunks bigint,
               unembedded_chunks bigint, graph text)
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM set_config('cited.tenant', in_tenant::text, true);
    RETURN QUERY
        SELECT c.collection_id, c.index_id, c.name, c.language, i.profile_id, c.created_at, c.indexing,
               c.is_restricted, p.model, p.dimension, s.revision, s.chunks, s.unembedded_chunks,
               vector_graph_kind(c.index_id)
        FROM collection c
        JOIN collection_index i ON i.tenant_id = c.tenant_id AND i.index_id = c.index_id
        JOIN embedding_profile p ON p.profile_id = i.profile_id
        JOIN index_statistic s ON s.tenant_id = c.tenant_id AND s.index_id = c.index_id
        WHERE c.tenant_id = in_tenant AND c.name = ANY (in_names);
END $$;

DROP FUNCTION has_vector_graph(uuid);
DROP FUNCTION nearest_chunks(uuid, uuid[], integer[], uuid[], halfvec, integer);

-- The nearest chunks of each index, as before. A walk through a graph of bits takes as many as its list is long, and compares
-- those exactly; if the graph was dropped since its kind was told, the index is compared.
CREATE FUNCTION nearest_chunks(in_tenant uuid, in_walked uuid[], in_kinds text[], in_ef_searches integer[],
                               in_compared uuid[], in_query halfvec, max_rows integer)
RETURNS TABLE (document_id uuid, ordinal integer, similarity double precision)
LANGUAGE plpgsql VOLATILE
SET enable_sort = off
SET enable_seqscan = off
SET max_parallel_workers_per_gather = 0
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    compared uuid[] := in_compared;
    bits text;
    found_rows bigint;
BEGIN
    PERFORM set_config('cited.tenant', in_tenant::text, true);
    FOR i IN 1 .. cardinality(in_walked) LOOP
        PERFORM set_config('hnsw.ef_search', in_ef_searches[i]::text, true);
        found_rows := 0;
        IF in_kinds[i] = 'bits' THEN
            bits := vector_bits_expression(in_walked[i]);
            IF bits IS NOT NULL THEN
                RETURN QUERY EXECUTE format(
                    'SELECT n.document_id, n.ordinal, 1 - (n.embedding <=> $1) AS nearness FROM
                         (SELECT e.document_id, e.ordinal, e.embedding FROM chunk_embedding e
                          WHERE e.tenant_id = %L AND e.index_id = %L ORDER BY %s <~> %s LIMIT $3) n
                     ORDER BY nearness DESC LIMIT $2',
                    in_tenant, in_walked[i], bits, replace(bits, 'embedding', '$1'))
                    USING in_query, max_rows, GREATEST(in_ef_searches[i], max_rows);
                GET DIAGNOSTICS found_rows = ROW_COUNT;
            END IF;
        ELSE
            RETURN QUERY EXECUTE format(
                'SELECT e.document_id, e.ordinal, 1 - ((e.embedding::halfvec(%1$s)) <=> $1) FROM chunk_embedding e
                 WHERE e.tenant_id = %3$L AND e.index_id = %2$L ORDER BY (e.embedding::halfvec(%1$s)) <=> $1 LIMIT $2',
                vector_dims(in_query), in_walked[i], in_tenant)
                USING in_query, max_rows;
            GET DIAGNOSTICS found_rows = ROW_COUNT;
        END IF;
        IF found_rows < max_rows THEN
            compared := compared || in_walked[i];
        END IF;
    END LOOP;
    IF cardinality(compared) > 0 THEN
        RETURN QUERY
            SELECT e.document_id, e.ordinal, 1 - (e.embedding <=> in_query) AS nearness
            FROM chunk_embedding e
            WHERE e.tenant_id = in_tenant AND e.index_id = ANY (compared)
            ORDER BY nearness DESC, e.document_id, e.ordinal
            LIMIT max_rows;
    END IF;
END $$;

REVOKE EXECUTE ON FUNCTION vector_bits_name, vector_graph_kind, vector_bits_expression, find_collections, nearest_chunks
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION vector_bits_name, vector_graph_kind, vector_bits_expression, find_collections, nearest_chunks
    TO cited_app;
