-- Asks that end at the same time share one write of their audit rows, and so one flush of the log.

DROP FUNCTION write_ask_audit(uuid, jsonb);

-- Writes rows of any tenants, given as an array of objects with the columns as members. A second row of the
-- same ask is left out.
CREATE FUNCTION write_ask_audit(in_rows jsonb) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM set_config('cited.queue_worker', 'on', true);
    INSERT INTO ask_audit SELECT * FROM jsonb_populate_recordset(NULL::ask_audit, in_rows)
    ON CONFLICT (tenant_id, ask_id) DO NOTHING;
END $$;

REVOKE EXECUTE ON FUNCTION write_ask_audit FROM PUBLIC;
GRANT EXECUTE ON FUNCTION write_ask_audit TO cited_app;
