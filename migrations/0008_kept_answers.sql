-- A kept answer is given only to who may see all that it was written from at that moment: the caller may have lost a right
-- while it waited for the answer of another ask.
DROP FUNCTION claim_answer(uuid, bytea, interval, uuid);

-- The answer to a question if it is kept, and else the claim to write it (with a lease), if nobody has that.
CREATE FUNCTION claim_answer(in_tenant uuid, in_key bytea, in_lease interval, in_ask uuid, in_caller integer[])
RETURNS TABLE (state text, answer jsonb)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE known answer_cache%ROWTYPE;
BEGIN
    PERFORM set_config('cited.tenant', in_tenant::text, true);
    SELECT * INTO known FROM answer_cache a WHERE a.tenant_id = in_tenant AND a.key = in_key AND a.expires_at > now();
    IF FOUND THEN
        IF known.answer IS NULL THEN
            RETURN QUERY SELECT 'pending', NULL::jsonb;
            RETURN;
        END IF;
        IF NOT EXISTS (
            SELECT FROM answer_source s
            LEFT JOIN document d ON d.tenant_id = s.tenant_id AND d.document_id = s.document_id
            WHERE s.tenant_id = in_tenant AND s.key = in_key
              AND (d.version IS DISTINCT FROM s.version OR NOT may_see(d.allowed, d.denied, in_caller))
        ) THEN
            RETURN QUERY SELECT 'ready', known.answer;
            RETURN;
        END IF;
        DELETE FROM answer_cache a WHERE a.tenant_id = in_tenant AND a.key = in_key AND a.answer IS NOT NULL;
    END IF;
    IF in_lease IS NULL THEN
        RETURN QUERY SELECT 'missing', NULL::jsonb;
        RETURN;
    END IF;
    INSERT INTO answer_cache AS a (tenant_id, key, created_at, expires_at, claimed_by)
    VALUES (in_tenant, in_key, now(), now() + in_lease, in_ask)
    ON CONFLICT (tenant_id, key) DO UPDATE
        SET answer = NULL, created_at = now(), expires_at = EXCLUDED.expires_at, claimed_by = EXCLUDED.claimed_by
        WHERE a.expires_at <= now();
    RETURN QUERY SELECT CASE WHEN FOUND THEN 'claimed' ELSE 'pending' END, NULL::jsonb;
END $$;

REVOKE EXECUTE ON FUNCTION claim_answer FROM PUBLIC;
GRANT EXECUTE ON FUNCTION claim_answer TO cited_app;
