import type { Transporter } from "nodemailer";
import type { Clock } from "../../lib/clock.ts";
import type { Logger } from "../observability/logger.ts";
import { createMailOutbox, type KeptMail, type MailOutbox } from "./mail-outbox.ts";

export type Mail = { to: string; subject: string; text: string; html: string };

export type Mailer = {
  kind: "smtp" | "outbox";
  /** Queues the mail and returns at once, so that response times do not reveal whether a mail is sent. */
  send(mail: Mail): void;
  /** The last mails of the outbox, newest first; empty with SMTP. */
  listKept(): readonly KeptMail[];
  /** Finishes the current attempt and drops the queue. */
  close(): Promise<void>;
};

type MailerOptions = {
  /** Without it, mails go to the outbox and the terminal. */
  smtpUrl: string | undefined;
  from: string;
  clock: Clock;
  logger: Logger;
  /** Prints to the terminal, not to the log: links in mails are secrets. */
  show(text: string): void;
  /** The default is an outbox of this process. */
  outbox?: MailOutbox | undefined;
  retryDelaysMs?: readonly number[];
};

const waitingMax = 1000;
const connectionMs = 10_000;
const silenceMs = 20_000;
const defaultRetryDelaysMs = [1000, 5000, 30_000, 120_000];

/** Sends mails in the background, or stores them in an outbox for local development. */
export function createMailer(options: MailerOptions): Mailer {
  return options.smtpUrl === undefined ? createOutbox(options) : createSender(options, options.smtpUrl);
}

function createOutbox({ clock, show, outbox = createMailOutbox() }: MailerOptions): Mailer {
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

/** Sends one mail at a time, to not flood the SMTP server. */
function createSender({ from, logger, retryDelaysMs = defaultRetryDelaysMs }: MailerOptions, smtpUrl: string): Mailer {
  const waiting: { mail: Mail; attempts: number }[] = [];
  const timers = new Set<NodeJS.Timeout>();
  let transport: Promise<Transporter> | null = null;
  let running: Promise<void> | null = null;
  let isClosed = false;

  function enqueue(entry: { mail: Mail; attempts: number }): void {
    if (isClosed || waiting.length + timers.size >= waitingMax) {
      logger.error({ subject: entry.mail.subject }, "mail dropped: queue full or gateway stopping");
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
      // The address and text must not be logged; the subject identifies the kind of mail.
      const facts = { subject: mail.subject, attempts: attempts + 1, reason: describeFailure(error) };
      if (delayMs === undefined) {
        logger.error(facts, "mail failed, given up");
        return;
      }
      logger.warn(facts, "mail failed, retry scheduled");
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

/** Loaded with the first mail: most processes send none. */
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
    // Mails contain no attachments from files or URLs.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

/** A permanent SMTP error: a retry cannot succeed. */
function isFinal(error: unknown): boolean {
  return error instanceof Error && "responseCode" in error && Number(error.responseCode) >= 500;
}

/** Only the code: the server's text may quote the address. */
function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  const code = "code" in error ? String(error.code) : error.name;
  return "responseCode" in error ? `${code} ${String(error.responseCode)}` : code;
}
