import { sql } from "kysely";
import type { UserId } from "../../../lib/ids.ts";
import type { OperatorRole } from "../../../lib/operator-role.ts";
import type { Database } from "../../../platform/database/database.ts";

export type Operator = {
  userId: UserId;
  email: string;
  name: string | null;
  role: OperatorRole;
  hasSecondFactor: boolean;
  grantedBy: string;
  grantedAt: Date;
  /** Of the user's sessions that have not ended. */
  lastSeenAt: Date | null;
};

export async function findOperatorRole(database: Database, userId: UserId): Promise<OperatorRole | null> {
  const row = await database.selectFrom("operators").select("role").where("user_id", "=", userId).executeTakeFirst();
  // The table's check constraint guarantees the role.
  return row === undefined ? null : (row.role as OperatorRole);
}

/** Reads the users' second factors and sessions too, which belong to the site. */
export async function findOperator(database: Database, userId: UserId): Promise<Operator | null> {
  const row = await selectOperators(database).where("operators.user_id", "=", userId).executeTakeFirst();
  return row === undefined ? null : toOperator(row);
}

const operatorsMax = 1_000;

export async function listOperators(database: Database): Promise<Operator[]> {
  return (await selectOperators(database).orderBy("users.email").limit(operatorsMax).execute()).map(toOperator);
}

/** Of those who may act on an alarm: not of readers. */
export async function listOperatorEmails(database: Database): Promise<string[]> {
  const operators = await listOperators(database);
  return operators.filter(({ role }) => role === "operator").map(({ email }) => email);
}

export async function putOperator(
  tx: Database,
  { userId, role, grantedBy, grantedAt }: Pick<Operator, "userId" | "role" | "grantedBy" | "grantedAt">,
): Promise<void> {
  const columns = { role, granted_by: grantedBy, granted_at: grantedAt };
  await tx
    .insertInto("operators")
    .values({ user_id: userId, ...columns })
    .onConflict((conflict) => conflict.column("user_id").doUpdateSet(columns))
    .execute();
}

export async function deleteOperator(tx: Database, userId: UserId): Promise<void> {
  await tx.deleteFrom("operators").where("user_id", "=", userId).execute();
}

/** Serializes changes, so that two operators cannot remove each other at once. */
export async function lockOperators(tx: Database): Promise<void> {
  await sql`lock table operators in share row exclusive mode`.execute(tx);
}

function selectOperators(database: Database) {
  return database
    .selectFrom("operators")
    .innerJoin("users", "users.id", "operators.user_id")
    .select(["operators.user_id", "users.email", "users.name", "operators.role", "granted_by", "granted_at"])
    .select(
      sql<boolean>`users.totp_secret is not null
        or exists (select from user_passkeys where user_passkeys.user_id = users.id)`.as("has_second_factor"),
    )
    .select(
      sql<Date | null>`(select max(last_seen_at) from user_sessions where user_sessions.user_id = users.id)`.as(
        "last_seen_at",
      ),
    );
}

type OperatorRow = Awaited<ReturnType<ReturnType<typeof selectOperators>["executeTakeFirstOrThrow"]>>;

function toOperator(row: OperatorRow): Operator {
  return {
    userId: row.user_id as UserId,
    email: row.email,
    name: row.name,
    role: row.role as OperatorRole,
    hasSecondFactor: row.has_second_factor,
    grantedBy: row.granted_by,
    grantedAt: row.granted_at,
    lastSeenAt: row.last_seen_at,
  };
}
