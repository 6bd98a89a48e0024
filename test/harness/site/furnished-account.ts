import { randomBytes } from "node:crypto";
import { applyTerms, bookPayment } from "../../../src/features/invoices/index.ts";
import type { AccountId } from "../../../src/lib/ids.ts";
import { parseMoney } from "../../../src/lib/money.ts";
import { makeMedia } from "../media/media-files.ts";
import type { TestGateway } from "../test-gateway.ts";
import { waitUntil } from "../wait-until.ts";
import { approve, beginRequest } from "./connect-program.ts";
import { type SiteAnswer, type SiteVisitor, signUpVisitor } from "./site-visitor.ts";

/** An account with one of everything. */
export type FurnishedAccount = {
  visitor: SiteVisitor;
  email: string;
  key: string;
  /** Its objects, by their name in paths: `/tasks/{task_id}` → `tasks`. */
  ids: Record<FurnishedKind, string>;
  /** Words that no other account may ever read. */
  secrets: readonly string[];
};

export type FurnishedKind =
  | "keys"
  | "files"
  | "responses"
  | "conversations"
  | "tasks"
  | "webhook_endpoints"
  | "events"
  | "webhook_sessions"
  | "charges"
  | "requests"
  | "checkouts"
  | "documents"
  | "sessions"
  | "passkeys"
  | "services"
  | "connect"
  | "connected-clients";

export async function furnishAccount(gateway: TestGateway): Promise<FurnishedAccount> {
  const canary = `canary${randomBytes(6).toString("hex")}`;
  const { visitor, email } = await signUpVisitor(gateway, `${canary}@example.com`);
  const { account, session, user } = await demand(visitor.get("/session"));
  await addMoney(gateway, account.id);
  const apiKey = await demand(visitor.post("/keys", { name: `${canary} key` }));
  const endpoint = await demand(
    visitor.post("/webhook_endpoints", { url: `http://127.0.0.1:9/${canary}`, description: `${canary} endpoint` }),
  );
  const task = await demand(visitor.post("/images/generations", { model: "sandbox-image", prompt: `A ${canary}` }));
  const response = await demand(visitor.post("/responses", { model: "sandbox-chat", input: `A ${canary}` }));
  const conversation = await demand(
    visitor.post("/conversations", { items: [{ role: "user", content: `A ${canary}` }] }),
  );
  const fileId = await uploadPicture(gateway, { key: apiKey.key, name: `${canary}.png` });
  const requestId = await beginRequest(gateway, { client: canary.slice(0, 20) });
  await approve(visitor, requestId);
  await addPasskey(gateway, { userId: user.id, canary });
  await addService(gateway, { userId: user.id, canary });
  const webhookSession = await demand(visitor.post("/webhook_sessions", {}));
  const checkout = await demand(visitor.post("/checkouts", { amount: "7" }));
  await demand(visitor.post("/event_inbox", {}));
  const end = await waitUntil("the picture", async () => {
    const { status } = (await visitor.get(`/tasks/${task.id}`)).body;
    return status === "succeeded" || status === "failed" ? status : null;
  });
  if (end !== "succeeded") throw new Error(`The picture ended as ${end}.`);
  const [event] = (await demand(visitor.get("/events"))).data;
  const [charge] = (await demand(visitor.get("/charges"))).data;
  const request = await waitUntil("the log of its upload", async () => {
    const { data } = await demand(visitor.get("/requests?wire=files"));
    return data[0] ?? null;
  });
  const [document] = (await demand(visitor.get("/documents"))).data;
  const [client] = (await demand(visitor.get("/connected-clients"))).data;
  const ids = {
    keys: apiKey.id,
    files: fileId,
    responses: response.id,
    conversations: conversation.id,
    tasks: task.id,
    webhook_endpoints: endpoint.id,
    events: event.id,
    webhook_sessions: webhookSession.id,
    charges: charge.id,
    requests: request.id,
    checkouts: checkout.id,
    documents: document.id,
    sessions: session.id,
    passkeys: `passkey_${canary}`,
    services: `service-${canary}`,
    connect: requestId,
    "connected-clients": client.id,
  };
  return { visitor, email, key: apiKey.key, ids, secrets: [canary, email, account.id, ...Object.values(ids)] };
}

async function demand(asked: Promise<SiteAnswer>): Promise<SiteAnswer["body"]> {
  const { status, body } = await asked;
  if (status >= 300) throw new Error(`An answer of ${status}: ${JSON.stringify(body)}`);
  return body;
}

async function addMoney(gateway: TestGateway, accountId: AccountId): Promise<void> {
  const amount = parseMoney("10");
  if (amount === null) throw new Error("10 is no amount.");
  const { database, clock } = gateway.parts;
  const source = 'seller: {name: Seller, address: Street 1, country: DE}\ntax: [{country: "*", rate: 19}]';
  await applyTerms({ database, clock }, { source, actor: "test" });
  const booking = { kind: "top-up", amount } as const;
  const request = { accountId, booking, actor: "test", reason: "test", reference: null };
  await bookPayment({ ...gateway.parts, currency: "USD" }, request);
}

async function uploadPicture(gateway: TestGateway, { key, name }: { key: string; name: string }): Promise<string> {
  const form = new FormData();
  form.append("purpose", "generation");
  form.append("file", new Blob([new Uint8Array(await makeMedia("png"))]), name);
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${gateway.baseUrl}/files`, { method: "POST", headers, body: form });
  const { file_id: fileId } = (await response.json()) as { file_id?: string };
  if (fileId === undefined) throw new Error(`The upload was answered with ${response.status}.`);
  return fileId;
}

/** As if it had been connected before the site removed it. */
async function addService(gateway: TestGateway, { userId, canary }: { userId: string; canary: string }): Promise<void> {
  const created_at = gateway.parts.clock.now();
  const identity = { provider_id: `service-${canary}`, subject: canary, user_id: userId, created_at };
  await gateway.database.insertInto("user_identities").values(identity).execute();
}

/** As if a browser had added it, which other tests do. */
async function addPasskey(gateway: TestGateway, { userId, canary }: { userId: string; canary: string }): Promise<void> {
  await gateway.database
    .insertInto("user_passkeys")
    .values({
      id: `passkey_${canary}`,
      user_id: userId,
      credential_id: canary,
      public_key: Buffer.from([1]),
      sign_count: 0n,
      transports: [],
      name: `${canary} passkey`,
      created_at: gateway.parts.clock.now(),
    })
    .execute();
}
