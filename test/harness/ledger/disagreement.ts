import { inspect, isDeepStrictEqual } from "node:util";

/** Two results for the same thing differ. `check` names the comparison, for the report. */
export class Disagreement extends Error {
  readonly check: string;

  constructor(check: string, detail: string) {
    super(`${check}: ${detail}`);
    this.name = "Disagreement";
    this.check = check;
  }
}

export function assertClaim(condition: boolean, check: string, detail: string): asserts condition {
  if (!condition) throw new Disagreement(check, detail);
}

export function assertSame(check: string, found: unknown, expected: unknown): void {
  if (isDeepStrictEqual(found, expected)) return;
  const present = (value: unknown): string => inspect(value, { depth: 6, breakLength: 160 });
  throw new Disagreement(check, `found\n${present(found)}\nbut expected\n${present(expected)}`);
}
