import { sql } from "kysely";
import type { AccountId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";

const signUpRefusals = ["blocked", "disposable", "network-limit", "domain-limit"] as const;
export type SignUpRefusal = (typeof signUpRefusals)[number];

export type SignUpRow = {
  id: string;
  createdAt: Date;
  network: string;
  mailDomain: string;
  accountId: AccountId | null;
  refusal: SignUpRefusal | null;
};

export async function insertSignUp(database: Database, row: SignUpRow): Promise<void> {
  await sql`
    insert into sign_ups (id, created_at, network, mail_domain, account_id, refusal)
      values (${row.id}, ${row.createdAt}, ${row.network}, ${row.mailDomain}, ${row.accountId}, ${row.refusal})`.execute(
    database,
  );
}

/** Serializes the sign-ups of a network and a domain until the transaction ends, so that their counts stay true. */
export async function lockSignUps(tx: Database, names: readonly string[]): Promise<void> {
  for (const name of names.toSorted()) {
    await sql`select pg_advisory_xact_lock(hashtextextended(${`sign-up ${name}`}, 0))`.execute(tx);
  }
}

/** Accounts opened since, from a network and with a mail domain. */
export async function countOpened(
  database: Database,
  { network, mailDomain, since }: { network: string; mailDomain: string; since: Date },
): Promise<{ ofNetwork: number; ofDomain: number }> {
  const { rows } = await sql<{ ofNetwork: number; ofDomain: number }>`
    select (select count(*)::int from sign_ups where network = ${network} and created_at > ${since} and account_id is not null)
        as "ofNetwork",
      (select count(*)::int from sign_ups where mail_domain = ${mailDomain} and created_at > ${since} and account_id is not null)
        as "ofDomain"`.execute(database);
  return rows[0] ?? { ofNetwork: 0, ofDomain: 0 };
}

/** Newest first. */
export async function listSignUps(
  database: Database,
  {
    network = null,
    mailDomain = null,
    after = null,
    limit,
  }: { network?: string | null; mailDomain?: string | null; after?: string | null; limit: number },
): Promise<SignUpRow[]> {
  const { rows } = await sql<SignUpRow>`
    select id, created_at as "createdAt", network, mail_domain as "mailDomain", account_id as "accountId", refusal
      from sign_ups where (${network}::text is null or network = ${network})
        and (${mailDomain}::text is null or mail_domain = ${mailDomain}) and (${after}::text is null or id < ${after})
      order by id desc limit ${limit}`.execute(database);
  return rows;
}

export type SignUpSum = { subject: string; opened: number; refused: number; lastAt: Date };

/** The networks or mail domains with the most sign-ups since a moment. */
export async function sumSignUps(
  database: Database,
  by: "network" | "domain",
  { since, limit }: { since: Date; limit: number },
): Promise<SignUpSum[]> {
  const subject = by === "network" ? sql`network` : sql`mail_domain`;
  const { rows } = await sql<SignUpSum>`
    select ${subject} as subject, (count(*) filter (where refusal is null))::int as opened,
        (count(*) filter (where refusal is not null))::int as refused, max(created_at) as "lastAt"
      from sign_ups where created_at > ${since} group by 1 order by count(*) desc, 1 limit ${limit}`.execute(database);
  return rows;
}

/** Accounts opened since whose cap was not lifted, in the order of their ids. */
export async function listCapped(
  database: Database,
  { since, after, limit }: { since: Date; after: string; limit: number },
): Promise<AccountId[]> {
  const { rows } = await sql<{ account_id: AccountId }>`
    select account_id from sign_ups where created_at > ${since} and account_id > ${after} and cap_lifted_at is null
      order by account_id limit ${limit}`.execute(database);
  return rows.map(({ account_id: accountId }) => accountId);
}

/** Whether the account signed up here. */
export async function updateCapLifted(tx: Database, accountId: string, now: Date): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update sign_ups set cap_lifted_at = coalesce(cap_lifted_at, ${now}::timestamptz) where account_id = ${accountId}`.execute(
    tx,
  );
  return numAffectedRows === 1n;
}
