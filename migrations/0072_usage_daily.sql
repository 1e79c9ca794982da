-- What a tenant's asks cost on a day, where the deployment limits that.

CREATE TABLE usage_daily (
    tenant_id      uuid    NOT NULL,
    day            date    NOT NULL,             -- in UTC; an ask counts for the day on which it came in
    cost_nano_usd  bigint  NOT NULL CONSTRAINT usage_daily_cost CHECK (cost_nano_usd >= 0), -- settled calls as they cost, others as reserved; billionths of a US dollar
    calls          bigint  NOT NULL,             -- model calls that were let through
    PRIMARY KEY (tenant_id, day)
) WITH (fillfactor = 50);

GRANT SELECT, INSERT, UPDATE, DELETE ON usage_daily TO cited_app;
ALTER TABLE usage_daily ENABLE ROW LEVEL SECURITY;
ALTER TABLE usage_daily FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON usage_daily TO cited_app
    USING (tenant_id = (SELECT NULLIF(current_setting('cited.tenant', true), '')::uuid));
-- Maintenance forgets old days of every tenant.
CREATE POLICY queue_worker ON usage_daily TO cited_app
    USING ((SELECT current_setting('cited.queue_worker', true)) = 'on');

-- Adds the most that a call may cost, unless the day would then cost more than the limit. The row is locked
-- from the comparison to the end of the statement's transaction, so that any number of processes keep the
-- limit together. Tells what the day has cost so far.
CREATE FUNCTION reserve_daily_cost(in_tenant uuid, in_day date, in_amount bigint, in_limit bigint)
RETURNS TABLE (is_reserved boolean, cost_nano_usd bigint)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
BEGIN
    PERFORM set_config('cited.tenant', in_tenant::text, true);
    RETURN QUERY
        INSERT INTO usage_daily AS u (tenant_id, day, cost_nano_usd, calls)
        SELECT in_tenant, in_day, in_amount, 1 WHERE in_amount <= in_limit
        ON CONFLICT (tenant_id, day) DO UPDATE
            SET cost_nano_usd = u.cost_nano_usd + EXCLUDED.cost_nano_usd, calls = u.calls + 1
            WHERE u.cost_nano_usd + EXCLUDED.cost_nano_usd <= in_limit
        RETURNING true, u.cost_nano_usd;
    IF NOT FOUND THEN
        RETURN QUERY SELECT false, COALESCE(
            (SELECT u.cost_nano_usd FROM usage_daily u WHERE u.tenant_id = in_tenant AND u.day = in_day), 0);
    END IF;
END $$;

-- Puts what calls really cost in place of what was reserved for them.
CREATE FUNCTION settle_daily_cost(in_tenant uuid, in_day date, in_reserved bigint, in_cost bigint) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM set_config('cited.tenant', in_tenant::text, true);
    UPDATE usage_daily SET cost_nano_usd = GREATEST(cost_nano_usd - in_reserved + in_cost, 0)
    WHERE tenant_id = in_tenant AND day = in_day;
END $$;

REVOKE EXECUTE ON FUNCTION reserve_daily_cost, settle_daily_cost FROM PUBLIC;
GRANT EXECUTE ON FUNCTION reserve_daily_cost, settle_daily_cost TO cited_app;
