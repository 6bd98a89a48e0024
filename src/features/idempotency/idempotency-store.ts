import { sql } from "kysely";
import type { HoldId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import { createRowType, presentRows } from "../../platform/database/row-arrays.ts";
import { type Claim, type EndedClaim, endedClaim, type KeptAnswer, type KnownKey } from "./idempotency-key.ts";

export type ClaimTimes = { now: Date; leaseUntil: Date; expiresAt: Date };
export type NewClaim = Claim & ClaimTimes & { fingerprint: Buffer; holdId: HoldId | null };

/** `false` if the key is taken. */
export async function insertClaim(database: Database, claim: NewClaim): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await database
    .insertInto("idempotency_keys")
    .values({ account_id: claim.accountId, key: claim.key, ...toColumns(claim) })
    .onConflict((conflict) => conflict.columns(["account_id", "key"]).doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

const newClaim = createRowType<NewClaim>("new_claim", [
  ["account_id", "text", ({ accountId }) => accountId],
  ["key", "text", ({ key }) => key],
  ["fingerprint", "bytea", ({ fingerprint }) => fingerprint],
  ["request_id", "text", ({ requestId }) => requestId],
  ["hold_id", "text", ({ holdId }) => holdId],
]);

/** Claims the free keys, in the given order. Returns the ids of the requests that got theirs. */
export async function insertClaims(
  database: Database,
  claims: readonly NewClaim[],
  { now, leaseUntil, expiresAt }: ClaimTimes,
): Promise<Set<string>> {
  const rows = presentRows(newClaim, claims);
  const { rows: granted } = await sql<{ request_id: string }>`
    select claim_keys(${rows}::text::new_claim[], ${now}, ${leaseUntil}, ${expiresAt}) as request_id`.execute(database);
  return new Set(granted.map((row) => row.request_id));
}

/** Gives an expired or orphaned key to another request. */
export async function replaceClaim(tx: Database, claim: NewClaim): Promise<void> {
  await tx
    .updateTable("idempotency_keys")
    .set({ ...toColumns(claim), status: null, content_type: null, body: null, summary: null })
    .where("account_id", "=", claim.accountId)
    .where("key", "=", claim.key)
    .execute();
}

function toColumns(claim: NewClaim) {
  return {
    fingerprint: claim.fingerprint,
    request_id: claim.requestId,
    hold_id: claim.holdId,
    state: "running",
    lease_until: claim.leaseUntil,
    created_at: claim.now,
    expires_at: claim.expiresAt,
  };
}

export async function findKey(
  database: Database,
  { accountId, key }: Pick<Claim, "accountId" | "key">,
): Promise<KnownKey | null> {
  const row = await selectKeys(database).where("account_id", "=", accountId).where("key", "=", key).executeTakeFirst();
  return row === undefined ? null : toKnownKey(row);
}

/** `FOR UPDATE` in the fixed key order, which prevents deadlocks. */
export async function lockClaims(tx: Database, claims: readonly Claim[]): Promise<void> {
  if (claims.length === 0) return;
  await sql`select from idempotency_keys
    where (account_id, key) in (
      select * from unnest(${claims.map(({ accountId }) => accountId)}::text[], ${claims.map(({ key }) => key)}::text[]))
    order by account_id collate "C", key collate "C" for update`.execute(tx);
}

/** Ends all the claims or none, in the transaction that commits what their responses report. */
export async function endClaims(tx: Database, ended: readonly EndedClaim[]): Promise<void> {
  await sql`select end_claims(${presentRows(endedClaim, ended)}::text::ended_claim[])`.execute(tx);
}

/** `FOR UPDATE`, so only one request takes over an orphaned key. */
export async function lockKey(
  tx: Database,
  { accountId, key }: Pick<Claim, "accountId" | "key">,
): Promise<KnownKey | null> {
  const row = await selectKeys(tx)
    .where("account_id", "=", accountId)
    .where("key", "=", key)
    .forUpdate()
    .executeTakeFirst();
  return row === undefined ? null : toKnownKey(row);
}

function selectKeys(database: Database) {
  return database
    .selectFrom("idempotency_keys")
    .select(["fingerprint", "request_id", "hold_id", "state", "lease_until", "expires_at"])
    .select(["status", "content_type", "body", "summary"]);
}

type KeyRow = Awaited<ReturnType<ReturnType<typeof selectKeys>["executeTakeFirstOrThrow"]>>;

function toKnownKey(row: KeyRow): KnownKey {
  const { status, content_type: contentType, body, summary } = row;
  return {
    fingerprint: row.fingerprint,
    requestId: row.request_id,
    holdId: row.hold_id as HoldId | null,
    leaseUntil: row.lease_until,
    expiresAt: row.expires_at,
    answer: status === null || contentType === null || summary === null ? null : { status, contentType, body, summary },
  };
}

function selectClaim(database: Database, { accountId, key, requestId }: Claim) {
  return database
    .updateTable("idempotency_keys")
    .where("account_id", "=", accountId)
    .where("key", "=", key)
    .where("request_id", "=", requestId)
    .where("state", "=", "running");
}

export async function updateAnswer(tx: Database, claim: Claim, answer: KeptAnswer): Promise<void> {
  await selectClaim(tx, claim).set(toAnswer({ answer })).execute();
}

/** Stores responses under free keys. Returns the keys that were free. */
export async function insertAnswers(
  tx: Database,
  answers: readonly (NewClaim & { answer: KeptAnswer })[],
): Promise<{ accountId: string; key: string }[]> {
  const rows = await tx
    .insertInto("idempotency_keys")
    .values(
      answers.map((each) => ({ account_id: each.accountId, key: each.key, ...toColumns(each), ...toAnswer(each) })),
    )
    .onConflict((conflict) =>
      conflict
        .columns(["account_id", "key"])
        .doUpdateSet(({ ref }) => ({
          fingerprint: ref("excluded.fingerprint"),
          request_id: ref("excluded.request_id"),
          hold_id: ref("excluded.hold_id"),
          lease_until: ref("excluded.lease_until"),
          status: ref("excluded.status"),
          content_type: ref("excluded.content_type"),
          body: ref("excluded.body"),
          summary: ref("excluded.summary"),
          created_at: ref("excluded.created_at"),
          expires_at: ref("excluded.expires_at"),
        }))
        // Replace only stored responses that have expired.
        .where("idempotency_keys.state", "=", "finished")
        .whereRef("idempotency_keys.expires_at", "<=", "excluded.created_at"),
    )
    .returning(["account_id", "key"])
    .execute();
  return rows.map((row) => ({ accountId: row.account_id, key: row.key }));
}

function toAnswer({ answer }: { answer: KeptAnswer }) {
  const { status, contentType, body, summary } = answer;
  return { state: "finished", status, content_type: contentType, body, summary };
}

export async function deleteAnswers(tx: Database, claims: readonly Claim[]): Promise<void> {
  for (const { accountId, key, requestId } of claims) {
    await tx
      .deleteFrom("idempotency_keys")
      .where("account_id", "=", accountId)
      .where("key", "=", key)
      .where("request_id", "=", requestId)
      .execute();
  }
}

export async function deleteAnswer(
  database: Database,
  { accountId, key, body }: Pick<Claim, "accountId" | "key"> & { body: Buffer },
): Promise<void> {
  await database
    .deleteFrom("idempotency_keys")
    .where("account_id", "=", accountId)
    .where("key", "=", key)
    .where("state", "=", "finished")
    .where("body", "=", body)
    .execute();
}

export async function updateLease(database: Database, claim: Claim, leaseUntil: Date): Promise<void> {
  await selectClaim(database, claim).set({ lease_until: leaseUntil }).execute();
}

export async function deleteClaim(database: Database, { accountId, key, requestId }: Claim): Promise<void> {
  await database
    .deleteFrom("idempotency_keys")
    .where("account_id", "=", accountId)
    .where("key", "=", key)
    .where("request_id", "=", requestId)
    .where("state", "=", "running")
    .execute();
}

/** Deletes up to `countMax` expired keys and returns how many. */
export async function deleteExpiredKeys(database: Database, now: Date, countMax: number): Promise<number> {
  const { numDeletedRows } = await database
    .deleteFrom("idempotency_keys")
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple("account_id", "key"),
        "in",
        selectFrom("idempotency_keys")
          .select(["account_id", "key"])
          .where("expires_at", "<=", now)
          // A running request ends its key itself.
          .where("lease_until", "<=", now)
          .limit(countMax)
          .$asTuple("account_id", "key"),
      ),
    )
    .executeTakeFirst();
  return Number(numDeletedRows);
}
