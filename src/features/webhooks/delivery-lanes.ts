import type { ClaimedDelivery } from "./delivery-queue-store.ts";
import { shareSlots } from "./share-slots.ts";

/** What this process has claimed, and for whom there is more. Each receiver has a lane of its own. */
export type DeliveryLanes = {
  /** Something may be due in the lane. */
  markReady(lane: string): void;
  /** How many to claim of which lane now. They are no longer ready; `add` tells whether there may be more. */
  takeWishes(): ReadonlyMap<string, number>;
  /** What a claim brought; a lane that gave all that was requested may have more. */
  add(wishes: ReadonlyMap<string, number>, claimed: readonly ClaimedDelivery[]): void;
  /** The next delivery that may be sent, which then is under way; `null` where none may. */
  takeNext(): ClaimedDelivery | null;
  /** An attempt ended after some time: the next of its lane may be sent. It stays claimed until it is `forgotten`. */
  finish(delivery: ClaimedDelivery, durationMs: number): void;
  forget(delivery: ClaimedDelivery): void;
  /** Removes what waits and is not among these, because another process has it now. */
  keepOnly(isKept: (delivery: ClaimedDelivery) => boolean): void;
  /** Everything claimed: waiting, under way, or finished and not forgotten. */
  list(): ClaimedDelivery[];
};

type Lane = { held: number; underWay: number; waiting: ClaimedDelivery[]; isQuick: boolean };

/** How many at a time go to one receiver. */
export const underWayMax = 10;
/** A receiver that answers at once gets more claimed ahead, so that it never waits for the database. */
const heldMaxQuick = 200;
const quickMs = 250;

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one set of lanes; its functions share it.
export function createDeliveryLanes({ heldMax }: { heldMax: number }): DeliveryLanes {
  const lanes = new Map<string, Lane>();
  const ready = new Set<string>();
  /** Lanes that can send: they wait and have less than the most under way. Each sends in its turn. */
  const sendable = new Set<string>();
  const inHand = new Set<ClaimedDelivery>();

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
    if (!inHand.delete(delivery)) return;
    const lane = getLane(delivery.lane);
    lane.held -= 1;
    if (lane.held === 0) lanes.delete(delivery.lane);
  }

  return {
    markReady(lane) {
      ready.add(lane);
    },
    takeWishes() {
      const heldByAccount = new Map<string, number>();
      for (const [name, { held }] of lanes) {
        heldByAccount.set(getAccount(name), (heldByAccount.get(getAccount(name)) ?? 0) + held);
      }
      const needs = [...ready].map((name) => {
        const lane = lanes.get(name);
        return { lane: name, accountId: getAccount(name), room: lane === undefined ? underWayMax : findRoom(lane) };
      });
      const wishes = shareSlots(needs, heldMax - inHand.size, { heldByAccount });
      for (const name of wishes.keys()) ready.delete(name);
      return wishes;
    },
    add(wishes, claimed) {
      const counts = new Map<string, number>();
      for (const delivery of claimed) {
        const lane = getLane(delivery.lane);
        lane.held += 1;
        lane.waiting.push(delivery);
        inHand.add(delivery);
        noteSendable(delivery.lane, lane);
        counts.set(delivery.lane, (counts.get(delivery.lane) ?? 0) + 1);
      }
      for (const [name, count] of wishes) {
        if (counts.get(name) === count) ready.add(name);
      }
    },
    takeNext() {
      for (const name of sendable) {
        const lane = getLane(name);
        const delivery = lane.waiting.shift();
        // To the end of the line, so that each lane sends in its turn.
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
    list: () => [...inHand],
  };
}

function findRoom({ held, waiting, isQuick }: Lane): number {
  if (!isQuick) return Math.max(0, underWayMax - held);
  const room = heldMaxQuick - held;
  // Many at a time cost the database little more than a few.
  return waiting.length > 0 && room < heldMaxQuick / 2 ? 0 : Math.max(0, room);
}

/** A lane's name begins with its account. */
function getAccount(lane: string): string {
  return lane.slice(0, lane.indexOf("/"));
}
