// @module-tag slow
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../harness/chat/chat-gateway.ts";
import { writeClientCatalog } from "../harness/chat/client-catalog.ts";

const kilobyte = 1024;
const unpaidMax = 300 * kilobyte;
const paidMax = 6000 * kilobyte;
const model = "open";

let chat: ChatGateway;
beforeAll(async () => {
  chat = await openChatGateway({
    catalog: writeClientCatalog,
    settings: { unpaid_text_bytes_max: unpaidMax, account_text_bytes_max: paidMax },
  });
});
afterAll(() => chat[Symbol.asyncDispose]());

const say = (kilobytes: number) => ({ role: "user" as const, content: "x".repeat(kilobytes * kilobyte) });

async function sumStored({ accountId }: ChatCaller): Promise<number> {
  const rows = await chat.gateway.database
    .selectFrom("stored_texts")
    .select("bytes")
    .where("account_id", "=", accountId)
    .execute();
  return rows.reduce((sum, { bytes }) => sum + Number(bytes), 0);
}

describe("an account's stored text", () => {
  test("has a small limit before the first payment, and the error names the limit and the fix", async () => {
    const poor = await chat.createCaller({ cash: "0" });
    const { conversations } = poor.client;
    const { id } = await conversations.create({ items: [say(200)] });
    const refusal = {
      status: 402,
      code: "insufficient_balance",
      message: expect.stringContaining(`${unpaidMax} bytes in responses and conversations. Add credit for more.`),
    };
    await expect(conversations.items.create(id, { items: [say(200)] })).rejects.toMatchObject(refusal);
    await expect(conversations.create({ items: [say(200)] })).rejects.toMatchObject(refusal);
    await conversations.delete(id);
    expect(await sumStored(poor)).toBe(0);
    await conversations.create({ items: [say(200)] });
  });

  test("never exceeds its limit under concurrent writes", async () => {
    const poor = await chat.createCaller({ cash: "0" });
    const tries = Array.from({ length: 13 }, () => poor.client.conversations.create({ items: [say(90)] }));
    const outcomes = (await Promise.allSettled(tries)).map(({ status }) => status);
    expect(outcomes.filter((status) => status === "fulfilled")).toHaveLength(3);
    expect(await sumStored(poor)).toBeLessThanOrEqual(unpaidMax);
  });

  test("has a higher limit afterwards, for conversations and responses; calls over it are still answered", async () => {
    const own = await chat.createCaller({ cash: "1000" });
    const { conversations, responses } = own.client;
    const first = await responses.create({ model, input: "Hello" });
    const stored = await sumStored(own);
    expect(stored).toBeGreaterThan(0);
    const { id } = await conversations.create({ items: [say(3000)] });
    await conversations.items.create(id, { items: [say(2950)] });
    await expect(conversations.items.create(id, { items: [say(200)] })).rejects.toMatchObject({
      status: 413,
      code: "payload_too_large",
      message: expect.stringContaining(`${paidMax} bytes`),
    });
    await chat.gateway.database
      .updateTable("stored_texts")
      .set({ bytes: BigInt(paidMax) })
      .where("account_id", "=", own.accountId)
      .where("shard", "=", 0)
      .execute();
    const full = { status: 413, code: "payload_too_large", message: expect.stringContaining("store: false") };
    await expect(responses.create({ model, input: "Hello" })).rejects.toMatchObject(full);
    await expect(responses.create({ model, input: "Hello", background: true })).rejects.toMatchObject(full);
    await expect(responses.create({ model, input: "Hello", previous_response_id: first.id })).rejects.toMatchObject(
      full,
    );
    expect(await responses.create({ model, input: "Hello", store: false })).toMatchObject({ status: "completed" });
  });

  test("is counted with every write, and released with every deletion", async () => {
    const own = await chat.createCaller({ cash: "1000" });
    const { conversations, responses } = own.client;
    const { id } = await conversations.create({ items: [say(1), say(2)], metadata: { topic: "counting" } });
    const response = await responses.create({ model, input: "Hello", conversation: id });
    await conversations.update(id, { metadata: { topic: "something longer than before" } });
    const [item] = (await conversations.items.list(id, { limit: 1 })).data;
    await conversations.items.delete(String(item?.id), { conversation_id: id });
    const { database } = chat.gateway;
    const rows = await database.selectFrom("conversations").selectAll().where("id", "=", id).execute();
    const kept = await database.selectFrom("responses").selectAll().where("id", "=", response.id).execute();
    const texts = [...rows.map(({ metadata }) => metadata), ...kept.flatMap(({ input, body }) => [input, body])];
    const items = await database.selectFrom("conversation_items").select("item").execute();
    expect(items.length).toBeGreaterThan(2);
    const ownItems = await database
      .selectFrom("conversation_items")
      .select("item")
      .where("conversation_id", "=", id)
      .execute();
    const all = [...texts, ...ownItems.map((each) => each.item)];
    expect(await sumStored(own)).toBe(all.reduce((sum, text) => sum + Buffer.byteLength(text), 0));
    await conversations.delete(id);
    await responses.delete(response.id);
    expect(await sumStored(own)).toBe(0);
  });
});

describe("a page of items", () => {
  type Page = { data: { id: string }[]; has_more: boolean; first_id: string; last_id: string };
  async function readPage(own: ChatCaller, path: string): Promise<{ page: Page; bytes: number }> {
    const response = await chat.fetch(`${chat.gateway.baseUrl}/${path}`, {
      headers: { authorization: `Bearer ${own.key}` },
    });
    const text = await response.text();
    return { page: JSON.parse(text), bytes: text.length };
  }

  async function readAll(own: ChatCaller, path: string): Promise<{ counts: number[]; ids: string[] }> {
    const counts: number[] = [];
    const ids: string[] = [];
    for (let after = ""; ; ) {
      const { page, bytes } = await readPage(own, `${path}?limit=100&order=asc${after}`);
      counts.push(page.data.length);
      ids.push(...page.data.map(({ id }) => id));
      expect(page.data.length === 1 || bytes < 1.1 * 1024 * kilobyte).toBe(true);
      expect([page.first_id, page.last_id]).toEqual([page.data[0]?.id, page.data.at(-1)?.id]);
      if (!page.has_more) return { counts, ids };
      after = `&after=${page.last_id}`;
    }
  }

  const sizes = [400, 400, 400, 1500, 400, 10];
  const items = sizes.map((kilobytes, index) => ({ ...say(kilobytes), id: `item_${index}` }));
  const ids = items.map(({ id }) => id);

  test("of a conversation has at most a mebibyte, or one larger item alone", async () => {
    const own = await chat.createCaller({ cash: "1000" });
    const { id } = await own.client.conversations.create({ items: items as never });
    expect(await readAll(own, `conversations/${id}/items`)).toEqual({ counts: [2, 1, 1, 2], ids });
    const { page } = await readPage(own, `conversations/${id}/items?limit=1`);
    expect(page).toMatchObject({ data: [{ id: "item_5" }], has_more: true });
  });

  test("of a response's input has the same limit, also when it continues others", async () => {
    const own = await chat.createCaller({ cash: "100000" });
    const input = items.slice(0, 3);
    const first = await own.client.responses.create({ model, input: input as never });
    const second = await own.client.responses.create({
      model,
      input: [{ role: "user", content: "Go on" }],
      previous_response_id: first.id,
    });
    const { counts, ids: listed } = await readAll(own, `responses/${second.id}/input_items`);
    expect(counts).toEqual([2, 3]);
    expect(listed.slice(0, 3)).toEqual(ids.slice(0, 3));
    const newest = await readPage(own, `responses/${second.id}/input_items?limit=2`);
    expect(newest.page.data.map(({ id }) => id)).toEqual(listed.slice(3).reverse());
    const wrong = await readPage(own, `responses/${second.id}/input_items?after=nothing`);
    expect(wrong.page).toMatchObject({ error: { code: "invalid_parameter", param: "after" } });
  });
});

test("a conversation larger than a request may be cannot be continued", async () => {
  const own = await chat.createCaller({ cash: "100000" });
  const { id } = await own.client.conversations.create();
  const parts = Array.from({ length: 6000 }, () => ({ type: "input_text", text: "x" }));
  for (let count = 0; count < 4; count += 1) {
    await own.client.conversations.items.create(id, { items: [{ role: "user", content: parts } as never] });
  }
  await expect(own.client.responses.create({ model, input: "Go on", conversation: id })).rejects.toMatchObject({
    status: 400,
    code: "context_length_exceeded",
    param: "conversation",
  });
});
