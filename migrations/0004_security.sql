-- Rights and row level security.
--
-- Requests are served as the role cited_app, which owns nothing. The queue is served as cited_worker, which has the same
-- rights and sees the rows of every tenant in the tables of the queue; it owns the function that writes the audit rows of
-- several tenants at once. Three roles own functions that look past the policies: cited_lexical a search, cited_keys the
-- look-up of a key and the list of tenants, cited_record the end of old security events. All are created before the migrations run (src/store/connect.rs).

-- Tables -------------------------------------------------------------------------------------------

GRANT USAGE ON SCHEMA public TO cited_app;
GRANT SELECT ON embedding_profile TO cited_app;
GRANT SELECT, INSERT, DELETE ON tenant TO cited_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON api_key TO cited_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON
    collection, collection_index, index_statistic, term_statistic,
    document, document_index, chunk, chunk_embedding,
    job, job_item, job_tally, job_stage, job_context, job_embedding, idempotency_key, webhook,
    usage_daily, answer_cache, answer_source TO cited_app;
-- Written once and never changed.
GRANT SELECT, INSERT, DELETE ON principal, document_reader, document_field, document_version, deleted_document, ask_audit, erasure TO cited_app;
-- Requests write security events through a function, and change or delete none.
GRANT SELECT ON security_event, security_event_waiting, security_seal TO cited_app;
GRANT INSERT ON security_event, security_event_waiting, security_seal TO cited_worker;
GRANT DELETE ON security_event_waiting TO cited_worker;
GRANT USAGE ON SEQUENCE job_item_position, job_item_fence TO cited_app;

-- Policies -----------------------------------------------------------------------------------------
--
-- The tenant of a transaction is the setting cited.tenant; without it no tenant-owned row is visible. The setting is read
-- in a scalar sub-select so that it is evaluated once per query and not once per row. FORCE binds the owner as well.

DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY[
        'tenant', 'api_key', 'principal', 'collection', 'collection_index', 'index_statistic', 'term_statistic',
        'document', 'document_index', 'document_field', 'document_reader', 'document_version', 'deleted_document', 'chunk', 'chunk_embedding',
        'job', 'job_item', 'job_tally', 'job_stage', 'job_context', 'job_embedding', 'idempotency_key', 'webhook',
        'ask_audit', 'usage_daily', 'answer_cache', 'answer_source', 'erasure',
        'security_event', 'security_event_waiting', 'security_seal'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY tenant_only ON %I TO cited_app
            USING (tenant_id = (SELECT NULLIF(current_setting(''cited.tenant'', true), '''')::uuid))', name);
    END LOOP;

    -- A worker serves the queue of every tenant, and maintenance forgets by age: both see the rows of these tables, and of
    -- these only, without a tenant.
    FOREACH name IN ARRAY ARRAY[
        'job', 'job_item', 'job_tally', 'job_stage', 'job_context', 'job_embedding', 'idempotency_key', 'webhook',
        'ask_audit', 'usage_daily', 'answer_cache',
        'security_event', 'security_event_waiting', 'security_seal'] LOOP
        EXECUTE format('CREATE POLICY queue_worker ON %I TO cited_worker USING (true)', name);
    END LOOP;
END $$;

-- Maintenance of vector graphs reads of every tenant which indexes there are and how many chunks they have, and no more.
CREATE POLICY maintenance ON collection_index FOR SELECT TO cited_worker USING (true);
CREATE POLICY maintenance ON index_statistic  FOR SELECT TO cited_worker USING (true);

-- Functions ----------------------------------------------------------------------------------------

-- lexical_search and seen_frequencies read past the policies, and apply the tenant themselves.
GRANT USAGE ON SCHEMA public TO cited_lexical;
GRANT SELECT ON chunk, document TO cited_lexical;
GRANT EXECUTE ON FUNCTION may_see TO cited_lexical;
CREATE POLICY lexical_search ON chunk    FOR SELECT TO cited_lexical USING (true);
CREATE POLICY lexical_search ON document FOR SELECT TO cited_lexical USING (true);
GRANT CREATE ON SCHEMA public TO cited_lexical; -- a new owner needs it at this moment only
ALTER FUNCTION lexical_search OWNER TO cited_lexical;
ALTER FUNCTION seen_frequencies OWNER TO cited_lexical;
REVOKE CREATE ON SCHEMA public FROM cited_lexical;

-- find_api_key finds the tenant that a key belongs to, and list_tenants lists all: neither can be bound to one.
GRANT USAGE ON SCHEMA public TO cited_keys;
GRANT SELECT ON api_key, tenant TO cited_keys;
CREATE POLICY find_api_key ON api_key FOR SELECT TO cited_keys USING (true);
CREATE POLICY list_tenants ON tenant FOR SELECT TO cited_keys USING (true);
GRANT CREATE ON SCHEMA public TO cited_keys;
ALTER FUNCTION find_api_key OWNER TO cited_keys;
ALTER FUNCTION list_tenants OWNER TO cited_keys;
REVOKE CREATE ON SCHEMA public FROM cited_keys;

-- write_ask_audit and write_security_events write the rows of several tenants.
GRANT CREATE ON SCHEMA public TO cited_worker;
ALTER FUNCTION write_ask_audit OWNER TO cited_worker;
ALTER FUNCTION write_security_events OWNER TO cited_worker;
REVOKE CREATE ON SCHEMA public FROM cited_worker;

-- Security events are deleted by these two functions, by age or with their tenant, and no other way.
GRANT USAGE ON SCHEMA public TO cited_record;
GRANT SELECT, DELETE ON security_event, security_event_waiting, security_seal TO cited_record;
GRANT SELECT ON tenant TO cited_record;
CREATE POLICY forget ON security_event         TO cited_record USING (true);
CREATE POLICY forget ON security_event_waiting TO cited_record USING (true);
CREATE POLICY forget ON security_seal          TO cited_record USING (true);
CREATE POLICY find_orphans ON tenant FOR SELECT TO cited_record USING (true);
GRANT CREATE ON SCHEMA public TO cited_record;
ALTER FUNCTION forget_security_events OWNER TO cited_record;
ALTER FUNCTION drop_orphaned_security_events OWNER TO cited_record;
REVOKE CREATE ON SCHEMA public FROM cited_record;

REVOKE EXECUTE ON FUNCTION
    lexical_search, seen_frequencies, settle_lexical_index, vector_graph_name, nearest_chunks, metadata_fields, may_see, find_collections, term_frequencies, find_passages,
    find_text_ranges, reserve_daily_cost, settle_daily_cost, claim_answer, keep_answer, release_answer, write_ask_audit, find_api_key, list_tenants,
    write_security_events, forget_security_events, drop_orphaned_security_events
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
    lexical_search, seen_frequencies, settle_lexical_index, vector_graph_name, nearest_chunks, metadata_fields, may_see, find_collections, term_frequencies, find_passages,
    find_text_ranges, reserve_daily_cost, settle_daily_cost, claim_answer, keep_answer, release_answer, write_ask_audit, find_api_key, list_tenants,
    write_security_events
    TO cited_app;
GRANT EXECUTE ON FUNCTION forget_security_events, drop_orphaned_security_events TO cited_worker;
