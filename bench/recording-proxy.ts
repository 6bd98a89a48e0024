// A pass-through that also writes each call down before its answer is complete: one row in a transaction of its own, on a
// PostgreSQL with the settings of Sluice's, in the usual way with `pg`. Statements sent ready made, or commits that calls
// share, as Sluice has them, would cost less. Like the bare one it knows nobody, counts nothing and limits nobody.
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
/** A usual size; others were not tried. */
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

/** A whole answer waits for its row; of a stream only the end does. */
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
