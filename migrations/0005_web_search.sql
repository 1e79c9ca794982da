-- Whether questions to a collection may be sent to a search engine. Only somebody who may say so for everybody who asks
-- it turns this on: a question tells what its documents are about.
SET LOCAL lock_timeout = '5s';
ALTER TABLE collection ADD COLUMN web_search boolean NOT NULL DEFAULT false;
