import { createSingleFlight } from "../../lib/coalescer.ts";
import type { AccountId } from "../../lib/ids.ts";
import { repeat } from "../../lib/repeat.ts";
import { attemptDelivery } from "./attempt-delivery.ts";
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
import type { WebhookDependencies } from "./webhook-dependencies.ts";
import type { WebhookEndpoint } from "./webhook-endpoint.ts";

export type Dispatcher = {
  /** Hints that a delivery may be due. */
  pollSoon(): void;
  /** Stops claiming and sending. Running attempts may finish within a limit; unsent deliveries are released. */
  stop(): void;
  /** Stops, and resolves when that is done. */
  close(): Promise<void>;
};

type DispatcherDependencies = WebhookDependencies & {
  /** How many deliveries this process may have claimed. */
  heldMax: number;
  /** The poll interval while deliveries are due, or after `pollSoon`. */
  pollEveryMs: number;
  closeTimeoutMs: number;
  /** Called with the outcome of each attempt. */
  onAttempt(attempt: Attempt): void;
  /** Called with the account of each attempt whose outcome is written. */
  onWritten(accountId: AccountId): void;
  /** Called once, after the commit. */
  onDisabled(endpoint: WebhookEndpoint): void;
  /** Called for each failed and each successful poll. */
  polls: { onTrouble(error: unknown): void; onRecovery(): void };
};

/** After this, a process that does not renew its leases counts as dead. */
const leaseMs = 20_000;
const renewEveryMs = 2000;
/** The lease must outlast the attempt by this much. */
const attemptMarginMs = 1000;
const writtenAtOnceMax = 200;
/** Polling takes at most a twentieth of the time, but never pauses so long that due deliveries wait. */
const pauseFactor = 20;
const pollPauseMsMax = 1000;
/**
 * The poll interval's factor for the longest pause while nothing is due: finds deliveries without a hint, which another
 * process left behind.
 */
const idleFactor = 20;

/**
 * Sends due deliveries. A slow receiver blocks only its own attempts: claims, renewals and results are batched, and the
 * database runs one of them at a time.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one dispatcher; its functions share what is under way.
export function startDispatcher(dependencies: DispatcherDependencies): Dispatcher {
  const { database, clock, ids, attemptMs, heldMax, pollEveryMs, onTrouble } = dependencies;
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
  let pollPauseMs = pollEveryMs;
  let polledAtMs = 0;
  let idlePauseMs = 0;
  let isHinted = false;
  let pollTimer: NodeJS.Timeout | undefined;

  const createLease = () => ({ leaseId, leaseUntil: new Date(clock.now().getTime() + leaseMs), now: clock.now() });

  const claimer = createSingleFlight(async () => {
    for (let sizes = lanes.takeClaimSizes(); sizes.size > 0 && !isClosing; sizes = lanes.takeClaimSizes()) {
      const askedAtMs = clock.monotonicMs();
      const claimed = await claim(sizes);
      for (const delivery of claimed) claimedAtMs.set(delivery, askedAtMs);
      lanes.add(sizes, claimed);
      sendWaiting();
    }
  }, onTrouble);

  const poller = createSingleFlight(async () => {
    const startedMs = performance.now();
    const now = clock.now();
    const { dueLanes, nextDueAt } = await listDueLanes(database, now);
    for (const lane of dueLanes) lanes.markReady(lane);
    const isIdle = dueLanes.length + lanes.list().length + finished.length + orphans.length === 0;
    const idlePauseMsMax = idleFactor * pollEveryMs;
    const leftMs = nextDueAt === null ? idlePauseMsMax : nextDueAt.getTime() - now.getTime();
    idlePauseMs = isIdle ? Math.min(leftMs, idlePauseMsMax) : 0;
    const pauseMs = Math.min(pollPauseMsMax, pauseFactor * (performance.now() - startedMs));
    pollPauseMs = Math.max(pollEveryMs, pauseMs);
    dependencies.polls.onRecovery();
    claimer.tell();
  }, dependencies.polls.onTrouble);

  function claim(claimSizes: ReadonlyMap<string, number>): Promise<ClaimedDelivery[]> {
    return database.transaction().execute(async (tx) => {
      await relaxDurability(tx);
      return await claimDeliveries(tx, claimSizes, createLease());
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

  /** A failed batch stays, and the next poll retries it. */
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
    const outcome = isOrphan || isLate ? null : await attemptDelivery(dependencies, delivery, stopping.signal);
    lanes.finish(delivery, clock.monotonicMs() - startedMs);
    if (outcome !== null) dependencies.onAttempt(outcome.result.attempt);
    if (outcome !== null) finished.push({ ...outcome, delivery });
    else if (isOrphan) orphans.push(delivery);
    // The lease expires, and another sender claims it.
    else if (isLate) lanes.forget(delivery);
    writer.tell();
    sendWaiting();
  }

  function getLeaseEndMs(delivery: ClaimedDelivery): number {
    return Math.max(claimedAtMs.get(delivery) ?? 0, renewedAtMs) + leaseMs;
  }

  /** Polls periodically, and retries failed writes. */
  async function poll(): Promise<void> {
    pollTimer = undefined;
    isHinted = false;
    poller.tell();
    if (finished.length + orphans.length > 0) writer.tell();
    await poller.drain();
    polledAtMs = performance.now();
    pause();
  }

  function pause(): void {
    clearTimeout(pollTimer);
    const pauseMs = Math.max(pollPauseMs, isHinted ? 0 : idlePauseMs);
    if (!isClosing) pollTimer = setTimeout(poll, Math.max(0, polledAtMs + pauseMs - performance.now()));
  }

  const stopRenewing = repeat(renewEveryMs, () => {
    isRenewalDue = lanes.list().length > 0;
    if (isRenewalDue) writer.tell();
  });
  void poll();
  let ended: Promise<void> | null = null;

  async function end(): Promise<void> {
    isClosing = true;
    clearTimeout(pollTimer);
    stopRenewing();
    await poller.close();
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
    pollSoon() {
      if (isHinted) return;
      isHinted = true;
      if (pollTimer !== undefined) pause();
    },
    // `close` reports the error.
    stop: () => void close().catch(() => {}),
    close,
  };
}

function getId({ id }: ClaimedDelivery): DeliveryId {
  return id;
}
