import fc from "fast-check";
import { expect, test } from "vitest";
import { createTestClock } from "../../../test/harness/test-clock.ts";
import { environmentSecrets } from "../../platform/config/secrets.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { ProviderError } from "../../providers/contract.ts";
import { createUpstreamHealth } from "../../providers/upstream-health.ts";
import type { RouteTarget } from "../catalog/index.ts";
import type { CallAttempt, CallKinds, CallRun, CallSink } from "./paid-endpoint.ts";
import { type RoutedRun, routeCall } from "./route-call.ts";

type Start = (sink: CallSink<Kinds>, attempt: CallAttempt) => CallRun;
type Kinds = CallKinds & { target: RouteTarget & { start: Start }; answer: string };

function createTarget(keyNumber: number, start: Start, providerId = `provider-${keyNumber}`): Kinds["target"] {
  const route = { provider: providerId, upstream_model: "talk-1", priority: keyNumber, weight: 1 };
  const provider = { id: providerId, kind: "sandbox" as const };
  const place = { providerId, upstreamModel: "talk-1", keyNumber, apiKeyReference: null, placeHash: keyNumber };
  return { ...place, route, provider, secrets: environmentSecrets, start };
}

const idle: CallRun = { pause: () => {}, resume: () => {}, cancel: () => {} };

const broken: Start = () => {
  throw new TypeError("a bug");
};

const overloaded = new ProviderError("overloaded", "The upstream refused with status 500.", {
  detail: { status: 500, code: "server_error", message: "Sorry about that!" },
});

const failing: Start = (sink) => {
  queueMicrotask(() => sink.onError(overloaded));
  return idle;
};

const answering: Start = (sink) => {
  queueMicrotask(() => sink.onAnswer("Hi"));
  return idle;
};

type Outcome = { answer: string } | { failure: AppError };

/** A call to these targets, its outcome, and the events of its sink. */
function route(targets: readonly Kinds["target"][], { clock = createTestClock(), callMs = 1000 } = {}) {
  const events: string[] = [];
  const { promise: outcome, resolve } = Promise.withResolvers<Outcome>();
  const run = routeCall<Kinds>(
    { health: createUpstreamHealth({ clock }), random: () => 0, clock },
    {
      request: {
        operation: { name: "chat", outputType: "text" },
        ...{ targets, callMs },
        start: (target, _unitsMax, sink, attempt) => target.start(sink, attempt),
        explain: (cause) => new AppError("upstream_unavailable", "It failed.", { cause }),
      },
      unitsMax: 1,
    },
    {
      onAccepted: () => events.push("accepted"),
      onPieces: () => events.push("pieces"),
      onEnd: () => events.push("end"),
      onAnswer: (answer) => {
        events.push("answer");
        resolve({ answer });
      },
      onFailedAttempt: () => events.push("failed attempt"),
      onFailure: (failure) => {
        events.push("failure");
        resolve({ failure });
      },
    },
  );
  return { run, events, outcome };
}

test("an adapter that throws counts as failed: the next target is tried", async () => {
  expect(await route([createTarget(0, broken), createTarget(1, answering)]).outcome).toEqual({ answer: "Hi" });
});

test("if every target fails, the call fails after five attempts", async () => {
  for (const start of [broken, failing]) {
    const { run, outcome } = route(Array.from({ length: 8 }, (_, at) => createTarget(at, start)));
    expect(await outcome).toMatchObject({ failure: { code: "upstream_unavailable" } });
    expect(run.failedAttempts).toHaveLength(5);
  }
});

test("a provider is tried at most twice, then the next", async () => {
  const keys = [0, 1, 2, 3].map((keyNumber) => createTarget(keyNumber, failing, "primary"));
  const { run, outcome } = route([...keys, createTarget(9, answering, "backup")]);
  expect(await outcome).toEqual({ answer: "Hi" });
  expect(run.failedAttempts.map(({ upstream, keyNumber }) => [upstream, keyNumber])).toEqual([
    ["primary", 0],
    ["primary", 1],
  ]);
  expect(run.target?.providerId).toBe("backup");
});

test("attempts share the call's time limit, and none starts when it is used up", async () => {
  const clock = createTestClock();
  const remaining: number[] = [];
  const slow: Start = (sink, { remainingMs }) => {
    remaining.push(remainingMs);
    queueMicrotask(() => {
      clock.advance(400);
      sink.onError(new ProviderError("timeout", "The upstream did not answer."));
    });
    return idle;
  };
  const { run, outcome } = route(
    [0, 1, 2, 3, 4].map((at) => createTarget(at, slow)),
    { clock, callMs: 1000 },
  );
  await outcome;
  expect(remaining).toEqual([1000, 600, 200]);
  expect(run.failedAttempts.map(({ durationMs }) => durationMs)).toEqual([400, 400, 400]);
});

test("a model with a routing policy measures its targets: until the first data, or the whole answer, and failures", async () => {
  const noted: string[] = [];
  const pace = {
    share: 1,
    noteAnswer: (form: string, tookMs: number) => noted.push(`${form} ${tookMs}`),
    noteFailure: () => noted.push("failure"),
  };
  const clock = createTestClock();
  const after =
    (work: (sink: CallSink<Kinds>) => void): Start =>
    (sink) => {
      queueMicrotask(() => {
        clock.advance(40);
        work(sink);
      });
      return idle;
    };
  const stream = after((sink) => {
    sink.onPieces(["Hi"]);
    clock.advance(500);
    sink.onPieces(["!"]);
    sink.onAnswer("Hi!");
  });
  const refusing = after((sink) => sink.onError(new ProviderError("rejected", "The request is wrong.")));
  for (const start of [after((sink) => sink.onAnswer("Hi")), stream, failing, refusing]) {
    await route([{ ...createTarget(0, start), pace }], { clock }).outcome;
  }
  expect(noted).toEqual(["whole 40", "first 40", "failure"]);
});

test("a failed attempt records the upstream's message without our key", async () => {
  const leaky = new ProviderError("key-refused", "The upstream refused with status 401.", {
    detail: {
      status: 401,
      code: "invalid_api_key",
      message: "No such key: plain-words-as-a-key. See https://a.b/c?sig=1",
    },
  });
  const target = createTarget(0, (sink) => {
    queueMicrotask(() => {
      sink.onHead?.({ "x-request-id": "req_vendor_1" });
      sink.onError(leaky);
      sink.onHead?.({ "x-request-id": "too late" });
    });
    return idle;
  });
  const { run, outcome } = route([{ ...target, apiKeyReference: "plain-words-as-a-key" }]);
  await outcome;
  expect(run.upstreamRequestId).toBe("req_vendor_1");
  expect(run.failedAttempts).toEqual([
    {
      ...{ upstream: "provider-0", upstreamModel: "talk-1", keyNumber: 0, durationMs: 0 },
      ...{ kind: "key-refused", status: 401, code: "invalid_api_key", upstreamRequestId: "req_vendor_1" },
      said: "No such key: [hidden]. See https://a.b/c?[hidden]",
    },
  ]);
});

/** Everything that an adapter or the paid call can do. */
const acts: Readonly<Record<string, (sink: CallSink<Kinds>, run: RoutedRun<Kinds>) => void>> = {
  head: (sink) => sink.onHead?.({ "x-request-id": "req_vendor_2" }),
  accept: (sink) => sink.onAccepted(),
  data: (sink) => sink.onPieces([]),
  end: (sink) => sink.onEnd(null),
  answer: (sink) => sink.onAnswer("Hi"),
  fail: (sink) => sink.onError(overloaded),
  refuse: (sink) => sink.onError(new ProviderError("rejected", "No.")),
  "stop-failover": (_sink, run) => run.stopFailover(),
  cancel: (_sink, run) => run.cancel(),
  pause: (_sink, run) => run.pause(),
  resume: (_sink, run) => run.resume(),
};

test("whatever an adapter does: at most one acceptance, one end, and no event after it", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...Object.keys(acts)), { maxLength: 12 }), (names) => {
      let sink: CallSink<Kinds> | null = null;
      const targets = [0, 1, 2].map((at) =>
        createTarget(at, (given) => {
          sink = given;
          return idle;
        }),
      );
      const { run, events } = route(targets);
      let isCanceled = false;
      for (const name of names) {
        const before = events.length;
        if (sink !== null) acts[name]?.(sink, run);
        if (isCanceled) expect(events).toHaveLength(before);
        isCanceled ||= name === "cancel";
      }
      const ends = events.filter((word) => ["end", "answer", "failure"].includes(word));
      expect(ends.length).toBeLessThanOrEqual(1);
      if (ends.length === 1) expect(events.at(-1)).toBe(ends[0]);
      expect(events.filter((word) => word === "accepted").length).toBeLessThanOrEqual(1);
    }),
  );
});
