-- OpenAI's clients name other purposes for what is material for generations here.
alter table files drop constraint files_purpose_valid;
alter table files add constraint files_purpose_valid
  check (purpose in ('generation', 'vision', 'user_data', 'assistants', 'output'));
