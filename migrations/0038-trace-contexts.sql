-- The span that made a task, as a W3C traceparent, and through the task the one that an event comes of: what other nodes do
-- for them later belongs to the same trace. Null where nothing is traced, as in all that was written before.
alter table tasks add column traceparent text;
alter table events add column traceparent text;
