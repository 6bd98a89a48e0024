create table models (
  id text not null,
  name text not null,
  type text not null,
  status text not null,
  logo text not null,
  description text not null,
  advantages text[] not null,
  scenarios text[] not null,
  capabilities text[] not null,
  created_at timestamptz not null,
  constraint models_id_unique primary key (id),
  constraint models_id_valid check (id ~ '^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$'),
  constraint models_type_valid check (type in ('chat', 'image', 'video', 'avatar', 'drama', 'speech')),
  constraint models_status_valid check (status in ('available', 'degraded', 'unavailable', 'deprecated'))
);
