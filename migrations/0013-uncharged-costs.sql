-- What upstreams charged for work without a charge: free models, the parts of dramas, failed calls. The costs of charged work are
-- items of its charge.
create table uncharged_costs (
  id text collate "C" not null,
  created_at timestamptz not null,
  account_id text collate "C" not null,
  model_id text not null,
  provider_id text not null,
  upstream_model text not null,
  calls integer not null,
  cost_nano bigint not null,
  constraint uncharged_costs_unique primary key (id),
  constraint uncharged_costs_valid check (calls > 0 and cost_nano >= 0)
);

create index uncharged_costs_by_time on uncharged_costs using brin (created_at);

create trigger uncharged_costs_final before update or delete on uncharged_costs
  for each row execute function refuse_change();
