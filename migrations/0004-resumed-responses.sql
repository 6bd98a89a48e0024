-- Background responses that outlive their process: another one takes over the lease and runs the request again.

alter table responses
  -- JSON of the request and its caller, from the moment the caller knows the response's id until it ends.
  add column work text,
  -- The fencing token: how often a lease was taken over.
  add column run integer not null default 0;

-- All runs of a background response claim one key. It has a space, so that no caller can send it.
alter table idempotency_keys drop constraint idempotency_keys_key_valid;
alter table idempotency_keys
  add constraint idempotency_keys_key_valid check (key ~ '^(response )?[\x21-\x7e]{1,255}$') not valid;

-- PDFs can be uploaded, as input of responses.
alter table files drop constraint files_kind_valid;
alter table files
  add constraint files_kind_valid check (kind in ('image', 'audio', 'video', 'document', 'pdf')) not valid;
