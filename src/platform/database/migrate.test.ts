import { describe, expect, test } from "vitest";
import { OperatorError } from "../errors/operator-error.ts";
import { decidePendingMigrations } from "./migrate.ts";
import { type Migration, parseMigration, readMigrations } from "./migration-files.ts";

function migration(number: number, change: Partial<Migration> = {}) {
  const read = { ...parseMigration(`000${number}-step.sql`, `select ${number}`), ...change };
  return { ...read, compatible_from: read.compatibleFrom };
}

const [first, second, third] = [migration(1), migration(2), migration(3)];
const known = [first, second, third];

describe("pending migrations", () => {
  test("an empty database gets all migrations, in order", () => {
    expect(decidePendingMigrations(known, [])).toEqual([first, second, third]);
  });

  test("a database of an older version gets only the new ones", () => {
    expect(decidePendingMigrations(known, [first])).toEqual([second, third]);
    expect(decidePendingMigrations(known, [first, second])).toEqual([third]);
  });

  test("a database that is up to date gets nothing", () => {
    expect(decidePendingMigrations(known, known)).toEqual([]);
    expect(decidePendingMigrations([], [])).toEqual([]);
  });

  test("a migration that only has a new name is not applied again", () => {
    const renamed = migration(2, { name: "0002-better-name" });
    expect(decidePendingMigrations([first, renamed, third], [first, second])).toEqual([third]);
  });
});

describe("a database of a newer version", () => {
  const contract = migration(4, { compatibleFrom: 3 });

  test("gets no migrations, and this version runs on it", () => {
    expect(decidePendingMigrations([first, second], known)).toEqual([]);
    expect(decidePendingMigrations(known, [...known, contract])).toEqual([]);
  });

  test("is refused if a migration declares this version incompatible", () => {
    const decide = () => decidePendingMigrations([first, second], [...known, contract, migration(5)]);
    expect(decide).toThrow(OperatorError);
    expect(decide).toThrow("this version cannot run on it (migration 0004-step)");
  });
});

describe("migration files", () => {
  test("declare by comments how they are applied and which versions are compatible", () => {
    const text =
      "-- no transaction\n-- compatible from 0031\ncreate index concurrently if not exists a_b\n  on a (b);\nselect ';';\n";
    expect(parseMigration("0032-more.sql", text)).toMatchObject({
      ...{ number: 32, name: "0032-more", isInTransaction: false, compatibleFrom: 31, indexNames: ["a_b"] },
      steps: ["create index concurrently if not exists a_b\n  on a (b)", "select ';'"],
    });
    expect(parseMigration("0033-plain.sql", "select 1;")).toMatchObject({
      isInTransaction: true,
      compatibleFrom: null,
    });
  });

  const takesAway = (statements: string): boolean =>
    /^\s*(drop (table|view|function|type)|alter table .*\b(drop column|rename))/ims.test(statements);

  test("a migration that drops something is recognized", () => {
    expect(takesAway("create table a (); -- drop table b\nalter table a\n  drop column c;")).toBe(true);
    expect(takesAway("drop view a;")).toBe(true);
    expect(takesAway("alter table a add column b text;")).toBe(false);
  });

  test.each(readMigrations())(
    "$name drops nothing that older code needs, or declares which code is compatible; indexes are built concurrently",
    ({ statements, compatibleFrom, isInTransaction }) => {
      expect(takesAway(statements) && compatibleFrom === null).toBe(false);
      if (!isInTransaction) expect(statements).not.toMatch(/concurrently (?!if (not )?exists)/i);
    },
  );
});

describe("a database with other migrations is refused", () => {
  test.each([
    ["the first", [migration(1, { checksum: "another" }), second], "0001-step"],
    ["the last", [first, migration(2, { checksum: "another" })], "0002-step"],
  ])("one where %s applied migration is not the file of today", (_, applied, name) => {
    const decide = () => decidePendingMigrations(known, applied);
    expect(decide).toThrow(OperatorError);
    expect(decide).toThrow(`The migration ${name} differs from the one that was applied to the database`);
  });

  test("one with a gap: an older migration appeared after a newer one was applied", () => {
    expect(() => decidePendingMigrations(known, [first, third])).toThrow(
      "The migration 0002-step differs from the one that was applied to the database (0003-step)",
    );
    expect(() => decidePendingMigrations(known, [second])).toThrow(OperatorError);
  });

  test("one whose migration has the same content under another number", () => {
    const renumbered = migration(4, { checksum: third.checksum });
    expect(() => decidePendingMigrations(known, [first, second, renumbered])).toThrow(OperatorError);
  });

  test("one with a migration that this code lacks in between", () => {
    expect(() => decidePendingMigrations([first, third], known)).toThrow(OperatorError);
  });

  test("one from before 0.2.0, with its first and last migration", () => {
    const applied = [migration(1, { name: "0001-accounts-and-keys" }), migration(2, { name: "0063-reserves" })];
    expect(() => decidePendingMigrations(known, applied)).toThrow(
      "made by a development version before 0.2.0 (migrations 0001-accounts-and-keys to 0063-reserves)",
    );
  });
});
