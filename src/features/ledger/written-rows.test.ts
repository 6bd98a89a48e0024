import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { writtenRowTypes } from "./written-rows.ts";

const schema = readFileSync(new URL("../../../migrations/schema.sql", import.meta.url), "utf8");

/** The columns of a composite type in `schema.sql`, which `npm run check` compares with a migrated database. */
function readColumns(name: string): string[] {
  const [, body = ""] = new RegExp(`create type ${name} as \\(([^)]*)\\)`).exec(schema) ?? [];
  return body.split(",").map((line) => line.trim().replace("timestamp with time zone", "timestamptz"));
}

test.each(writtenRowTypes)("rows of $name have the columns of their type, in order", ({ name, columns }) => {
  expect(columns.map(([column, type]) => `${column} ${type}`)).toEqual(readColumns(name));
});

test("rows are passed to ledger_commit in the order of its parameters", () => {
  const [parameters = ""] = /FUNCTION public\.ledger_commit\([^)]*\)/.exec(schema) ?? [];
  const types = [...parameters.matchAll(/\w+ (\w+)\[\]/g)].map(([, name]) => name);
  expect(writtenRowTypes.map(({ name }) => name)).toEqual(types);
});
