import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { findFreePort, runCommand, startGatewayProcess } from "../../harness/gateway-process.ts";
import { createPreparedDirectory } from "../../harness/prepared-directory.ts";
import { runCommandHere } from "../../harness/run-command-here.ts";

test("users are listed, created, invited and given new passwords; the links work and are in no output", async () => {
  using data = createPreparedDirectory();
  const port = await findFreePort();
  const environment = { SLUICE_DATA_DIR: data.path, SLUICE_PORT: port, SLUICE_SIGN_UP: "invite" };
  await using gateway = await startGatewayProcess({ environment });
  const site = `http://localhost:${port}`;
  const run = (...words: string[]) => runCommandHere(["user", ...words], { environment });
  const post = async (path: string, body: object) => {
    const headers = { origin: site, "content-type": "application/json" };
    const init = { method: "POST", headers, body: JSON.stringify(body) };
    const response = await fetch(`${site}/console/api${path}`, init);
    return { status: response.status, body: await response.json() };
  };

  const create = ["user", "create", "--email", "ada@example.com", "--operator", "yes"];
  const created = await runCommand(create, { environment });
  expect(created).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/Created acct_\w+ for ada@example.com/) });
  expect(created.stdout).not.toContain("token=");
  const file = /Saved the link to (\S+) /.exec(created.stdout)?.[1] ?? "";
  const link = new URL(readFileSync(file, "utf8").trim());
  expect(`${link.origin}${link.pathname}`).toBe(`${site}/reset-password`);
  const token = link.searchParams.get("token");
  expect((await post("/password/reset", { token, password: "four random words here" })).status).toBe(200);
  const signedIn = await post("/sign-in", { email: "ada@example.com", password: "four random words here" });
  expect(signedIn.body).toEqual({ kind: "signed-in" });

  const listed = JSON.parse((await run("list", "--json")).stdout);
  expect(listed).toMatchObject([
    { email: "demo@localhost", is_operator: true, has_password: true },
    // A link that an operator handed over does not verify the address.
    { email: "ada@example.com", is_operator: true, is_email_verified: false, has_password: true, has_totp: false },
  ]);

  const reset = JSON.parse((await run("reset-password", "--email", "ADA@example.com", "--json")).stdout);
  expect(reset.url).toContain(`${site}/reset-password?token=`);
  const invited = JSON.parse((await run("invite", "--email", "guest@example.com", "--json")).stdout);
  const invite = new URL(invited.url).searchParams.get("invite");
  const signUp = { email: "guest@example.com", password: "four random words here" };
  expect((await post("/sign-up", signUp)).status).toBe(403);
  expect((await post("/sign-up", { ...signUp, invite })).status).toBe(202);

  for (const [words, sentence] of [
    [["create", "--email", "ada@example.com"], /ada@example.com already has an account/],
    [["invite", "--email", "ada@example.com"], /ada@example.com already has an account/],
    [["invite", "--email", "nonsense"], /Enter an e-mail address/],
    [["reset-password", "--email", "nobody@example.com"], /There is no user nobody@example.com/],
    [["create", "--email", "x@example.com", "--operator", "maybe"], /yes or no/],
  ] as const) {
    expect(await run(...words)).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(sentence) });
  }
  expect(gateway.output()).not.toMatch(/token=|four random/);
});
