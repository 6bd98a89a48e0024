import { globSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [library] = globSync("/usr/lib/*/faketime/libfaketime.so.1");

/** Whether processes can have a wrong clock; if not, run `apt-get install libfaketime`. */
export const hasWrongClocks = library !== undefined;

/** A wrong wall clock for one process, while its timers run normally. */
export type WrongClock = Disposable & {
  /** The environment of that process. */
  environment: Record<string, string>;
  /** Sets it ahead by this many seconds, or back by a negative number, from now on. */
  set(aheadSeconds: number): void;
};

export function createWrongClock(aheadSeconds: number): WrongClock {
  const folder = mkdtempSync(join(tmpdir(), "sluice-clock-"));
  const path = join(folder, "offset");
  const set = (seconds: number): void => {
    // Renamed into place, so that it is never read half written.
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
