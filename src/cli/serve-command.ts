import cluster from "node:cluster";
import { writeSync } from "node:fs";
import type { Gateway, GatewayOptions, Welcome } from "../app/start-gateway.ts";
import type { SupervisedGateway } from "../app/supervise-gateway.ts";
import { systemClock } from "../lib/clock.ts";
import { loadSettings, type Settings } from "../platform/config/load-settings.ts";
import { OperatorError } from "../platform/errors/operator-error.ts";
import { createLogger, type Logger } from "../platform/observability/logger.ts";
import type { Command, CommandResult, Terminal } from "./command.ts";
import { keepSecret } from "./keep-secret.ts";
import { presentWelcome } from "./present-welcome.ts";
import { databaseClock, systemParts } from "./system-parts.ts";

export const serveCommand: Command = {
  name: "serve",
  summary: "Starts the gateway.",
  run: async ({ terminal }) => {
    const settings = loadSettings(terminal.settingsPlace);
    if (cluster.isWorker) return await serveAsProcess(settings, terminal);
    return settings.processes > 1 ? await supervise(settings, terminal) : await serveAlone(settings, terminal);
  },
};

const failed: CommandResult = { text: "", json: null, hasFailed: true };

/** One process, which has everything. */
async function serveAlone(settings: Settings, terminal: Terminal): Promise<CommandResult> {
  const logger = createProcessLogger(settings, terminal, linesLengthMax);
  const stop = createStopSignal(logger);
  endOnSurprise(logger);
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

/** One of several processes, which a supervisor has started. */
async function serveAsProcess(settings: Settings, terminal: Terminal): Promise<CommandResult> {
  const logger = createProcessLogger(settings, terminal, pipeAtomicLength);
  const stop = createStopSignal(logger, "debug");
  endOnSurprise(logger);
  // Closing a terminal, or telling all processes of a group to roll, is the supervisor's to hear.
  process.on("SIGHUP", () => {});
  const { joinSupervisor } = await import("../app/processes/join-supervisor.ts");
  const { group, siblings, onStop, tellReady, leave } = await joinSupervisor();
  const told = new Promise<{ delayMs: number; alone: boolean }>(onStop);
  try {
    const gateway = await start(settings, terminal, { logger, group, siblings, onLost: stop.fail });
    tellReady(gateway);
    const signalled = stop.requested.then((reason) => ({ delayMs: getDelay(reason, settings), alone: false }));
    await gateway.close(await Promise.race([told, signalled]));
  } finally {
    leave();
  }
  return null;
}

/** Starts the processes that serve, and stands by. */
async function supervise(settings: Settings, terminal: Terminal): Promise<CommandResult> {
  const logger = createProcessLogger(settings, terminal, pipeAtomicLength);
  const stop = createStopSignal(logger);
  endOnSurprise(logger);
  const { superviseGateway } = await import("../app/supervise-gateway.ts");
  const gateway = await superviseGateway({
    ...{ settings, logger, group: createGroup(), clock: systemClock, onLost: stop.fail },
    onProgress: (sentence) => tellProgress(sentence, terminal, logger),
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

/** Settings that are wrong are told here, before any process meets them. */
function roll(gateway: SupervisedGateway, terminal: Terminal, logger: Logger): void {
  readAnew(terminal, logger, "not rolled: the processes go on with the settings that they have", (settings) => {
    gateway.roll(settings);
    logger.info({ processes: settings.processes }, "rolling: new processes read the settings anew");
  });
}

/** One process cannot roll itself. What can change while it serves is what people see of it. */
function rebrand(gateway: Gateway, terminal: Terminal, logger: Logger): void {
  readAnew(terminal, logger, "the brand stays as it is", (settings) => {
    gateway.rebrand(settings);
    logger.info("the brand is read anew; other settings need a restart");
  });
}

function readAnew(terminal: Terminal, logger: Logger, refusal: string, take: (settings: Settings) => void): void {
  try {
    take(loadSettings(terminal.settingsPlace));
  } catch (error) {
    const remedy = error instanceof OperatorError ? error.remedy : undefined;
    logger.error({ error, remedy }, refusal);
  }
}

type StartOptions = Pick<GatewayOptions, "logger" | "siblings" | "onLost"> & { group: string };

async function start(settings: Settings, terminal: Terminal, options: StartOptions): Promise<Gateway> {
  // Loaded only here: the other commands start in half the time without it.
  const { startGateway } = await import("../app/start-gateway.ts");
  return await startGateway({
    ...systemParts,
    databaseClock,
    settings,
    ...options,
    // Its links are secrets: on a terminal a person reads them, elsewhere they would lie in a log.
    ...(terminal.isTerminal ? { showMail: terminal.tell } : {}),
    onProgress: (sentence) => tellProgress(sentence, terminal, options.logger),
  });
}

function tellProgress(sentence: string, terminal: Terminal, logger: Logger): void {
  if (terminal.isTerminal) terminal.tell(sentence);
  else logger.info(sentence);
}

/** A person at a terminal waits for the end; whoever sends SIGTERM may have a load balancer that has to hear of it. */
function getDelay(reason: StopReason, settings: Settings): number {
  return reason === "SIGTERM" ? settings.shutdown_delay_ms : 0;
}

const groupBytes = 6;

function createGroup(): string {
  return Buffer.from(systemParts.randomBytes(groupBytes)).toString("hex");
}

/** Whatever nobody foresaw ends the process, as it must, but is told in the log's form and without secrets. */
function endOnSurprise(logger: Logger): void {
  process.on("uncaughtException", (error) => {
    logger.error({ error }, "an unforeseen error ends the gateway");
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
/** What is written into a pipe at once stays together up to this length, so that several processes can share one. */
const pipeAtomicLength = 4096;

/** Each write wakes whoever reads the log, in the middle of a request, so lines wait a moment for others. */
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
    // Characters beyond ASCII are up to three bytes long; in a line they are rare.
    if (lines.length + line.length > lengthMax) flush();
    if (lines === "") setTimeout(flush, linesWaitMs);
    lines += line;
  };
}

/** One Ctrl-C can arrive twice within a moment: from the terminal, and passed on by npm. */
const sameSignalMs = 1000;

const stopSignals = ["SIGINT", "SIGTERM"] as const;

type StopReason = (typeof stopSignals)[number] | "SIGHUP" | "failure";

type StopSignal = { requested: Promise<StopReason>; request(reason: StopReason): void; fail(error: Error): void };

/** The first signal asks for a stop that lets requests finish; the second one does not wait. */
function createStopSignal(logger: Logger, level: "info" | "debug" = "info"): StopSignal {
  const { promise, resolve } = Promise.withResolvers<StopReason>();
  let stoppingSinceMs: number | null = null;
  for (const signal of stopSignals) {
    process.on(signal, () => {
      const nowMs = systemParts.clock.monotonicMs();
      if (stoppingSinceMs !== null) {
        if (nowMs - stoppingSinceMs > sameSignalMs) process.exit(1);
        return;
      }
      stoppingSinceMs = nowMs;
      logger[level]({ signal }, "stopping; running requests may finish, a second signal ends them");
      resolve(signal);
    });
  }
  return {
    requested: promise,
    request: resolve,
    fail(error) {
      logger.error({ error }, "cannot go on");
      resolve("failure");
    },
  };
}

/** On a terminal the page is for the person there; elsewhere standard output is a log, and secrets go to a file. */
function welcome({ firstRun, outboxUrl, notices }: Welcome, settings: Settings, terminal: Terminal): void {
  const page = {
    siteUrl: settings.site_url,
    baseUrl: settings.base_url,
    outbox: keepOutbox(outboxUrl, settings, terminal),
    notices,
  };
  if (firstRun === null) {
    (terminal.isTerminal ? terminal.print : terminal.tell)(presentWelcome({ ...page, demo: null }));
    return;
  }
  const { email, password, keyText } = firstRun;
  if (terminal.isTerminal) {
    terminal.print(presentWelcome({ ...page, demo: { email, password: { text: password }, key: { text: keyText } } }));
    return;
  }
  const key = { path: keepSecret(settings.data_dir, "demo-key", keyText) };
  const kept = { path: keepSecret(settings.data_dir, "demo-password", password) };
  terminal.tell(presentWelcome({ ...page, demo: { email, password: kept, key } }));
}

function keepOutbox(outboxUrl: string | null, settings: Settings, terminal: Terminal) {
  if (outboxUrl === null) return null;
  if (terminal.isTerminal) return { text: outboxUrl };
  return { path: keepSecret(settings.data_dir, "outbox-link", outboxUrl) };
}
