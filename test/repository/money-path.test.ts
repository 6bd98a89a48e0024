import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { listRepositoryFiles, repositoryDir } from "../harness/repository-files.ts";

/** Folders that compute, store or show amounts. The compiler rejects mixing bigint with number. */
const moneyPath =
  /^src\/(features\/ledger\/|lib\/(bill|budget|money|plan-terms)\.ts|cli\/(credit|code|ledger)-commands\.ts|cli\/present-statement\.ts)/;

/** Code that converts a bigint or text into a floating-point number. */
const conversion = /\b(Number|parseFloat|parseInt)\(|\.toFixed\(|\bMath\.|\.toPrecision\(|(?<![\w)\]"'`])\+[a-zA-Z_]/g;

/** The only exceptions, each with its reason. Add a new one here with its reason. */
const allowed: Record<string, string> = {
  "balance-schema.ts: text: Number(balance.quotas.text),": "whole tokens on the wire, at most 9 × 10¹⁵",
  "balance-schema.ts: image: Number(balance.quotas.image),": "whole images on the wire, at most 9 × 10¹⁵",
  "balance-schema.ts: video: Number(balance.quotas.video),": "whole seconds on the wire, at most 9 × 10¹⁵",
  "ledger-commands.ts: return Object.fromEntries(Object.entries(quotas).map(([kind, units]) => [kind, Number(units)]));":
    "the same, in JSON for scripts",
  "ledger-commands.ts: ...(covered ? { covered: { ...covered, entries: Number(covered.entries), whole: isWhole === true } } : {}),":
    "how many entries were read, in JSON for scripts",
  "draft.ts: return a.id < b.id ? -1 : Number(a.id > b.id);": "the order of two ids",
  "plan-period.ts: const days = Math.floor((now.getTime() - anchoredAt.getTime()) / dayMs);": "time",
  "plan-period.ts: return Math.max(0, Math.floor(days / { day: 1, week: daysOfWeek, month: 31 }[length]));": "time",
  "plan-period.ts: start.setUTCDate(Math.min(anchoredAt.getUTCDate(), daysOfMonth));": "time",
};

const sources = listRepositoryFiles().filter((file) => moneyPath.test(file) && !file.endsWith(".test.ts"));

function listConversions(source: string): string[] {
  return source
    .split("\n")
    .filter((line) => !/^\s*(\/\/|\/?\*)/.test(line))
    .filter((line) => line.search(conversion) >= 0)
    .map((line) => line.trim());
}

describe("the money path contains no floating-point number", () => {
  test("no amount is converted into one", () => {
    expect(sources.length).toBeGreaterThan(20);
    const found = sources.flatMap((file) =>
      listConversions(readFileSync(join(repositoryDir, file), "utf8")).map(
        (line) => `${file.split("/").at(-1)}: ${line}`,
      ),
    );
    expect(found.toSorted()).toEqual(Object.keys(allowed).toSorted());
  });

  test.each([
    "const price = Number(amount) * 2;",
    "const price = parseFloat(text);",
    "return (total / 1000).toFixed(2);",
    "return Math.round(cost);",
    "const price = +text;",
  ])("%s is reported", (line) => {
    expect(listConversions(line)).toHaveLength(1);
  });

  test("no database column contains one", () => {
    const schema = readFileSync(join(repositoryDir, "migrations/schema.sql"), "utf8");
    expect(
      schema.match(/\b(double precision|real|float\d?|numeric|decimal|money)\b(?= (not null|default|,|\n))/g),
    ).toBeNull();
  });
});
