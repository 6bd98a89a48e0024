import { globSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [library] = globSync("/usr/lib/*/faketime/libfaketime.so.1");

/** Whether processes can be given a wrong clock; `apt-get install libfaketime` helps where not. */
export const hasWrongClocks = library !== undefined;

/** The time of day of one process, as wrong as a test wants it, while its timers run as ever. */
export type WrongClock = Disposable & {
  /** For the process that is to have it. */
  environment: Record<string, string>;
  /** Sets it ahead by so many seconds, or back by a negative number, from now on. */
  set(aheadSeconds: number): void;
};

export function createWrongClock(aheadSeconds: number): WrongClock {
  const folder = mkdtempSync(join(tmpdir(), "sluice-clock-"));
  const path = join(folder, "offset");
  const set = (seconds: number): void => {
    // Never seen half written.
    writeFileSync(`${path}.next`, `${seconds < 0 ? "" : "+"}${seconds}s`);
    renameSync(`${path}.next`, path);
  };
  set(aheadSeconds);
  return {
    environment: {
      LD_PRELOAD: library ?? "",
      FAKETIME_TIMESTAMP_FILE: path,
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      FAKETIME_NO_CACHE: "1",
    },
    set,
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
