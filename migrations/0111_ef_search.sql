-- A profile's own function for the vector search is told how many vectors to keep in view; it is made when the service
-- starts (src/store/profile.rs).
DO $$
DECLARE outdated regprocedure;
BEGIN
    FOR outdated IN SELECT oid FROM pg_proc WHERE proname LIKE 'nearest\_chunks\_%' LOOP
        EXECUTE 'DROP FUNCTION ' || outdated;
    END LOOP;
END $$;
