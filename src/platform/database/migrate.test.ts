import { describe, expect, test } from "vitest";
import { OperatorError } from "../errors/operator-error.ts";
import { decidePendingMigrations, type Migration } from "./migrate.ts";

function migration(number: number, change: Partial<Migration> = {}): Migration {
  return {
    number,
    name: `000${number}-step`,
    checksum: `checksum of ${number}`,
    statements: `select ${number}`,
    ...change,
  };
}

const [first, second, third] = [migration(1), migration(2), migration(3)];
const known = [first, second, third];

describe("what is left to apply", () => {
  test("an empty database gets every migration, in order", () => {
    expect(decidePendingMigrations(known, [])).toEqual([first, second, third]);
  });

  test("a database of an earlier version gets only what is new", () => {
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

describe("a database that does not fit this code is refused", () => {
  test("one that is newer, with the name of what is too new and nothing applied", () => {
    const decide = () => decidePendingMigrations([first, second], known);
    expect(decide).toThrow(OperatorError);
    expect(decide).toThrow("written by a newer Sluice (it has the migration 0003-step)");
  });

  test.each([
    ["the first", [migration(1, { checksum: "another" }), second], "0001-step"],
    ["the last", [first, migration(2, { checksum: "another" })], "0002-step"],
  ])("one where %s applied migration is not the file of today", (_, applied, name) => {
    const decide = () => decidePendingMigrations(known, applied);
    expect(decide).toThrow(OperatorError);
    expect(decide).toThrow(`The migration ${name} is not the one that the database was made with`);
  });

  test("one with a gap: an older migration appeared after a newer one was applied", () => {
    expect(() => decidePendingMigrations(known, [first, third])).toThrow(
      "The migration 0002-step is not the one that the database was made with (0003-step)",
    );
    expect(() => decidePendingMigrations(known, [second])).toThrow(OperatorError);
  });

  test("one whose migration has the same content under another number", () => {
    const renumbered = migration(4, { checksum: third.checksum });
    expect(() => decidePendingMigrations(known, [first, second, renumbered])).toThrow(OperatorError);
  });

  test("one whose migration was taken out of this code", () => {
    expect(() => decidePendingMigrations([first, third], known)).toThrow(OperatorError);
  });
});
