-- Whether this database is the one that serves, or a restored copy of it that spends and sends nothing until an operator
-- confirms it. One row.
create table copy_states (
  is_only boolean not null default true,
  state text not null,
  restored_from text,
  restored_at timestamptz,
  confirmed_at timestamptz,
  constraint copy_states_one_row primary key (is_only),
  constraint copy_states_only_true check (is_only),
  constraint copy_states_state_valid check (state in ('live', 'restoring', 'unconfirmed'))
);

insert into copy_states (state) values ('live');

create function notify_copy_state() returns trigger language plpgsql as $$
begin
  perform pg_notify('copy_state', new.state);
  return null;
end
$$;

create trigger copy_states_changed after update on copy_states for each row execute function notify_copy_state();

-- Bytes of files that are yet to be copied to the archive of the write-ahead log. Until then they are not removed: the log
-- can bring back a moment at which the file was there.
create table unarchived_bytes (
  storage_key text not null,
  constraint unarchived_bytes_key_unique primary key (storage_key)
);
