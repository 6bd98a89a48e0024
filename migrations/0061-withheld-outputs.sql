-- What a task makes is listed with its account's files once the task has ended and is charged. Until then only the task's own
-- worker needs it: a caller who took it from the list and then canceled would pay nothing.
alter table files add column is_withheld boolean not null default false;
