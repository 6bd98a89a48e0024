import cluster from "node:cluster";
import { writeSync } from "node:fs";
import type { Gateway, GatewayOptions, Welcome } from "../app/start-gateway.ts";
import type { SupervisedGateway } from "../app/supervise-gateway.ts";
import { systemClock } from "../lib/clock.ts";
import { loadSettings, type Settings } from "../platform/config/load-settings.ts";
import { OperatorError } from "../platform/errors/operator-error.ts";
import { createLogger, type Logger } from "../platform/observability/logger.ts";
import type { Command, CommandResult, Terminal } from "./command.ts";
import { presentWelcome } from "./present-welcome.ts";
import { saveSecret } from "./save-secret.ts";
import { databaseClock, systemDependencies } from "./system-dependencies.ts";

export const serveCommand: Command = {
  name: "serve",
  summary: "Start the gateway.",
  run: async ({ terminal }) => {
    const settings = loadSettings(terminal.settingsPlace);
    if (cluster.isWorker) return await serveAsProcess(settings, terminal);
    return settings.processes > 1 ? await supervise(settings, terminal) : await serveAlone(settings, terminal);
  },
};

const failed: CommandResult = { text: "", json: null, hasFailed: true };

/** A single process. */
async function serveAlone(settings: Settings, terminal: Terminal): Promise<CommandResult> {
  const logger = createProcessLogger(settings, terminal, linesLengthMax);
  const stop = createStopSignal(logger);
  exitOnUncaught(logger);
  const gateway = await start(settings, terminal, { logger, group: createGroup(), onLost: stop.fail });
  welcome(gateway, settings, terminal);
  logger.info({ site_url: settings.site_url, port: gateway.port }, "ready");
  process.on("SIGHUP", () => {
    if (terminal.isTerminal) stop.request("SIGHUP");
    else rebrand(gateway, terminal, logger);
  });
  const reason = await stop.requested;
  await gateway.close({ delayMs: getDelay(reason, settings) });
  logger.info("stopped");
  return reason === "failure" ? failed : null;
}

/** A process started by the supervisor. */
async function serveAsProcess(settings: Settings, terminal: Terminal): Promise<CommandResult> {
  const logger = createProcessLogger(settings, terminal, pipeAtomicLength);
  const stop = createStopSignal(logger, "debug");
  exitOnUncaught(logger);
  // The supervisor handles SIGHUP for the group.
  process.on("SIGHUP", () => {});
  const { joinSupervisor } = await import("../app/processes/join-supervisor.ts");
  const { group, siblings, onStop, reportReady, leave } = await joinSupervisor();
  const stopped = new Promise<{ delayMs: number; alone: boolean }>(onStop);
  try {
    const gateway = await start(settings, terminal, { logger, group, siblings, onLost: stop.fail });
    reportReady(gateway);
    const signalled = stop.requested.then((reason) => ({ delayMs: getDelay(reason, settings), alone: false }));
    await gateway.close(await Promise.race([stopped, signalled]));
  } finally {
    leave();
  }
  return null;
}

/** Starts and supervises the serving processes. */
async function supervise(settings: Settings, terminal: Terminal): Promise<CommandResult> {
  const logger = createProcessLogger(settings, terminal, pipeAtomicLength);
  const stop = createStopSignal(logger);
  exitOnUncaught(logger);
  const { superviseGateway } = await import("../app/supervise-gateway.ts");
  const gateway = await superviseGateway({
    ...{ settings, logger, group: createGroup(), clock: systemClock, onLost: stop.fail },
    onProgress: (message) => printProgress(message, terminal, logger),
  });
  const ready = await Promise.race([gateway.ready, stop.requested]);
  if (ready === null) {
    await gateway.close({ delayMs: 0 });
    return failed;
  }
  if (typeof ready === "object") {
    welcome(ready, settings, terminal);
    logger.info({ site_url: settings.site_url, port: ready.port, processes: settings.processes }, "ready");
  }
  process.on("SIGHUP", () => {
    if (terminal.isTerminal) stop.request("SIGHUP");
    else roll(gateway, terminal, logger);
  });
  const reason = await stop.requested;
  await gateway.close({ delayMs: getDelay(reason, settings) });
  logger.info("stopped");
  return reason === "failure" ? failed : null;
}

/** Validates the settings before any process loads them. */
function roll(gateway: SupervisedGateway, terminal: Terminal, logger: Logger): void {
  reloadSettings(terminal, logger, "roll rejected, settings invalid", (settings) => {
    gateway.roll(settings);
    logger.info({ processes: settings.processes }, "roll started");
  });
}

/** A single process cannot roll itself; it reloads only the brand settings. */
function rebrand(gateway: Gateway, terminal: Terminal, logger: Logger): void {
  reloadSettings(terminal, logger, "brand reload rejected, settings invalid", (settings) => {
    gateway.rebrand(settings);
    logger.info("brand reloaded; other settings need a restart");
  });
}

function reloadSettings(
  terminal: Terminal,
  logger: Logger,
  failureMessage: string,
  apply: (settings: Settings) => void,
): void {
  try {
    apply(loadSettings(terminal.settingsPlace));
  } catch (error) {
    const remedy = error instanceof OperatorError ? error.remedy : undefined;
    logger.error({ error, remedy }, failureMessage);
  }
}

type StartOptions = Pick<GatewayOptions, "logger" | "siblings" | "onLost"> & { group: string };

async function start(settings: Settings, terminal: Terminal, options: StartOptions): Promise<Gateway> {
  // Loaded on demand: other commands start in half the time without it.
  const { startGateway } = await import("../app/start-gateway.ts");
  const commands = await terminal.loadAdminCommands?.();
  return await startGateway({
    ...systemDependencies,
    databaseClock,
    settings,
    ...options,
    ...(commands === undefined ? {} : { commands }),
    // Links in mails are secrets: print them only to a terminal, never to a log.
    ...(terminal.isTerminal ? { showMail: terminal.printNote } : {}),
    onProgress: (message) => printProgress(message, terminal, options.logger),
  });
}

function printProgress(message: string, terminal: Terminal, logger: Logger): void {
  if (terminal.isTerminal) terminal.printNote(message);
  else logger.info(message);
}

/** SIGTERM comes from orchestrators, whose load balancers need time to react; Ctrl-C does not. */
function getDelay(reason: StopReason, settings: Settings): number {
  return reason === "SIGTERM" ? settings.shutdown_delay_ms : 0;
}

const groupBytes = 6;

function createGroup(): string {
  return Buffer.from(systemDependencies.randomBytes(groupBytes)).toString("hex");
}

/** Logs an uncaught exception in the log's format, without secrets, and exits. */
function exitOnUncaught(logger: Logger): void {
  process.on("uncaughtException", (error) => {
    logger.error({ error }, "uncaught exception, gateway exiting");
    process.exit(1);
  });
}

function createProcessLogger(settings: Settings, terminal: Terminal, lengthMax: number): Logger {
  const isPretty = settings.log_format === "auto" ? terminal.isTerminal : settings.log_format === "pretty";
  return createLogger({
    level: settings.log_level,
    format: isPretty ? "pretty" : "json",
    write: createLineWriter(lengthMax),
  });
}

const linesWaitMs = 5;
const linesLengthMax = 64 * 1024;
/** PIPE_BUF: writes up to this length are atomic, so processes can share a pipe. */
const pipeAtomicLength = 4096;

/** Batches lines: each write would wake the log's reader in the middle of a request. */
function createLineWriter(lengthMax: number): (line: string) => void {
  let lines = "";
  function flush(): void {
    const together = lines;
    lines = "";
    if (together !== "") process.stdout.write(together);
  }
  process.on("exit", () => {
    if (lines !== "") writeSync(process.stdout.fd, lines);
  });
  return (line) => {
    // Counts UTF-16 units; non-ASCII characters, up to three bytes, are rare.
    if (lines.length + line.length > lengthMax) flush();
    if (lines === "") setTimeout(flush, linesWaitMs);
    lines += line;
  };
}

/** One Ctrl-C can arrive twice: from the terminal and forwarded by npm. */
const sameSignalMs = 1000;

const stopSignals = ["SIGINT", "SIGTERM"] as const;

type StopReason = (typeof stopSignals)[number] | "SIGHUP" | "failure";

type StopSignal = { requested: Promise<StopReason>; request(reason: StopReason): void; fail(error: Error): void };

/** The first signal stops gracefully; the second exits at once. */
function createStopSignal(logger: Logger, level: "info" | "debug" = "info"): StopSignal {
  const { promise, resolve } = Promise.withResolvers<StopReason>();
  let stoppingSinceMs: number | null = null;
  for (const signal of stopSignals) {
    process.on(signal, () => {
      const nowMs = systemDependencies.clock.monotonicMs();
      if (stoppingSinceMs !== null) {
        if (nowMs - stoppingSinceMs > sameSignalMs) process.exit(1);
        return;
      }
      stoppingSinceMs = nowMs;
      logger[level]({ signal }, "stopping; a second signal exits at once");
      resolve(signal);
    });
  }
  return {
    requested: promise,
    request: resolve,
    fail(error) {
      logger.error({ error }, "gateway failed");
      resolve("failure");
    },
  };
}

/** Without a terminal, standard output is a log, so secrets go to files. */
function welcome({ firstRun, outboxUrl, notices }: Welcome, settings: Settings, terminal: Terminal): void {
  const page = {
    siteUrl: settings.site_url,
    baseUrl: settings.base_url,
    outbox: presentOutbox(outboxUrl, settings, terminal),
    notices,
  };
  if (firstRun === null) {
    (terminal.isTerminal ? terminal.print : terminal.printNote)(presentWelcome({ ...page, demo: null }));
    return;
  }
  const { email, password, keyText } = firstRun;
  if (terminal.isTerminal) {
    terminal.print(presentWelcome({ ...page, demo: { email, password: { text: password }, key: { text: keyText } } }));
    return;
  }
  const key = { path: saveSecret(settings.data_dir, "demo-key", keyText) };
  const kept = { path: saveSecret(settings.data_dir, "demo-password", password) };
  terminal.printNote(presentWelcome({ ...page, demo: { email, password: kept, key } }));
}

function presentOutbox(outboxUrl: string | null, settings: Settings, terminal: Terminal) {
  if (outboxUrl === null) return null;
  if (terminal.isTerminal) return { text: outboxUrl };
  return { path: saveSecret(settings.data_dir, "outbox-link", outboxUrl) };
}
