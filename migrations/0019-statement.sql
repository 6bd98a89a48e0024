-- What was charged is told by key as fast as by model: a join with every hold would be felt. What was charged before
-- learns its key from its hold, and for that one moment what is written is changed.
alter table charges add column key_id text;
alter table charges disable trigger charges_final;
update charges set key_id = holds.key_id from holds where holds.id = charges.hold_id and holds.key_id is not null;
alter table charges enable trigger charges_final;

-- A running balance is what the account's buckets had at a moment, those that are used up by now included. A bucket is
-- made rarely and never changes hands, so that no paid call feels this index.
create index buckets_by_account on buckets (account_id);
