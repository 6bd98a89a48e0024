-- Work that takes longer than a request. What was asked for, what it costs, and what came of it.
create table tasks (
  id text not null,
  account_id text not null,
  key_id text not null,
  -- The task that this one is a step of.
  parent_id text,
  type text not null,
  model text not null,
  state text not null,
  -- Where it is on its way, finer than its state and for nobody outside.
  phase text not null,
  progress smallint not null,
  -- Grows with every change that a caller can see.
  version integer not null,
  request jsonb not null,
  -- What it starts from: files of the account, and addresses.
  inputs jsonb not null,
  -- The price as it was when the task was made, and how much it may cost.
  terms jsonb not null,
  hold_id text,
  -- The ids of the files that it will make, so that making one again is no second one.
  output_ids text[] not null,
  output jsonb not null,
  warnings jsonb not null,
  error jsonb,
  charge bigint not null,
  units bigint not null,
  metadata jsonb,
  callback_url text,
  request_id text not null,
  client_request_id text,
  -- Where it was sent, and what the upstream calls it.
  target jsonb,
  provider_id text,
  handle jsonb,
  -- The targets that have failed it.
  tried jsonb not null,
  -- The provider that has no place for it yet.
  waits_for text,
  lost_at timestamptz,
  cancel_requested_at timestamptz,
  cancel_asked_at timestamptz,
  deadline_at timestamptz not null,
  created_at timestamptz not null,
  submitted_at timestamptz,
  started_at timestamptz,
  finished_at timestamptz,
  updated_at timestamptz not null,
  constraint tasks_id_unique primary key (id),
  constraint tasks_id_valid check (id like 'task\_%'),
  constraint tasks_type_valid check (type in ('image', 'video', 'avatar', 'drama', 'speech')),
  constraint tasks_progress_valid check (progress between 0 and 100 and (progress = 100) = (state = 'succeeded')),
  constraint tasks_charge_valid check (charge >= 0 and units >= 0),
  constraint tasks_error_complete check ((state = 'failed') = (error is not null)),
  constraint tasks_state_valid check (
    case state
      when 'queued' then phase in ('ready', 'submitting', 'unknown', 'running') and finished_at is null
      when 'processing' then phase in ('ready', 'submitting', 'unknown', 'running') and finished_at is null
      when 'succeeded' then phase = 'ended' and finished_at is not null
      when 'failed' then phase = 'ended' and finished_at is not null
      when 'canceled' then phase = 'ended' and finished_at is not null
      when 'expired' then phase = 'ended' and finished_at is not null
      else false
    end
  )
) with (fillfactor = 80);

create index tasks_by_account on tasks (account_id, id);
create index tasks_by_parent on tasks (parent_id) where parent_id is not null;
create index tasks_ready_by_model on tasks (model, id) where phase = 'ready';
create index tasks_by_provider on tasks (provider_id) where phase in ('submitting', 'unknown', 'running');
create index tasks_waiting_by_provider on tasks (waits_for, id) where waits_for is not null;
create index tasks_by_hold on tasks (hold_id) where phase <> 'ended';

-- Whose turn it is: one narrow row for each open task, because it is written with every look at the task.
create table task_turns (
  task_id text not null,
  -- When somebody has to look at the task next. Whoever does moves it on first, so that another takes over if they die.
  next_poll_at timestamptz not null,
  -- Grows with every claim; whoever has an older number has lost the task to another.
  claim integer not null,
  polls integer not null,
  constraint task_turns_task_unique primary key (task_id)
) with (fillfactor = 70);

create index task_turns_by_time on task_turns (next_poll_at);

-- How many open tasks an account or a key has, for their limits.
create table task_counts (
  owner_id text not null,
  open_tasks integer not null,
  constraint task_counts_owner_unique primary key (owner_id),
  constraint task_counts_valid check (open_tasks >= 0)
) with (fillfactor = 50);

-- A final state never changes, whatever comes later.
create function tasks_keep_final() returns trigger language plpgsql as $$
begin
  raise exception 'task % is % and cannot become %', old.id, old.state, new.state using errcode = 'check_violation';
end
$$;

create trigger tasks_final before update on tasks
  for each row when (old.phase = 'ended') execute function tasks_keep_final();

create trigger tasks_progress_grows before update on tasks
  for each row when (new.progress < old.progress) execute function tasks_keep_final();
