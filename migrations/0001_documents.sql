-- The tables of tenants, keys, collections, documents and chunks. Those of jobs and asks are in 0002_jobs_and_asks.sql, functions and
-- triggers in 0003_functions.sql, rights and row level security in 0004_security.sql.
--
-- Conventions: a tenant-owned table has tenant_id first in its primary key, and a policy that shows a transaction the
-- rows of its own tenant only. All character ranges count Unicode code points. Ids are UUIDs of version 7, which sort by
-- time. Ids of jobs and the like that stand without a foreign key may outlive what they name.

CREATE EXTENSION IF NOT EXISTS vector;

-- Tenants, keys and models -------------------------------------------------------------------------

-- A customer of the deployment; everything else belongs to one.
CREATE TABLE tenant (
    tenant_id   uuid        PRIMARY KEY,
    name        text        NOT NULL CONSTRAINT tenant_name_unique UNIQUE, -- shown to operators only
    created_at  timestamptz NOT NULL DEFAULT now()
);
INSERT INTO tenant (tenant_id, name) VALUES ('00000000-0000-7000-8000-000000000001', 'default');

-- A key that opens the API for one tenant. Its secret is nowhere: only a code that the service can compare it with.
CREATE TABLE api_key (
    tenant_id      uuid        NOT NULL REFERENCES tenant,
    key_id         text        NOT NULL CONSTRAINT api_key_unique UNIQUE, -- part of the key as written; names it in lists and in the audit
    name           text        NOT NULL,         -- for people
    code           bytea       NOT NULL,         -- HMAC-SHA-256 of the key as written, under the pepper of the deployment
    former_code    bytea,                        -- the same of the key before its last rotation
    scopes         text[]      NOT NULL CONSTRAINT api_key_scopes CHECK (scopes <@ ARRAY['ask', 'ingest', 'read', 'admin'] AND scopes <> '{}'),
    collections    text[],                       -- names of the collections that it is limited to; null: all
    principals     text[]      NOT NULL DEFAULT '{}', -- users and groups that its holder is, as access control lists name them
    created_at     timestamptz NOT NULL,
    created_by     text,                         -- key_id of the key that made it; null where no key is needed
    rotated_at     timestamptz,                  -- last time that it got another secret
    grace_until    timestamptz,                  -- until then the former secret opens too
    expires_at     timestamptz,                  -- it opens until then; null: for ever
    revoked_at     timestamptz,                  -- since then it opens nothing
    last_used_at   timestamptz,                  -- to the minute
    PRIMARY KEY (tenant_id, key_id)
);

-- A user or a group that an access control list names. Lists are arrays of these numbers. Rows are never changed, and stay
-- when no list names them any more.
CREATE TABLE principal (
    tenant_id     uuid    NOT NULL REFERENCES tenant,
    principal_id  integer NOT NULL GENERATED ALWAYS AS IDENTITY,
    name          text    NOT NULL CONSTRAINT principal_name CHECK (name ~ '^(user|group):'), -- user:… or group:…
    PRIMARY KEY (tenant_id, principal_id),
    CONSTRAINT principal_name_unique UNIQUE (tenant_id, name)
);

-- A vector space: vectors of different profiles are never compared. Not tenant-owned: a model is the same space for
-- everybody (a reference table when the database is distributed).
CREATE TABLE embedding_profile (
    profile_id  integer     GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    model       text        NOT NULL,            -- model id as the provider knows it
    dimension   integer     NOT NULL CONSTRAINT embedding_profile_dimension CHECK (dimension BETWEEN 1 AND 4000), -- halfvec can be indexed up to 4,000
    distance    text        NOT NULL CONSTRAINT embedding_profile_distance CHECK (distance IN ('cosine')),
    created_at  timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT embedding_profile_space UNIQUE (model, dimension, distance)
);

-- Collections --------------------------------------------------------------------------------------

-- A named set of documents that are searched together.
CREATE TABLE collection (
    tenant_id      uuid        NOT NULL REFERENCES tenant,
    collection_id  uuid        NOT NULL,
    name           text        NOT NULL,         -- as in requests and URNs
    language       text        NOT NULL DEFAULT 'en',       -- ISO 639-1 code that its words are stemmed in, or 'none'
    indexing       text        NOT NULL DEFAULT 'complete'  -- of uploads that say nothing else. complete: a document is stored together
                                                            -- with its vectors. progressive: as soon as it is split, its vectors follow
        CONSTRAINT collection_indexing CHECK (indexing IN ('complete', 'progressive')),
    index_id       uuid        NOT NULL,         -- the active one, which is searched; its foreign key is below
    allowed        integer[],                    -- access control list that its new documents get, as in document
    denied         integer[]   NOT NULL DEFAULT '{}',
    is_restricted  boolean     NOT NULL DEFAULT false, -- whether a document of it may have had an access control list, now or before:
                                                 -- where not, nobody's searches are filtered by one
    created_at     timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, collection_id),
    CONSTRAINT collection_name_unique UNIQUE (tenant_id, name)
);

-- One way to make the documents of a collection searchable: how they are split, which sentences are written for their
-- chunks and which model embeds them; with the statistics of the chunks that come of it. A collection has the active one,
-- which is searched, and at most one next to it, which is being built or was active before.
CREATE TABLE collection_index (
    tenant_id            uuid        NOT NULL,
    index_id             uuid        NOT NULL,   -- also the salt of its term ids; the first one of a collection has the collection's id
    collection_id        uuid        NOT NULL,
    splitter             jsonb       NOT NULL,   -- settings as requests have them: {"kind", "unit", "size", "overlap"}
    context              jsonb,                  -- settings as requests have them: {"on_failure"}. Null: no sentences are asked for
    profile_id           integer     NOT NULL REFERENCES embedding_profile, -- the vector space of its chunks
    job_id               uuid,                   -- latest job that was asked to build it from stored documents; null where none was
    created_at           timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, index_id),
    FOREIGN KEY (tenant_id, collection_id) REFERENCES collection ON DELETE CASCADE
);
CREATE INDEX collection_index_collection ON collection_index (tenant_id, collection_id);
-- Each names the other, so one of the two keys is checked at the end of the transaction.
ALTER TABLE collection
    ADD CONSTRAINT collection_active_index FOREIGN KEY (tenant_id, index_id) REFERENCES collection_index DEFERRABLE INITIALLY DEFERRED;

-- Counters of an index, apart from it so that ingest never updates the row that every query reads.
CREATE TABLE index_statistic (
    tenant_id          uuid   NOT NULL,
    index_id           uuid   NOT NULL,
    documents          bigint NOT NULL DEFAULT 0, -- that have chunks in it
    chunks             bigint NOT NULL DEFAULT 0, -- BM25's N
    unembedded_chunks  bigint NOT NULL DEFAULT 0, -- chunks without a vector yet: found by their words only
    PRIMARY KEY (tenant_id, index_id),
    FOREIGN KEY (tenant_id, index_id) REFERENCES collection_index ON DELETE CASCADE
) WITH (fillfactor = 50);

-- How many chunks of an index hold a term. A term that no chunk holds has no row, or zero.
CREATE TABLE term_statistic (
    tenant_id           uuid    NOT NULL,
    index_id            uuid    NOT NULL,
    term_id             integer NOT NULL,        -- hash of (index, stem), 1 to 1,000,000,000
    document_frequency  integer NOT NULL,        -- chunks with the term
    PRIMARY KEY (tenant_id, index_id, term_id),
    FOREIGN KEY (tenant_id, index_id) REFERENCES collection_index ON DELETE CASCADE
) WITH (fillfactor = 80);

-- Documents ----------------------------------------------------------------------------------------

-- One document in its current version, as the active index has it.
CREATE TABLE document (
    tenant_id      uuid        NOT NULL,
    document_id    uuid        NOT NULL,         -- kept over versions; part of the URN
    collection_id  uuid        NOT NULL,
    source         text        NOT NULL,         -- the caller's own name for it, unique in its collection
    uri            text        NOT NULL,         -- where it was read from; the source when the caller gave nothing else
    loader         text        NOT NULL,         -- how it came: json, multipart, sample, …
    attached_to    text,                         -- source of the message that it was found in, also where other messages are between
                                                 -- them; it goes with that. Null: it was handed in by itself
    fetched_at     timestamptz NOT NULL,         -- when it was handed in or fetched
    etag           text,                         -- of the HTTP response it came in, where there was one
    last_modified  text,                         -- of the HTTP response it came in, as the server wrote it
    request_hash   bytea,                        -- SHA-256 of all but the content that decides the stored result. etag and last_modified
                                                 -- are sent only if it is the same again: "not modified" then means unchanged
    content_hash   bytea       NOT NULL,         -- SHA-256 of the bytes as handed in
    fingerprint    bytea       NOT NULL,         -- SHA-256 of everything that decides the stored result; equal = unchanged
    title          text        NOT NULL,
    media_type     text        NOT NULL,
    metadata       jsonb       NOT NULL,         -- caller's own object; filters look here
    text           text        NOT NULL,         -- extracted text; ranges of chunks and quotes point into it
    characters     integer     NOT NULL,         -- length of text in code points
    layout         jsonb       NOT NULL,         -- what splitting needs beside the text: {"v", "given_title", "found_title", "declared",
                                                 -- "requested", "splitter", "headings", "pages"}; headings and pages by byte offsets into text
    version        integer     NOT NULL,         -- from 1, plus one per replacement; part of the URN
    position       bigint      NOT NULL,         -- job_item.position it came from: an older upload never overwrites a newer one
    chunks         integer     NOT NULL CONSTRAINT document_has_chunks CHECK (chunks > 0), -- zero chunks is a failure, never a document
    unembedded_chunks integer  NOT NULL DEFAULT 0, -- its chunks without a vector, which a vector search cannot find; written together
                                                 -- with the chunks and vectors that it counts
    allowed        integer[],                    -- principals that may see it; null: everybody of the tenant
    denied         integer[]   NOT NULL DEFAULT '{}', -- principals that may not, whatever else they are; may_see applies both
    created_at     timestamptz NOT NULL,         -- of version 1
    updated_at     timestamptz NOT NULL,         -- of this version
    PRIMARY KEY (tenant_id, document_id),
    CONSTRAINT document_source_unique UNIQUE (tenant_id, collection_id, source),
    FOREIGN KEY (tenant_id, collection_id) REFERENCES collection ON DELETE CASCADE
);
-- The same bytes under another name.
CREATE INDEX document_content ON document (tenant_id, content_hash);
-- What was found in a message.
CREATE INDEX document_attached ON document (tenant_id, collection_id, attached_to) WHERE attached_to IS NOT NULL;
-- A collection's documents in random order: the last 32 bits of our version 7 UUIDs are random (RFC 9562, 5.7; the bits
-- before them count).
CREATE INDEX document_sample ON document (tenant_id, collection_id, "right"(document_id::text, 8));
-- Sources by how they start, whatever the collation of the database.
CREATE INDEX document_source_start ON document (tenant_id, collection_id, source COLLATE "C");

-- Documents that everybody may see, of a collection in which others are restricted.
CREATE INDEX document_open ON document (tenant_id, collection_id, document_id) WHERE allowed IS NULL;

-- The principals that may see a document, one row for each; none where everybody may. It finds documents that a caller may
-- see; whether the caller may is decided by document itself, which knows denials too. Written by a trigger.
CREATE TABLE document_reader (
    tenant_id      uuid    NOT NULL,
    collection_id  uuid    NOT NULL,             -- repeated from document: readers are looked up in a collection
    document_id    uuid    NOT NULL,
    principal_id   integer NOT NULL,
    PRIMARY KEY (tenant_id, document_id, principal_id),
    FOREIGN KEY (tenant_id, document_id) REFERENCES document ON DELETE CASCADE
);
CREATE INDEX document_reader_of ON document_reader (tenant_id, collection_id, principal_id, document_id);

-- A document as the index next to the active one has it. The active one's values stand in document.
CREATE TABLE document_index (
    tenant_id     uuid    NOT NULL,
    document_id   uuid    NOT NULL,
    index_id      uuid    NOT NULL,
    version       integer NOT NULL,              -- of the document that was split; with any other the chunks here are out of date. 0: vectors are missing
    fingerprint   bytea   NOT NULL,              -- as document.fingerprint, with the settings of this index
    request_hash  bytea,                         -- as document.request_hash
    chunks        integer NOT NULL CONSTRAINT document_index_has_chunks CHECK (chunks > 0),
    PRIMARY KEY (tenant_id, document_id, index_id),
    FOREIGN KEY (tenant_id, document_id) REFERENCES document ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, index_id) REFERENCES collection_index ON DELETE CASCADE
);
CREATE INDEX document_index_of ON document_index (tenant_id, index_id);

-- The values of a document's metadata, one row for each key and, of an array, each element. It finds documents that may
-- pass a filter; whether they do is decided by document.metadata itself, so long texts may be cut here.
CREATE TABLE document_field (
    tenant_id      uuid             NOT NULL,
    collection_id  uuid             NOT NULL,    -- repeated from document: a filter is looked up in a collection
    document_id    uuid             NOT NULL,
    key            text COLLATE "C" NOT NULL,    -- of the metadata object, its first 256 characters
    number         double precision,             -- value of a number, else null
    text           text COLLATE "C",             -- first 256 characters of a string, or true or false; null for all else
    FOREIGN KEY (tenant_id, document_id) REFERENCES document ON DELETE CASCADE
);
-- Holds all that a look-up needs. A string has no number, so both kinds are found by a prefix of the index.
CREATE INDEX document_field_value ON document_field (tenant_id, collection_id, key, number, text, document_id);
CREATE INDEX document_field_document ON document_field (tenant_id, document_id);

-- A version that was replaced, so that citations of it still resolve. It goes with its document. Written by a trigger.
CREATE TABLE document_version (
    tenant_id      uuid        NOT NULL,
    document_id    uuid        NOT NULL,
    version        integer     NOT NULL,
    source         text        NOT NULL,         -- these five as they were in document
    uri            text        NOT NULL,
    title          text        NOT NULL,
    content_hash   bytea       NOT NULL,
    text           text        NOT NULL,
    chunks         jsonb       NOT NULL,         -- array by ordinal of [start_char, end_char, page, heading, table_header]; the text at a range is the chunk's
    stored_at      timestamptz NOT NULL,         -- when this version was stored
    superseded_at  timestamptz NOT NULL,         -- when the next one was
    PRIMARY KEY (tenant_id, document_id, version),
    FOREIGN KEY (tenant_id, document_id) REFERENCES document ON DELETE CASCADE
);

-- That there was a document which was deleted, and nothing of its content. Written by a trigger.
CREATE TABLE deleted_document (
    tenant_id    uuid        NOT NULL,
    document_id  uuid        NOT NULL,
    version      integer     NOT NULL,           -- its last one
    deleted_at   timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, document_id)
);

-- Chunks -------------------------------------------------------------------------------------------

-- A passage of a document: the unit that is found and cited.
CREATE TABLE chunk (
    tenant_id      uuid     NOT NULL,
    document_id    uuid     NOT NULL,
    index_id       uuid     NOT NULL,            -- candidates are checked by it without a join; a document may have chunks in two of them
    ordinal        integer  NOT NULL,            -- from 0, in text order; part of the URN
    weights        sparsevec(1000000000) NOT NULL, -- BM25 document-side weight per term id; before the text, because a
                                                 -- lexical search reads it from every candidate and must not skip over text to it
    start_char     integer  NOT NULL,            -- range in document.text, end exclusive
    end_char       integer  NOT NULL,
    page           integer,                      -- from 1, where the format has pages
    heading        jsonb    NOT NULL,            -- heading path in force for all of it: array of strings, outermost first
    table_header   text,                         -- caption and header of the table that it begins in, where they stand in an earlier
                                                 -- chunk; embedded and indexed, no part of text
    splitter       text     NOT NULL,            -- which splitter made it, with its settings
    chunkers       text[]   NOT NULL,            -- chunkers applied after the splitter, in order
    tokens         integer  NOT NULL,            -- by the embedder's tokenizer, of text alone
    text           text     NOT NULL,            -- document.text at the range
    context        text,                         -- sentence that places the chunk in its document; embedded and indexed, never quoted
    context_key    bytea,                        -- what that sentence was written for: SHA-256 of prompt version, models, title, heading path,
                                                 -- text, and how many chunks before it in the document are just so. Found again by it
                                                 -- when the document comes again
    terms          integer[] NOT NULL,           -- distinct term ids, ascending
    PRIMARY KEY (tenant_id, document_id, index_id, ordinal),
    FOREIGN KEY (tenant_id, document_id) REFERENCES document ON DELETE CASCADE
);
-- Candidates of a lexical query. Term ids are salted by index, so a posting list never mixes two.
-- New entries wait in a pending list, which makes ingest five times cheaper; every search reads that
-- list whole, so it is kept short, and emptied when the queue is (settle_lexical_index).
CREATE INDEX chunk_terms ON chunk USING gin (terms) WITH (gin_pending_list_limit = 1024);
-- Chunks by page.
CREATE INDEX chunk_page ON chunk (tenant_id, index_id, page, document_id) WHERE page IS NOT NULL;

-- The vector of a chunk, in the vector space of its index. A large index has an HNSW graph over its own vectors alone,
-- which maintenance makes and drops (src/store/collections/vector_graphs.rs); the vectors of others are compared whole.
CREATE TABLE chunk_embedding (
    tenant_id       uuid    NOT NULL,
    document_id     uuid    NOT NULL,
    index_id        uuid    NOT NULL,            -- a filtered vector scan checks it without a join
    ordinal         integer NOT NULL,
    profile_id      integer NOT NULL REFERENCES embedding_profile, -- repeated from collection_index: vectors are used again within it
    embedding_hash  bytea   NOT NULL,            -- SHA-256 of the embedded text; equal text is never embedded twice
    embedding       halfvec NOT NULL,            -- unit length, profile's dimension
    PRIMARY KEY (tenant_id, document_id, index_id, ordinal),
    FOREIGN KEY (tenant_id, document_id, index_id, ordinal) REFERENCES chunk ON DELETE CASCADE
);
-- Re-use of vectors by content.
CREATE INDEX chunk_embedding_reuse ON chunk_embedding (tenant_id, profile_id, embedding_hash);
-- All vectors of an index, and no others: a comparison of all reads just these rows.
CREATE INDEX chunk_embedding_index ON chunk_embedding (tenant_id, index_id);
