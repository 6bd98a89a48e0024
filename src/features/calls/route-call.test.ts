import { expect, test } from "vitest";
import { createTestClock } from "../../../test/harness/test-clock.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { createUpstreamHealth } from "../../providers/upstream-health.ts";
import type { RouteTarget } from "../catalog/index.ts";
import type { CallKinds, CallRun, CallSink } from "./paid-endpoint.ts";
import { routeCall } from "./route-call.ts";

type Start = (sink: CallSink<Kinds>) => CallRun;
type Kinds = CallKinds & { target: RouteTarget & { start: Start }; answer: string };

function createTarget(keyNumber: number, start: Start): Kinds["target"] {
  const route = { provider: "main", upstream_model: "talk-1", priority: keyNumber, weight: 1 };
  const provider = { id: "main", kind: "sandbox" as const };
  const place = { providerId: "main", upstreamModel: "talk-1", keyNumber, apiKeyReference: null, placeHash: keyNumber };
  return { ...place, route, provider, start };
}

const broken: Start = () => {
  throw new TypeError("a mistake of ours");
};

/** What becomes of a call to these targets. */
function route(
  targets: readonly Kinds["target"][],
): Promise<{ answer: string } | { failure: AppError; attempts: number }> {
  return new Promise((resolve) => {
    let attempts = 0;
    routeCall<Kinds>(
      { health: createUpstreamHealth({ clock: createTestClock() }), random: () => 0 },
      {
        request: {
          operation: { name: "chat", outputType: "text" },
          targets,
          start: (target, _unitsMax, sink) => target.start(sink),
          explain: (cause) => new AppError("upstream_unavailable", "It failed.", { cause }),
        },
        unitsMax: 1,
      },
      {
        onAccepted: () => {},
        onPieces: () => {},
        onEnd: () => {},
        onAnswer: (answer) => resolve({ answer }),
        onFailedAttempt: () => {
          attempts += 1;
        },
        onFailure: (failure) => resolve({ failure, attempts }),
      },
    );
  });
}

test("a provider that throws instead of telling is like one that fails: the next target is tried", async () => {
  const good = createTarget(1, (sink) => {
    queueMicrotask(() => sink.onAnswer("Hi"));
    return { pause: () => {}, resume: () => {}, cancel: () => {} };
  });
  expect(await route([createTarget(0, broken), good])).toEqual({ answer: "Hi" });
});

test("where every provider throws, the caller hears of it after three attempts, and nothing else breaks", async () => {
  const targets = [0, 1, 2, 3].map((keyNumber) => createTarget(keyNumber, broken));
  expect(await route(targets)).toMatchObject({ failure: { code: "upstream_unavailable" }, attempts: 3 });
});
