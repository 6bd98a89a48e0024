import { sql } from "kysely";
import type { Database } from "../../platform/database/database.ts";
import type { AuditActor, AuditEntry, AuditFacts, AuditFilter, NewAuditEntry } from "./audit-entry.ts";

/**
 * Appends to the audit log. Call it last in the transaction of the change: the database numbers and chains entries under a
 * lock that is held until the commit.
 */
export async function appendAudit(tx: Database, entry: NewAuditEntry): Promise<void> {
  const { actor, address, action, subject, accountId, reason, before, after, requestId } = entry;
  await sql`
    insert into audit_entries (actor_kind, actor_id, actor_name, address, action, subject, account_id, reason, before,
        after, request_id)
      values (${actor.kind}, ${actor.id}, ${actor.name}, ${address}, ${action}, ${subject}, ${accountId}, ${reason},
        ${toJson(before)}::jsonb, ${toJson(after)}::jsonb, ${requestId})`.execute(tx);
}

function toJson(facts: AuditFacts | null): string | null {
  if (facts === null) return null;
  return JSON.stringify(facts, (_, value) => (typeof value === "bigint" ? value.toString() : value));
}

/** Newest first. */
export async function listAudit(
  database: Database,
  filter: AuditFilter,
  { before, limit }: { before: bigint | null; limit: number },
): Promise<AuditEntry[]> {
  const { actor, action, subject, accountId, from, to } = filter;
  const rows = await selectEntries(database)
    .$if(before !== null, (query) => query.where("number", "<", before ?? 0n))
    .$if(actor !== null, (query) =>
      query.where(({ eb, or }) => or([eb("actor_id", "=", actor), eb("actor_name", "=", actor)])),
    )
    .$if(action !== null, (query) => query.where(matchAction(action ?? "")))
    .$if(subject !== null, (query) => query.where("subject", "=", subject))
    .$if(accountId !== null, (query) => query.where("account_id", "=", accountId))
    .$if(from !== null, (query) => query.where("created_at", ">=", from ?? new Date(0)))
    .$if(to !== null, (query) => query.where("created_at", "<", to ?? new Date(0)))
    .orderBy("number", "desc")
    .limit(limit)
    .execute();
  return rows.map(toEntry);
}

/**
 * An account's own log, newest first: what its people and keys did, and of what others did only the given actions. Keys of
 * accounts and of operators share a kind; their ids differ.
 */
export async function listActivity(
  database: Database,
  { accountId, shownOfOthers }: { accountId: string; shownOfOthers: readonly string[] },
  { before, limit }: { before: bigint | null; limit: number },
): Promise<AuditEntry[]> {
  const rows = await selectEntries(database)
    .where("account_id", "=", accountId)
    .where(
      sql<boolean>`(actor_kind = 'user' or starts_with(actor_id, 'key_') or action = any(${[...shownOfOthers]}::text[]))`,
    )
    .$if(before !== null, (query) => query.where("number", "<", before ?? 0n))
    .orderBy("number", "desc")
    .limit(limit)
    .execute();
  return rows.map(toEntry);
}

/** An action, or the actions of a noun: they sort between `noun.` and `noun/`. */
function matchAction(action: string) {
  return action.includes(".")
    ? sql<boolean>`action = ${action}`
    : sql<boolean>`action > ${`${action}.`} and action < ${`${action}/`}`;
}

/** Oldest first, for exports and the verification. */
export async function listAuditForward(database: Database, after: bigint, limit: number): Promise<AuditEntry[]> {
  return (await selectEntries(database).where("number", ">", after).orderBy("number").limit(limit).execute()).map(
    toEntry,
  );
}

export async function findAuditEntry(database: Database, number: bigint): Promise<AuditEntry | null> {
  const row = await selectEntries(database).where("number", "=", number).executeTakeFirst();
  return row === undefined ? null : toEntry(row);
}

export type ChainPortion = {
  entries: number;
  /** The first entry that contradicts the chain. */
  brokenAt: bigint | null;
  last: { number: bigint; hash: string } | null;
  /** Old entries that were blanked, whose hashes cannot be recomputed, and what entries about erasures count of them. */
  blanked: { found: number; recorded: number; first: bigint | null };
};

/** Recomputes the hashes of a portion of the chain in the database. `previousHash` is the hash of the entry `after`. */
export async function checkChain(
  database: Database,
  { after, previousHash, limit }: { after: bigint; previousHash: string; limit: number },
): Promise<ChainPortion> {
  const { rows } = await sql<{
    entries: string;
    broken_at: bigint | null;
    number: bigint | null;
    hash: string | null;
    blanked: string;
    recorded: string;
    first_blanked: bigint | null;
  }>`
    with portion as (
      select entry.number, entry.hash, entry.who_digest is null and entry.erased_at is not null as is_blanked,
          case when entry.action = 'person.erased' then (entry.after ->> 'old_audit_entries')::bigint end as recorded,
          (entry.hash = audit_hash(entry.*::audit_entries) or entry.who_digest is null and entry.erased_at is not null)
          and audit_texts_hold(entry.*::audit_entries) and entry.previous_hash
          = coalesce(lag(entry.hash) over chain, decode(${previousHash}, 'hex'))
          and entry.number = coalesce(lag(entry.number) over chain, ${after}) + 1 as is_whole
        from (select * from audit_entries where number > ${after} order by number limit ${limit}) entry
        window chain as (order by entry.number))
    select count(*) as entries, min(number) filter (where not is_whole) as broken_at, max(number) as number,
        (array_agg(encode(hash, 'hex') order by number desc))[1] as hash, count(*) filter (where is_blanked) as blanked,
        coalesce(sum(recorded), 0) as recorded, min(number) filter (where is_blanked) as first_blanked
      from portion`.execute(database);
  const [row] = rows;
  const last = row?.number == null || row.hash === null ? null : { number: row.number, hash: row.hash };
  const blanked = {
    ...{ found: Number(row?.blanked ?? 0), recorded: Number(row?.recorded ?? 0), first: row?.first_blanked ?? null },
  };
  return { entries: Number(row?.entries ?? 0), brokenAt: row?.broken_at ?? null, last, blanked };
}

type Person = { userId: string; accountId: string; email: string; name: string | null };

/**
 * Blanks a person in the log: name and address where they or their keys acted, and the facts of what they did and of entries
 * that contain their mail address or name. Records of erasures keep their facts, which contain no names. Returns how many entries, and how many of them are old ones whose hash covers the
 * texts themselves. Reads the account's keys.
 */
export async function blankPerson(
  tx: Database,
  { userId, accountId, email, name }: Person,
  now: Date,
): Promise<{ entries: number; oldEntries: number }> {
  const words = [email, ...(name === null || name.length < nameCharactersMin ? [] : [name])];
  const { rows } = await sql<{ entries: string; old_entries: string }>`
    with own as (
      select number,
          actor_id = ${userId} or actor_id in (select id from api_keys where account_id = ${accountId}) as has_acted,
          exists (select from unnest(${words}::text[]) word
            where strpos(lower(concat_ws(' ', reason, before::text, after::text)), lower(word)) > 0) as names_them
        from audit_entries where erased_at is null or num_nonnulls(address, reason, before, after) > 0),
    blanked as (
      update audit_entries entry set erased_at = ${now},
          actor_name = case when has_acted or is_old then 'erased' else actor_name end,
          address = case when has_acted or is_old then null else address end,
          who_salt = case when has_acted then null else who_salt end,
          reason = case when keeps_facts then reason end, before = case when keeps_facts then before end,
          after = case when keeps_facts then after end, facts_salt = case when keeps_facts then facts_salt end
        from (select number, has_acted is true as has_acted from own where has_acted or names_them) found,
          lateral (select who_digest is null as is_old, action = 'person.erased' as keeps_facts from audit_entries old where old.number = found.number) age
        where entry.number = found.number
        returning is_old)
    select count(*) as entries, count(*) filter (where is_old) as old_entries from blanked`.execute(tx);
  return { entries: Number(rows[0]?.entries ?? 0), oldEntries: Number(rows[0]?.old_entries ?? 0) };
}

/** Shorter names occur in other words. */
const nameCharactersMin = 4;

function selectEntries(database: Database) {
  return database
    .selectFrom("audit_entries")
    .select(["number", "created_at", "actor_kind", "actor_id", "actor_name", "address", "action", "subject"])
    .select(["account_id", "reason", "before", "after", "request_id", "hash"]);
}

type EntryRow = Awaited<ReturnType<ReturnType<typeof selectEntries>["executeTakeFirstOrThrow"]>>;

function toEntry(row: EntryRow): AuditEntry {
  return {
    number: row.number,
    createdAt: row.created_at,
    // The table's check constraint guarantees the kind.
    actor: { kind: row.actor_kind as AuditActor["kind"], id: row.actor_id, name: row.actor_name },
    address: row.address,
    action: row.action,
    subject: row.subject,
    accountId: row.account_id,
    reason: row.reason,
    before: row.before as AuditFacts | null,
    after: row.after as AuditFacts | null,
    requestId: row.request_id,
    hash: row.hash.toString("hex"),
  };
}
