import { afterAll, beforeAll, expect, test } from "vitest";
import { applyTerms, bookPayment } from "../../src/features/invoices/index.ts";
import type { AccountId } from "../../src/lib/ids.ts";
import { nano } from "../../src/lib/money.ts";
import { makeAdminKey } from "../harness/admin/admin-visitor.ts";
import { createTestClock } from "../harness/test-clock.ts";
import { startGateway, type TestGateway } from "../harness/test-gateway.ts";

const clock = createTestClock(new Date("2026-11-15T12:00:00Z"));
const dayMs = 24 * 60 * 60_000;
const source = 'seller: {name: Seller, address: Street 1, country: DE}\ntax: [{country: "*", rate: 19}]';

let gateway: TestGateway;
let key: string;
const accounts: { id: AccountId; key: string }[] = [];

beforeAll(async () => {
  gateway = await startGateway({ clock });
  key = await makeAdminKey(gateway, { access: "read", scopes: ["money"] });
  await applyTerms(gateway.parts, { source, actor: "test" });
  for (const amounts of [[119n, 238n], [357n]]) {
    const { accountId, key: ownKey } = await gateway.createCaller();
    accounts.push({ id: accountId, key: ownKey });
    for (const amount of amounts) {
      const booking = { kind: "top-up", amount: nano(amount * 1_000_000_000n) } as const;
      const request = { accountId, booking, actor: "test", reason: "transfer", reference: null };
      await bookPayment({ ...gateway.parts, currency: "USD" }, request);
      clock.advance(dayMs);
    }
  }
});
afterAll(() => gateway[Symbol.asyncDispose]());

async function read(path: string): Promise<{ status: number; type: string | null; bytes: Buffer }> {
  const response = await fetch(`${gateway.siteUrl}/admin/v1${path}`, { headers: { authorization: `Bearer ${key}` } });
  const bytes = Buffer.from(await response.arrayBuffer());
  return { status: response.status, type: response.headers.get("content-type"), bytes };
}

async function list(query: string) {
  const { status, bytes } = await read(`/documents${query}`);
  const body = JSON.parse(bytes.toString());
  return { status, body, numbers: body.data?.map(({ number }: { number: string }) => number) };
}

async function readCsv(path: string): Promise<string[][]> {
  const { status, type, bytes } = await read(path);
  expect({ status, type }).toEqual({ status: 200, type: "text/csv; charset=utf-8" });
  const lines = bytes.toString().trimEnd().split("\r\n");
  return lines.map((line) => line.split(","));
}

test("documents of all accounts are listed by page, number, account, kind and time", async () => {
  const first = await list("?limit=2");
  expect(first.numbers).toEqual(["INV-000003", "INV-000002"]);
  expect(first.body.data[0]).toMatchObject({
    ...{ kind: "invoice", account_id: accounts[1]?.id, email: expect.stringContaining("@"), currency: "USD" },
    ...{ total: "357.00", tax: "57.00", channel: "operator", issued_at: "2026-11-17T12:00:00.000Z" },
  });
  expect((await list(`?limit=2&after=${first.body.next_cursor}`)).numbers).toEqual(["INV-000001"]);
  expect((await list("?number=INV-000002")).numbers).toEqual(["INV-000002"]);
  expect((await list("?number=CN-000002")).numbers).toEqual([]);
  expect((await list("?number=second")).body.error).toMatchObject({ code: "invalid_parameter", param: "number" });
  expect((await list(`?account_id=${accounts[0]?.id}`)).numbers).toEqual(["INV-000002", "INV-000001"]);
  expect((await list("?kind=credit_note")).numbers).toEqual([]);
  const day = "?from=2026-11-16T00:00:00Z&to=2026-11-17T00:00:00Z";
  expect((await list(day)).numbers).toEqual(["INV-000002"]);
  expect((await list(`?after=doc_${"0".repeat(26)}`)).status).toBe(400);
});

test("a document's PDF has the same bytes each time, and an unknown one is not found", async () => {
  const [document] = (await list("?limit=1")).body.data;
  const pdf = await read(`/documents/${document.id}/pdf`);
  expect(pdf).toMatchObject({ status: 200, type: "application/pdf" });
  expect(pdf.bytes.subarray(0, 5).toString()).toBe("%PDF-");
  expect((await read(`/documents/${document.id}/pdf`)).bytes.equals(pdf.bytes)).toBe(true);
  expect((await read(`/documents/doc_${"0".repeat(26)}/pdf`)).status).toBe(404);
});

test("the books of a period are a file in which debit equals credit on every day", async () => {
  const [names, ...lines] = await readCsv("/books?from=2026-11-01");
  expect(names).toEqual(["date", "account", "debit", "credit"]);
  expect(lines).toContainEqual(["2026-11-16", "cash:operator", "238.00", "0.00"]);
  expect(lines).toContainEqual(["2026-11-15", "tax_payable", "0.00", "19.00"]);
  for (const [, ofDay] of Map.groupBy(lines, ([day]) => day)) {
    const sum = (column: number) => ofDay.reduce((total, line) => total + Number(line[column]), 0);
    expect(sum(2)).toBe(sum(3));
  }
  const own = await readCsv(`/books?from=2026-11-01&account_id=${accounts[1]?.id}`);
  expect(own.slice(1).every(([day]) => day === "2026-11-17")).toBe(true);
  expect(await readCsv("/books?from=2026-01-01&to=2026-02-01")).toEqual([names]);
});

test("revenue is a file by model and month or day", async () => {
  const response = await fetch(`${gateway.baseUrl}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${accounts[0]?.key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "sandbox-chat", messages: [{ role: "user", content: "Hi" }], max_tokens: 50 }),
  });
  expect(response.status, await response.text()).toBe(200);
  const [names, line] = await readCsv("/books/revenue?from=2026-11-01");
  expect(names).toEqual(["month", "model", "calls", "revenue"]);
  expect(line?.slice(0, 3)).toEqual(["2026-11", "sandbox-chat", "1"]);
  expect(Number(line?.[3])).toBeGreaterThan(0);
  const [, byDay] = await readCsv("/books/revenue?from=2026-11-01&by=day");
  expect(byDay).toEqual(["2026-11-18", ...(line ?? []).slice(1)]);
});

test.each([
  ["from", "/books?from=2026-02-30"],
  ["to", "/books?from=2026-01-01&to=2026-13-01"],
  ["from", "/books?from=2026-02-01&to=2026-02-01"],
  ["from", "/books/revenue?from=1900-01-01&to=2026-01-01"],
  ["by", "/books/revenue?from=2026-01-01&by=year"],
])("a wrong %s of %s is refused", async (param, path) => {
  const { status, bytes } = await read(path);
  expect(status).toBe(400);
  expect(JSON.parse(bytes.toString()).error).toMatchObject({ code: "invalid_parameter", param });
});
