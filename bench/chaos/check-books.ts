import type { Books, ChargeRow } from "./books.ts";
import type { ToldEvent } from "./chaos-receiver.ts";
import { type ChatRecord, inputTokensBase, type QueueRecord } from "./chaos-upstream.ts";
import type { Entry } from "./journal.ts";
import { computeChatNano, creditNano, imageNano } from "./prices.ts";

/** The records of everyone but the gateways, and the gateways' own state. */
export type Evidence = {
  journal: readonly Entry[];
  chats: ReadonlyMap<number, ChatRecord>;
  queue: ReadonlyMap<string, QueueRecord>;
  events: readonly ToldEvent[];
  books: Books;
  /** The accounts, in the order of their numbers. */
  accountIds: readonly string[];
  /** The answers to operations that were repeated with their keys. */
  repeats: readonly { operation: number; text: string; isReplay: boolean }[];
  /** The output of gateways that exited on their own. */
  crashes: readonly string[];
};

/**
 * `lost`: it was answered or accepted, and is missing. `doubled`: charged, submitted or delivered more than once.
 * `wrong`: anything else that contradicts the records.
 */
export type Finding = { kind: "lost" | "doubled" | "wrong"; about: string; what: string };

/**
 * The upper bound of a broken call's charge: the instructions (4,000 tokens by our count), 1,000 for the rest, and the
 * whole cap.
 */
const brokenNanoMax = computeChatNano({ inputTokens: inputTokensBase, outputTokens: 100 });

/** Knows nothing of the gateways' internals: only requests and answers, prices, and guarantees. */
export function checkBooks(evidence: Evidence): Finding[] {
  return [
    ...checkChats(evidence),
    ...checkRepeats(evidence),
    ...checkTasks(evidence),
    ...checkEvents(evidence),
    ...checkBalances(evidence),
    ...evidence.crashes.map((what): Finding => ({ kind: "wrong", about: "a gateway ended by itself", what })),
  ];
}

function checkChats({ journal, chats, books, accountIds }: Evidence): Finding[] {
  const findings: Finding[] = [];
  const entries = journal.filter(({ operation }) => operation.kind !== "image");
  const { byOperation, unknown } = attribute(entries, chats, books);
  for (const entry of entries) {
    const { operation, ending } = entry;
    const find = (kind: Finding["kind"], what: string): void => {
      findings.push({ kind, about: describeEntry(entry), what });
    };
    const charges = byOperation.get(operation.number) ?? [];
    if (charges.length > 1) find("doubled", `charged ${charges.length} times: ${charges.map(({ id }) => id)}`);
    if (charges.some(({ accountId }) => accountId !== accountIds[operation.account])) find("wrong", "another pays");
    const [charge] = charges;
    if (ending.kind === "open") find("lost", `never answered; at last ${entry.lastTrouble}`);
    if (ending.kind === "refused" && charge !== undefined && charge.refunded !== charge.paid) {
      find("wrong", `refused and charged: ${charge.id}`);
    }
    if (ending.kind === "answered" && charges.some(({ refunded }) => refunded > 0n))
      find("lost", "answered and refunded");
    if (ending.kind === "refused" && entry.operation.kind.startsWith("keyed")) find("wrong", `refused for good`);
    if (ending.kind === "broken" && charge !== undefined && charge.paid > brokenNanoMax && !isReported(charge)) {
      find("wrong", `paid ${charge.paid} for what was delivered`);
    }
    if (ending.kind !== "answered") continue;
    const call = chats.get(ending.call);
    if (call?.operation !== operation.number) find("wrong", `got the answer of another: call ${ending.call}`);
    else if (charge === undefined) find("lost", `answered by ${ending.requestId}, and not charged`);
    else if (charge.paid !== computeChatNano(call.usage)) find("wrong", `paid ${charge.paid}, by ${charge.id}`);
  }
  return [...findings, ...checkUnknown(entries, unknown, accountIds)];
}

function isReported({ inputTokens }: ChargeRow): boolean {
  return inputTokens > inputTokensBase;
}

/** The operation of each charge: by the answer's own id, or by the usage, which is unique. */
function attribute(entries: readonly Entry[], chats: Evidence["chats"], books: Books) {
  const byRequest = new Map<string, number>();
  for (const { operation, ending } of entries) {
    if ("requestId" in ending && ending.requestId !== null) byRequest.set(ending.requestId, operation.number);
  }
  const byOperation = new Map<number, ChargeRow[]>();
  const unknown: ChargeRow[] = [];
  for (const charge of books.charges) {
    if (charge.causeKind === "task") continue;
    const called = chats.get(charge.inputTokens - inputTokensBase)?.operation;
    const operation = byRequest.get(charge.causeId) ?? called;
    if (operation === undefined) unknown.push(charge);
    else byOperation.set(operation, [...(byOperation.get(operation) ?? []), charge]);
  }
  return { byOperation, unknown };
}

/** Charges by our own count identify no call. There may be one for each broken call without a key, and no more. */
function checkUnknown(
  entries: readonly Entry[],
  unknown: readonly ChargeRow[],
  accountIds: readonly string[],
): Finding[] {
  return accountIds.flatMap((accountId, account): Finding[] => {
    const charges = unknown.filter((charge) => charge.accountId === accountId);
    const broken = entries.filter(({ operation, ending }) => operation.account === account && ending.kind === "cut");
    const isFine = charges.length <= broken.length && charges.every(({ paid }) => paid <= brokenNanoMax);
    const what = `charges without a call: ${charges.map(({ id }) => id).join(", ")}`;
    return isFine ? [] : [{ kind: "wrong", about: accountId, what }];
  });
}

function checkRepeats({ journal, repeats }: Evidence): Finding[] {
  return repeats.flatMap(({ operation, text, isReplay }): Finding[] => {
    const entry = journal[operation];
    if (entry === undefined || !("text" in entry.ending)) return [];
    if (isReplay && entry.ending.text === text) return [];
    return [{ kind: "wrong", about: describeEntry(entry), what: `sent again: ${isReplay} ${text.slice(0, 300)}` }];
  });
}

function checkTasks({ journal, queue, books, accountIds }: Evidence): Finding[] {
  const findings: Finding[] = [];
  const entries = journal.filter(({ operation }) => operation.kind === "image");
  const handedOver = Map.groupBy(queue.values(), ({ operation }) => operation);
  const charged = Map.groupBy(
    books.charges.filter(({ causeKind }) => causeKind === "task"),
    ({ causeId }) => causeId,
  );
  for (const entry of entries) {
    const { operation, ending, taskIds } = entry;
    const find = (kind: Finding["kind"], what: string): void => {
      findings.push({ kind, about: describeEntry(entry), what });
    };
    const taken = handedOver.get(operation.number) ?? [];
    const charges = [...taskIds].flatMap((id) => charged.get(id) ?? []);
    if (taskIds.size > 1) find("doubled", `several tasks: ${[...taskIds].join(", ")}`);
    if (taken.length > 1) find("doubled", `handed to the upstream ${taken.length} times`);
    if (charges.length > 1) find("doubled", `charged ${charges.length} times`);
    if (ending.kind !== "task") {
      find(ending.kind === "open" ? "lost" : "wrong", `did not end: ${ending.kind}, ${entry.lastTrouble}`);
      continue;
    }
    const [taskId = ""] = taskIds;
    const paid = charges.reduce((sum, charge) => sum + charge.paid, 0n);
    const isMade = ending.state === "succeeded";
    if (books.taskStates.get(taskId) !== ending.state) find("wrong", `was ${ending.state} and is not any more`);
    if (isMade && (taken.length === 0 || operation.fails)) find("wrong", "succeeded, but no upstream made it");
    if (isMade && charges.length === 0) find("lost", "made, and not charged");
    if (paid !== (isMade ? imageNano : 0n)) find("wrong", `${ending.state}, and paid ${paid}`);
    if (charges.some(({ accountId }) => accountId !== accountIds[operation.account])) find("wrong", "another pays");
  }
  const known = new Set(entries.flatMap(({ taskIds }) => [...taskIds]));
  const strange = [...books.taskStates.keys(), ...charged.keys()].filter((id) => !known.has(id));
  return [...findings, ...strange.map((id): Finding => ({ kind: "wrong", about: id, what: "no caller submitted it" }))];
}

function checkEvents({ journal, events }: Evidence): Finding[] {
  const byTask = Map.groupBy(events, ({ taskId }) => taskId);
  const ended = journal.filter(({ ending }) => ending.kind === "task");
  return ended.flatMap((entry): Finding[] => {
    const about = describeEntry(entry);
    const told = [...entry.taskIds].flatMap((id) => byTask.get(id) ?? []);
    const state = entry.ending.kind === "task" ? entry.ending.state : "";
    const findings: Finding[] = [];
    if (!told.some(({ isTaken }) => isTaken)) findings.push({ kind: "lost", about, what: "no event was delivered" });
    if (new Set(told.map(({ eventId }) => eventId)).size > 1) {
      findings.push({ kind: "doubled", about, what: "told by several events" });
    }
    if (told.some(({ type, isSigned }) => type !== `task.${state}` || !isSigned)) {
      findings.push({ kind: "wrong", about, what: `${state}, and told ${JSON.stringify(told)}` });
    }
    return findings;
  });
}

function checkBalances({ books, accountIds }: Evidence): Finding[] {
  const findings: Finding[] = [];
  for (const { accountId, available, frozen, used } of books.statements) {
    const charges = books.charges.filter((charge) => charge.accountId === accountId);
    const paid = charges.reduce((sum, charge) => sum + charge.paid, 0n);
    const refunded = charges.reduce((sum, charge) => sum + charge.refunded, 0n);
    const find = (what: string): void => void findings.push({ kind: "wrong", about: accountId, what });
    if (available !== creditNano - paid + refunded) find(`has ${available}, and ${paid} of ${creditNano} was charged`);
    if (frozen !== 0n) find(`${frozen} on hold, and nothing goes on`);
    if (used !== paid) find(`its usage says ${used}, its charges ${paid}`);
  }
  const doubled = [...Map.groupBy(books.charges, ({ holdId }) => holdId).values()].filter(({ length }) => length > 1);
  for (const [charge] of doubled) {
    findings.push({ kind: "doubled", about: charge?.holdId ?? "", what: "a hold is charged twice" });
  }
  const strangers = books.charges.filter(({ accountId, lost }) => !accountIds.includes(accountId) || lost !== 0n);
  for (const { id } of strangers)
    findings.push({ kind: "wrong", about: id, what: "a charge without an answer, or not covered by a hold" });
  if (books.openHolds > 0) findings.push({ kind: "wrong", about: "holds", what: `${books.openHolds} are open` });
  if (books.verdict !== "") findings.push({ kind: "wrong", about: "ledger verify", what: books.verdict });
  return findings;
}

function describeEntry({ operation, ending, sent, taskIds }: Entry): string {
  const ids = [...taskIds, ...("requestId" in ending && ending.requestId !== null ? [ending.requestId] : [])];
  return `operation ${operation.number} (${operation.kind}, ${ending.kind}, sent ${sent} ×) ${ids.join(" ")}`;
}
