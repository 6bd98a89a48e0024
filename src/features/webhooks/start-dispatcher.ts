import type { Clock } from "../../lib/clock.ts";
import { createSingleFlight } from "../../lib/coalescer.ts";
import type { AccountId, IdSource } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import type { AttemptOutcome } from "./attempt-delivery.ts";
import type { Attempt, DeliveryId } from "./delivery.ts";
import { createDeliveryLanes } from "./delivery-lanes.ts";
import {
  type ClaimedDelivery,
  claimDeliveries,
  dropClaimed,
  listDueLanes,
  relaxDurability,
  releaseLeases,
  renewLeases,
} from "./delivery-queue-store.ts";
import { type FinishedDelivery, finishDeliveries } from "./finish-deliveries.ts";
import type { WebhookEndpoint } from "./webhook-endpoint.ts";

export type Dispatcher = {
  /** Something may have been written that is to be sent. */
  lookSoon(): void;
  /** Claims and sends nothing more. Lets what is under way end, for a while, then gives back what was not sent. */
  stop(): void;
  /** Stops, and ends when that is done. */
  close(): Promise<void>;
};

type DispatcherDependencies = {
  database: Database;
  clock: Clock;
  ids: IdSource;
  /** Sends an event once; `null` when it was stopped. */
  attempt(delivery: ClaimedDelivery, signal: AbortSignal): Promise<AttemptOutcome | null>;
  attemptMs: number;
  /** How many deliveries this process has claimed at the most. */
  heldMax: number;
  /** How often to look for what is due, where there is something or `lookSoon` is called. */
  lookEveryMs: number;
  closeTimeoutMs: number;
  /** Told what came of each attempt. */
  onAttempt(attempt: Attempt): void;
  /** Told of the account of each attempt whose outcome is written. */
  onWritten(accountId: AccountId): void;
  /** Told once, after it has become true. */
  onDisabled(endpoint: WebhookEndpoint): void;
  /** Told what went wrong on our side; it is tried again. */
  onTrouble(error: unknown): void;
  /** Told of each look that failed, and of each that did not. */
  looks: { onTrouble(error: unknown): void; onRecovery(): void };
};

/** How long a process that says nothing is believed to be alive. */
const leaseMs = 20_000;
const renewEveryMs = 2000;
/** What is left of a lease when an attempt begins is enough for all of it. */
const attemptMarginMs = 1000;
const writtenAtOnceMax = 200;
/** Looking takes a twentieth of the time, unless it takes so long that what is due would wait for too long. */
const pauseFactor = 20;
const lookPauseMsMax = 1000;
/** While nothing is due, only every so many times as seldom: to find what nobody told of, and what is due again. */
const idleFactor = 5;

/**
 * Sends what is due. Nothing waits for a receiver but the one attempt that goes to it: claims, renewals and results are
 * batches of whatever has come together meanwhile, and the database does one of them at a time.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one dispatcher; its functions share what is under way.
export function startDispatcher(dependencies: DispatcherDependencies): Dispatcher {
  const { database, clock, ids, attempt, attemptMs, heldMax, lookEveryMs, onTrouble } = dependencies;
  const leaseId = ids.next("node");
  const lanes = createDeliveryLanes({ heldMax });
  const stopping = new AbortController();
  const underWay = new Set<Promise<void>>();
  const claimedAtMs = new WeakMap<ClaimedDelivery, number>();
  let renewedAtMs = 0;
  let isRenewalDue = false;
  let isClosing = false;
  let finished: FinishedDelivery[] = [];
  let orphans: ClaimedDelivery[] = [];
  let lookPauseMs = lookEveryMs;
  let lookedAtMs = 0;
  let isIdle = false;
  let isToldSince = false;
  let lookTimer: NodeJS.Timeout | undefined;

  const createLease = () => ({ leaseId, leaseUntil: new Date(clock.now().getTime() + leaseMs), now: clock.now() });

  const claimer = createSingleFlight(async () => {
    for (let wishes = lanes.takeWishes(); wishes.size > 0 && !isClosing; wishes = lanes.takeWishes()) {
      const askedAtMs = clock.monotonicMs();
      const claimed = await claim(wishes);
      for (const delivery of claimed) claimedAtMs.set(delivery, askedAtMs);
      lanes.add(wishes, claimed);
      sendWaiting();
    }
  }, onTrouble);

  const looker = createSingleFlight(async () => {
    const startedMs = performance.now();
    const dueLanes = await listDueLanes(database, clock.now());
    for (const lane of dueLanes) lanes.markReady(lane);
    isIdle = dueLanes.length + lanes.list().length + finished.length + orphans.length === 0;
    const pauseMs = Math.min(lookPauseMsMax, pauseFactor * (performance.now() - startedMs));
    lookPauseMs = Math.max(lookEveryMs, pauseMs);
    dependencies.looks.onRecovery();
    claimer.tell();
  }, dependencies.looks.onTrouble);

  function claim(wishes: ReadonlyMap<string, number>): Promise<ClaimedDelivery[]> {
    return database.transaction().execute(async (tx) => {
      await relaxDurability(tx);
      return await claimDeliveries(tx, wishes, createLease());
    });
  }

  const writer = createSingleFlight(async () => {
    if (isRenewalDue) await renew();
    while (finished.length > 0) await writeFinished(finished.slice(0, writtenAtOnceMax));
    while (orphans.length > 0) await dropOrphans(orphans.slice(0, writtenAtOnceMax));
    claimer.tell();
  }, onTrouble);

  async function renew(): Promise<void> {
    isRenewalDue = false;
    const askedAtMs = clock.monotonicMs();
    const claimed = lanes.list();
    const own = new Set<DeliveryId>(await renewLeases(database, claimed.map(getId), createLease()));
    renewedAtMs = askedAtMs;
    const asked = new Set(claimed);
    lanes.keepOnly((delivery) => own.has(delivery.id) || !asked.has(delivery));
  }

  /** What could not be written stays, and is tried again when the timer says so. */
  async function writeFinished(batch: readonly FinishedDelivery[]): Promise<void> {
    const disabled = await finishDeliveries(database, batch, createLease());
    finished = finished.slice(batch.length);
    for (const { delivery } of batch) {
      lanes.forget(delivery);
      dependencies.onWritten(delivery.event.accountId);
    }
    for (const endpoint of disabled) dependencies.onDisabled(endpoint);
  }

  async function dropOrphans(batch: readonly ClaimedDelivery[]): Promise<void> {
    await dropClaimed(database, batch.map(getId), leaseId);
    orphans = orphans.slice(batch.length);
    for (const delivery of batch) lanes.forget(delivery);
  }

  function sendWaiting(): void {
    while (!isClosing) {
      const delivery = lanes.takeNext();
      if (delivery === null) return;
      const sending = send(delivery).finally(() => underWay.delete(sending));
      underWay.add(sending);
    }
  }

  async function send(delivery: ClaimedDelivery): Promise<void> {
    const startedMs = clock.monotonicMs();
    const isOrphan = delivery.endpointId !== null && delivery.sealed === null;
    const isLate = startedMs > getLeaseEndMs(delivery) - attemptMs - attemptMarginMs;
    const outcome = isOrphan || isLate ? null : await attempt(delivery, stopping.signal);
    lanes.finish(delivery, clock.monotonicMs() - startedMs);
    if (outcome !== null) dependencies.onAttempt(outcome.result.attempt);
    if (outcome !== null) finished.push({ ...outcome, delivery });
    else if (isOrphan) orphans.push(delivery);
    // Its lease runs out, and whoever then comes first has it.
    else if (isLate) lanes.forget(delivery);
    writer.tell();
    sendWaiting();
  }

  function getLeaseEndMs(delivery: ClaimedDelivery): number {
    return Math.max(claimedAtMs.get(delivery) ?? 0, renewedAtMs) + leaseMs;
  }

  /** Looks from time to time, and tries again to write what could not be written. */
  async function lookAgainAndAgain(): Promise<void> {
    lookTimer = undefined;
    isToldSince = false;
    looker.tell();
    if (finished.length + orphans.length > 0) writer.tell();
    await looker.drain();
    lookedAtMs = performance.now();
    pause();
  }

  function pause(): void {
    clearTimeout(lookTimer);
    const idleMs = isIdle && !isToldSince ? idleFactor * lookEveryMs : 0;
    const pauseMs = Math.max(lookPauseMs, idleMs);
    if (!isClosing) lookTimer = setTimeout(lookAgainAndAgain, Math.max(0, lookedAtMs + pauseMs - performance.now()));
  }

  const renewTimer = setInterval(() => {
    isRenewalDue = lanes.list().length > 0;
    if (isRenewalDue) writer.tell();
  }, renewEveryMs);
  void lookAgainAndAgain();
  let ended: Promise<void> | null = null;

  async function end(): Promise<void> {
    isClosing = true;
    clearTimeout(lookTimer);
    clearInterval(renewTimer);
    await looker.close();
    await claimer.close();
    const stopTimer = setTimeout(() => stopping.abort(), dependencies.closeTimeoutMs);
    await Promise.all(underWay);
    clearTimeout(stopTimer);
    await writer.close();
    const left = lanes.list();
    if (left.length > 0) await releaseLeases(database, left.map(getId), createLease()).catch(onTrouble);
  }

  function close(): Promise<void> {
    ended ??= end();
    return ended;
  }

  return {
    lookSoon() {
      if (isToldSince) return;
      isToldSince = true;
      if (lookTimer !== undefined) pause();
    },
    // Whoever closes it is told of what goes wrong.
    stop: () => void close().catch(() => {}),
    close,
  };
}

function getId({ id }: ClaimedDelivery): DeliveryId {
  return id;
}
