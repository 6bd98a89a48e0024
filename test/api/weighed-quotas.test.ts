import { afterAll, beforeAll, expect, test } from "vitest";
import { changeAccount } from "../../src/app/change-account.ts";
import { createPlan, updatePlan } from "../../src/features/accounts/index.ts";
import { parseMoney } from "../../src/lib/money.ts";
import { readQuotaWeights, type WrittenWeights } from "../../src/lib/quota-weights.ts";
import { writeCatalogOf, writePrice } from "../harness/chat/chat-catalog.ts";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../harness/chat/chat-gateway.ts";
import { runCommandHere } from "../harness/run-command-here.ts";
import { createTestDatabase } from "../harness/test-database.ts";
import { waitUntil } from "../harness/wait-until.ts";

let stage: ChatGateway;

const route = (sheet?: Record<string, unknown>) => [
  { provider: "open", upstream_model: "dear", ...(sheet === undefined ? {} : { cost_sheet: sheet }) },
];
const sheet = { unit: "1M tokens", input_price: "3", cached_input_price: "0.30", output_price: "15" };

function writeCatalog(upstream: ChatGateway["upstream"]): string {
  return writeCatalogOf(upstream, {
    providers: [{ id: "sandbox", kind: "sandbox" }],
    models: [
      { id: "open", routes: route(sheet) },
      { id: "other", routes: route() },
      {
        ...{ id: "vectors", type: "embedding", capabilities: ["text_embedding"], limits: { context_window: 8192 } },
        routes: [{ provider: "sandbox", upstream_model: "embedding" }],
      },
    ],
    prices: ["open", "other"]
      .map((id) => writePrice(id, { input_price: "10", output_price: "20" }))
      .concat([writePrice("vectors", { cached_input_price: undefined, output_price: undefined })]),
  });
}

let shared: Awaited<ReturnType<typeof createTestDatabase>>;

beforeAll(async () => {
  shared = await createTestDatabase();
  stage = await openChatGateway({ catalog: writeCatalog, sharedDatabase: shared });
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  await shared.close();
});

let plans = 0;

async function join(written: WrittenWeights | null): Promise<ChatCaller & { planId: string }> {
  plans += 1;
  const id = `weighed-${plans}`;
  const weights = written === null ? null : readQuotaWeights(written);
  const quotas = { text: 100_000n, image: 0n, video: 0n };
  await createPlan(stage.gateway.parts, { id, name: id, limits: {}, quotas, weights });
  const caller = await stage.createCaller({ cash: "0" });
  await changeAccount(stage.gateway.parts, caller.accountId, { planId: id });
  return { ...caller, planId: id };
}

async function ask(
  caller: ChatCaller,
  model: string,
): Promise<{ used: bigint; held: bigint; tokens: Record<string, number> }> {
  const body = { model, max_tokens: 100, messages: [{ role: "user" as const, content: "How high is the gate?" }] };
  const { usage } = await caller.client.chat.completions.create(body);
  await caller.settled();
  const [charge] = (await caller.listCharges()).toReversed();
  const [held] = (await caller.listHolds()).toReversed();
  expect(charge?.unit).toBe("text");
  const tokens = { input: usage?.prompt_tokens ?? 0, output: usage?.completion_tokens ?? 0 };
  return { used: BigInt(charge?.paid ?? 0), held: BigInt(held?.amount ?? 0), tokens };
}

test("without weights every token counts once", async () => {
  const { used, tokens } = await ask(await join(null), "open");
  expect(used).toBe(BigInt((tokens.input ?? 0) + (tokens.output ?? 0)));
});

test("tokens weigh by model and kind, in the hold and in the charge", async () => {
  const caller = await join({ models: { open: "2", "*": "0.5" }, kinds: { output: "5" } });
  const { used, held, tokens } = await ask(caller, "open");
  expect(used).toBe(BigInt(2 * (tokens.input ?? 0) + 10 * (tokens.output ?? 0)));
  expect(held).toBeGreaterThanOrEqual(used + 10n * BigInt(100 - (tokens.output ?? 0)));
  const other = await ask(caller, "other");
  const half = (other.tokens.input ?? 0) + 5 * (other.tokens.output ?? 0);
  expect(other.used).toBe(BigInt(Math.ceil(half / 2)));
});

test("a change of the weights applies to the next call, also of other kinds of models", async () => {
  const caller = await join({ models: { vectors: "3" }, kinds: {} });
  const embed = async () => {
    const answer = await caller.client.embeddings.create({
      model: "vectors",
      input: "A gate",
      encoding_format: "float",
    });
    await caller.settled();
    const [charge] = (await caller.listCharges()).toReversed();
    return { used: Number(charge?.paid), tokens: answer.usage.prompt_tokens };
  };
  const first = await embed();
  expect(first.used).toBe(3 * first.tokens);
  await updatePlan(stage.gateway.parts, {
    id: caller.planId,
    weights: readQuotaWeights({ models: { "*": "7" }, kinds: {} }),
  });
  await waitUntil("the new weights", async () => {
    const { used, tokens } = await embed();
    return used === 7 * tokens;
  });
});

test("a quota that its weights use up faster pays for less, and then money does", async () => {
  const caller = await join({ models: { open: "900" }, kinds: {} });
  const refused = await caller.post({ model: "open", max_tokens: 100, messages: [{ role: "user", content: "Hi" }] });
  expect(refused.status).toBe(402);
});

test("the catalog warns of plans whose quota can cost more than its price", async () => {
  const { parts } = stage.gateway;
  const { previewCatalog } = await import("../../src/features/catalog/index.ts");
  const { listPlans } = await import("../../src/features/accounts/index.ts");
  const id = "sold";
  const quotas = { text: 10_000_000n, image: 0n, video: 0n };
  await createPlan(parts, { id, name: id, limits: {}, quotas, price: parseMoney("40") });
  const check = async (): Promise<string[]> => {
    const known = await listPlans(parts.database);
    const surroundings = {
      ...{ currency: "USD", planIds: new Set<string>(), accountIds: new Set<string>(), plans: known },
      ...{ hasSecret: () => true, findPackageFault: () => null },
    };
    const outcome = await previewCatalog({ ...parts, surroundings }, writeCatalog(stage.upstream));
    if (outcome.kind === "refused") throw new Error(JSON.stringify(outcome.problems));
    return outcome.warnings.map(({ message }) => message).filter((message) => message.includes("plan sold"));
  };
  // 10M tokens of output cost 150.
  expect(await check()).toEqual([expect.stringContaining("can cost 150.00")]);
  // A token of output takes four: 37.50. Then input is the dearest: 30.
  await updatePlan(parts, { id, weights: readQuotaWeights({ models: {}, kinds: { output: "4" } }) });
  expect(await check()).toEqual([]);
  // What is cached costs 0.30 per million, and a tenth of a token each: 30. With a hundredth: 300.
  await updatePlan(parts, { id, weights: readQuotaWeights({ models: {}, kinds: { output: "4", cached: "0.01" } }) });
  expect(await check()).toEqual([expect.stringContaining("cached input")]);
  await updatePlan(parts, { id, price: null, isForSale: false });
  expect(await check()).toEqual([]);
});

test("plan commands read weights and prices, and warn of a quota that can be sold below cost", async () => {
  const environment = { SLUICE_DATABASE_URL: shared.url };
  const run = (...words: string[]) => runCommandHere(["plan", ...words], { environment });
  const create = ["create", "studio", "--text-quota", "1000000", "--price", "10", "--sale", "on"];
  const made = await run(...create, "--model-weights", "open=2,*=1");
  expect(made.exitCode, made.stderr).toBe(0);
  expect(made.stdout).not.toContain("warning:");
  const loss = await run("update", "studio", "--model-weights", "", "--price", "14.99", "--json");
  expect(JSON.parse(loss.stdout)).toMatchObject({
    ...{ price: "14.99", for_sale: true },
    warnings: [expect.stringContaining("1M tokens of output for 15.00 of open")],
  });
  const kinds = await run("update", "studio", "--kind-weights", "cached=0.1, output=5", "--json");
  expect(JSON.parse(kinds.stdout)).toMatchObject({ weights: { models: {}, kinds: { cached: "0.1", output: "5" } } });
  expect(kinds.stdout).not.toContain("warnings");
  expect((await run("list")).stdout).toContain("14.99, for sale");
  for (const wrong of [
    ["--model-weights", "open"],
    ["--model-weights", "open=0"],
    ["--model-weights", "open=1000"],
    ["--kind-weights", "input=2"],
    ["--price", "0"],
    ["--price", "none"],
    ["--sale", "maybe"],
  ]) {
    const refused = await run("update", "studio", ...wrong);
    expect(refused.exitCode, wrong.join(" ")).not.toBe(0);
  }
  expect((await run("update", "studio", "--price", "none", "--sale", "off")).exitCode).toBe(0);
});
