import { hash, randomBytes } from "node:crypto";
import { expect } from "vitest";
import { openHold } from "../../../src/features/ledger/apply-within.ts";
import type { HoldId } from "../../../src/lib/ids.ts";
import { nano } from "../../../src/lib/money.ts";
import type { TestGateway } from "../test-gateway.ts";
import type { FakeCall } from "../upstreams/fake-call.ts";
import type { Behaviour } from "../upstreams/fake-upstreams.ts";
import type { ChatCaller, ChatGateway } from "./chat-gateway.ts";

type Fields = Record<string, unknown>;

/** The response to a call, byte for byte. */
export type KeyedAnswer = { status: number; headers: Headers; text: string; isReplay: boolean; code: string | null };

type SendOptions = {
  key?: string;
  question?: string;
  by?: ChatCaller;
  /** Another gateway than the call's own. */
  node?: TestGateway;
  signal?: AbortSignal;
};

/** A unique question, sent with its key as often as a test needs. */
export type KeyedCall = {
  caller: ChatCaller;
  key: string;
  question: string;
  fields: { model: string; messages: { role: "user"; content: string }[] } & Fields;
  /** Scripts the next upstream calls with this question. */
  script(...behaviours: readonly Behaviour[]): void;
  /** The upstream calls with this question. */
  calls(): FakeCall[];
  send(options?: SendOptions): Promise<KeyedAnswer>;
  /** The upstream was called once, one charge was made, and nothing is on hold. */
  expectDoneOnce(): Promise<void>;
};

let callNumber = 0;

export async function createKeyedCall(
  chat: ChatGateway,
  { model = "open", asked = {}, caller }: { model?: string; asked?: Fields; caller?: ChatCaller } = {},
): Promise<KeyedCall> {
  callNumber += 1;
  const prompt = `Question ${callNumber}`;
  const fields = { model, messages: [{ role: "user" as const, content: prompt }], ...asked };
  const question = JSON.stringify(fields);
  const key = `key-${randomBytes(6).toString("hex")}`;
  const owner = caller ?? (await chat.createCaller());
  const calls = (): FakeCall[] => chat.upstream.requests.filter(({ ask }) => ask?.prompt === prompt);
  return {
    caller: owner,
    key,
    question,
    fields,
    script: (...behaviours) => chat.upstream.scriptFor(({ ask }) => ask?.prompt === prompt, ...behaviours),
    calls,
    async send({ by = owner, node = chat.gateway, signal, ...other } = {}) {
      const response = await chat.fetch(`${node.baseUrl}/chat/completions`, {
        method: "POST",
        body: other.question ?? question,
        headers: {
          authorization: `Bearer ${by.key}`,
          "content-type": "application/json",
          "idempotency-key": other.key ?? key,
        },
        ...(signal === undefined ? {} : { signal }),
      });
      return await readAnswer(response);
    },
    async expectDoneOnce() {
      await owner.settled();
      expect(calls()).toHaveLength(1);
      expect(await owner.listCharges()).toHaveLength(1);
      expect(await owner.readBalance()).toMatchObject({ frozen: "0.00" });
    },
  };
}

async function readAnswer(response: Response): Promise<KeyedAnswer> {
  const { status, headers } = response;
  const text = await response.text();
  const isReplay = headers.get("idempotent-replayed") === "true";
  return { status, headers, text, isReplay, code: status === 200 ? null : JSON.parse(text).error.code };
}

/** The keys of an account, and the state of their requests. */
export async function listKeys({ database }: TestGateway, { accountId }: ChatCaller) {
  const rows = await database
    .selectFrom("idempotency_keys")
    .select(["key", "state", "request_id", "hold_id", "lease_until", "status", "body"])
    .where("account_id", "=", accountId)
    .orderBy("key")
    .execute();
  return rows.map(({ key, state, request_id, hold_id, lease_until, status, body }) => ({
    ...{ key, state, status, body: body?.toString("utf8") ?? null },
    ...{ requestId: request_id, holdId: hold_id, leaseUntil: lease_until },
  }));
}

const holdMs = 35 * 60_000;
const hourMs = 60 * 60_000;

/**
 * Leaves the state of a process that died during a call: its claim, whose lease was last renewed at the given time, and
 * its hold; or a claim whose hold was never written, or one of a free model, which has none.
 */
export async function leaveDeadClaim(
  { parts }: TestGateway,
  { caller, key, question }: Pick<KeyedCall, "caller" | "key" | "question">,
  { renewedAt, hold }: { renewedAt: Date; hold: "open" | "never written" | "none" },
): Promise<void> {
  const { accountId } = caller;
  const holdId: HoldId | null = hold === "none" ? null : parts.ids.next("hold");
  const requestId = parts.ids.next("req");
  if (holdId !== null && hold === "open") {
    const request = {
      ...{ id: holdId, accountId, amount: nano(2_000_000_000n), quota: null, budget: null },
      cause: { kind: "request", id: requestId } as const,
      expiresAt: new Date(renewedAt.getTime() + holdMs),
    };
    await parts.database.transaction().execute((tx) => openHold(tx, request, renewedAt));
  }
  await parts.database
    .insertInto("idempotency_keys")
    .values({
      ...{ account_id: accountId, key, request_id: requestId, hold_id: holdId, state: "running" },
      fingerprint: hash("sha256", `POST /v1/chat/completions\n${question}`, "buffer"),
      lease_until: new Date(renewedAt.getTime() + 60_000),
      created_at: renewedAt,
      expires_at: new Date(renewedAt.getTime() + 24 * hourMs),
    })
    .execute();
}
