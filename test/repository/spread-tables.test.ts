import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");

type Table = { name: string; hasAccount: boolean; isKeyedByAccount: boolean };

function listSchemaTables(): Table[] {
  return [...read("migrations/schema.sql").matchAll(/^create table (\w+) \(\n(.*?)^\);/gms)].map(
    ([, name = "", body = ""]) => {
      const key = /(?:PRIMARY KEY|UNIQUE NULLS NOT DISTINCT) \((.*?)\)/.exec(body)?.[1] ?? "";
      return {
        name,
        hasAccount: /^ {2}account_id /m.test(body),
        isKeyedByAccount: name === "accounts" || key.split(", ").includes("account_id"),
      };
    },
  );
}

/** The rows of the page's table of tables, by their first cell. */
function listDocumentedTables(): Map<string, string[]> {
  const [, section = ""] = read("docs/operating/sizing.md").split("## Accounts on several PostgreSQL clusters");
  const rows = [...section.matchAll(/^\| ([^|]+) \| (`[^|]+`) \|$/gm)];
  return new Map(
    rows.map(([, what = "", names = ""]) => [what, [...names.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name)]),
  );
}

test("the page on spreading accounts names every table, and marks those with the account in the key", () => {
  const [tables, documented] = [listSchemaTables(), listDocumentedTables()];
  expect(tables.length).toBeGreaterThan(50);
  expect([...documented.values()].flat().toSorted()).toEqual(tables.map(({ name }) => name).toSorted());
  const keyed = tables.filter(({ isKeyedByAccount }) => isKeyedByAccount).map(({ name }) => name);
  expect(documented.get("key has the account")?.toSorted()).toEqual(keyed.toSorted());
  const without = documented.get("no account: reached by a row that has one") ?? [];
  expect(tables.filter(({ name, hasAccount }) => without.includes(name) && hasAccount)).toEqual([]);
  const separate = documented.get("column is there, the key is an id of its own") ?? [];
  expect(tables.filter(({ name, hasAccount }) => separate.includes(name) && !hasAccount)).toEqual([]);
});
