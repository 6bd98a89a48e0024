-- The status page: calls and failures counted from the request log, and incidents that operators write.

-- Calls of five minutes. `model` and `endpoint` are what customers see; `upstream` is for operators' alarms.
create table traffic_slots (
  slot_at timestamptz not null,
  kind text not null,
  subject text not null,
  calls bigint not null,
  failed bigint not null,
  constraint traffic_slots_unique primary key (slot_at, kind, subject),
  constraint traffic_slots_kind_valid check (kind in ('model', 'endpoint', 'upstream')),
  constraint traffic_slots_valid check (calls > 0 and failed between 0 and calls)
);

-- The same per day (UTC), for 90 days of bars.
create table traffic_days (
  -- Such as 2027-01-31.
  day text not null,
  kind text not null,
  subject text not null,
  calls bigint not null,
  failed bigint not null,
  constraint traffic_days_unique primary key (day, kind, subject),
  constraint traffic_days_day_valid check (day ~ '^\d{4}-\d{2}-\d{2}$'),
  constraint traffic_days_kind_valid check (kind in ('model', 'endpoint')),
  constraint traffic_days_valid check (calls > 0 and failed between 0 and calls)
);

-- How far calls are counted. `run_at` is the last run: after a gap, calls of the outage may still be written.
create table traffic_progress (
  is_only boolean not null default true,
  counted_until timestamptz not null,
  run_at timestamptz not null,
  constraint traffic_progress_unique primary key (is_only),
  constraint traffic_progress_only check (is_only)
);

create table incidents (
  id text collate "C" not null,
  title text not null,
  state text not null,
  -- Empty: the whole service.
  model_ids text[] not null,
  began_at timestamptz not null,
  changed_at timestamptz not null,
  ended_at timestamptz,
  constraint incidents_unique primary key (id),
  constraint incidents_id_valid check (id like 'inc\_%'),
  constraint incidents_state_valid check (
    case state
      when 'investigating' then ended_at is null
      when 'identified' then ended_at is null
      when 'monitoring' then ended_at is null
      when 'resolved' then ended_at is not null
      else false
    end
  ),
  constraint incidents_title_valid check (length(title) between 1 and 200)
);

create index incidents_by_change on incidents (changed_at);

create table incident_updates (
  incident_id text collate "C" not null,
  number integer not null,
  state text not null,
  message text not null,
  created_at timestamptz not null,
  created_by text not null,
  constraint incident_updates_unique primary key (incident_id, number),
  constraint incident_updates_incident_exists foreign key (incident_id) references incidents (id),
  constraint incident_updates_message_valid check (length(message) between 1 and 5000)
);
