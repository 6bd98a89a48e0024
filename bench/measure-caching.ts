import { randomUUID } from "node:crypto";
import { parse } from "yaml";
import { findAffinity } from "../src/features/chat/find-affinity.ts";
import { systemClock } from "../src/lib/clock.ts";
import type { AccountId } from "../src/lib/ids.ts";
import { hashText } from "../src/lib/text-hash.ts";
import type { ChatRequest } from "../src/providers/chat-request.ts";
import { chooseTarget } from "../src/providers/choose-target.ts";
import { runAgents } from "../test/harness/chat/agent-run.ts";
import { upstreamKeyName } from "../test/harness/chat/chat-catalog.ts";
import { listKeys, writeKeyedCatalog } from "../test/harness/chat/keyed-catalog.ts";
import { startFakeUpstreams } from "../test/harness/upstreams/fake-upstreams.ts";
import { type CountPrompt, createVendorCaches } from "../test/harness/upstreams/vendor-caches.ts";
import { readProcessCpuUs } from "./process-figures.ts";
import { type SluiceGateway, startSluice } from "./sluice-gateway.ts";
import { presentTable, writeResults } from "./write-results.ts";

const talk = { conversations: 20, turns: 20, openingChars: 20_000, turnChars: 3000 };
const readsGoal = 0.95;
const cpuGoal = 0.03;

type Run = { share: number; cachedTokens: number; cpuUs: number };

/** Agents with one key and with ten, against fakes that model the vendors' caches; and the cost of key affinity. */
export async function measureCaching(): Promise<void> {
  let countPrompt: CountPrompt = createVendorCaches(systemClock);
  await using upstream = await startFakeUpstreams({ countPrompt: (call) => countPrompt(call) });
  const settings = { ...listKeys(), [upstreamKeyName]: "sk-bench" };
  const sluice = await startSluice({ catalog: parse(writeKeyedCatalog(upstream)) }, { settings });
  const run = async (model: string, more?: () => Record<string, unknown>): Promise<Run> => {
    countPrompt = createVendorCaches(systemClock);
    const cpuBefore = readProcessCpuUs(sluice.processId);
    const agents = { model, talk, work: () => {}, ...(more === undefined ? {} : { more }) };
    const { inputTokens, cachedTokens } = await runAgents(createPoster(sluice), agents);
    const calls = talk.conversations * talk.turns;
    const cpuUs = (readProcessCpuUs(sluice.processId) - cpuBefore) / calls;
    return { share: cachedTokens / inputTokens, cachedTokens, cpuUs };
  };
  try {
    const rows: string[][] = [];
    let callCpuUs = Number.POSITIVE_INFINITY;
    for (const vendor of ["open", "claude"]) {
      await run(`one-${vendor}`);
      const one = await run(`one-${vendor}`);
      const ten = await run(`ten-${vendor}`);
      const scattered = await run(`ten-${vendor}`, () => ({ user: randomUUID() }));
      const ratio = ten.cachedTokens / one.cachedTokens;
      callCpuUs = Math.min(callCpuUs, one.cpuUs);
      rows.push([
        vendor === "open" ? "OpenAI's cache" : "Anthropic's cache, automatic marks",
        ...[one, ten, scattered].map(({ share }) => presentShare(share)),
        ...[presentShare(ratio), presentShare(scattered.cachedTokens / one.cachedTokens)],
        ratio >= readsGoal ? "met" : "MISSED",
      ]);
    }
    writeResults("caching", [describeReads(rows), describeCost(callCpuUs)].join("\n\n"));
  } finally {
    await sluice.close();
  }
}

function createPoster({ port, headers }: SluiceGateway) {
  return {
    post: (body: unknown) =>
      fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
  };
}

function describeReads(rows: readonly (readonly string[])[]): string {
  const { conversations, turns } = talk;
  const titles = ["input read from", "one key", "ten keys", "ten, at random", "ten : one", "at random : one", "≥ 95 %"];
  return `${conversations} agents with ${turns} turns each; at random is without conversation affinity.\n\n${presentTable(titles, rows)}`;
}

/** Chooses one of ten keys for a short request and for an agent's, with and without conversation affinity. */
function describeCost(callCpuUs: number): string {
  const long = "A long text. ".repeat(2500);
  const tools = Array.from(
    { length: 200 },
    (_, at) => ({ type: "function", function: { name: `tool-${at}` } }) as const,
  );
  const requests: readonly (readonly [string, ChatRequest])[] = [
    ["short request", { model: "talk", messages: [{ role: "user", content: "Hello" }] }],
    [
      "agent's request, 200 tools, 32 kB",
      {
        model: "talk",
        tools: [...tools],
        messages: [
          { role: "system", content: long },
          { role: "user", content: long },
        ],
      },
    ],
  ];
  const rows = requests.map(([name, request]) => {
    const without = timeChoice(null);
    const withIt = timeChoice(request);
    const share = (withIt - without) / callCpuUs;
    const texts = [without, withIt].map((us) => `${us.toFixed(2)} µs`);
    return [name, ...texts, presentShare(share), share <= cpuGoal ? "met" : "MISSED"];
  });
  const titles = ["choosing among ten keys", "by chance", "by conversation", "of a call's CPU", "≤ 3 %"];
  return `A call of these agents took ${Math.round(callCpuUs)} µs of the gateway's CPU.\n\n${presentTable(titles, rows)}`;
}

function timeChoice(request: ChatRequest | null): number {
  const route = { priority: 0, weight: 1 };
  const provider = { api_keys: Array.from({ length: 10 }, String) };
  const targets = provider.api_keys.map((key) => ({ providerId: "main", route, provider, placeHash: hashText(key) }));
  const accountId = "acct_01kh2n8v7m3q5x9d4c6b8a0e2f" as AccountId;
  const call = request === null ? {} : { findAffinity: () => findAffinity({ accountId, request, session: null }) };
  const choose = () => chooseTarget(targets, { tried: [], waitMs: () => 0, random: Math.random, call });
  const rounds = 100_000;
  for (let round = 0; round < rounds; round += 1) choose();
  const startedAt = process.cpuUsage();
  for (let round = 0; round < rounds; round += 1) choose();
  const { user, system } = process.cpuUsage(startedAt);
  return (user + system) / rounds;
}

function presentShare(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
