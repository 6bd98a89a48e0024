import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CompiledQuery } from "kysely";
import { parse, stringify } from "yaml";
import { changeAccount } from "../../../src/app/change-account.ts";
import { createApiKey, createPlan, issueClientKey } from "../../../src/features/accounts/index.ts";
import { repositoryDir } from "../repository-files.ts";
import { waitUntil } from "../wait-until.ts";
import type { BrowsedSite } from "./browsed-site.ts";
import type { ConsolePerson } from "./console-person.ts";

/** The objects of an account that console pages show. */
export type ConsoleThings = {
  task: string;
  charge: string;
  endpoint: string;
  key: string;
  request: string;
  /** The prompt of the task. */
  name: string;
  model: string;
};

type Furnishing = {
  /** Used wherever users can enter a name. */
  name: string;
  imageModel?: string;
};

/** Creates one of everything that the console shows. */
export async function furnishConsole(
  site: BrowsedSite,
  person: ConsolePerson,
  { name, imageModel = "sandbox-image" }: Furnishing,
): Promise<ConsoleThings> {
  const { database, parts } = site.gateway;
  const { accountId } = person;
  const { apiKey } = await createApiKey({ ...parts, randomBytes }, { accountId, name });
  const endpoint = await person.call("POST", "/webhook_endpoints", {
    ...{ url: `http://127.0.0.1:9/${name}`, description: name },
  });
  const { id: task, request_id: request } = await person.call("POST", "/images/generations", {
    ...{ model: imageModel, prompt: name, metadata: { [name.slice(0, 64)]: name } },
  });
  await waitUntil("the image", async () => (await person.call("GET", `/tasks/${task}`)).status === "succeeded");
  const [charge] = (await person.call("GET", `/charges?task_id=${task}`)).data;
  const client = { accountId, client: name.slice(0, 64), expiresAt: null, budget: null };
  await issueClientKey(database, { ...parts, randomBytes }, client);
  const owner = database.updateTable("users").set({ name }).where("account_id", "=", accountId).returning("id");
  const { id: userId } = await owner.executeTakeFirstOrThrow();
  const passkey = { id: `passkey_${userId}`, user_id: userId, credential_id: userId, public_key: Buffer.from([1]) };
  await database
    .insertInto("user_passkeys")
    .values({ ...passkey, sign_count: 0n, transports: [], name, created_at: parts.clock.now() })
    .execute();
  await waitUntil("the request to be logged", async () => {
    const { data } = await person.call("GET", `/requests?ids=${request}`);
    return data.length === 1;
  });
  return { task, charge: charge.id, endpoint: endpoint.id, key: apiKey.id, request, name, model: imageModel };
}

/** A plan of that name for an account, with a rest of each quota. */
export async function givePlan(site: BrowsedSite, { accountId }: ConsolePerson, name: string): Promise<void> {
  const plan = { id: "furnished", name, limits: {}, quotas: { text: 1_000_000n, image: 10n, video: 60n } };
  await createPlan(site.gateway.parts, plan);
  await changeAccount(site.gateway.parts, accountId, { planId: plan.id });
}

type Catalog = { models: { id: string }[]; prices: { model: string }[] };

/** Offers each of the sandbox's models once more under another name. */
export async function offerModelsAs(site: BrowsedSite, nameOf: (id: string) => string): Promise<void> {
  const catalog: Catalog = parse(readFileSync(join(repositoryDir, "catalogs/sandbox.yaml"), "utf8"));
  const models = catalog.models.map((model) => {
    const name = nameOf(model.id);
    return { ...model, id: name, name, description: name, advantages: [name], scenarios: [name] };
  });
  const prices = catalog.prices.map((price) => ({ ...price, model: nameOf(price.model) }));
  const outcome = await site.gateway.applyCatalog(
    stringify({ ...catalog, models: [...catalog.models, ...models], prices: [...catalog.prices, ...prices] }),
  );
  if (outcome.kind === "refused") throw new Error(JSON.stringify(outcome.problems));
  await waitUntil("the catalog to be served", () => site.gateway.catalogVersion() === outcome.version);
}

/** The tables that can have thousands of rows, and what differs between rows; `n` counts them. */
const multitudes = {
  api_keys: { id: "'key_many' || n", hash: "sha256(convert_to(id || n, 'utf8'))", name: "left(name, 90) || n" },
  tasks: { id: "'task_many' || n" },
  holds: { id: "'hold_many' || n" },
  charges: { id: "'txn_many' || n", hold_id: "'hold_many' || n", created_at: "created_at - n * interval '10 minutes'" },
  postings: { id: "'txn_many' || n", number: "1000000 + n", entry_number: "1000000 + n" },
  events: { id: "'evt_many' || n" },
  user_sessions: { id: "'ses_many' || n", token_hash: "sha256(convert_to(id || n, 'utf8'))" },
} as const;

/** Copies an account's rows thousands of times, directly in the database. */
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
