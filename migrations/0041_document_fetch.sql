-- Documents that are fetched by URL: what makes the next fetch cheap. The ETag has had its column from the start.

ALTER TABLE document
    ADD COLUMN last_modified text,   -- of the HTTP response it came in, as the server wrote it
    ADD COLUMN request_hash  bytea;  -- SHA-256 of all but the content that decides the stored result. ETag and last_modified
                                     -- are sent only if it is the same again: "not modified" then means unchanged.
