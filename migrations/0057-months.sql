-- Makes the months from one moment to another of every table that is partitioned by ranges of ids: those that have a
-- partition `…_before`, for everything before their first month. Months are in UTC and named after themselves (`tasks_202701`).
-- Rows that no partition was made for in time are in the table's default partition, and go over into theirs.
create function make_months(first_moment timestamptz, last_moment timestamptz)
returns integer language plpgsql as $$
declare
  monthly record;
  month timestamp;
  part text;
  bounds text[];
  made integer := 0;
begin
  for monthly in
    select parent.relname as name, attname as key, array_to_string(strays.reloptions, ', ') as options,
        substring(pg_get_expr(before.relpartbound, before.oid) from 'TO \(''(.+)''\)') as first_bound
      from pg_partitioned_table
      join pg_class parent on parent.oid = partrelid
      join pg_attribute on attrelid = partrelid and attnum = partattrs[0]
      join pg_class before on before.oid = to_regclass(quote_ident(parent.relname || '_before'))
      join pg_class strays on strays.oid = partdefid
      where parent.relnamespace = current_schema()::regnamespace
      order by parent.relname
  loop
    month := date_trunc('month', first_moment at time zone 'UTC');
    while month <= last_moment at time zone 'UTC' loop
      part := monthly.name || '_' || to_char(month, 'YYYYMM');
      bounds := array[least_id(split_part(monthly.first_bound, '_', 1), month at time zone 'UTC'),
        least_id(split_part(monthly.first_bound, '_', 1), (month + interval '1 month') at time zone 'UTC')];
      month := month + interval '1 month';
      continue when bounds[1] collate "C" < monthly.first_bound collate "C" or to_regclass(quote_ident(part)) is not null;
      -- Several gateways may look at once; names that were not there a moment ago are remembered as such, rows are not.
      perform pg_advisory_xact_lock(7264042);
      perform from pg_class where relname = part and relnamespace = current_schema()::regnamespace;
      continue when found;
      execute format('lock table %I in access exclusive mode', monthly.name || '_default');
      execute format('create table %I (like %I including all) %s', part, monthly.name, 'with (' || monthly.options || ')');
      -- Triggers keep rows from being changed or deleted; these only move.
      execute format('alter table %I disable trigger user', monthly.name || '_default');
      execute format('with moved as (delete from %I where %I >= %L and %I < %L returning *) insert into %I select * from moved',
        monthly.name || '_default', monthly.key, bounds[1], monthly.key, bounds[2], part);
      execute format('alter table %I enable trigger user', monthly.name || '_default');
      execute format('alter table %I attach partition %I for values from (%L) to (%L)',
        monthly.name, part, bounds[1], bounds[2]);
      made := made + 1;
    end loop;
  end loop;
  return made;
end $$;

-- Takes away a table's months in which every id is older than a moment. What lies before the first month stays a partition.
create function drop_months(parent text, kept_from timestamptz)
returns integer language plpgsql as $$
declare
  part record;
  dropped integer := 0;
  is_filled boolean;
begin
  for part in
    select relname as name, bound from pg_inherits join pg_class on pg_class.oid = inhrelid
      cross join lateral (select substring(pg_get_expr(relpartbound, pg_class.oid) from 'TO \(''(.+)''\)') as bound) bounds
      where inhparent = quote_ident(parent)::regclass
        and bound collate "C" <= least_id(split_part(bound, '_', 1), kept_from) collate "C"
  loop
    if part.name = parent || '_before' then
      execute format('select exists (select from %I)', part.name) into is_filled;
      continue when not is_filled;
      execute format('truncate %I', part.name);
    else
      execute format('drop table %I', part.name);
    end if;
    dropped := dropped + 1;
  end loop;
  return dropped;
end $$;

-- From here on others wait, for as long as it takes to change the catalog. The old tables become what lies before the first
-- month: nothing is copied or read. Statements of the version before work unchanged.
lock table tasks, events, deliveries, delivery_attempts, charges in access exclusive mode;

do $$
declare
  monthly record;
  statement text;
  statements text[];
  index_name text;
  options text;
  first_bound text;
  is_filled boolean;
begin
  execute 'alter table deliveries drop constraint deliveries_id_unique';
  execute 'alter table deliveries add constraint deliveries_id_unique primary key using index deliveries_by_id_and_event';
  for monthly in
    select column1 as name, column2 as key, column1 || '_before' as before, quote_ident(column1)::regclass as old, column3 as prefix
      from (values ('tasks', 'id', 'task'), ('events', 'id', 'evt'), ('deliveries', 'event_id', 'evt'), ('delivery_attempts', 'delivery_id', 'dlv'),
        ('charges', 'id', 'txn')) as tables
  loop
    statements := array(select format('alter table %I add constraint %I %s', monthly.name, conname, pg_get_constraintdef(oid))
        from pg_constraint where conrelid = monthly.old and contype in ('p', 'u') order by conname)
      || array(select pg_get_indexdef(indexrelid) from pg_index
        where indrelid = monthly.old and not exists (select from pg_constraint where conindid = indexrelid) order by indexrelid)
      || array(select pg_get_triggerdef(oid) from pg_trigger where tgrelid = monthly.old and not tgisinternal order by tgname);
    select 'with (' || array_to_string(reloptions, ', ') || ')' into options from pg_class where oid = monthly.old;
    select substring(pg_get_constraintdef(oid) from '''(.+)''') into first_bound from pg_constraint
      where conrelid = monthly.old and conname = monthly.name || '_before_months';
    for statement in select format('drop trigger %I on %I', tgname, monthly.name) from pg_trigger where tgrelid = monthly.old and not tgisinternal loop
      execute statement;
    end loop;
    for index_name in select relname from pg_index join pg_class on pg_class.oid = indexrelid where indrelid = monthly.old loop
      execute format('alter index %I rename to %I', index_name, monthly.before || substr(index_name, length(monthly.name) + 1));
    end loop;
    execute format('alter table %I rename to %I', monthly.name, monthly.before);
    execute format('create table %I (like %I including all excluding indexes) partition by range (%I)', monthly.name, monthly.before, monthly.key);
    execute format('alter table %I drop constraint %I', monthly.name, monthly.name || '_before_months');
    foreach statement in array statements loop execute statement; end loop;
    execute format('select exists (select from %I)', monthly.before) into is_filled;
    if is_filled then
      execute format('alter table %I attach partition %I for values from (minvalue) to (%L)', monthly.name, monthly.before, first_bound);
      execute format('alter table %I drop constraint %I', monthly.before, monthly.name || '_before_months');
    else
      -- Where there is nothing yet, the first month is this one.
      execute format('drop table %I', monthly.before);
      execute format('create table %I partition of %I for values from (minvalue) to (%L) %s', monthly.before, monthly.name,
        least_id(monthly.prefix, date_trunc('month', now() at time zone 'UTC') at time zone 'UTC'), options);
    end if;
    execute format('create table %I partition of %I default %s', monthly.name || '_default', monthly.name, options);
  end loop;
end $$;

select make_months(now(), now() + interval '1 month');
