import { expect, test } from "vitest";
import { recordVendor } from "./record-vendor.ts";
import { startQueueFake } from "./vendor-fake.ts";
import { film } from "./wires/queue-wire.ts";
import { queueWires } from "./wires/queue-wires.ts";

const apiKey = "sk-very-secret-1";

test("a recording has every exchange of a job, and nothing secret", async () => {
  const wire = queueWires.luma;
  await using fake = await startQueueFake(wire, apiKey);
  fake.setStates("queued", "running", "done");
  const recording = await recordVendor({
    ...{ kind: "luma", apiKey, upstreamModel: wire.model, request: film, pollMs: 1 },
    baseUrl: `${fake.origin}${wire.base}`,
  });
  expect(recording).toMatchObject({ kind: "luma", outcome: "done" });
  expect(recording.exchanges.map(({ request, reply }) => [request.method, request.path, reply.status])).toEqual([
    ["POST", "/dream-machine/v1/generations/video", 201],
    ["GET", wire.pollPath, 200],
    ["GET", wire.pollPath, 200],
    ["GET", wire.pollPath, 200],
  ]);
  expect(recording.exchanges[0]?.request.body).toEqual({
    ...{ model: "ray-2", prompt: "Waves", duration: "5s", aspect_ratio: "16:9" },
  });
  expect(recording.exchanges.at(-1)?.reply.body).toMatchObject({ state: "completed", assets: { video: "{url}" } });
  expect(JSON.stringify(recording)).not.toContain(apiKey);
  expect(JSON.stringify(recording)).not.toContain(fake.origin);
});

test("files, ids and names of the account are replaced", async () => {
  const wire = queueWires["vertex-media"];
  await using fake = await startQueueFake(wire, apiKey);
  fake.setStates("done");
  const recording = await recordVendor({
    ...{ kind: "vertex-media", apiKey, upstreamModel: wire.model, pollMs: 1 },
    request: { ...film, durationSeconds: 8 },
    baseUrl: `${fake.origin}${wire.base}`,
  });
  expect(recording.outcome).toBe("done");
  expect(recording.exchanges[1]?.request.body).toEqual({ operationName: "job-1" });
  expect(JSON.stringify(recording)).not.toContain("projects/7");
});

test("a refusal is recorded too", async () => {
  const wire = queueWires.replicate;
  await using fake = await startQueueFake(wire, apiKey);
  fake.refuse("credit");
  const { outcome, exchanges } = await recordVendor({
    ...{ kind: "replicate", apiKey, upstreamModel: wire.model, request: film, pollMs: 1 },
    baseUrl: `${fake.origin}${wire.base}`,
  });
  expect(outcome).toBe("refused");
  expect(exchanges).toHaveLength(1);
  expect(exchanges[0]?.reply.status).toBe(402);
});
