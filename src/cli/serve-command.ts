import { writeSync } from "node:fs";
import type { Gateway } from "../app/start-gateway.ts";
import { loadSettings, type Settings } from "../platform/config/load-settings.ts";
import { createLogger, type Logger } from "../platform/observability/logger.ts";
import type { Command, Terminal } from "./command.ts";
import { keepSecret } from "./keep-secret.ts";
import { presentWelcome } from "./present-welcome.ts";
import { databaseClock, systemParts } from "./system-parts.ts";

export const serveCommand: Command = {
  name: "serve",
  summary: "Starts the gateway.",
  run: async ({ terminal }) => {
    const settings = loadSettings(terminal.settingsPlace);
    const logger = createProcessLogger(settings, terminal);
    const stop = createStopSignal(logger);
    // Whatever nobody foresaw ends the process, as it must, but is told in the log's form and without secrets.
    process.on("uncaughtException", (error) => {
      logger.error({ error }, "an unforeseen error ends the gateway");
      process.exit(1);
    });
    // Loaded only here: the other commands start in half the time without it.
    const { startGateway } = await import("../app/start-gateway.ts");
    const gateway = await startGateway({
      ...systemParts,
      databaseClock,
      settings,
      logger,
      // Its links are secrets: on a terminal a person reads them, elsewhere they would lie in a log.
      ...(terminal.isTerminal ? { showMail: terminal.tell } : {}),
      onProgress: (sentence) => (terminal.isTerminal ? terminal.tell(sentence) : logger.info(sentence)),
      onLost: stop.fail,
    });
    welcome(gateway, settings, terminal);
    logger.info({ site_url: settings.site_url, port: gateway.port }, "ready");
    const reason = await stop.requested;
    // A person at a terminal waits for the end; whoever sends SIGTERM may have a load balancer that has to hear of it.
    await gateway.close({ delayMs: reason === "SIGTERM" ? settings.shutdown_delay_ms : 0 });
    logger.info("stopped");
    return reason === "failure" ? { text: "", json: null, hasFailed: true } : null;
  },
};

function createProcessLogger(settings: Settings, terminal: Terminal): Logger {
  const isPretty = settings.log_format === "auto" ? terminal.isTerminal : settings.log_format === "pretty";
  return createLogger({
    level: settings.log_level,
    format: isPretty ? "pretty" : "json",
    write: createLineWriter(),
  });
}

const linesWaitMs = 5;
const linesLengthMax = 64 * 1024;

/** Each write wakes whoever reads the log, in the middle of a request, so lines wait a moment for others. */
function createLineWriter(): (line: string) => void {
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
    if (lines === "") setTimeout(flush, linesWaitMs);
    lines += line;
    if (lines.length > linesLengthMax) flush();
  };
}

/** One Ctrl-C can arrive twice within a moment: from the terminal, and passed on by npm. */
const sameSignalMs = 1000;

const stopSignals = ["SIGINT", "SIGTERM"] as const;

type StopReason = (typeof stopSignals)[number] | "failure";

/** The first signal asks for a stop that lets requests finish; the second one does not wait. */
function createStopSignal(logger: Logger): { requested: Promise<StopReason>; fail(error: Error): void } {
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
      logger.info({ signal }, "stopping; running requests may finish, a second signal ends them");
      resolve(signal);
    });
  }
  return {
    requested: promise,
    fail(error) {
      logger.error({ error }, "cannot go on");
      resolve("failure");
    },
  };
}

/** On a terminal the page is for the person there; elsewhere standard output is a log, and secrets go to a file. */
function welcome({ firstRun, outboxUrl, notices }: Gateway, settings: Settings, terminal: Terminal): void {
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
