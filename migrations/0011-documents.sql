-- Tasks keep documents too: what the stages of a drama hand to each other, and subtitles. Nobody uploads them, so that a
-- document is always one that we wrote.
alter table files drop constraint files_kind_valid;
alter table files add constraint files_kind_valid check (kind in ('image', 'audio', 'video', 'document'));
alter table files add constraint files_document_valid check (
  kind <> 'document' or (purpose = 'output' and content_type in ('application/json', 'text/vtt')));
