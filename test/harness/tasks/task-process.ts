// A gateway in a separate process, started by `startTaskProcess`, which kills itself at a failpoint.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { writeSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { tmpdir } from "node:os";
import { createInterface } from "node:readline";
import { startGateway } from "../../../src/app/start-gateway.ts";
import type { DramaFailpoint } from "../../../src/features/dramas/index.ts";
import type { TaskFailpoint } from "../../../src/features/tasks/index.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { createIdSource } from "../../../src/lib/ids.ts";
import { loadSettings } from "../../../src/platform/config/load-settings.ts";
import { createLogger } from "../../../src/platform/observability/logger.ts";
import { upstreamKeyName } from "../chat/chat-catalog.ts";

/** The process dies when the failpoint is reached for the n-th time. */
export type TaskCrash = { point: TaskFailpoint | DramaFailpoint; after: number };

type Orders = { url: string; dataDir: string; crash: TaskCrash | null };
type Message = { kind: "ready"; port: number } | { kind: "hit" };

export type TaskProcess = AsyncDisposable & {
  baseUrl: string;
  /** Whether it died at its failpoint. */
  hasHit(): boolean;
  isAlive(): boolean;
  exited: Promise<void>;
};

const goodbyeMsMax = 30_000;

export async function startTaskProcess(orders: Orders): Promise<TaskProcess> {
  const child = spawn(process.execPath, [import.meta.filename, JSON.stringify(orders)], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, [upstreamKeyName]: "sk-fake-upstream" },
  });
  let port: number | null = null;
  let hasHit = false;
  let isAlive = true;
  const ready = Promise.withResolvers<void>();
  // Its last output is read before it counts as exited.
  const exited = new Promise<void>((settle) => child.once("close", () => settle())).then(() => {
    isAlive = false;
  });
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = JSON.parse(line) as Message;
    if (message.kind === "hit") hasHit = true;
    else {
      port = message.port;
      ready.resolve();
    }
  });
  // Pending work may kill it before it is ready.
  await Promise.race([ready.promise, exited]);
  if (port === null && !hasHit) throw new Error("A gateway's process did not start.");
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    hasHit: () => hasHit,
    isAlive: () => isAlive,
    exited,
    async [Symbol.asyncDispose]() {
      child.stdin.on("error", () => {}).end();
      const force = setTimeout(() => child.kill("SIGKILL"), goodbyeMsMax);
      await exited;
      clearTimeout(force);
    },
  };
}

/** Written synchronously, so that it is sent even if the process is killed next. */
function tell(message: Message): void {
  writeSync(process.stdout.fd, `${JSON.stringify(message)}\n`);
}

async function serve({ url, dataDir, crash }: Orders): Promise<void> {
  // A killed process does not write its compile cache.
  flushCompileCache();
  let left = crash?.after ?? 0;
  const gateway = await startGateway({
    settings: {
      ...loadSettings({ environment: {}, directory: tmpdir() }),
      ...{ data_dir: dataDir, database_url: url, port: 0, host: "127.0.0.1", sandbox: "off" as const },
      shutdown_timeout_ms: 5_000,
    },
    clock: systemClock,
    ids: createIdSource({ clock: systemClock, randomBytes }),
    randomBytes,
    logger: createLogger({ level: "error", format: "json", write: (line) => process.stderr.write(line) }),
    failpoint(point) {
      if (point !== crash?.point) return;
      left -= 1;
      if (left > 0) return;
      tell({ kind: "hit" });
      process.kill(process.pid, "SIGKILL");
    },
    onProgress: () => {},
    onLost: (error) => {
      throw error;
    },
  });
  tell({ kind: "ready", port: gateway.port });
  await new Promise<void>((ended) => process.stdin.resume().once("end", ended));
  await gateway.close();
}

if (import.meta.main) await serve(JSON.parse(process.argv[2] ?? "") as Orders);
