import { sql } from "kysely";
import type { AccountId, UserId } from "../../../lib/ids.ts";
import type { Database } from "../../../platform/database/database.ts";

export const accountStatuses = ["active", "suspended", "frozen", "closed"] as const;
export type AccountStatus = (typeof accountStatuses)[number];

export type ListedAccount = {
  id: AccountId;
  email: string;
  planId: string | null;
  status: AccountStatus;
  createdAt: Date;
};

export type AccountFilter = {
  /** A part of the e-mail address or the beginning of the id, in lower case. */
  words: string | null;
  /** A plan's id; `none` for accounts without one. */
  plan: string | null;
  status: AccountStatus | null;
};

/** In the order of what stops an account from calling. Frozen: by an invariant or a debt. */
const statusOf = sql<AccountStatus>`case
  when account.closed_at is not null then 'closed'
  when account.suspended_at is not null then 'suspended'
  when wallet.frozen_at is not null or exists (select from clawbacks where clawbacks.account_id = account.id
    and owed_nano > taken_nano + waived_nano) then 'frozen'
  else 'active' end`;

/** Newest first. Reads the wallets and debts of the ledger. */
export async function listAccountPage(
  database: Database,
  { words, plan, status }: AccountFilter,
  { after, limit }: { after: string | null; limit: number },
): Promise<ListedAccount[]> {
  const { rows } = await sql<{
    id: AccountId;
    email: string;
    plan_id: string | null;
    status: AccountStatus;
    created_at: Date;
  }>`
    select account.id, account.email, account.plan_id, ${statusOf} as status, account.created_at
      from accounts account join wallets wallet on wallet.account_id = account.id
      where (${after}::text is null or account.id < ${after})
        and (${words}::text is null or strpos(lower(account.email), ${words}) > 0 or starts_with(account.id, ${words}))
        and (${plan}::text is null or account.plan_id is not distinct from nullif(${plan}, 'none'))
        and (${status}::text is null or ${statusOf} = ${status})
      order by account.id desc limit ${limit}`.execute(database);
  return rows.map((row) => ({
    ...{ id: row.id, email: row.email, planId: row.plan_id, status: row.status },
    createdAt: row.created_at,
  }));
}

export async function findAccountStatus(database: Database, id: AccountId): Promise<AccountStatus> {
  const { rows } = await sql<{ status: AccountStatus }>`
    select ${statusOf} as status from accounts account join wallets wallet on wallet.account_id = account.id
      where account.id = ${id}`.execute(database);
  return rows[0]?.status ?? "active";
}

export type Member = {
  userId: UserId;
  email: string;
  name: string | null;
  isEmailVerified: boolean;
  hasPassword: boolean;
  hasTotp: boolean;
  passkeyCount: number;
  /** The newest use of a session. */
  lastSeenAt: Date | null;
  createdAt: Date;
};

/** The people of an account and how they sign in, from the tables of the site. */
export async function listMembers(database: Database, accountId: AccountId): Promise<Member[]> {
  const { rows } = await sql<{
    id: UserId;
    email: string;
    name: string | null;
    is_verified: boolean;
    has_password: boolean;
    has_totp: boolean;
    passkeys: number;
    last_seen_at: Date | null;
    created_at: Date;
  }>`
    select id, email, name, email_verified_at is not null as is_verified, password_hash is not null as has_password,
        totp_secret is not null as has_totp, created_at,
        (select count(*)::integer from user_passkeys where user_id = users.id) as passkeys,
        (select max(last_seen_at) from user_sessions where user_id = users.id) as last_seen_at
      from users where account_id = ${accountId} order by id limit 100`.execute(database);
  return rows.map((row) => ({
    ...{ userId: row.id, email: row.email, name: row.name, isEmailVerified: row.is_verified },
    ...{ hasPassword: row.has_password, hasTotp: row.has_totp, passkeyCount: row.passkeys },
    ...{ lastSeenAt: row.last_seen_at, createdAt: row.created_at },
  }));
}

export async function findClosedAt(database: Database, id: AccountId): Promise<Date | null> {
  const row = await database.selectFrom("accounts").select("closed_at").where("id", "=", id).executeTakeFirst();
  return row?.closed_at ?? null;
}

/** What was refunded of each charge, from the ledger's postings. */
export async function sumRefunds(database: Database, chargeIds: readonly string[]): Promise<Map<string, bigint>> {
  if (chargeIds.length === 0) return new Map();
  const { rows } = await sql<{ refund_of: string; amount: bigint }>`
    select refund_of, sum(amount)::bigint as amount from postings where refund_of = any(${chargeIds})
      group by refund_of`.execute(database);
  return new Map(rows.map(({ refund_of: chargeId, amount }) => [chargeId, amount]));
}
