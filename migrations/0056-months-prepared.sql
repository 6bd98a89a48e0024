-- no transaction
-- What would take long under a lock is done before it: the rows are read once, and indexes are built beside traffic.
-- Older checks may be new, too, where several versions are made up for at once.
do $$ declare statement text; begin for statement in select format('alter table %s validate constraint %I', conrelid::regclass, conname) from pg_constraint where contype = 'c' and not convalidated and conrelid in ('tasks'::regclass, 'events'::regclass, 'deliveries'::regclass, 'delivery_attempts'::regclass, 'charges'::regclass) loop execute statement; end loop; end $$;

-- A delivery lies in the month of its event: so (event_id, lane) stays unique among pending ones, and both go together.
create unique index concurrently if not exists deliveries_by_id_and_event on deliveries (id, event_id);

-- Whose prompts are still there, the oldest first.
create index concurrently if not exists tasks_with_prompt on tasks (id) where prompt_erased_at is null;
