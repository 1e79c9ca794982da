//! The forms that some functions have in a database that is split up by tenants. Each is made from the function of the
//! migrations by exchanging a part of its text, so that there is one text to keep.

/// Sets the tenant of a transaction by a command, which goes to the nodes; a setting that is made by `set_config` stays where
/// it is made.
pub(super) const BIND_TENANT: &str = "CREATE OR REPLACE FUNCTION bind_tenant(in_tenant uuid) RETURNS uuid
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    EXECUTE format('SET LOCAL cited.tenant = %L', in_tenant);
    RETURN in_tenant;
END $$;
REVOKE EXECUTE ON FUNCTION bind_tenant FROM PUBLIC;
GRANT EXECUTE ON FUNCTION bind_tenant TO cited_app, cited_lexical";

/// Empties the pending lists of all shards of the index; the index of the table itself is empty.
pub(super) const SETTLE_LEXICAL_INDEX: &str = "CREATE OR REPLACE FUNCTION settle_lexical_index() RETURNS bigint
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp
AS $$
    SELECT COALESCE(sum(r.result::bigint) FILTER (WHERE r.success), 0)::bigint FROM run_command_on_shards('chunk', $command$
        SELECT COALESCE(sum(gin_clean_pending_list(i.indexrelid)), 0) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
        WHERE i.indrelid = '%s'::regclass AND starts_with(c.relname, 'chunk_terms')
    $command$) r
$$";

/// The part of [`SETTLE_LEXICAL_INDEX`] that tells it from the function of the migrations, and from one that failed where a server
/// is away.
pub(super) const SETTLES_SHARDS: &str = "FILTER (WHERE r.success)";

/// Parts of functions, and what stands in their place.
const EXCHANGED: [(&str, &str); 5] = [
    ("set_config('cited.tenant', in_tenant::text, true)::uuid", "bind_tenant(in_tenant)"),
    ("set_config('cited.tenant', in_tenant::text, true)", "bind_tenant(in_tenant)"),
    // A condition that tells the node. Without it no statement of the function could be sent to one.
    ("c.tenant_id IS NOT DISTINCT FROM this_tenant", "c.tenant_id = this_tenant"),
    // The same for the documents of the chunks.
    ("FROM document d WHERE d.tenant_id = c.tenant_id", "FROM document d WHERE d.tenant_id = this_tenant"),
    // A plan without values knows no node.
    ("SET plan_cache_mode TO 'force_generic_plan'", "SET plan_cache_mode TO 'force_custom_plan'"),
];

/// Returns the definition of a function of this form, or `None` if it has the form already.
pub(super) fn split_form(definition: &str) -> Option<String> {
    let form = EXCHANGED.iter().fold(definition.to_owned(), |text, (from, to)| text.replace(from, to));
    (form != definition).then_some(form)
}

#[cfg(test)]
mod tests {
    use super::split_form;

    #[test]
    fn a_function_is_exchanged_once() {
        let before = "… SET plan_cache_mode TO 'force_generic_plan' AS … t uuid := set_config('cited.tenant', in_tenant::text, true)::uuid; \
             WHERE c.tenant_id IS NOT DISTINCT FROM this_tenant AND EXISTS (SELECT FROM document d WHERE d.tenant_id = c.tenant_id)";
        let form = split_form(before).expect("another form");
        assert_eq!(
            form,
            "… SET plan_cache_mode TO 'force_custom_plan' AS … t uuid := bind_tenant(in_tenant); WHERE c.tenant_id = this_tenant \
             AND EXISTS (SELECT FROM document d WHERE d.tenant_id = this_tenant)"
        );
        assert_eq!(split_form(&form), None);
    }
}
