-- A claim on an answer belongs to the ask that made it: nobody else gives it up.
ALTER TABLE answer_cache ADD COLUMN claimed_by uuid;    -- the ask that writes the answer; of no meaning once it is there

DROP FUNCTION claim_answer(uuid, bytea, interval);
DROP FUNCTION release_answer(uuid, bytea);

-- Looks an answer up; if there is none, takes it upon the ask to write it, for so long. Says whether there is one
-- (ready), the ask is to write it (claimed), somebody writes it (pending), or neither was asked for (missing).
CREATE FUNCTION claim_answer(in_tenant uuid, in_key bytea, in_lease interval, in_ask uuid)
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
            WHERE s.tenant_id = in_tenant AND s.key = in_key AND d.version IS DISTINCT FROM s.version
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

-- Lets others write an answer that this ask took upon itself, if it did.
CREATE FUNCTION release_answer(in_tenant uuid, in_key bytea, in_ask uuid) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM set_config('cited.tenant', in_tenant::text, true);
    DELETE FROM answer_cache
    WHERE tenant_id = in_tenant AND key = in_key AND answer IS NULL AND claimed_by = in_ask;
END $$;

REVOKE EXECUTE ON FUNCTION claim_answer, release_answer FROM PUBLIC;
GRANT EXECUTE ON FUNCTION claim_answer, release_answer TO cited_app;
