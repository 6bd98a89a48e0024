import { sql } from "kysely";
import type { Database } from "../../platform/database/database.ts";
import { joinConditions, type RequestFilter } from "./request-store.ts";

type Percentiles = { p50: number; p95: number; p99: number };

export type SummaryFigures = {
  count: number;
  /** From 1xx to 5xx. */
  byClass: readonly number[];
  hungUp: number;
  /** Of successful calls; `firstToken` only of streamed ones. */
  latency: Percentiles | null;
  firstToken: Percentiles | null;
};

export type BucketRow = { startsAt: Date; figures: SummaryFigures };

type SummaryRow = {
  kind: "bucket" | "error" | "total";
  starts_at: Date | null;
  error_code: string | null;
  oldest_at: Date | null;
  count: number;
  by_class: number[];
  hung_up: number;
  latency: number[] | null;
  first_token: number[] | null;
};

/** Aggregates the newest calls of a period, at most `countedMax` + 1, in one pass. */
export async function readSummaryRows(
  database: Database,
  { bucketSeconds, countedMax, ...filter }: RequestFilter & { bucketSeconds: number; countedMax: number },
): Promise<{
  buckets: BucketRow[];
  total: SummaryFigures | null;
  oldestAt: Date | null;
  errors: { code: string; count: number }[];
}> {
  const width = `${bucketSeconds} seconds`;
  const { rows } = await sql<SummaryRow>`
    with counted as materialized (
      select date_bin(${width}::interval, created_at, 'epoch'::timestamptz) as starts_at, created_at, status, ending,
          error_code, duration_ms, first_token_ms
        from requests where ${joinConditions(filter)}
        order by created_at desc limit ${countedMax + 1}
    )
    select case when grouping(starts_at) = 0 then 'bucket' when grouping(error_code) = 0 then 'error' else 'total' end as kind,
        starts_at, error_code, min(created_at) as oldest_at, count(*)::integer as count,
        array[count(*) filter (where status < 200), count(*) filter (where status between 200 and 299),
          count(*) filter (where status between 300 and 399), count(*) filter (where status between 400 and 499),
          count(*) filter (where status >= 500)]::integer[] as by_class,
        (count(*) filter (where ending = 'hung_up'))::integer as hung_up,
        percentile_disc(array[0.5, 0.95, 0.99]) within group (order by duration_ms)
          filter (where ending = 'answered') as latency,
        percentile_disc(array[0.5, 0.95, 0.99]) within group (order by first_token_ms)
          filter (where ending = 'answered') as first_token
      from counted group by grouping sets ((starts_at), (error_code), ())
      order by count(*) desc, error_code`.execute(database);
  const total = rows.find(({ kind }) => kind === "total");
  return {
    buckets: rows.flatMap((row) =>
      row.kind === "bucket" && row.starts_at !== null ? [{ startsAt: row.starts_at, figures: toFigures(row) }] : [],
    ),
    total: total === undefined ? null : toFigures(total),
    oldestAt: total?.oldest_at ?? null,
    errors: rows.flatMap(({ kind, error_code: code, count }) =>
      kind === "error" && code !== null ? [{ code, count }] : [],
    ),
  };
}

function toFigures(row: SummaryRow): SummaryFigures {
  return {
    count: row.count,
    byClass: row.by_class,
    hungUp: row.hung_up,
    latency: toPercentiles(row.latency),
    firstToken: toPercentiles(row.first_token),
  };
}

function toPercentiles(values: readonly (number | null)[] | null): Percentiles | null {
  const [p50 = null, p95 = null, p99 = null] = values ?? [];
  return p50 === null || p95 === null || p99 === null ? null : { p50, p95, p99 };
}
