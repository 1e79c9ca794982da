-- The maker of an upload may change the lists of the documents that it may see.
ALTER TABLE job ADD COLUMN maker_principals integer[]; -- numbers of the users and groups that made it; null where nothing is hidden from them
