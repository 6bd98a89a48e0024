-- The log of an endpoint: its newest deliveries, however many others the account has.
create index deliveries_by_endpoint on deliveries (endpoint_id, id) where endpoint_id is not null;
