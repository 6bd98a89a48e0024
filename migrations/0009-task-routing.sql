-- Limits of the tasks' submissions, and hints of vendors that a job has changed.

-- When the next task may be submitted to a place: an upstream model with a key after its `Retry-After`, or a provider or one of its
-- keys with a rate limit. A place without a row is open.
create table submission_times (
  place text collate "C" not null,
  next_at timestamptz not null,
  constraint submission_times_place_unique primary key (place)
) with (fillfactor = 70);

-- When the last step ended; null while a worker has the task.
alter table task_leases add column rested_at timestamptz;
-- A hint came while a worker had the task: it is due again this long after the step.
alter table task_leases add column hinted_after_ms integer;
