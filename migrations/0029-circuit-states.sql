-- The states of an upstream's circuit by the field's own words. Gateways of the version before still write theirs, so both
-- are allowed until none of them runs any more.
alter table upstream_health drop constraint upstream_health_state_valid;
alter table upstream_health add constraint upstream_health_state_valid
  check (state in ('open', 'half-open', 'degraded', 'resting', 'probing', 'shaky')) not valid;
alter table upstream_health validate constraint upstream_health_state_valid;
