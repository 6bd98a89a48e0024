import type { Database } from "../../platform/database/database.ts";
import { type BookLine, type BooksAsked, sumBooks } from "./books-store.ts";

/** Reads a calendar year at a time: at most some ten thousand lines are in memory. */
export async function* readBooks(database: Database, asked: BooksAsked): AsyncGenerator<BookLine[], void> {
  for (const { from, to } of splitPeriod(asked, findYearEnd)) yield await sumBooks(database, { ...asked, from, to });
}

type Period = { from: Date; to: Date };

/** Parts of a period that end at calendar boundaries. */
export function splitPeriod({ from, to }: Period, findEnd: (moment: Date) => Date): Period[] {
  const parts: Period[] = [];
  for (let start = from; start < to; ) {
    const end = findEnd(start);
    parts.push({ from: start, to: end < to ? end : to });
    start = end;
  }
  return parts;
}

function findYearEnd(moment: Date): Date {
  return new Date(Date.UTC(moment.getUTCFullYear() + 1, 0, 1));
}

export function findMonthEnd(moment: Date): Date {
  return new Date(Date.UTC(moment.getUTCFullYear(), moment.getUTCMonth() + 1, 1));
}
