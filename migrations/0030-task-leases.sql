-- The queue of tasks by the field's own words: a lease, and the fencing token that tells an old owner from the new one.
-- Gateways of the version before know both by other names, and read and write them through a view as long as one runs.
alter table task_turns rename to task_leases;
alter table task_leases rename column claim to fencing_token;
alter table task_leases rename constraint task_turns_task_unique to task_leases_task_unique;
alter index task_turns_by_time rename to task_leases_by_time;

create view task_turns as select task_id, next_poll_at, fencing_token as claim, polls from task_leases;
