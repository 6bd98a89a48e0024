import { sql } from "kysely";
import type { AccountId } from "../../../lib/ids.ts";
import type { Database } from "../../../platform/database/database.ts";

type ExportedTable = {
  /** The file in the archive. */
  name: string;
  table: string;
  /** Unique within the account, and the order of the lines. */
  key: string;
  /** What selects the account's rows; `account_id` by default. */
  owner?: "account_id" | "user_id" | "id" | "redeemed_by";
  /** Secrets, hashes, and what upstreams told the gateway. */
  without?: readonly string[];
};

/**
 * Everything that is stored about an account, by table. A test compares it with the schema: a table with an account's or a
 * user's id is here, or is named there with the reason.
 */
export const exportedTables: readonly ExportedTable[] = [
  { name: "account", table: "accounts", key: "id", owner: "id" },
  {
    ...{ name: "user", table: "users", key: "id" },
    without: ["password_hash", "totp_secret", "totp_secret_waiting", "totp_last_step"],
  },
  {
    ...{ name: "sessions", table: "user_sessions", key: "id", owner: "user_id" },
    without: ["token_hash", "previous_token_hash"],
  },
  {
    ...{ name: "passkeys", table: "user_passkeys", key: "id", owner: "user_id" },
    without: ["public_key", "credential_id"],
  },
  { name: "sign-in-services", table: "user_identities", key: "provider_id", owner: "user_id" },
  {
    ...{ name: "connected-programs", table: "connect_requests", key: "id" },
    without: ["secret_hash", "user_code", "client_state", "code_challenge"],
  },
  { name: "sign-ups", table: "sign_ups", key: "id" },
  { name: "keys", table: "api_keys", key: "id", without: ["hash"] },
  { name: "key-spending", table: "key_spending", key: "key_id" },
  {
    ...{ name: "tasks", table: "tasks", key: "id" },
    without: ["terms", "target", "provider_id", "handle", "tried", "waits_for", "traceparent", "error", "steps"],
  },
  { name: "task-orders", table: "task_orders", key: "client_business_id", without: ["fingerprint"] },
  { name: "files", table: "files", key: "id", without: ["storage_key"] },
  { name: "responses", table: "responses", key: "id", without: ["work"] },
  { name: "conversations", table: "conversations", key: "id" },
  { name: "conversation-items", table: "conversation_items", key: "id" },
  {
    ...{ name: "webhook-endpoints", table: "webhook_endpoints", key: "id" },
    without: ["sealed_secret", "sealed_previous_secret"],
  },
  { name: "webhook-sessions", table: "webhook_sessions", key: "id" },
  { name: "event-inbox", table: "event_inboxes", key: "account_id" },
  { name: "events", table: "events", key: "id", without: ["traceparent"] },
  { name: "deliveries", table: "deliveries", key: "id", without: ["lane", "lease_id"] },
  { name: "ledger", table: "postings", key: "number", without: ["fingerprint"] },
  {
    ...{ name: "charges", table: "charges", key: "id" },
    // Items contain what upstreams charged.
    without: ["price_id", "item_names", "item_quantities", "item_rates_nano", "rates_per", "minimum_nano"],
  },
  { name: "holds", table: "holds", key: "id", without: ["fingerprint", "settlement_fingerprint"] },
  { name: "credit", table: "buckets", key: "id" },
  { name: "plan-periods", table: "plan_periods", key: "id" },
  { name: "plan-subscription", table: "plan_subscriptions", key: "account_id" },
  { name: "payments", table: "checkouts", key: "id", without: ["session_url"] },
  { name: "reversals", table: "clawbacks", key: "id" },
  { name: "redeemed-codes", table: "redeem_codes", key: "id", owner: "redeemed_by", without: ["hash"] },
  { name: "billing-details", table: "billing_details", key: "account_id" },
  { name: "invoices", table: "billing_documents", key: "id" },
  { name: "automatic-top-up", table: "auto_top_ups", key: "account_id" },
  { name: "saved-card", table: "saved_cards", key: "account_id", without: ["customer_id", "card_id"] },
  { name: "alerts", table: "account_alerts", key: "account_id" },
  { name: "mails", table: "account_notices", key: "id" },
  // What operators wrote: they check it before they hand the archive over.
  { name: "for-review/notes", table: "account_notes", key: "id" },
  { name: "for-review/views", table: "account_views", key: "id", without: ["session_id"] },
  {
    ...{ name: "for-review/audit-log", table: "audit_entries", key: "number" },
    without: ["who_salt", "who_digest", "facts_salt", "facts_digest", "previous_hash", "hash"],
  },
];

/** Rows as JSON texts, in the order of their key, after the last of the previous page. */
export async function readRows(
  database: Database,
  { table, key, owner = "account_id", without = [] }: ExportedTable,
  {
    accountId,
    userId,
    after,
    limit,
  }: { accountId: AccountId; userId: string | null; after: string | null; limit: number },
): Promise<{ key: string; line: string }[]> {
  const ownerId = owner === "user_id" ? userId : accountId;
  const { rows } = await sql<{ key: string; line: string }>`
    select ${sql.ref(key)}::text as key, (to_jsonb(exported) - ${[...without]}::text[])::text as line
      from ${sql.table(table)} exported
      where ${sql.ref(owner)} = ${ownerId} and (${after}::text is null or ${compareKey(key, after)})
      order by ${sql.ref(key)} limit ${limit}`.execute(database);
  return rows;
}

/** Numbers are compared as such. */
function compareKey(key: string, after: string | null) {
  return key === "number"
    ? sql<boolean>`${sql.ref(key)} > ${after}::bigint`
    : sql<boolean>`${sql.ref(key)} > ${after}::text`;
}
