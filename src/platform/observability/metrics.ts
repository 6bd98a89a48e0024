import { type MetricEntry, type MetricName, type MetricTable, metricTable } from "./metric-table.ts";

/** Adds to a counter or observes a value of a histogram. */
type Instrument = { add(value: number): void };

/** A value with its labels, in the order of the table. */
type Observation<L extends readonly unknown[] = readonly string[]> = readonly [value: number, ...labels: L];

type Family<L extends readonly unknown[]> = { at(...labels: L): Instrument };

/** Reads values at collection time. */
type Observed<L extends readonly unknown[]> = { observe(read: () => Iterable<Observation<L>>): void };

type LabelValues<L extends MetricEntry["labels"]> = {
  [I in keyof L]: L[I] extends { values: readonly (infer V)[] } ? V : string;
};

type InstrumentsOf<E extends MetricEntry> = (E["kind"] extends "gauge" ? unknown : Family<LabelValues<E["labels"]>>) &
  (E["kind"] extends "histogram" ? unknown : Observed<LabelValues<E["labels"]>>);

export type Metrics = { [N in MetricName]: InstrumentsOf<MetricTable[N]> };

export type ValueSample = { labels: readonly string[]; value: number };

/** `counts` has one number per bucket and one for values above the last; they are not cumulative. */
export type HistogramSample = { labels: readonly string[]; counts: readonly number[]; count: number; sum: number };

export type CollectedMetric = { entry: MetricEntry; samples: readonly (ValueSample | HistogramSample)[] };

export type MetricRegistry = Metrics & { collect(): CollectedMetric[] };

/** More series than this count under `other`, to bound memory as the catalog changes. */
const seriesMax = 5000;

/** All instruments of the table, as plain numbers in memory. */
export function createMetrics(): MetricRegistry {
  const families = Object.entries<MetricEntry>(metricTable).map(
    ([name, entry]) => [name, createFamily(entry)] as const,
  );
  const instruments = Object.fromEntries(families) as unknown as Metrics;
  return {
    ...instruments,
    collect: () => families.map(([, { entry, collect }]) => ({ entry, samples: collect() })),
  };
}

function createFamily(entry: MetricEntry) {
  const cells = createCells(entry);
  let read: (() => Iterable<Observation>) | null = null;
  return {
    entry,
    at: cells.at,
    observe(given: () => Iterable<Observation>) {
      read = given;
    },
    collect(): CollectedMetric["samples"] {
      if (read === null) return cells.list().map((cell) => cell.sample());
      return [...read()].map(([value, ...labels]) => ({ labels, value }));
    },
  };
}

type Cell = Instrument & { sample(): ValueSample | HistogramSample };
type Branch = Map<string, Branch | Cell>;

/** The series of a metric as nested maps by label: joining labels to one key would be slower. */
function createCells(entry: MetricEntry) {
  const root: Branch = new Map();
  const all: Cell[] = [];

  function find(labels: readonly string[]): Cell | undefined {
    let place: Branch | Cell | undefined = root;
    for (const label of labels) place = (place as Branch | undefined)?.get(label);
    return place as Cell | undefined;
  }

  function create(labels: readonly string[]): Cell {
    const cell = entry.kind === "histogram" ? createHistogram(labels, entry.buckets ?? []) : createSum(labels);
    all.push(cell);
    let place = root;
    for (const label of labels.slice(0, -1)) {
      const next = (place.get(label) as Branch | undefined) ?? new Map();
      place.set(label, next);
      place = next;
    }
    place.set(labels.at(-1) ?? "", cell);
    return cell;
  }

  function at(...labels: string[]): Cell {
    const found = labels.length === 0 ? all[0] : find(labels);
    if (found !== undefined) return found;
    if (all.length < seriesMax) return create(labels);
    const others = labels.map(() => "other");
    return find(others) ?? create(others);
  }

  if (entry.kind !== "gauge") for (const labels of listKnown(entry)) create(labels);
  return { at, list: () => all };
}

/** The label sets known in advance, exported as zero. */
function listKnown({ labels }: MetricEntry): string[][] {
  let sets: string[][] = [[]];
  for (const { values = [] } of labels) sets = sets.flatMap((set) => values.map((value) => [...set, value]));
  return sets;
}

function createSum(labels: readonly string[]): Cell {
  let sum = 0;
  return {
    add(value) {
      sum += value;
    },
    sample: () => ({ labels, value: sum }),
  };
}

function createHistogram(labels: readonly string[], bounds: readonly number[]): Cell {
  const counts = new Float64Array(bounds.length + 1);
  let count = 0;
  let sum = 0;
  return {
    add(value) {
      let index = 0;
      for (const bound of bounds) {
        if (value <= bound) break;
        index += 1;
      }
      counts[index] = (counts[index] ?? 0) + 1;
      count += 1;
      sum += value;
    },
    sample: () => ({ labels, counts: [...counts], count, sum }),
  };
}
