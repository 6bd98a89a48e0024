-- Invoices, credit notes and statements: what they say is stored when they are issued, and their PDF is drawn from it.

-- What an account's owner wants on later documents. Documents keep their own copy.
create table billing_details (
  account_id text not null,
  legal_name text,
  address text,
  country text,
  tax_id text,
  purchase_order text,
  changed_at timestamptz not null,
  constraint billing_details_account_unique primary key (account_id),
  constraint billing_details_account_exists foreign key (account_id) references accounts (id),
  constraint billing_details_country_valid check (country ~ '^[A-Z]{2}$')
);

-- The seller, the prefixes of numbers and the tax rules. The latest version is in force; without one, nothing is issued.
create table invoice_terms (
  version integer not null,
  terms json not null,
  actor text not null,
  applied_at timestamptz not null,
  constraint invoice_terms_version_unique primary key (version),
  constraint invoice_terms_version_valid check (version > 0)
);

create trigger invoice_terms_final before update or delete on invoice_terms
  for each row execute function refuse_change();

-- The last number of each series. Its row stays locked until the issuing transaction ends, so a rollback leaves no gap.
create table document_series (
  kind text not null,
  prefix text not null,
  last_number bigint not null,
  constraint document_series_unique primary key (kind, prefix),
  constraint document_series_number_valid check (last_number > 0)
);

create table billing_documents (
  position bigint not null generated always as identity,
  id text not null,
  account_id text not null,
  kind text not null,
  prefix text not null,
  number bigint not null,
  issued_at timestamptz not null,
  currency text not null,
  total_nano bigint not null,
  tax_nano bigint not null,
  -- The checkout, or the transaction of a payment that an operator booked.
  payment_id text,
  -- The way the money came in, as the ledger names it.
  channel text,
  -- The invoice that this document corrects, and the refund or dispute that is the reason.
  corrects text,
  reversal_id text,
  -- Of a statement: 2026-11.
  month text,
  content jsonb not null,
  constraint billing_documents_id_unique primary key (id),
  constraint billing_documents_number_unique unique (kind, prefix, number),
  constraint billing_documents_account_exists foreign key (account_id) references accounts (id),
  constraint billing_documents_corrected_exists foreign key (corrects) references billing_documents (id),
  constraint billing_documents_month_valid check (month ~ '^\d{4}-\d{2}$'),
  constraint billing_documents_currency_valid check (currency ~ '^[A-Z]{3}$'),
  constraint billing_documents_amounts_valid check (
    kind = 'statement' or (total_nano > 0 and tax_nano between 0 and total_nano)
  ),
  constraint billing_documents_kind_valid check (
    case kind
      when 'invoice' then num_nulls(payment_id, channel) = 0 and month is null and num_nulls(corrects, reversal_id) in (0, 2)
      when 'credit_note' then num_nulls(payment_id, channel, corrects, reversal_id) = 0 and month is null
      when 'statement' then num_nonnulls(payment_id, channel, corrects, reversal_id) = 0 and month is not null
      else false
    end
  )
);

-- A payment has one invoice, a month one statement.
create unique index billing_documents_one_invoice on billing_documents (payment_id) where corrects is null;
create unique index billing_documents_one_statement on billing_documents (account_id, month) where month is not null;
create index billing_documents_by_payment on billing_documents (payment_id) where payment_id is not null;
create index billing_documents_by_account on billing_documents (account_id, position);
create index billing_documents_by_position on billing_documents (position);

create trigger billing_documents_final before update or delete on billing_documents
  for each row execute function refuse_change();

-- How far the job that issues a month's statements has come, in the order of account ids.
create table statement_months (
  month text not null,
  done_until text not null,
  is_done boolean not null default false,
  constraint statement_months_unique primary key (month)
);

-- Finds payments of the last days without an invoice: gateways of an earlier version credit them without one.
create index checkouts_paid on checkouts (ended_at) where state = 'paid';
