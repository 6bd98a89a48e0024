-- Tasks, events, deliveries, their attempts and charges become partitions by month (0057). Ids begin with their time, so that a month
-- is a range of ids. What is there by now will be everything before a month that is at least four weeks away: a gateway that
-- writes meanwhile, of whichever version, stays well before it.
create function least_id(prefix text, moment timestamptz) returns text language sql immutable parallel safe as $$
  select prefix || '_' || string_agg(
    substr('0123456789abcdefghjkmnpqrstvwxyz', ((floor(extract(epoch from moment) * 1000)::bigint >> (5 * (9 - place))) & 31)::integer + 1, 1),
    '' order by place)
  from generate_series(0, 9) as place
$$;

-- When what a task was asked for was erased, because it is no longer kept.
alter table tasks add column prompt_erased_at timestamptz;

-- What is final stays as it is, but for what it was asked for, which may be erased.
create or replace function tasks_keep_final() returns trigger language plpgsql as $$
begin
  if old.prompt_erased_at is null and new.prompt_erased_at is not null
    and to_jsonb(new) - '{request,inputs,prompt_erased_at}'::text[] = to_jsonb(old) - '{request,inputs,prompt_erased_at}'::text[]
  then return new; end if;
  raise exception 'task % is % and cannot become %', old.id, old.state, new.state using errcode = 'check_violation';
end
$$;

do $$
declare
  begins_at timestamptz = (date_trunc('month', now() at time zone 'UTC') + interval '2 months') at time zone 'UTC';
  monthly record;
begin
  for monthly in values ('tasks', 'id', 'task'), ('events', 'id', 'evt'), ('deliveries', 'event_id', 'evt'), ('delivery_attempts', 'delivery_id', 'dlv'),
    ('charges', 'id', 'txn')
  loop
    execute format('alter table %I add constraint %I check (%I < %L) not valid',
      monthly.column1, monthly.column1 || '_before_months', monthly.column2, least_id(monthly.column3, begins_at));
  end loop;
end $$;
