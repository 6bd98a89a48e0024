import { randomBytes } from "node:crypto";
import { CompiledQuery } from "kysely";
import { issueClientKey } from "../../src/features/accounts/index.ts";
import type { BrowsedSite } from "./browsed-site.ts";
import type { ConsolePerson } from "./console-person.ts";
import { waitUntil } from "./wait-until.ts";

/** What an account has that pages of the console are about. */
export type ConsoleThings = { task: string; charge: string; endpoint: string; key: string };

/** Gives an account one of everything that the console shows, with the given name wherever people can give one. */
export async function furnishConsole(site: BrowsedSite, person: ConsolePerson, name: string): Promise<ConsoleThings> {
  const { database, parts } = site.gateway;
  const { accountId } = person;
  const endpoint = await person.call("POST", "/webhook_endpoints", {
    url: `http://127.0.0.1:9/${name}`,
    description: name,
  });
  const metadata = { [name.slice(0, 64)]: name };
  const { id: task } = await person.call("POST", "/images/generations", {
    ...{ model: "sandbox-image", prompt: name, metadata },
  });
  await waitUntil("the image", async () => (await person.call("GET", `/tasks/${task}`)).status === "succeeded");
  const [charge] = (await person.call("GET", `/charges?task_id=${task}`)).data;
  await issueClientKey(database, { ...parts, randomBytes }, { accountId, client: name.slice(0, 64) });
  const key = await database
    .selectFrom("api_keys")
    .select("id")
    .where("account_id", "=", accountId)
    .limit(1)
    .executeTakeFirstOrThrow();
  const user = await database
    .updateTable("users")
    .set({ name })
    .where("account_id", "=", accountId)
    .returning("id")
    .executeTakeFirstOrThrow();
  await database
    .insertInto("user_passkeys")
    .values({
      ...{ id: `passkey_${user.id}`, user_id: user.id, credential_id: user.id, public_key: Buffer.from([1]) },
      ...{ sign_count: 0n, transports: [], name, created_at: parts.clock.now() },
    })
    .execute();
  return { task, charge: charge.id, endpoint: endpoint.id, key: key.id };
}

/** What an account can have thousands of, and what differs from one to the next; `n` counts them. */
const multitudes = {
  api_keys: { id: "'key_many' || n", hash: "sha256(convert_to(id || n, 'utf8'))", name: "left(name, 90) || n" },
  tasks: { id: "'task_many' || n" },
  holds: { id: "'hold_many' || n" },
  charges: { id: "'txn_many' || n", hold_id: "'hold_many' || n", created_at: "created_at - n * interval '10 minutes'" },
  postings: { id: "'txn_many' || n", number: "1000000 + n", entry_number: "1000000 + n" },
  events: { id: "'evt_many' || n" },
  user_sessions: { id: "'ses_many' || n", token_hash: "sha256(convert_to(id || n, 'utf8'))" },
} as const;

/** Makes thousands of what a furnished account has one of, without going through everything that makes one. */
export async function multiplyThings(site: BrowsedSite, { accountId }: ConsolePerson, count: number): Promise<void> {
  for (const [table, columns] of Object.entries(multitudes)) {
    const changes = Object.entries(columns).map(([column, value]) => `'${column}', ${value}`);
    const owner =
      table === "user_sessions" ? "user_id = (select id from users where account_id = $1)" : "account_id = $1";
    const text = `insert into ${table} overriding system value
      select (jsonb_populate_record(one, jsonb_build_object(${changes.join(", ")}))).*
      from ${table} as one, generate_series(1, ${count}) as n
      where one.ctid = (select ctid from ${table} where ${owner} order by id limit 1)`;
    await site.gateway.database.executeQuery(CompiledQuery.raw(text, [accountId]));
  }
}
