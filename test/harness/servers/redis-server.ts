import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { connect } from "node:net";
import { findFreePort } from "../gateway-process.ts";
import { waitUntil } from "../wait-until.ts";

const program = "/usr/bin/redis-server";
const clientProgram = "/usr/bin/redis-cli";

/** A killed run must leave nothing behind, least of all a paused server. */
const endWithUs = existsSync("/usr/bin/setpriv") ? ["/usr/bin/setpriv", "--pdeathsig", "KILL"] : [];

/** Whether tests with a real Redis can run here. */
export const hasRedis = existsSync(program);

export type RedisServer = AsyncDisposable & {
  url: string;
  /** Suspends it while its connections stay open, like an overloaded or unreachable machine. */
  pause(): void;
  resume(): void;
  /** Ends it and deletes all its data. */
  stop(): Promise<void>;
  /** Starts it again at the same address. */
  start(): Promise<void>;
  /** Blocks this process until Redis has answered everything that was sent before. */
  waitStandingStill(): void;
};

/** A Redis of the test's own that keeps nothing on disk. */
export async function startRedisServer(): Promise<RedisServer> {
  const port = await findFreePort();
  let server: { child: ChildProcess; exited: Promise<unknown> } | null = null;

  async function start(): Promise<void> {
    await waitUntil("Redis answers", async () => {
      // The port may be taken for a moment; then it exits at once and is started again.
      if (server === null || server.child.exitCode !== null) server = spawnServer(port);
      return await isAnswering(port);
    });
  }

  async function stop(): Promise<void> {
    server?.child.kill("SIGKILL");
    await server?.exited;
    server = null;
  }

  await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    pause: () => server?.child.kill("SIGSTOP"),
    resume: () => server?.child.kill("SIGCONT"),
    stop,
    start,
    waitStandingStill() {
      execFileSync(clientProgram, ["-p", port, "PING"]);
    },
    [Symbol.asyncDispose]: stop,
  };
}

function spawnServer(port: string): { child: ChildProcess; exited: Promise<unknown> } {
  const settings = ["--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--daemonize", "no"];
  const [first = program, ...words] = [...endWithUs, program, ...settings];
  const child = spawn(first, words, { stdio: "ignore" });
  return { child, exited: new Promise((settle) => child.once("exit", settle)) };
}

async function isAnswering(port: string): Promise<boolean> {
  return await new Promise((settle) => {
    const socket = connect(Number(port), "127.0.0.1", () => socket.write("PING\r\n"));
    socket.once("data", (answer) => {
      socket.destroy();
      settle(answer.toString().startsWith("+PONG"));
    });
    socket.once("error", () => settle(false));
    socket.once("close", () => settle(false));
  });
}
