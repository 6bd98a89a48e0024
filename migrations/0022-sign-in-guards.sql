-- Tells every node that a session has ended, so that what is open in its name ends too.
create function notify_session_end() returns trigger language plpgsql as $$
begin
  perform pg_notify('sessions', old.id);
  return null;
end
$$;

create trigger user_sessions_end_heard after delete on user_sessions
  for each row execute function notify_session_end();

-- Where a program asks from, and what it says it is, for the person who is to decide.
alter table connect_requests add column asked_from text, add column asked_by text;
