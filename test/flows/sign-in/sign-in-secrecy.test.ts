import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findFreePort, startGatewayProcess } from "../../harness/gateway-process.ts";
import { createPreparedDirectory } from "../../harness/prepared-directory.ts";
import { goodPassword, readMail, type SiteVisitor, visitSite } from "../../harness/site/site-visitor.ts";
import { readBase32, showTotp } from "../../harness/site/totp-app.ts";
import { waitUntil } from "../../harness/wait-until.ts";

/** Sends a visitor's request with this origin. */
function onSite(visitor: SiteVisitor, origin: string): SiteVisitor {
  return { ...visitor, post: (path, body, headers = {}) => visitor.post(path, body, { origin, ...headers }) };
}

test("no password, token, code or cookie of a sign-in is logged, in success or failure", async () => {
  using data = createPreparedDirectory();
  const port = await findFreePort();
  const environment = { SLUICE_DATA_DIR: data.path, SLUICE_PORT: port, SLUICE_LOG_LEVEL: "debug" };
  await using gateway = await startGatewayProcess({ environment });
  const site = `http://localhost:${port}`;
  const outboxUrl = readFileSync(join(data.path, "secrets/outbox-link"), "utf8").trim();
  const visitor = onSite(visitSite({ siteUrl: site, outboxUrl }), site);
  const secrets = new Set<string>([new URL(outboxUrl).hash.slice(1)]);
  const noteCookies = (): void => {
    for (const value of visitor.cookies.values()) secrets.add(value);
  };

  await visitor.post("/sign-up", { email: "ada@example.com", password: goodPassword });
  noteCookies();
  const { token } = await readMail(visitor, "ada@example.com");
  await visitor.post("/email/verify", { token });
  noteCookies();
  const { secret, uri } = (await visitor.post("/totp")).body;
  const code = showTotp(readBase32(secret), new Date());
  const { backup_codes: backupCodes } = (await visitor.post("/totp/confirm", { code })).body;
  noteCookies();
  await visitor.post("/sign-in", { email: "ada@example.com", password: "a wrong password typed" });
  await visitor.post("/sign-in", { email: "ada@example.com", password: goodPassword });
  noteCookies();
  await visitor.post("/sign-in/totp", { code });
  await visitor.post("/sign-in/backup-code", { code: backupCodes[0] });
  noteCookies();
  await visitor.post("/reauthenticate", { password: goodPassword, code });
  noteCookies();
  await visitor.post("/password/forgot", { email: "ada@example.com" });
  const reset = await readMail(visitor, "ada@example.com");
  await visitor.get(`/verify-email?token=${reset.token}`);
  await visitor.post("/password/reset", { token: reset.token, password: "five other words now" });
  const last = await visitor.post("/sign-out", { secret: "a field of nobody's" });

  for (const each of [goodPassword, "a wrong password typed", "five other words now", token, reset.token])
    secrets.add(each);
  for (const each of [secret, uri, ...backupCodes, "a field of nobody's"]) secrets.add(each);
  expect([...secrets].every((each) => each.length > 8)).toBe(true);
  expect(secrets.size).toBeGreaterThan(20);
  const requestId = last.headers.get("x-request-id") ?? "none";
  await waitUntil("the last line", () => gateway.output().includes(requestId));
  const written = `${gateway.output()}\n${readFileSync(join(data.path, "postgres.log"), "utf8")}`;
  for (const each of secrets) expect(written).not.toContain(each);
  expect(written).toContain('"msg":"signed in"');
  expect(written).toContain('"msg":"sign-in rejected"');
});
