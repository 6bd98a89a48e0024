-- no transaction
-- Refused holds are forgotten a day later: the sweep finds them without reading the others, which are kept.
create index concurrently if not exists holds_refused_by_end on holds (resolved_at) where state = 'refused';
