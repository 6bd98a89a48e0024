import { expect, test } from "vitest";
import { createDeliveryLanes, underWayMax } from "./delivery-lanes.ts";
import type { ClaimedDelivery } from "./delivery-queue-store.ts";

function claim(lane: string, count: number): ClaimedDelivery[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `dlv_${lane}${index}` as const,
    lane,
    endpointId: null,
    url: "https://example.com/",
    attemptCount: 0,
    event: { id: "evt_1", accountId: "acct_1", type: "task.failed", createdAt: new Date(0), data: {} },
    sealed: null,
  }));
}

function takeAll(lanes: ReturnType<typeof createDeliveryLanes>): ClaimedDelivery[] {
  const taken: ClaimedDelivery[] = [];
  for (let next = lanes.takeNext(); next !== null; next = lanes.takeNext()) taken.push(next);
  return taken;
}

test("a lane first claims ten, and many once its receiver has responded quickly", () => {
  const lanes = createDeliveryLanes({ heldMax: 400 });
  lanes.markReady("a/1");
  const claimSizes = lanes.takeClaimSizes();
  expect([...claimSizes]).toEqual([["a/1", underWayMax]]);
  expect(lanes.takeClaimSizes().size).toBe(0);
  lanes.add(claimSizes, claim("a/1", 10));
  const [first, ...others] = takeAll(lanes);
  if (first === undefined) throw new Error("Nothing was taken.");
  expect(others).toHaveLength(9);
  lanes.finish(first, 5);
  expect([...lanes.takeClaimSizes()]).toEqual([["a/1", 190]]);
});

test("a slow receiver has at most ten claimed, and a lane that returned fewer than requested waits until it is ready", () => {
  const lanes = createDeliveryLanes({ heldMax: 400 });
  lanes.markReady("a/1");
  lanes.add(lanes.takeClaimSizes(), claim("a/1", 10));
  const taken = takeAll(lanes);
  for (const delivery of taken) lanes.finish(delivery, 15_000);
  expect(lanes.takeClaimSizes().size).toBe(0);
  for (const delivery of taken.slice(0, 4)) lanes.forget(delivery);
  const claimSizes = lanes.takeClaimSizes();
  expect([...claimSizes]).toEqual([["a/1", 4]]);
  lanes.add(claimSizes, claim("a/1", 3));
  for (const delivery of taken.slice(4)) lanes.forget(delivery);
  expect(lanes.takeClaimSizes().size).toBe(0);
});

test("no lane has more than ten in flight, and all together no more claimed than allowed", () => {
  const lanes = createDeliveryLanes({ heldMax: 15 });
  for (const lane of ["a/1", "b/1"]) lanes.markReady(lane);
  const claimSizes = lanes.takeClaimSizes();
  expect([...claimSizes.values()].reduce((sum, count) => sum + count, 0)).toBe(15);
  lanes.add(claimSizes, [...claim("a/1", 12), ...claim("b/1", 3)]);
  const taken = takeAll(lanes);
  expect(taken.filter(({ lane }) => lane === "a/1")).toHaveLength(10);
  expect(taken).toHaveLength(13);
  expect(lanes.takeClaimSizes().size).toBe(0);
  const [first] = taken;
  if (first !== undefined) lanes.finish(first, 1);
  expect(takeAll(lanes)).toHaveLength(1);
});

test("a delivery that another process has claimed is not sent", () => {
  const lanes = createDeliveryLanes({ heldMax: 400 });
  lanes.markReady("a/1");
  lanes.add(lanes.takeClaimSizes(), claim("a/1", 5));
  lanes.keepOnly(({ id }) => id.endsWith("3"));
  expect(takeAll(lanes).map(({ id }) => id)).toEqual(["dlv_a/13"]);
  expect(lanes.list()).toHaveLength(1);
});
