-- Work that falls due again and again, on one of all gateways. One row for each job, made when a gateway starts.
create table scheduled_jobs (
  name text not null,
  schedule jsonb not null,
  due_at timestamptz not null,
  -- Until when the gateway that runs it is believed to live; nothing while none does.
  leased_until timestamptz,
  -- Grows with every claim; a gateway with an older one has lost the run to another.
  fencing_token integer not null,
  constraint scheduled_jobs_name_unique primary key (name)
) with (fillfactor = 50);
