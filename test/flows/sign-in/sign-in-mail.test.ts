import { expect, test } from "vitest";
import { systemClock } from "../../../src/lib/clock.ts";
import { createMailer } from "../../../src/platform/mail/create-mailer.ts";
import { createLogger } from "../../../src/platform/observability/logger.ts";
import { startSmtpServer } from "../../harness/servers/smtp-server.ts";
import { goodPassword, visitorSettings, visitSite } from "../../harness/site/site-visitor.ts";
import { startGateway } from "../../harness/test-gateway.ts";
import { waitUntil } from "../../harness/wait-until.ts";

const mail = {
  to: "ada@example.com",
  subject: "Reset your password",
  text: "https://x.example/secret-link",
  html: "<p>x</p>",
};

/** A mailer whose log lines and shown mails are recorded. */
function createRecordedMailer(smtpUrl: string | undefined, retryDelaysMs: readonly number[] = [1, 1]) {
  const lines: string[] = [];
  const shown: string[] = [];
  const logger = createLogger({ level: "debug", format: "json", write: (line) => void lines.push(line) });
  const mailer = createMailer({
    smtpUrl,
    from: "Sluice <no-reply@example.com>",
    clock: systemClock,
    logger,
    show: (text) => void shown.push(text),
    retryDelaysMs,
  });
  return { mailer, lines, shown };
}

test("a new user gets a mail by SMTP whose link signs them in", async () => {
  await using smtp = await startSmtpServer({ user: "sluice" });
  const settings = { ...visitorSettings, smtp_url: smtp.url, mail_from: "Sluice <no-reply@example.com>" };
  await using gateway = await startGateway({ settings });
  const visitor = visitSite(gateway);
  expect((await visitor.get("/site")).body).toMatchObject({ mail: "smtp", has_outbox: false });
  expect((await visitor.get("/outbox")).status).toBe(404);
  await visitor.post("/sign-up", { email: "ada@example.com", password: goodPassword });
  const received = await waitUntil("the mail", () => smtp.received[0]);
  expect(received).toMatchObject({ from: "no-reply@example.com", to: ["ada@example.com"] });
  expect(smtp.logins).toEqual(["sluice p@ss"]);
  const content = received.content.replaceAll("=\r\n", "").replaceAll("=3D", "=");
  expect(content).toMatch(/Subject: Confirm your e-mail address\r\n/);
  expect(content).toContain("Content-Type: text/plain");
  expect(content).toContain("Content-Type: text/html");
  const token = /verify-email\?token=([\w-]{43})/.exec(content)?.[1] ?? "";
  expect((await visitor.post("/email/verify", { token })).status).toBe(200);
  const logs = JSON.stringify(gateway.logs);
  for (const secret of [token, goodPassword, "p@ss"]) expect(logs).not.toContain(secret);
});

test("a mail is retried if the server is busy or disconnects, and arrives once", async () => {
  await using smtp = await startSmtpServer();
  const { mailer, lines } = createRecordedMailer(smtp.url);
  smtp.refuse("451 later", "hang up");
  mailer.send(mail);
  await waitUntil("the mail", () => smtp.received.length === 1);
  await mailer.close();
  expect(smtp.received).toHaveLength(1);
  expect(lines.filter((line) => line.includes("retry scheduled"))).toHaveLength(2);
});

test("a mail is given up after its last attempt, or at once after a permanent failure", async () => {
  await using smtp = await startSmtpServer();
  const { mailer, lines } = createRecordedMailer(smtp.url);
  smtp.refuse("451 later", "451 later", "451 later");
  mailer.send(mail);
  await waitUntil("the end of it", () => lines.some((line) => line.includes("mail failed, given up")));
  smtp.refuse("550 ada@example.com is nobody");
  mailer.send(mail);
  await waitUntil(
    "the end of the other",
    () => lines.filter((line) => line.includes("mail failed, given up")).length === 2,
  );
  await mailer.close();
  expect(smtp.received).toEqual([]);
  expect(smtp.connectionCount()).toBe(4);
  for (const secret of ["secret-link", "ada@example.com"]) expect(lines.join()).not.toContain(secret);
});

test("a mail that cannot be sent does not block others", async () => {
  await using smtp = await startSmtpServer();
  const { mailer } = createRecordedMailer(smtp.url, [60_000]);
  smtp.refuse("451 later");
  mailer.send(mail);
  mailer.send({ ...mail, to: "grace@example.com" });
  await waitUntil("the other mail", () => smtp.received.length === 1);
  expect(smtp.received[0]?.to).toEqual(["grace@example.com"]);
  await mailer.close();
});

test("a stop does not wait for later retries", async () => {
  await using smtp = await startSmtpServer();
  const { mailer, lines } = createRecordedMailer(smtp.url, [600_000]);
  smtp.refuse("451 later");
  mailer.send(mail);
  await waitUntil("the first attempt", () => lines.some((line) => line.includes("retry scheduled")));
  await mailer.close();
  mailer.send(mail);
  expect(lines.at(-1)).toContain("mail dropped");
});

test("without a server, mails are shown and the last fifty kept", async () => {
  const { mailer, lines, shown } = createRecordedMailer(undefined);
  for (let number = 1; number <= 60; number += 1) mailer.send({ ...mail, subject: `mail ${number}` });
  expect(mailer.listKept()).toHaveLength(50);
  expect(mailer.listKept()[0]).toMatchObject({ to: mail.to, subject: "mail 60", text: mail.text });
  expect(shown).toHaveLength(60);
  expect(shown[0]).toContain(mail.text);
  expect(lines).toEqual([]);
});
