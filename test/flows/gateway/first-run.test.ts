import { execFile, spawn } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import OpenAI from "openai";
import { expect, test } from "vitest";
import { createDataDirectory, findFreePort, startGatewayProcess } from "../../harness/gateway-process.ts";
import { createPreparedDirectory } from "../../harness/prepared-directory.ts";
import { repositoryDir } from "../../harness/repository-files.ts";
import { waitUntil } from "../../harness/wait-until.ts";

/** The `curl` call that the page shows, run by a shell unchanged. */
async function runShownCurl(page: string): Promise<unknown> {
  const call = /^\s*(curl (?:.*\\\n)*.*)$/m.exec(page)?.[1] ?? "";
  expect(call).toContain("/v1/chat/completions");
  const { stdout } = await promisify(execFile)("sh", ["-c", call]);
  return JSON.parse(stdout);
}

async function signInAs(port: string, password: string): Promise<unknown> {
  const site = `http://localhost:${port}`;
  const response = await fetch(`${site}/console/api/sign-in`, {
    method: "POST",
    headers: { origin: site, "content-type": "application/json" },
    body: JSON.stringify({ email: "demo@localhost", password }),
  });
  return await response.json();
}

/** Sends the secret of the outbox's link, as the page behind the link does. */
async function openOutbox(shown: string): Promise<number> {
  const [, site = "", secret = ""] = /(http:\/\/localhost:\d+)\/outbox#([\w-]+)/.exec(shown) ?? [];
  const response = await fetch(`${site}/console/api/outbox/open`, {
    method: "POST",
    headers: { origin: site, "content-type": "application/json" },
    body: JSON.stringify({ secret }),
  });
  return response.status;
}

const firstAnswer = {
  object: "chat.completion",
  model: "sandbox-chat",
  choices: [{ message: { role: "assistant", content: expect.stringContaining("Hello") }, finish_reason: "stop" }],
};

/** `npm start` on its own terminal, ended by Ctrl-C. */
async function startOnTerminal(environment: Record<string, string>, use: (page: string) => Promise<void>) {
  const child = spawn("script", ["--quiet", "--return", "--command", "npm start", "/dev/null"], {
    cwd: repositoryDir,
    env: { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", TERM: "xterm", ...environment },
    stdio: ["pipe", "pipe", "inherit"],
  });
  let screen = "";
  child.stdout.setEncoding("utf8").on("data", (piece: string) => {
    screen += piece.replaceAll("\r", "");
  });
  const exited = new Promise((settle) => child.once("close", settle));
  try {
    await waitUntil("the page", () => screen.includes("ready"));
    await use(screen);
  } finally {
    child.stdin.write("\x03");
    await exited;
  }
  expect(screen).toMatch(/stopping.*stopped/s);
}

test("on a terminal, npm start shows the key once, and a curl line that works unchanged", async () => {
  using data = createDataDirectory();
  const port = await findFreePort();
  const environment = { SLUICE_DATA_DIR: data.path, SLUICE_PORT: port };
  await startOnTerminal(environment, async (page) => {
    expect(page).toContain(`http://localhost:${port}/docs`);
    expect(page).toMatch(/sk-slc-[0-9A-Za-z]{36}/);
    const password = /demo@localhost with this password.*\n\n\s*(\S+)\n/.exec(page)?.[1] ?? "";
    expect(await signInAs(port, password)).toEqual({ kind: "signed-in" });
    expect(await runShownCurl(page)).toMatchObject(firstAnswer);
    expect(await openOutbox(page)).toBe(200);
  });
  await startOnTerminal(environment, async (page) => {
    expect(page).toContain("Sluice is running.");
    expect(await openOutbox(page)).toBe(200);
    expect(page).not.toMatch(/sk-slc-|password|Creating the database|Installing/);
  });
});

test("without a terminal, the key is in a private file, in no output, and the shown curl line still works", async () => {
  using data = createDataDirectory();
  const port = await findFreePort();
  const environment = { SLUICE_DATA_DIR: data.path, SLUICE_PORT: port, SLUICE_PROCESSES: "2" };
  await using gateway = await startGatewayProcess({ environment });
  expect(gateway.output().match(/Sluice is running\./g)).toHaveLength(1);
  expect(gateway.output()).not.toMatch(/sk-slc-/);
  expect(await runShownCurl(gateway.output())).toMatchObject(firstAnswer);
  const file = join(data.path, "secrets", "demo-key");
  expect((statSync(file).mode & 0o777).toString(8)).toBe("600");
  const passwordFile = join(data.path, "secrets", "demo-password");
  expect((statSync(passwordFile).mode & 0o777).toString(8)).toBe("600");
  const password = readFileSync(passwordFile, "utf8").trim();
  expect(gateway.output()).not.toContain(password);
  expect(await signInAs(port, password)).toEqual({ kind: "signed-in" });
  const outboxFile = join(data.path, "secrets", "outbox-link");
  expect((statSync(outboxFile).mode & 0o777).toString(8)).toBe("600");
  expect(gateway.output()).toContain(outboxFile);
  expect(gateway.output()).not.toContain("/outbox#");
  expect(await openOutbox(readFileSync(outboxFile, "utf8"))).toBe(200);

  const client = new OpenAI({ apiKey: readFileSync(file, "utf8").trim(), baseURL: `http://localhost:${port}/v1` });
  const models = await Array.fromAsync(client.models.list());
  expect(models.map((model) => model.id)).toContain("sandbox-chat");
});

test("a public site gets no demo account", async () => {
  using data = createPreparedDirectory();
  const environment = {
    SLUICE_DATA_DIR: data.path,
    SLUICE_PORT: await findFreePort(),
    SLUICE_SITE_URL: "https://ai.example.com",
  };
  await using gateway = await startGatewayProcess({ environment });
  expect(gateway.output()).toContain("https://ai.example.com/v1");
  expect(gateway.output()).not.toContain("API key");
});
