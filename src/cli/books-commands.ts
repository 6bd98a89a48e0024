import { findAccount } from "../features/accounts/index.ts";
import { nameRevenueColumns, readRevenue, revenueSteps } from "../features/admin/index.ts";
import { type BookLine, readBooks } from "../features/books/index.ts";
import { presentCsvLine } from "../lib/csv.ts";
import { presentMoney } from "../lib/money.ts";
import { AppError } from "../platform/errors/app-error.ts";
import type { Command } from "./command.ts";
import { createWrongValue } from "./option-values.ts";
import { systemDependencies } from "./system-dependencies.ts";
import { withDatabase } from "./with-database.ts";

const periodOptions = {
  from: { placeholder: "day", description: "The first day, such as 2026-11-01. Days are in UTC.", isRequired: true },
  to: { placeholder: "day", description: "The day after the last one. Default: tomorrow." },
} satisfies Command["options"];

const exportCommand: Command = {
  name: "books export",
  summary: "Print the double entries of all customers as CSV, by day and account of the books.",
  options: {
    ...periodOptions,
    account: { placeholder: "account id", description: "Only this customer's entries." },
  },
  run: ({ options, terminal }) =>
    withDatabase(terminal, async (database) => {
      const period = readPeriod(options);
      const account = options.account === undefined ? null : await findAccount(database, options.account);
      if (options.account !== undefined && account === null) {
        throw new AppError("not_found", `There is no account ${options.account}.`, { param: "account" });
      }
      const writer = createWriter(terminal, ["date", "account", "debit", "credit"]);
      for await (const lines of readBooks(database, { ...period, accountId: account?.id ?? null })) {
        writer.write(lines.map(presentLine));
      }
      return null;
    }),
};

const revenueCommand: Command = {
  name: "books revenue",
  summary: "Print the revenue by model as CSV, by day or month.",
  options: {
    ...periodOptions,
    by: { placeholder: "word", description: "day or month. Default: month." },
  },
  run: ({ options, terminal }) =>
    withDatabase(terminal, async (database) => {
      const by = revenueSteps.find((word) => word === (options.by ?? "month"));
      if (by === undefined) throw createWrongValue("by", "day or month");
      const writer = createWriter(terminal, nameRevenueColumns(by));
      for await (const rows of readRevenue(database, { ...readPeriod(options), by })) writer.write(rows);
      return null;
    }),
};

export const booksCommands: readonly Command[] = [exportCommand, revenueCommand];

function presentLine({ day, account, debit, credit }: BookLine): string[] {
  return [day, account, presentMoney(debit), presentMoney(credit)];
}

/** Prints lines as they are read; with --json, each line is an object. */
function createWriter({ print, isJson }: Parameters<Command["run"]>[0]["terminal"], names: readonly string[]) {
  if (!isJson) print(presentCsvLine(names).trimEnd());
  return {
    write(rows: readonly string[][]): void {
      if (rows.length === 0) return;
      const lines = rows.map((row) =>
        isJson
          ? JSON.stringify(Object.fromEntries(names.map((name, index) => [name, row[index]])))
          : presentCsvLine(row).trimEnd(),
      );
      print(lines.join("\n"));
    },
  };
}

const dayMs = 24 * 60 * 60_000;

function readPeriod(options: Readonly<Record<string, string | undefined>>): { from: Date; to: Date } {
  const from = readDay("from", options.from ?? "");
  const tomorrow = new Date(Math.floor(systemDependencies.clock.now().getTime() / dayMs + 1) * dayMs);
  const to = options.to === undefined ? tomorrow : readDay("to", options.to);
  if (from < to) return { from, to };
  throw createWrongValue("from", "a day before --to");
}

function readDay(option: string, text: string): Date {
  const moment = /^\d{4}-\d{2}-\d{2}$/.test(text) ? new Date(`${text}T00:00:00Z`) : null;
  if (moment !== null && !Number.isNaN(moment.getTime()) && moment.toISOString().startsWith(text)) return moment;
  throw createWrongValue(option, "a day, such as 2026-11-01");
}
