import type { ClaimedDelivery } from "./delivery-queue-store.ts";
import { shareSlots } from "./share-slots.ts";

/** The deliveries that this process has claimed, in one lane per receiver, and the lanes that may have more. */
export type DeliveryLanes = {
  /** A delivery may be due in the lane. */
  markReady(lane: string): void;
  /** How many to claim from each ready lane. Clears their readiness; `add` sets it again if there may be more. */
  takeClaimSizes(): ReadonlyMap<string, number>;
  /** Adds claimed deliveries; a lane that returned all that was requested may have more. */
  add(claimSizes: ReadonlyMap<string, number>, claimed: readonly ClaimedDelivery[]): void;
  /** Returns the next delivery to send and marks it as in flight; `null` if none may be sent. */
  takeNext(): ClaimedDelivery | null;
  /** An attempt has ended: the lane may send its next delivery. It stays claimed until `forget`. */
  finish(delivery: ClaimedDelivery, durationMs: number): void;
  forget(delivery: ClaimedDelivery): void;
  /** Removes waiting deliveries that another process has claimed. */
  keepOnly(isKept: (delivery: ClaimedDelivery) => boolean): void;
  /** All claimed deliveries: waiting, in flight, or finished and not forgotten. */
  list(): ClaimedDelivery[];
};

type Lane = { held: number; underWay: number; waiting: ClaimedDelivery[]; isQuick: boolean };

/** Concurrent attempts per receiver. */
export const underWayMax = 10;
/** A fast receiver gets more deliveries claimed ahead, so that it never waits for the database. */
const heldMaxQuick = 200;
const quickMs = 250;

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one set of lanes; its functions share it.
export function createDeliveryLanes({ heldMax }: { heldMax: number }): DeliveryLanes {
  const lanes = new Map<string, Lane>();
  const ready = new Set<string>();
  /** Lanes with waiting deliveries and free slots, in round-robin order. */
  const sendable = new Set<string>();
  const claims = new Set<ClaimedDelivery>();

  function getLane(name: string): Lane {
    const known = lanes.get(name);
    if (known !== undefined) return known;
    const lane: Lane = { held: 0, underWay: 0, waiting: [], isQuick: false };
    lanes.set(name, lane);
    return lane;
  }

  function noteSendable(name: string, lane: Lane): void {
    if (lane.waiting.length > 0 && lane.underWay < underWayMax) sendable.add(name);
    else sendable.delete(name);
  }

  function release(delivery: ClaimedDelivery): void {
    if (!claims.delete(delivery)) return;
    const lane = getLane(delivery.lane);
    lane.held -= 1;
    if (lane.held === 0) lanes.delete(delivery.lane);
  }

  return {
    markReady(lane) {
      ready.add(lane);
    },
    takeClaimSizes() {
      const heldByAccount = new Map<string, number>();
      for (const [name, { held }] of lanes) {
        heldByAccount.set(getAccount(name), (heldByAccount.get(getAccount(name)) ?? 0) + held);
      }
      const needs = [...ready].map((name) => {
        const lane = lanes.get(name);
        return { lane: name, accountId: getAccount(name), room: lane === undefined ? underWayMax : findRoom(lane) };
      });
      const claimSizes = shareSlots(needs, heldMax - claims.size, { heldByAccount });
      for (const name of claimSizes.keys()) ready.delete(name);
      return claimSizes;
    },
    add(claimSizes, claimed) {
      const counts = new Map<string, number>();
      for (const delivery of claimed) {
        const lane = getLane(delivery.lane);
        lane.held += 1;
        lane.waiting.push(delivery);
        claims.add(delivery);
        noteSendable(delivery.lane, lane);
        counts.set(delivery.lane, (counts.get(delivery.lane) ?? 0) + 1);
      }
      for (const [name, count] of claimSizes) {
        if (counts.get(name) === count) ready.add(name);
      }
    },
    takeNext() {
      for (const name of sendable) {
        const lane = getLane(name);
        const delivery = lane.waiting.shift();
        // Move to the back: round robin.
        sendable.delete(name);
        if (delivery === undefined) continue;
        lane.underWay += 1;
        noteSendable(name, lane);
        return delivery;
      }
      return null;
    },
    finish(delivery, durationMs) {
      const lane = getLane(delivery.lane);
      lane.underWay -= 1;
      lane.isQuick = durationMs < quickMs;
      noteSendable(delivery.lane, lane);
    },
    forget: release,
    keepOnly(isKept) {
      for (const [name, lane] of lanes) {
        const lost = lane.waiting.filter((delivery) => !isKept(delivery));
        if (lost.length === 0) continue;
        lane.waiting = lane.waiting.filter(isKept);
        for (const delivery of lost) release(delivery);
        noteSendable(name, lane);
      }
    },
    list: () => [...claims],
  };
}

function findRoom({ held, waiting, isQuick }: Lane): number {
  if (!isQuick) return Math.max(0, underWayMax - held);
  const room = heldMaxQuick - held;
  // A large claim costs the database little more than a small one.
  return waiting.length > 0 && room < heldMaxQuick / 2 ? 0 : Math.max(0, room);
}

/** A lane's name starts with its account. */
function getAccount(lane: string): string {
  return lane.slice(0, lane.indexOf("/"));
}
