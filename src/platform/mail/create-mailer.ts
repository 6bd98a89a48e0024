import type { Transporter } from "nodemailer";
import type { Clock } from "../../lib/clock.ts";
import type { Logger } from "../observability/logger.ts";
import { createOutboxShelf, type KeptMail, type OutboxShelf } from "./outbox-shelf.ts";

export type Mail = { to: string; subject: string; text: string; html: string };

export type Mailer = {
  kind: "smtp" | "outbox";
  /** Takes the mail on and returns at once: whoever waits for an answer does not learn whether there is a mail. */
  send(mail: Mail): void;
  /** The last mails, newest first, where they are kept and not sent. */
  listKept(): readonly KeptMail[];
  /** Finishes the attempt that is under way; what still waits is given up. */
  close(): Promise<void>;
};

type MailerOptions = {
  /** Absent: mails are shown and kept, and not sent. */
  smtpUrl: string | undefined;
  from: string;
  clock: Clock;
  logger: Logger;
  /** Shows a mail to the person at the server's terminal. Links in mails are secrets, so a log is no place for them. */
  show(text: string): void;
  /** Where mails are kept that are not sent; absent, this process keeps its own. */
  outbox?: OutboxShelf | undefined;
  retryDelaysMs?: readonly number[];
};

const waitingMax = 1000;
const connectionMs = 10_000;
const silenceMs = 20_000;
const retryDelaysMsUsual = [1000, 5000, 30_000, 120_000];

/** Sends mails in the background, or keeps them for a developer to read. */
export function createMailer(options: MailerOptions): Mailer {
  return options.smtpUrl === undefined ? createOutbox(options) : createSender(options, options.smtpUrl);
}

function createOutbox({ clock, show, outbox = createOutboxShelf() }: MailerOptions): Mailer {
  return {
    kind: "outbox",
    send({ to, subject, text }) {
      outbox.keep({ to, subject, text, at: clock.now() });
      show(`\n  Mail to ${to}: ${subject}\n\n${text.replaceAll(/^/gm, "    ")}\n`);
    },
    listKept: outbox.list,
    async close() {},
  };
}

/** One mail after another: nobody waits for them, and the other server is not flooded. */
function createSender({ from, logger, retryDelaysMs = retryDelaysMsUsual }: MailerOptions, smtpUrl: string): Mailer {
  const waiting: { mail: Mail; attempts: number }[] = [];
  const timers = new Set<NodeJS.Timeout>();
  let transport: Promise<Transporter> | null = null;
  let running: Promise<void> | null = null;
  let isClosed = false;

  function enqueue(entry: { mail: Mail; attempts: number }): void {
    if (isClosed || waiting.length + timers.size >= waitingMax) {
      logger.error({ subject: entry.mail.subject }, "a mail was given up: too many wait, or the gateway stops");
      return;
    }
    waiting.push(entry);
    running ??= work().finally(() => {
      running = null;
    });
  }

  async function work(): Promise<void> {
    for (let entry = waiting.shift(); entry !== undefined && !isClosed; entry = waiting.shift()) await attempt(entry);
  }

  async function attempt({ mail, attempts }: { mail: Mail; attempts: number }): Promise<void> {
    try {
      transport ??= openTransport(smtpUrl);
      await (await transport).sendMail({ from, ...mail });
    } catch (error) {
      const delayMs = isFinal(error) ? undefined : retryDelaysMs[attempts];
      // The address and the text stay out of the log; the subject says which kind of mail it was.
      const facts = { subject: mail.subject, attempts: attempts + 1, reason: describeFailure(error) };
      if (delayMs === undefined) {
        logger.error(facts, "a mail could not be sent and was given up");
        return;
      }
      logger.warn(facts, "a mail could not be sent; it is tried again");
      const timer = setTimeout(() => {
        timers.delete(timer);
        enqueue({ mail, attempts: attempts + 1 });
      }, delayMs);
      timers.add(timer);
    }
  }

  return {
    kind: "smtp",
    send: (mail) => enqueue({ mail, attempts: 0 }),
    listKept: () => [],
    async close() {
      isClosed = true;
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
      await running;
      if (transport !== null) (await transport).close();
    },
  };
}

/** Loaded with the first mail: most starts send none. */
async function openTransport(smtpUrl: string): Promise<Transporter> {
  const { createTransport } = await import("nodemailer");
  const url = new URL(smtpUrl);
  const isEncrypted = url.protocol === "smtps:";
  return createTransport({
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: url.port === "" ? (isEncrypted ? 465 : 587) : Number(url.port),
    secure: isEncrypted,
    ...(url.username === ""
      ? {}
      : { auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) } }),
    connectionTimeout: connectionMs,
    greetingTimeout: connectionMs,
    socketTimeout: silenceMs,
    // A mail of ours needs neither files nor other servers.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

/** The server says that no further attempt can succeed. */
function isFinal(error: unknown): boolean {
  return error instanceof Error && "responseCode" in error && Number(error.responseCode) >= 500;
}

/** What the server answered may quote the mail's address, so only its code is told. */
function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  const code = "code" in error ? String(error.code) : error.name;
  return "responseCode" in error ? `${code} ${String(error.responseCode)}` : code;
}
