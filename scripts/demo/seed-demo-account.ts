import { changeAccount, renewPlans } from "../../src/app/change-account.ts";
import {
  createApiKey,
  createKeyUses,
  createPlan,
  issueClientKey,
  type KeyRestrictions,
  revokeApiKey,
} from "../../src/features/accounts/index.ts";
import { applyTerms, bookPayment, issueStatements } from "../../src/features/invoices/index.ts";
import { bookCredit, type CreditRequest, type Ledger, sweepLedger } from "../../src/features/ledger/index.ts";
import { createRequestLog } from "../../src/features/requests/index.ts";
import type { AccountId, IdSource, TransactionId } from "../../src/lib/ids.ts";
import { invariant } from "../../src/lib/invariant.ts";
import { type Nano, nano, parseMoney } from "../../src/lib/money.ts";
import { type Database, inTransaction } from "../../src/platform/database/database.ts";
import { createLogger } from "../../src/platform/observability/logger.ts";
import { createMetrics } from "../../src/platform/observability/metrics.ts";
import { bookPastCalls, readPastPrices, type TeamKey } from "./book-past-calls.ts";
import { createDemoCaller, type DemoCaller } from "./demo-caller.ts";
import { callByEveryWire } from "./demo-calls.ts";
import { draw, drawRefused } from "./demo-tasks.ts";
import { planCall, type TeamName } from "./demo-teams.ts";
import { type Burst, planDay, planLastDay } from "./demo-traffic.ts";
import { logPastCalls, makePastPartitions } from "./log-past-calls.ts";
import { offerDemoModels } from "./offer-demo-models.ts";
import type { PastClock } from "./past-clock.ts";
import { type Chance, createChance } from "./seeded-chance.ts";

export type DemoParts = {
  database: Database;
  /** The gateway's clock, at the start of the history. */
  clock: PastClock;
  /** Books past calls directly. Uses the same clock and database. */
  ledger: Pick<Ledger, "apply">;
  ids: IdSource;
  randomBytes(count: number): Uint8Array;
  hasModel(id: string): boolean;
};

export type DemoHistory = {
  accountId: AccountId;
  baseUrl: string;
  /** An unrestricted key of the account. */
  key: string;
  /** The end of the history, which begins `days` earlier. */
  until: Date;
  days: number;
  callsPerDay: number;
};

type Story = DemoParts &
  Pick<DemoHistory, "accountId"> & {
    caller: DemoCaller;
    chance: Chance;
    /** The number of top-ups on a low balance. */
    invoices: number;
  };

/** The garden shop's supplier is in Germany, and so is the shop unless it says otherwise. */
const demoTerms = `
seller:
  name: Sluice Demo GmbH
  address: "Schleusenweg 1\\n10115 Berlin"
  country: DE
  tax_id: DE000000000
tax:
  - {country: DE, rate: 19}
  - {country: EU, tax_id: with, rate: 0, note: "Reverse charge: the recipient owes the VAT."}
  - {country: "*", rate: 0, name: Tax}
`;

const dayMs = 24 * 60 * 60_000;
/** The request log's default retention, less the day that is dropped next. */
const logDays = 29;
const logger = createLogger({ level: "warn", format: "pretty", write: (line) => process.stderr.write(line) });
const seed = 20_261_115;

/**
 * Writes months of history for an account, on a clock that starts in the past. Tasks and the latest calls go over HTTP;
 * credit, keys and earlier calls go through the ledger and accounts directly. `live-demo-day.ts` adds today.
 */
export async function seedDemoAccount(parts: DemoParts, history: DemoHistory): Promise<void> {
  const { days, callsPerDay, until } = history;
  const caller = createDemoCaller(history.baseUrl, history.key);
  const story: Story = { ...parts, ...history, caller, chance: createChance(seed), invoices: 0 };
  const start = new Date(until.getTime() - days * dayMs);
  await offerDemoModels(parts, caller, history.accountId);
  await applyTerms(parts, { source: demoTerms, actor: "ada" });
  const keys = await createKeys(story, until);
  const uses = createKeyUses({ database: parts.database, onTrouble: raise });
  const prices = await readPastPrices(parts.database);
  const books = { ...parts, accountId: history.accountId, prices, keys: keys.ofTeams, noteKeyUse: uses.note };
  const loggedFrom = new Date(until.getTime() - logDays * dayMs);
  await makePastPartitions(parts.database, loggedFrom, until);
  const requestLog = createRequestLog({ ...parts, logger, metrics: createMetrics() });
  const diary = { ...story, requestLog, loggedFrom };
  const turns = listTurns(story, keys.oldId);
  const makeCalls = async ({ at, calls }: Burst): Promise<void> => {
    parts.clock.moveTo(at);
    const planned = Array.from({ length: calls }, () => planCall(story.chance));
    logPastCalls(diary, await bookPastCalls(books, planned, parts.clock.now()));
  };
  const lastDayAt = new Date(until.getTime() - dayMs);
  for (let index = 0; index < days; index += 1) {
    if (index % topUpDays === 0) await topUpWhenLow(story);
    for (const turn of turns.filter(({ at }) => Math.floor(at * days) === index)) await turn.happen();
    const bursts = planDay(story.chance, { start, index, days, callsPerDay });
    for (const burst of bursts.filter(({ at }) => at < lastDayAt)) await makeCalls(burst);
    await keepHouse(parts);
  }
  await topUpWhenLow(story);
  for (const burst of planLastDay(story.chance, { until, callsPerDay })) await makeCalls(burst);
  parts.clock.moveTo(until);
  await uses.close();
  await requestLog.close();
  await topUpWhenLow(story);
  await callByEveryWire(caller, keys.texts);
}

function raise(error: unknown): never {
  throw error;
}

const lowBalance = money("60");
/** Spending in this many days stays far below `lowBalance`. */
const topUpDays = 3;

/** Tops up before the balance reaches zero. */
async function topUpWhenLow(story: Story): Promise<void> {
  const balance = await story.caller.get<{ available_balance: string }>("/balance");
  if (money(balance.available_balance) >= lowBalance) return;
  story.invoices += 1;
  await book(story, { kind: "top-up", amount: money("100") }, `Invoice ${2000 + story.invoices}`);
}

/** Runs the gateway's minutely and nightly jobs. */
async function keepHouse(parts: DemoParts): Promise<void> {
  const onTrouble = (_what: unknown, error: unknown): never => raise(error);
  await sweepLedger({ ...parts, onTrouble });
  await renewPlans({ ...parts, onTrouble });
  await issueStatements({ ...parts, currency: "USD" }, new AbortController().signal);
}

async function createKeys(story: Story, until: Date) {
  const { accountId } = story;
  const create = (name: string, restrictions: Partial<KeyRestrictions> = {}) =>
    createApiKey(story, { accountId, name, ...restrictions });
  const teams = {
    "Web shop": await create("Web shop", { budget: { amount: money("150"), period: "month" } }),
    "Support bot": await create("Support bot", { endpoints: ["chat", "models"] }),
    "Coding agents": await create("Coding agents", { budget: { amount: money("400"), period: "month" } }),
    "Product search": await create("Product search", { endpoints: ["embeddings", "models"] }),
  } satisfies Record<TeamName, unknown>;
  // Keys that expire or are revoked during the history make no calls.
  const soon = new Date(story.clock.now().getTime() + 20 * dayMs);
  await create("Trial", { expiresAt: soon < until ? soon : until });
  const old = await create("Old laptop");
  const entries = Object.entries(teams) as [TeamName, (typeof teams)[TeamName]][];
  const ofTeams = new Map<TeamName, TeamKey>(
    entries.map(([name, { apiKey }]) => {
      const budget = apiKey.budget === null ? null : { ...apiKey.budget, keyId: apiKey.lineageId };
      return [name, { id: apiKey.id, budget }];
    }),
  );
  const texts = new Map(entries.map(([name, { text }]) => [name, text]));
  return { ofTeams, texts, oldId: old.apiKey.id };
}

type Turn = { /** The elapsed share of the history. */ at: number; happen(): Promise<unknown> };

/** Events besides the daily calls. */
function listTurns(story: Story, oldKeyId: string): Turn[] {
  const { caller, clock } = story;
  const inDays = (days: number): Date => new Date(clock.now().getTime() + days * dayMs);
  return [
    { at: 0.05, happen: () => book(story, { kind: "top-up", amount: money("25") }, "Invoice 1001") },
    { at: 0.08, happen: () => book(story, grant("5", inDays(15)), "Welcome") },
    { at: 0.1, happen: () => draw(caller, "A lighthouse at dusk over a calm sea") },
    { at: 0.25, happen: () => startPlan(story) },
    { at: 0.4, happen: () => book(story, { kind: "top-up", amount: money("50") }, "Invoice 1002") },
    { at: 0.45, happen: () => refundLatest(story) },
    { at: 0.5, happen: () => revokeApiKey(story, oldKeyId) },
    {
      at: 0.55,
      happen: () => book(story, { kind: "adjust", amount: money("-1.50") }, "Paid twice, given back by bank"),
    },
    {
      at: 0.6,
      happen: () =>
        Promise.all([
          draw(caller, "A misty meadow at dawn"),
          drawRefused(caller, "A gory scarecrow for the shop window"),
        ]),
    },
    { at: 0.7, happen: () => connectProgram(story) },
    // The files of these tasks have not expired. Tasks of one day run concurrently.
    {
      at: 0.8,
      happen: () =>
        Promise.all([
          draw(caller, "A bouquet of tulips for the spring catalogue"),
          draw(caller, "A small house in a garden on a hill"),
          drawRefused(caller, "A bloodbath among the slugs, as a poster"),
        ]),
    },
    {
      at: 0.94,
      happen: () =>
        Promise.all([draw(caller, "A balloon over the fields at noon"), draw(caller, "A forest in autumn colours")]),
    },
    { at: 0.9, happen: () => book(story, grant("3", inDays(60)), "Thank you for the report") },
  ];
}

async function book({ accountId, ...parts }: Story, booking: CreditRequest["booking"], reason: string): Promise<void> {
  const request = { accountId, actor: "ada", reason, reference: reason };
  if (booking.kind === "top-up") await bookPayment({ ...parts, currency: "USD" }, { ...request, booking });
  else await bookCredit(parts, { ...request, booking });
}

function grant(amount: string, expiresAt: Date): CreditRequest["booking"] {
  return { kind: "grant", unit: "money", amount: money(amount), expiresAt };
}

async function startPlan({ accountId, ...parts }: Story): Promise<void> {
  const quotas = { text: 60_000n, image: 4n, video: 0n };
  await createPlan(parts, { id: "studio", name: "Studio", limits: {}, period: "month", quotas });
  await changeAccount(parts, accountId, { planId: "studio" });
}

async function refundLatest(story: Story): Promise<void> {
  type Charges = { data: { id: TransactionId; unit: string; charge: string }[] };
  const { data } = await story.caller.get<Charges>("/charges?limit=100");
  const charge = data.find(({ unit, charge: amount }) => unit === "money" && money(amount) > 0n);
  invariant(charge !== undefined, "nothing was charged so far");
  await book(story, { kind: "refund", chargeId: charge.id, amount: money(charge.charge) }, "The answer was cut off");
}

async function connectProgram({ accountId, ...parts }: Story): Promise<void> {
  const request = { accountId, client: "garden-laptop", expiresAt: null, budget: null };
  await inTransaction(parts.database, (tx) => issueClientKey(tx, parts, request));
}

function money(text: string): Nano {
  const amount = text.startsWith("-") ? negate(parseMoney(text.slice(1))) : parseMoney(text);
  invariant(amount !== null, `${text} is not an amount`);
  return amount;
}

function negate(amount: Nano | null): Nano | null {
  return amount === null ? null : nano(-amount);
}
