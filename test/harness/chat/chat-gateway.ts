import OpenAI from "openai";
import { bookCredit, findViolations, readBalance } from "../../../src/features/ledger/index.ts";
import { parseMoney, presentMoney } from "../../../src/lib/money.ts";
import { type Charge, type HoldRow, listCharges, listHolds } from "../ledger/read-chat-ledger.ts";
import { startGateway, type TestGateway } from "../test-gateway.ts";
import { type FakeUpstreams, findCanary, startFakeUpstreams } from "../upstreams/fake-upstreams.ts";
import type { CountPrompt } from "../upstreams/vendor-caches.ts";
import { waitUntil } from "../wait-until.ts";
import { upstreamKeyName, writeChatCatalog } from "./chat-catalog.ts";

type CallerOptions = NonNullable<Parameters<TestGateway["createCaller"]>[0]>;

export type ChatCaller = Awaited<ReturnType<TestGateway["createCaller"]>> & {
  /** The real SDK, without its own retries by default. */
  client: OpenAI;
  /** A raw call of the endpoint. */
  post(body: unknown, init?: { headers?: Record<string, string>; signal?: AbortSignal }): Promise<Response>;
  readBalance(): Promise<{ available: string; frozen: string }>;
  listCharges(): Promise<Charge[]>;
  listHolds(): Promise<HoldRow[]>;
  /** Resolves when no call is running and nothing is on hold. */
  settled(): Promise<void>;
};

export type ChatGateway = AsyncDisposable & {
  gateway: TestGateway;
  upstream: FakeUpstreams;
  /** A new account with money (10.00 by default) and a key. */
  createCaller(options?: CallerOptions & { cash?: string; maxRetries?: number }): Promise<ChatCaller>;
  /** Like `fetch`, but records everything that a customer sees. */
  fetch: typeof fetch;
  /** Applies a catalog, and waits until the gateway serves it. */
  applyCatalog(source: string): Promise<void>;
};

type ChatGatewayOptions = NonNullable<Parameters<typeof startGateway>[0]> & {
  catalog?: (upstream: FakeUpstreams) => string;
  /** Fields beyond OpenAI's that the OpenAI fake accepts. */
  extraFields?: readonly string[];
  /** How the fakes count prompt tokens. */
  countPrompt?: CountPrompt;
};

/**
 * A gateway whose models are served by fake vendors. When it is closed, the ledger is checked, and everything that
 * customers saw is searched for the vendors' canary word: a test that leaks, or that leaves the ledger wrong, fails.
 */
export async function openChatGateway(options: ChatGatewayOptions = {}): Promise<ChatGateway> {
  const { catalog = writeChatCatalog, extraFields = [], countPrompt, ...gatewayOptions } = options;
  process.env[upstreamKeyName] ??= "sk-fake-upstream";
  const upstream = await startFakeUpstreams({ extraFields, ...(countPrompt === undefined ? {} : { countPrompt }) });
  const gateway = await startGateway(gatewayOptions);
  const seen: string[] = [];
  const watchedFetch = watchFetch(seen);

  async function applyCatalog(source: string): Promise<void> {
    const outcome = await gateway.applyCatalog(source);
    if (outcome.kind === "refused") throw new Error(JSON.stringify(outcome.problems, null, 2));
    const { version } = outcome;
    await waitUntil("the catalog to be served", () => gateway.catalogVersion() === version);
  }

  await applyCatalog(catalog(upstream));
  return {
    gateway,
    upstream,
    applyCatalog,
    fetch: watchedFetch,
    createCaller: (callerOptions = {}) => createChatCaller(gateway, watchedFetch, callerOptions),
    async [Symbol.asyncDispose]() {
      const violations = await findViolations(gateway.database, { kind: "whole", accountIds: "all", now: new Date() });
      await gateway[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
      const leak = findCanary(seen.join(""));
      if (leak !== null) throw new Error(`A customer saw something of the upstream: …${leak}…`);
      if (violations.length > 0) throw new Error(`The ledger is wrong: ${JSON.stringify(violations)}`);
    },
  };
}

/** Records the answer while it is read, without reading ahead: the customer's back-pressure reaches the gateway. */
function watchFetch(seen: string[]): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    seen.push(`${[...response.headers].map(([name, value]) => `${name}: ${value}`).join("\n")}\n`);
    if (response.body === null) return response;
    const decoder = new TextDecoder();
    const look = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        seen.push(decoder.decode(chunk, { stream: true }));
        controller.enqueue(chunk);
      },
    });
    return new Response(response.body.pipeThrough(look), response);
  };
}

async function createChatCaller(
  gateway: TestGateway,
  watchedFetch: typeof fetch,
  { cash = "10", maxRetries = 0, ...callerOptions }: CallerOptions & { cash?: string; maxRetries?: number },
): Promise<ChatCaller> {
  const caller = await gateway.createCaller(callerOptions);
  const { accountId, key } = caller;
  const amount = parseMoney(cash);
  if (amount === null) throw new Error(`${cash} is no amount.`);
  if (amount > 0n) {
    const booking = { kind: "top-up", amount } as const;
    await bookCredit(gateway.parts, { accountId, booking, actor: "test", reason: "test", reference: null });
  }
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  return {
    ...caller,
    client: new OpenAI({ apiKey: key, baseURL: gateway.baseUrl, fetch: watchedFetch, maxRetries }),
    post: (body, { headers: more = {}, signal } = {}) =>
      watchedFetch(`${gateway.baseUrl}/chat/completions`, {
        method: "POST",
        body: typeof body === "string" ? body : JSON.stringify(body),
        headers: { ...headers, ...more },
        ...(signal === undefined ? {} : { signal }),
      }),
    async readBalance() {
      const { balance } = await readBalance(gateway.database, accountId, new Date());
      return { available: presentMoney(balance.available), frozen: presentMoney(balance.frozen) };
    },
    listCharges: () => listCharges(gateway.database, accountId),
    listHolds: () => listHolds(gateway.database, accountId),
    async settled() {
      await waitUntil("every call and hold to end", async () => {
        // The hold of a short call is written with its charge.
        if (gateway.countRunningCalls(accountId) > 0) return false;
        const holds = await listHolds(gateway.database, accountId);
        return holds.every(({ state }) => state !== "open");
      });
    },
  };
}
