-- How many units of a plan's text quota a token takes, by model and by kind. Null counts every token once.
alter table plans add column quota_weights jsonb;
