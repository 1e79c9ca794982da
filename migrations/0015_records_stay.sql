-- The record of asks is written once: the role that serves requests deletes nothing of it. Rows go by age (cited_worker), with
-- the documents that they were answered from (erase_asks), or with their tenant (drop_orphaned_security_events).
-- So are the receipts of erasures, which go with their tenant.

REVOKE DELETE ON erasure FROM cited_app;
ALTER TABLE erasure DROP CONSTRAINT erasure_tenant_id_fkey;
ALTER TABLE erasure ADD CONSTRAINT erasure_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant ON DELETE CASCADE;

REVOKE DELETE ON ask_audit FROM cited_app;
GRANT DELETE ON ask_audit TO cited_worker;

-- Deletes the asks of the tenant of the transaction that were answered from erased documents, and returns their number. in_parts
-- are texts that stand in the URNs of their passages: /document@ or cited:collection/. Owned by cited_worker.
CREATE FUNCTION erase_asks(in_tenant uuid, in_parts text[]) RETURNS bigint
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH erased AS (
        DELETE FROM ask_audit a
        WHERE a.tenant_id = in_tenant AND in_tenant = NULLIF(current_setting('cited.tenant', true), '')::uuid
          AND EXISTS (SELECT FROM unnest(in_parts) AS part
                      WHERE (part LIKE '/%@' OR part LIKE 'cited:_%/') -- others might stand in every URN
                        AND (strpos(array_to_string(a.sources, ' '), part) > 0 OR strpos(a.grades::text, part) > 0))
        RETURNING 1)
    SELECT count(*) FROM erased;
$$;
GRANT CREATE ON SCHEMA public TO cited_worker; -- a new owner needs it at this moment only
ALTER FUNCTION erase_asks OWNER TO cited_worker;
REVOKE CREATE ON SCHEMA public FROM cited_worker;
REVOKE EXECUTE ON FUNCTION erase_asks FROM PUBLIC;
GRANT EXECUTE ON FUNCTION erase_asks TO cited_app;

GRANT SELECT, DELETE ON ask_audit TO cited_record;
CREATE POLICY forget ON ask_audit TO cited_record USING (true);

-- Deletes the events, seals and asks of tenants that do not exist any more; owned by cited_record.
CREATE OR REPLACE FUNCTION drop_orphaned_security_events() RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    orphans uuid[];
BEGIN
    WITH RECURSIVE known AS ( -- a step of the index per tenant, not per event
        (SELECT e.tenant_id FROM security_event e ORDER BY e.tenant_id LIMIT 1)
        UNION ALL
        SELECT (SELECT e.tenant_id FROM security_event e WHERE e.tenant_id > k.tenant_id ORDER BY e.tenant_id LIMIT 1)
        FROM known k WHERE k.tenant_id IS NOT NULL)
    SELECT array_agg(k.tenant_id) INTO orphans FROM known k
    WHERE k.tenant_id <> '00000000-0000-0000-0000-000000000000' AND NOT EXISTS (SELECT FROM tenant t WHERE t.tenant_id = k.tenant_id);
    -- A tenant whose events were forgotten may have asks.
    WITH RECURSIVE known AS (
        (SELECT a.tenant_id FROM ask_audit a ORDER BY a.tenant_id LIMIT 1)
        UNION ALL
        SELECT (SELECT a.tenant_id FROM ask_audit a WHERE a.tenant_id > k.tenant_id ORDER BY a.tenant_id LIMIT 1)
        FROM known k WHERE k.tenant_id IS NOT NULL)
    SELECT orphans || array_agg(k.tenant_id) INTO orphans FROM known k
    WHERE k.tenant_id IS NOT NULL AND NOT EXISTS (SELECT FROM tenant t WHERE t.tenant_id = k.tenant_id);
    DELETE FROM ask_audit a WHERE a.tenant_id = ANY (orphans);
    DELETE FROM security_event e WHERE e.tenant_id = ANY (orphans);
    DELETE FROM security_event_waiting w WHERE w.tenant_id = ANY (orphans);
    DELETE FROM security_seal s WHERE s.tenant_id = ANY (orphans);
END
$$;
