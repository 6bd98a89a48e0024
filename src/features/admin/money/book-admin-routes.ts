import { Readable } from "node:stream";
import { Type } from "typebox";
import { presentCsvLine } from "../../../lib/csv.ts";
import type { AccountId } from "../../../lib/ids.ts";
import { presentMoney } from "../../../lib/money.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import { readBooks } from "../../books/index.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import { describeAdminEndpoint } from "../edge/admin-endpoint-table.ts";
import { createSendAlone } from "../edge/send-alone.ts";
import { nameRevenueColumns, readRevenue, revenueSteps } from "./read-revenue.ts";

const dayMs = 24 * 60 * 60_000;
const daysMax = 20 * 366;

const dayField = (description: string) =>
  Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$", examples: ["2026-11-01"], description });

const periodFields = {
  from: dayField("The first day, in UTC."),
  to: Type.Optional(dayField("The day after the last one. Default: tomorrow.")),
};

const csvSchema = Type.Unsafe<Readable>(Type.String({ description: "The first line contains the column names." }));

export function addBookAdminRoutes(http: HttpServer, { database, clock }: AdminDependencies): void {
  const sendAlone = createSendAlone();
  const readPeriod = ({ from: first, to: last }: { from: string; to?: string }) => {
    const from = parseDay(first, "from");
    const tomorrow = new Date(Math.floor(clock.now().getTime() / dayMs + 1) * dayMs);
    const to = last === undefined ? tomorrow : parseDay(last, "to");
    if (from >= to) throw new AppError("invalid_parameter", "`from` must be before `to`.", { param: "from" });
    if (to.getTime() - from.getTime() > daysMax * dayMs) {
      throw new AppError("invalid_parameter", "The period must be at most 20 years.", { param: "from" });
    }
    return { from, to };
  };

  const books = describeAdminEndpoint("exportBooks");
  http.get(
    "/books",
    {
      config: books.config,
      schema: {
        ...books.schema,
        summary: "Export the books",
        description: `Double entries by UTC day and account of the books, as CSV: \`date,account,debit,credit\`. On every day, debit equals
credit. One export at a time.`,
        querystring: Type.Object(
          {
            ...periodFields,
            account_id: Type.Optional(
              Type.String({ pattern: "^acct_[0-9a-z]{1,64}$", description: "Only this customer." }),
            ),
          },
          { additionalProperties: false },
        ),
        response: { 200: csvSchema, ...books.errors },
      },
    },
    async ({ query }, reply) => {
      const accountId = (query.account_id ?? null) as AccountId | null;
      const lines = readBooks(database, { ...readPeriod(query), accountId });
      const names = ["date", "account", "debit", "credit"];
      const text = writeLines(names, lines, ({ day, account, debit, credit }) => [
        ...[day, account],
        ...[presentMoney(debit), presentMoney(credit)],
      ]);
      const file = await sendAlone(() => Readable.from(text));
      reply.type("text/csv; charset=utf-8").header("content-disposition", 'attachment; filename="books.csv"');
      return file;
    },
  );
  const revenue = describeAdminEndpoint("exportRevenue");
  http.get(
    "/books/revenue",
    {
      config: revenue.config,
      schema: {
        ...revenue.schema,
        summary: "Export the revenue by model",
        description: "By UTC day or month, as CSV. One export at a time.",
        querystring: Type.Object(
          { ...periodFields, by: Type.Optional(Type.Enum([...revenueSteps], { default: "month" })) },
          { additionalProperties: false },
        ),
        response: { 200: csvSchema, ...revenue.errors },
      },
    },
    async ({ query }, reply) => {
      const { by = "month" } = query;
      const rows = readRevenue(database, { ...readPeriod(query), by });
      const file = await sendAlone(() => Readable.from(writeLines(nameRevenueColumns(by), rows, (row) => row)));
      reply.type("text/csv; charset=utf-8").header("content-disposition", 'attachment; filename="revenue.csv"');
      return file;
    },
  );
}

async function* writeLines<Line>(
  names: readonly string[],
  parts: AsyncGenerator<Line[], void>,
  present: (line: Line) => string[],
): AsyncGenerator<string, void> {
  yield presentCsvLine(names);
  for await (const lines of parts) {
    if (lines.length > 0) yield lines.map((line) => presentCsvLine(present(line))).join("");
  }
}

function parseDay(text: string, param: string): Date {
  const day = new Date(`${text}T00:00:00Z`);
  if (!Number.isNaN(day.getTime()) && day.toISOString().startsWith(text)) return day;
  throw new AppError("invalid_parameter", `\`${param}\` is not a day.`, { param });
}
