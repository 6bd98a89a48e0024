import { sql } from "kysely";
import type { HoldId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import { presentRows, type RowType } from "../../platform/database/row-arrays.ts";
import { type EndedClaim, endedClaim } from "./ended-claim.ts";
import type { Claim, KeptAnswer, KnownKey } from "./idempotency-key.ts";

export type ClaimTimes = { now: Date; leaseUntil: Date; expiresAt: Date };
export type NewClaim = Claim & ClaimTimes & { fingerprint: Buffer; holdId: HoldId | null };

/** Whether the key was free and is now claimed. */
export async function insertClaim(database: Database, claim: NewClaim): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await database
    .insertInto("idempotency_keys")
    .values({ account_id: claim.accountId, key: claim.key, ...toColumns(claim) })
    .onConflict((conflict) => conflict.columns(["account_id", "key"]).doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

const newClaim: RowType<NewClaim> = {
  name: "new_claim",
  columns: [
    ["account_id", "text", ({ accountId }) => accountId],
    ["key", "text", ({ key }) => key],
    ["fingerprint", "bytea", ({ fingerprint }) => fingerprint],
    ["request_id", "text", ({ requestId }) => requestId],
    ["hold_id", "text", ({ holdId }) => holdId],
  ],
};

/** Claims those of the keys that are free, in their order, and tells which requests have theirs. All are of one moment. */
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

/** Makes a key that is over, or whose process died, the claim of another request. */
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

/** Locks keys until the transaction ends, in the order in which everybody locks several. */
export async function lockClaims(tx: Database, claims: readonly Claim[]): Promise<void> {
  if (claims.length === 0) return;
  await sql`select from idempotency_keys
    where (account_id, key) in (
      select * from unnest(${claims.map(({ accountId }) => accountId)}::text[], ${claims.map(({ key }) => key)}::text[]))
    order by account_id collate "C", key collate "C" for update`.execute(tx);
}

/** Ends claims in the transaction that does what their answers tell of. All of them end, or none does. */
export async function endClaims(tx: Database, ended: readonly EndedClaim[]): Promise<void> {
  await sql`select end_claims(${presentRows(endedClaim, ended)}::text::ended_claim[])`.execute(tx);
}

/** Locks the key until the transaction ends, so that of two who would take it over one does. */
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

/** Writes answers under keys that are free, and tells which those were. */
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
        // One that runs, or is still promised, is another's.
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

/** Removes some of the keys whose time is over, and answers how many. */
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
          // A request that still runs ends its key itself.
          .where("lease_until", "<=", now)
          .limit(countMax)
          .$asTuple("account_id", "key"),
      ),
    )
    .executeTakeFirst();
  return Number(numDeletedRows);
}
