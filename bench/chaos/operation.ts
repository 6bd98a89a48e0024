import { draw, pick } from "./draw.ts";

/**
 * `keyed` and `keyed-stream` have an Idempotency-Key and are retried until they are answered, as careful clients do;
 * `plain` and `plain-stream` are sent once; an `image` is a task, submitted with a key and polled until it is over.
 */
export const operationKinds = ["keyed", "keyed-stream", "plain", "plain-stream", "image"] as const;
type OperationKind = (typeof operationKinds)[number];

export type Operation = {
  number: number;
  kind: OperationKind;
  account: number;
  /** Whether the upstream accepts the task and then fails it. */
  fails: boolean;
};

const mix: readonly [OperationKind, ...OperationKind[]] = [
  ...(["keyed", "keyed", "keyed", "keyed-stream", "keyed-stream"] as const),
  ...(["plain", "plain-stream", "image"] as const),
];

export const accountsCount = 3;

/** The n-th operation of a run: the same for the same seed. */
export function drawOperation(seed: number, number: number): Operation {
  const what = `operation ${number}`;
  return {
    number,
    kind: pick(seed, what, mix),
    account: draw(seed, `${what}, account`, accountsCount),
    fails: draw(seed, `${what}, failure`, 8) === 0,
  };
}

export function isStreamed({ kind }: Operation): boolean {
  return kind === "keyed-stream" || kind === "plain-stream";
}

export function isKeyed({ kind }: Operation): boolean {
  return kind === "keyed" || kind === "keyed-stream" || kind === "image";
}

/** The text by which the upstream identifies a call's operation. */
export function writePrompt({ number, fails }: Operation): string {
  return `operation ${number} of the run${fails ? ", and fail it" : ""}`;
}

export function readPrompt(prompt: string): { operation: number; fails: boolean } | null {
  const found = /operation (\d+) of the run(, and fail it)?/.exec(prompt);
  return found === null ? null : { operation: Number(found[1]), fails: found[2] !== undefined };
}
