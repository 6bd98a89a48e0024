import { Readable } from "node:stream";
import { createGzip } from "node:zlib";
import type { AccountId } from "../../../lib/ids.ts";
import { type Database, inTransaction } from "../../../platform/database/database.ts";
import { appendAudit } from "../../audit/index.ts";
import { readEveryRequest } from "../../requests/index.ts";
import { findUserOfAccount } from "../../site/index.ts";
import { type AccountAction, getAccount } from "../accounts/change-account-as-operator.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import { requireReason } from "../edge/reason.ts";
import { exportedTables, readRows } from "./export-store.ts";
import { presentTarFile, tarEnd } from "./tar.ts";

const rowsAtOnce = 500;
/** Files of the archive are written in parts of about this size, which bounds the memory. */
const partCharactersMax = 4_000_000;

/** Everything stored about an account as a compressed archive, read as the client takes it. */
export async function exportPerson(
  { database, clock }: Pick<AdminDependencies, "database" | "clock">,
  { accountId, acting, reason: text }: AccountAction,
): Promise<Readable> {
  const reason = requireReason(text);
  await inTransaction(database, async (tx) => {
    await getAccount(tx, accountId);
    await appendAudit(tx, {
      ...{ ...acting, action: "person.exported", subject: accountId, accountId, reason, before: null, after: null },
    });
  });
  const archive = Readable.from(writeArchive(database, accountId, clock.now()));
  const gzip = createGzip();
  archive.once("error", (error) => gzip.destroy(error));
  gzip.once("close", () => archive.destroy());
  return archive.pipe(gzip);
}

async function* writeArchive(database: Database, accountId: AccountId, now: Date): AsyncGenerator<Buffer> {
  const user = await findUserOfAccount(database, accountId);
  for (const table of exportedTables) {
    const lines = readLines(database, table, { accountId, userId: user?.id ?? null });
    yield* writeParts(table.name, lines, now);
  }
  yield* writeParts("requests", readEveryRequest(database, accountId), now);
  yield tarEnd;
}

type Lines = AsyncGenerator<string>;

async function* readLines(
  database: Database,
  table: (typeof exportedTables)[number],
  owner: { accountId: AccountId; userId: string | null },
): Lines {
  for (let after: string | null = null; ; ) {
    const rows: { key: string; line: string }[] = await readRows(database, table, {
      ...{ ...owner, after, limit: rowsAtOnce },
    });
    yield rows.map(({ line }) => `${line}\n`).join("");
    const last = rows.at(-1);
    if (last === undefined || rows.length < rowsAtOnce) return;
    after = last.key;
  }
}

async function* writeParts(name: string, lines: Lines, now: Date): AsyncGenerator<Buffer> {
  let part = 1;
  let text = "";
  for await (const more of lines) {
    text += more;
    if (text.length < partCharactersMax) continue;
    yield presentTarFile(`${name}-${part}.ndjson`, text, now);
    part += 1;
    text = "";
  }
  if (part === 1) yield presentTarFile(`${name}.ndjson`, text, now);
  else if (text !== "") yield presentTarFile(`${name}-${part}.ndjson`, text, now);
}
