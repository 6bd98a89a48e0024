import type { AccountId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { listPriceModels } from "../catalog/index.ts";
import {
  countStatement,
  createStatementCsv,
  findEntryNumber,
  listStatementPage,
  type StatementEntry,
  type StatementRange,
} from "../ledger/index.ts";

type Asked = StatementRange & { accountId: AccountId };

/** A page of the statement, newest first, with the models of its charges; `null` for an unknown cursor. */
export async function readStatement(
  database: Database,
  { accountId, after, limit, ...range }: Asked & { after: string | null; limit: number },
): Promise<{ entries: StatementEntry[]; models: ReadonlyMap<string, string> } | null> {
  const place = after === null ? null : await findEntryNumber(database, accountId, parseEntryId(after));
  if (after !== null && place === null) return null;
  const entries = await listStatementPage(database, accountId, {
    ...range,
    ...{ limit, after: place, order: "newest-first", include: "movements" },
  });
  const priceIds = new Set(entries.flatMap(({ bill }) => bill?.priceId ?? []));
  return { entries, models: await listPriceModels(database, [...priceIds]) };
}

/** The query's schema has validated the form. */
function parseEntryId(id: string): { transactionId: string; leg: number } {
  const [transactionId = "", leg] = id.split(":");
  return { transactionId, leg: Number(leg) };
}

const linesMax = 100_000;
const linesAtOnce = 1000;

/** Streams the period's statement as CSV, oldest first, with back-pressure. */
export async function openStatementCsv(
  database: Database,
  { accountId, ...range }: Asked,
): Promise<AsyncGenerator<string, void>> {
  const count = await countStatement(database, accountId, { ...range, limit: linesMax + 1 });
  if (count > linesMax) {
    throw new AppError("invalid_parameter", `This period has more than ${linesMax} lines. Choose a shorter one.`, {
      param: "from",
    });
  }
  return writeLines(database, accountId, range);
}

async function* writeLines(
  database: Database,
  accountId: AccountId,
  range: StatementRange,
): AsyncGenerator<string, void> {
  const { heading, presentLine } = createStatementCsv("customer");
  yield heading;
  let after: bigint | null = null;
  // The bound holds even if entries are added during the export.
  for (let written = 0; written < linesMax; written += linesAtOnce) {
    const page = { ...range, after, limit: linesAtOnce, order: "oldest-first", include: "movements" } as const;
    const entries: StatementEntry[] = await listStatementPage(database, accountId, page);
    yield entries.map(presentLine).join("");
    if (entries.length < linesAtOnce) return;
    after = entries.at(-1)?.number ?? null;
  }
}
