-- Who brings documents may change the lists of those that it may see.
ALTER TABLE job ADD COLUMN maker_principals integer[]; -- numbers of the users and groups that made it; null where nothing is hidden from them
