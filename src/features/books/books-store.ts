import { type RawBuilder, sql } from "kysely";
import type { AccountId } from "../../lib/ids.ts";
import { type Nano, nano } from "../../lib/money.ts";
import type { Database } from "../../platform/database/database.ts";

/** What an account of the books received on a day. */
export type BookLine = { day: string; account: string; debit: Nano; credit: Nano };

export type BooksAsked = { from: Date; to: Date /** `null` for all customers. */; accountId: AccountId | null };

/**
 * Sums the ledger's postings, and the taxes and corrections of documents, by UTC day and account of the books. Reads the
 * tables of the ledger and of invoices in one pass: an index on the time of postings would cost a write with each charge.
 */
export async function sumBooks(database: Database, { from, to, accountId }: BooksAsked): Promise<BookLine[]> {
  const within = (column: RawBuilder<unknown>): RawBuilder<unknown> => sql`${column} >= ${from} and ${column} < ${to}`;
  const { rows } = await sql<{ day: string; account: string; debit: string; credit: string }>`
    with posted as (
      -- Buckets are grouped by their kind: there are few groups, whatever the number of customers.
      select (posting.created_at at time zone 'UTC')::date as day, posting.kind,
          case when posting.debit = posting.bucket_id then bucket.kind else posting.debit end as debit,
          case when posting.credit = posting.bucket_id then bucket.kind else posting.credit end as credit,
          posting.kind = 'reversal' and exists (
            select from billing_documents invoice where payment_id = posting.cause_id and corrects is null) as has_note,
          sum(posting.amount) as amount
        from postings posting left join buckets bucket on bucket.id = posting.bucket_id
        where posting.unit = 'money' and ${within(sql`posting.created_at`)}
          and (${accountId}::text is null or posting.account_id = ${accountId})
        group by 1, 2, 3, 4, 5),
    documented as (
      select (issued_at at time zone 'UTC')::date as day, 'cash:' || channel as channel,
          case when kind = 'credit_note' then total_nano when corrects is not null then -total_nano else 0 end as credited,
          case when kind = 'credit_note' then -tax_nano else tax_nano end as tax
        from billing_documents
        where kind <> 'statement' and ${within(sql`issued_at`)}
          and (${accountId}::text is null or account_id = ${accountId})),
    entries (day, debit, credit, amount) as (
      select day, ${nameSide(sql`debit`)}, ${nameSide(sql`credit`)}, amount from posted
      union all select day, 'customer_debt', channel, credited from documented where credited > 0
      union all select day, channel, 'customer_debt', -credited from documented where credited < 0
      union all select day, 'tax_in_payments', 'tax_payable', tax from documented where tax > 0
      union all select day, 'tax_payable', 'tax_in_payments', -tax from documented where tax < 0),
    sides (day, account, debit, credit) as (
      select day, debit, amount, 0 from entries union all select day, credit, 0, amount from entries)
    select day::text, account, sum(debit)::text as debit, sum(credit)::text as credit
      from sides group by sides.day, account order by sides.day, account`.execute(database);
  return rows.map(({ day, account, debit, credit }) => ({
    ...{ day, account },
    debit: nano(BigInt(debit)),
    credit: nano(BigInt(credit)),
  }));
}

/**
 * The account of the books for a side of a posting. A reversal with a credit note pays the customer's debt: the credit note has
 * taken the money from the channel.
 */
function nameSide(side: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`case
    when ${side} = 'cash' then 'customer_credit'
    when ${side} = 'gift' then 'promotional_credit'
    when ${side} = 'revenue' then case kind when 'refund' then 'refunds' when 'loss' then 'lost_revenue' else 'revenue' end
    when ${side} = 'loss' then 'losses'
    when ${side} = 'expired' then 'expired_credit'
    when ${side} like 'funding:%' and kind = 'grant' then 'promotions'
    when ${side} like 'funding:%' and has_note then 'customer_debt'
    when ${side} like 'funding:%' then 'cash:' || substr(${side}, 9)
    else ${side} end`;
}
