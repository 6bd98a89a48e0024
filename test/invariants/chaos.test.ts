// @module-tag extended
import { expect, test } from "vitest";
import { runChaos } from "../../bench/chaos/chaos.ts";
import { checkBooks, type Evidence } from "../../bench/chaos/check-books.ts";
import { faultKinds } from "../../bench/chaos/fault-table.ts";
import { presentRun } from "../../bench/chaos/present-run.ts";
import { externalBinaries } from "../harness/servers/external-postgres.ts";
import { testSeed } from "../harness/test-seed.ts";

test.skipIf(externalBinaries === null)(
  "gateways lose and duplicate nothing under faults of every kind, and the checker finds every falsified record",
  { timeout: 300_000 },
  async () => {
    const options = { seed: testSeed, faultsCount: faultKinds.length, nodesCount: 2, callersCount: 6 };
    const run = await runChaos({ ...options, onFault: () => {} });
    const findings = checkBooks(run.evidence);
    console.log(presentRun(run, findings, testSeed));
    if (findings.length > 0) console.log(run.log.slice(-20_000));
    expect(findings).toEqual([]);
    expect(new Set(run.faults.map(({ kind }) => kind))).toEqual(new Set(faultKinds));
    // Otherwise the checker has nothing to check.
    expect(run.evidence.journal.length).toBeGreaterThan(20);
    for (const [name, lie] of Object.entries(lies)) {
      const found = checkBooks(lie(run.evidence));
      expect(found.length, name).toBeGreaterThan(0);
    }
  },
);

type Lie = (evidence: Evidence) => Evidence;

/** Falsifies the books only. */
const falsify =
  (change: (books: Evidence["books"]) => Partial<Evidence["books"]>): Lie =>
  (evidence) => ({ ...evidence, books: { ...evidence.books, ...change(evidence.books) } });

const lies: Record<string, Lie> = {
  "a charge is gone": falsify(({ charges }) => ({ charges: charges.slice(1) })),
  "a charge is there twice": falsify(({ charges }) => ({ charges: [...charges, ...charges.slice(0, 1)] })),
  "a charge is a billionth too high": falsify(({ charges: [first, ...others] }) => ({
    charges: first === undefined ? [] : [{ ...first, paid: first.paid + 1n }, ...others],
  })),
  "something stays on hold": falsify(() => ({ openHolds: 1 })),
  "a task is forgotten": falsify(({ taskStates }) => ({ taskStates: new Map([...taskStates].slice(1)) })),
  "a stray task": falsify(({ taskStates }) => ({ taskStates: new Map([...taskStates, ["task_x", "queued"]]) })),
  "a caller is never answered": (evidence) => ({
    ...evidence,
    journal: evidence.journal.map((entry, index) => (index === 0 ? { ...entry, ending: { kind: "open" } } : entry)),
  }),
  "events do not arrive": (evidence) => ({ ...evidence, events: [] }),
  "an event is delivered under another id": (evidence) => ({
    ...evidence,
    events: evidence.events.flatMap((event) => [event, { ...event, eventId: `${event.eventId}x` }]),
  }),
  "a signature is wrong": (evidence) => ({
    ...evidence,
    events: evidence.events.map((event) => ({ ...event, isSigned: false })),
  }),
  "a task is handed over twice": (evidence) => ({
    ...evidence,
    queue: new Map([...evidence.queue].flatMap(([id, record]) => [[id, record] as const, [`${id}x`, record] as const])),
  }),
  "an answer is another the second time": (evidence) => ({
    ...evidence,
    repeats: evidence.repeats.map((repeat) => ({ ...repeat, text: `${repeat.text} ` })),
  }),
};
