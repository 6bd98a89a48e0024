-- What a task told its account's webhooks is looked up by the task.
create index events_by_task on events (account_id, (data ->> 'task_id'), id);
