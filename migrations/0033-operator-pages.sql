-- The file of each catalog version as it was applied, with its comments. Versions that an older gateway applied have none.
create table catalog_sources (
  catalog_version integer not null,
  source text not null,
  constraint catalog_sources_unique primary key (catalog_version),
  constraint catalog_sources_version_exists foreign key (catalog_version) references catalog_versions (number)
);

-- Documents of a period, for operators.
create index billing_documents_by_time on billing_documents (issued_at);
