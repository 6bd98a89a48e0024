import { changeAccount, renewPlans } from "../../src/app/change-account.ts";
import { createApiKey, createPlan, issueClientKey, revokeApiKey } from "../../src/features/accounts/index.ts";
import { bookCredit, type CreditRequest, sweepLedger } from "../../src/features/ledger/index.ts";
import type { AccountId, IdSource, TransactionId } from "../../src/lib/ids.ts";
import { invariant } from "../../src/lib/invariant.ts";
import { type Nano, nano, parseMoney } from "../../src/lib/money.ts";
import { type Database, inTransaction } from "../../src/platform/database/database.ts";
import { createDemoCaller, type DemoCaller } from "./demo-caller.ts";
import { beginLongFilm, makeFilm, makePictures, openReceivers, writeDrama } from "./demo-tasks.ts";
import { makeCalls, planDay } from "./demo-traffic.ts";
import { offerDemoModels } from "./offer-demo-models.ts";
import type { PastClock } from "./past-clock.ts";
import { type Chance, createChance } from "./seeded-chance.ts";

export type DemoParts = {
  database: Database;
  /** The clock of the gateway that is called; it stands at the beginning of the history. */
  clock: PastClock;
  ids: IdSource;
  randomBytes(count: number): Uint8Array;
  hasModel(id: string): boolean;
};

export type DemoHistory = {
  accountId: AccountId;
  baseUrl: string;
  /** A key of the account without restrictions. */
  key: string;
  /** When the history is over; it begins so many days before. */
  until: Date;
  days: number;
  callsPerDay: number;
  /** Whether images, videos and speech are made, which takes most of the time. */
  hasMedia: boolean;
};

type Story = DemoParts & Pick<DemoHistory, "accountId" | "hasMedia"> & { caller: DemoCaller; chance: Chance };

const dayMs = 24 * 60 * 60_000;
const seed = 20_261_115;

/**
 * Gives an account months of history, by the doors that everybody uses: calls over HTTP, credit by the ledger, keys by
 * their own operations, at moments of a clock that begins in the past.
 */
export async function seedDemoAccount(parts: DemoParts, history: DemoHistory): Promise<void> {
  const { days, callsPerDay, until } = history;
  const caller = createDemoCaller(history.baseUrl, history.key);
  const story: Story = { ...parts, ...history, caller, chance: createChance(seed) };
  const start = new Date(until.getTime() - days * dayMs);
  await offerDemoModels(parts, caller, history.accountId);
  const keys = await createKeys(story, until);
  const turns = listTurns(story, keys.oldId);
  for (let index = 0; index < days; index += 1) {
    for (const turn of turns.filter(({ at }) => Math.floor(at * days) === index)) await turn.happen();
    for (const { at, calls } of planDay(story.chance, { start, index, days, callsPerDay })) {
      if (at >= until) break;
      parts.clock.moveTo(at);
      await makeCalls(caller, story.chance, { calls, keys: keys.texts });
    }
    await keepHouse(parts);
  }
  parts.clock.moveTo(until);
  await endStory(story);
}

/** What the gateway's own jobs do every minute and every night. */
async function keepHouse(parts: DemoParts): Promise<void> {
  const onTrouble = (_what: unknown, error: unknown): never => {
    throw error;
  };
  await sweepLedger({ ...parts, onTrouble });
  await renewPlans({ ...parts, onTrouble });
}

async function createKeys(story: Story, until: Date) {
  const { accountId } = story;
  const budget = { amount: money("5"), period: "month" as const };
  const shop = await createApiKey(story, { accountId, name: "Web shop", budget });
  const bot = await createApiKey(story, { accountId, name: "Support bot", endpoints: ["chat", "models"] });
  // No calls are made with those that end on the way.
  const soon = new Date(story.clock.now().getTime() + 20 * dayMs);
  await createApiKey(story, { accountId, name: "Trial", expiresAt: soon < until ? soon : until });
  const old = await createApiKey(story, { accountId, name: "Old laptop" });
  return { texts: [shop.text, bot.text, shop.text] as const, oldId: old.apiKey.id };
}

type Turn = { /** Which part of the whole time is over by then. */ at: number; happen(): Promise<unknown> };

/** What happens beside the daily calls. */
function listTurns(story: Story, oldKeyId: string): Turn[] {
  const { caller, clock, hasMedia } = story;
  const inDays = (days: number): Date => new Date(clock.now().getTime() + days * dayMs);
  const media = (at: number, make: (caller: DemoCaller) => Promise<unknown>): Turn[] =>
    hasMedia ? [{ at, happen: () => make(caller) }] : [];
  return [
    { at: 0.05, happen: () => book(story, { kind: "top-up", amount: money("25") }, "Invoice 1001") },
    { at: 0.08, happen: () => book(story, grant("5", inDays(15)), "Welcome") },
    ...media(0.1, makePictures),
    { at: 0.25, happen: () => startPlan(story) },
    ...media(0.3, makePictures),
    { at: 0.4, happen: () => book(story, { kind: "top-up", amount: money("50") }, "Invoice 1002") },
    { at: 0.45, happen: () => refundLatest(story) },
    { at: 0.5, happen: () => revokeApiKey(story, oldKeyId) },
    {
      at: 0.55,
      happen: () => book(story, { kind: "adjust", amount: money("-1.50") }, "Paid twice, given back by bank"),
    },
    ...media(0.6, makePictures),
    { at: 0.7, happen: () => connectProgram(story) },
    ...media(0.78, makePictures),
    { at: 0.9, happen: () => book(story, grant("3", inDays(60)), "Thank you for the report") },
  ];
}

/** The last days, whose images and videos can still be looked at, and what is under way. */
async function endStory(story: Story): Promise<void> {
  if (!story.hasMedia) return;
  const receivers = await openReceivers(story.caller);
  try {
    await makePictures(story.caller);
    await makeFilm(story.caller);
    await writeDrama(story.caller);
    await beginLongFilm(story.caller);
  } finally {
    await receivers.close();
  }
}

async function book({ accountId, ...parts }: Story, booking: CreditRequest["booking"], reason: string): Promise<void> {
  await bookCredit(parts, { accountId, booking, actor: "ada", reason, reference: reason });
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
  invariant(amount !== null, `${text} is no amount`);
  return amount;
}

function negate(amount: Nano | null): Nano | null {
  return amount === null ? null : nano(-amount);
}
