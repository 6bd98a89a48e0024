import { parseArgs } from "node:util";
import pg from "pg";
import { describeModels } from "./chat-targets.ts";
import { readClusterAddress } from "./cluster-address.ts";
import { findMedian } from "./measure-cpu.ts";
import { type SluiceGateway, startSluice } from "./sluice-gateway.ts";
import { presentTable, writeResults } from "./write-results.ts";

const pageGoalMsMax = 100;
const pageReads = 5;
const portion = 500_000;

/** Indexes are built after the fill, which takes a fraction of the time. */
const secondaryIndexes = ["model", "key", "status", "error", "client_id", "wire"].map((name) => `requests_by_${name}`);

/** One account: most rows with one model and one key, one in thirty an error, one in a million of a unique kind. */
const fillStatement = `
  insert into requests (account_id, created_at, id, key_id, client_request_id, wire, method, route, model, status, error_code,
      ending, duration_ms, first_token_ms, input_tokens, cached_input_tokens, output_tokens, charge_nano, charge_id, user_agent,
      is_replayed)
    select $account, moment, 'req_' || lpad(number::text, 26, '0'),
      'key_bench' || case when number % 1000000 = 7 then 99 else number % 5 end,
      case when number % 10 = 0 then 'trace-' || number end,
      case when number % 1000000 = 9 then 'dramas' else 'chat' end, 'POST', '/v1/chat/completions',
      case when number % 1000000 = 11 then 'rare' when number % 3 = 0 then 'small' else 'large' end,
      case when number % 1000000 = 13 then 503 when number % 30 = 0 then 429 else 200 end,
      case when number % 1000000 = 13 then 'upstream_unavailable' when number % 30 = 0 then 'rate_limit_exceeded' end,
      case when number % 1000000 = 13 then 'failed' when number % 30 = 0 then 'refused' else 'answered' end,
      number % 5000, number % 500, 120, 0, 60, 54000, 'txn_' || lpad(number::text, 26, '0'), 'OpenAI/Python 2.1.0', false
    from (
      select number, date_trunc('milliseconds', now() - interval '29 days' * (1 - number::float8 / $count)) as moment
        from generate_series($from::bigint, $to::bigint) as numbers (number)
    ) as calls`;

const pages: readonly [name: string, path: string][] = [
  ["newest", "?limit=50"],
  ["a frequent model", "?limit=50&model=large"],
  ["a rare model", "?limit=50&model=rare"],
  ["a rare key", "?limit=50&key_id=key_bench99"],
  ["errors", "?limit=50&status=4xx"],
  ["rare errors", "?limit=50&status=5xx"],
  ["a rare status", "?limit=50&status=503"],
  ["a rare error code", "?limit=50&error_code=upstream_unavailable"],
  ["a client request id", "?client_request_id=trace-7654320"],
  ["a rare wire", "?limit=50&wire=dramas"],
  ["a rare model and a frequent key", "?limit=50&model=rare&key_id=key_bench1"],
  ["a day, three weeks ago", "?limit=50&from=$then&model=large"],
  ["summary of the last hour", "/summary?from=$hour"],
  ["summary of all", "/summary"],
];

/** The cost of a page of a grown request log: `npm run bench -- requests --millions 10`. */
export async function measureRequests(words: string[]): Promise<void> {
  const { values } = parseArgs({ args: words, options: { millions: { type: "string", default: "10" } } });
  const count = Number(values.millions) * 1_000_000;
  const gateway = await startSluice(describeModels(1));
  try {
    const tookMs = await fill(gateway, count);
    const rows = [["fill", `${(tookMs / 1000).toFixed(0)} s`, "", ""]];
    for (const page of pages) rows.push(await measurePage(gateway, page));
    const title = `A log of ${count} calls of one account, over 29 days.`;
    writeResults("requests", `${title}\n\n${presentTable(["what", "figure", "goal", "verdict"], rows)}`);
  } finally {
    await gateway.close();
  }
}

async function fill({ dataDir }: SluiceGateway, count: number): Promise<number> {
  const client = new pg.Client(readClusterAddress(dataDir));
  await client.connect();
  const startedAt = performance.now();
  try {
    await client.query("set synchronous_commit = off; set statement_timeout = 0; set lock_timeout = 0");
    await client.query("set maintenance_work_mem = '512MB'");
    await client.query("select make_partitions('requests', 'month', now() - interval '30 days', now())");
    const { rows: accounts } = await client.query(
      "select id as account_id from accounts where email = 'bench@example.com'",
    );
    const { rows: indexes } = await client.query(
      "select indexname, replace(indexdef, ' ON ONLY ', ' ON ') as text from pg_indexes where indexname = any($1)",
      [secondaryIndexes],
    );
    for (const name of secondaryIndexes) await client.query(`drop index ${name}`);
    for (let from = 1; from <= count; from += portion) {
      const words = { account: `'${accounts[0]?.account_id}'`, count, from, to: Math.min(count, from + portion - 1) };
      await client.query(
        fillStatement.replaceAll(/\$(account|count|from|to)/g, (_, word: keyof typeof words) => String(words[word])),
      );
      console.error(`${from - 1 + portion} of ${count} calls`);
    }
    for (const { text } of indexes) await client.query(text);
    await client.query("analyze requests");
  } finally {
    await client.end();
  }
  return performance.now() - startedAt;
}

async function measurePage({ port, headers }: SluiceGateway, [name, path]: (typeof pages)[number]): Promise<string[]> {
  const before = (ms: number): string => new Date(Date.now() - ms).toISOString();
  const filled = path.replace("$then", before(21 * 86_400_000)).replace("$hour", before(3_600_000));
  const tookMs: number[] = [];
  for (let read = 0; read <= pageReads; read += 1) {
    const startedAt = performance.now();
    const answer = await fetch(`http://127.0.0.1:${port}/v1/requests${filled}`, { headers });
    const text = await answer.text();
    if (!answer.ok || text.includes('"data":[]')) throw new Error(`${path}: ${answer.status} ${text}`);
    // The first one warms connections up.
    if (read > 0) tookMs.push(performance.now() - startedAt);
  }
  const medianMs = findMedian(tookMs);
  const isPage = !path.startsWith("/summary");
  const verdict = medianMs <= pageGoalMsMax ? "met" : "MISSED";
  return [name, `${medianMs.toFixed(0)} ms`, isPage ? `≤ ${pageGoalMsMax} ms` : "", isPage ? verdict : ""];
}
