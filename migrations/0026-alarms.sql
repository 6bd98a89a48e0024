-- Alarms: what the rules found, who took care of it, and what was reported (docs/operating/alarms.md).

-- What operators changed about a rule. Rules without a row have their defaults.
create table alarm_rules (
  rule text not null,
  is_on boolean not null,
  -- Null: the rule's default.
  threshold double precision,
  changed_at timestamptz not null,
  changed_by text not null,
  constraint alarm_rules_unique primary key (rule)
);

-- The last reading of each rule.
create table alarm_checks (
  rule text not null,
  checked_at timestamptz not null,
  -- The worst value and its subject; null without any.
  value double precision,
  subject text,
  -- Why the rule could not be read.
  trouble text,
  constraint alarm_checks_unique primary key (rule)
);

-- One row from the moment a rule is met for a subject until it is no longer.
create table alarms (
  id text collate "C" not null,
  rule text not null,
  subject text not null,
  state text not null,
  value double precision not null,
  message text not null,
  began_at timestamptz not null,
  -- When the rule was last met.
  met_at timestamptz not null,
  silenced_until timestamptz,
  ended_at timestamptz,
  constraint alarms_unique primary key (id),
  constraint alarms_id_valid check (id like 'alarm\_%'),
  constraint alarms_state_valid check (
    case state
      when 'pending' then num_nonnulls(silenced_until, ended_at) = 0
      when 'firing' then num_nonnulls(silenced_until, ended_at) = 0
      when 'acknowledged' then num_nonnulls(silenced_until, ended_at) = 0
      when 'silenced' then silenced_until is not null and ended_at is null
      when 'resolved' then silenced_until is null and ended_at is not null
      else false
    end
  )
);

create unique index alarms_open_once on alarms (rule, subject) where state <> 'resolved';

-- The history of an alarm.
create table alarm_events (
  alarm_id text collate "C" not null,
  number integer not null,
  kind text not null,
  state text not null,
  actor text not null,
  note text,
  created_at timestamptz not null,
  constraint alarm_events_unique primary key (alarm_id, number),
  constraint alarm_events_alarm_exists foreign key (alarm_id) references alarms (id) on delete cascade
);

-- One row per transition and channel, committed with the transition, so each is reported once.
create table alarm_notifications (
  id text collate "C" not null,
  alarm_id text collate "C" not null,
  channel text not null,
  facts jsonb not null,
  state text not null,
  attempts integer not null default 0,
  due_at timestamptz not null,
  created_at timestamptz not null,
  ended_at timestamptz,
  trouble text,
  constraint alarm_notifications_unique primary key (id),
  constraint alarm_notifications_alarm_exists foreign key (alarm_id) references alarms (id) on delete cascade,
  constraint alarm_notifications_channel_valid check (channel in ('mail', 'webhook', 'slack')),
  constraint alarm_notifications_state_valid check (
    case state
      when 'waiting' then ended_at is null
      when 'sent' then ended_at is not null
      when 'failed' then ended_at is not null
      else false
    end
  )
);

create index alarm_notifications_by_alarm on alarm_notifications (alarm_id);
create index alarm_notifications_due on alarm_notifications (due_at) where state = 'waiting';

-- Complete backups that commands have made, for the alarm about old ones.
create table backup_runs (
  id text collate "C" not null,
  kind text not null,
  finished_at timestamptz not null,
  constraint backup_runs_unique primary key (id),
  constraint backup_runs_kind_valid check (kind in ('full', 'base'))
);

-- Frozen accounts are rare, and counted every minute.
create index wallets_frozen on wallets (frozen_at) where frozen_at is not null;
