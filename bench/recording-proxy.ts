// A pass-through that also records each call before its answer is complete: one row in its own transaction, on a
// PostgreSQL with the same settings as Sluice's, in the usual way with `pg`. Prepared statements or group commits, as
// in Sluice, would cost less. Like the bare one it authenticates, counts and limits nothing.
import type { ServerResponse } from "node:http";
import { Writable } from "node:stream";
import { parseArgs } from "node:util";
import pg from "pg";
import { openDatabase } from "../src/platform/database/open-database.ts";
import { openPassThrough } from "./pass-through.ts";
import { serveOnRequest } from "./serve-on-request.ts";

const { values } = parseArgs({
  options: { "upstream-port": { type: "string", default: "0" }, "data-dir": { type: "string", default: "" } },
});
/** A common size; others were not tried. */
const connectionsMax = 16;

const { address, close: closeDatabase } = await openDatabase({
  url: undefined,
  dataDir: values["data-dir"],
  purpose: "command",
  connectionsMax: 1,
  onProgress: () => {},
  onConnectionError: () => {},
  onLost: () => {},
});
const pool = new pg.Pool({ ...address, max: connectionsMax });
await pool.query(`create table calls (
  number bigint generated always as identity primary key,
  account_id text not null,
  charge bigint not null,
  created_at timestamptz not null default now()
)`);
const insert = { name: "record", text: "insert into calls (account_id, charge) values ($1, $2)" };

async function record(): Promise<void> {
  await pool.query({ ...insert, values: ["acct_bench", 27] });
}

/** A whole answer waits for its row; a stream only waits at its end. */
function endWhenRecorded(response: ServerResponse, isWhole: boolean): Writable {
  const kept: Buffer[] = [];
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (isWhole) kept.push(chunk);
      if (isWhole || response.write(chunk)) done();
      else response.once("drain", done);
    },
    final(done) {
      record().then(() => {
        response.end(isWhole ? Buffer.concat(kept) : undefined);
        done();
      }, done);
    },
  });
}

const { port, close } = await openPassThrough({
  upstreamPort: Number(values["upstream-port"]),
  chooseOutlet: (response, headers) => endWhenRecorded(response, headers["content-length"] !== undefined),
});
serveOnRequest({
  port,
  key: "",
  async close() {
    await close();
    await pool.end();
    await closeDatabase();
  },
});
