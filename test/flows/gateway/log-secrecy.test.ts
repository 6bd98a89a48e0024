import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findFreePort, runCommand, startGatewayProcess } from "../../harness/gateway-process.ts";
import { createPreparedDirectory } from "../../harness/prepared-directory.ts";
import { sendRaw } from "../../harness/raw-connection.ts";
import { waitUntil } from "../../harness/wait-until.ts";

const secrets = {
  password: "hunter2-correct-horse",
  cookie: "session=cookie-canary-4711",
  body: "body-canary-0815",
  query: "query-canary-1234",
};

test("keys, passwords, cookies, query strings and bodies are never logged, in success or failure", async () => {
  using data = createPreparedDirectory();
  const port = await findFreePort();
  const environment = { SLUICE_DATA_DIR: data.path, SLUICE_PORT: port, SLUICE_LOG_LEVEL: "debug" };
  await using gateway = await startGatewayProcess({ environment });
  const key = readFileSync(join(data.path, "secrets", "demo-key"), "utf8").trim();
  const account = ["account", "create", "--email", "a@example.com", "--password", secrets.password];
  const outcomes = [await runCommand(account, { environment }), await runCommand(account, { environment })];

  const site = `http://localhost:${port}`;
  const headers = { authorization: `Bearer ${key}`, cookie: secrets.cookie, "content-type": "application/json" };
  const body = JSON.stringify({ prompt: secrets.body });
  const wrongKey = `${key.slice(0, -1)}${key.endsWith("a") ? "b" : "a"}`;
  await fetch(`${site}/v1/models`, { headers });
  await fetch(`${site}/v1/models`, { headers: { ...headers, authorization: `Bearer ${wrongKey}` } });
  await fetch(`${site}/v1/models?api_key=${secrets.query}`, { headers });
  await fetch(`${site}/v1/models`, { method: "POST", headers, body });
  await fetch(`${site}/v1/nothing/${key}?x=${secrets.query}`, { method: "POST", headers, body });
  await fetch(`${site}/v1/models`, { headers: { ...headers, "x-client-request-id": key } });
  await sendRaw(Number(port), `POST / HTTP/1.1\r\ncookie: ${secrets.cookie}\r\ncontent-length: x\r\n\r\n${body}`);
  await sendRaw(Number(port), `GET / HTTP/1.1\r\nauthorization: Bearer ${key}\r\nx: ${"y".repeat(20_000)}\r\n\r\n`);

  const countLines = (): number => gateway.output().split('"msg":"request"').length - 1;
  await waitUntil("a line for each of the eight requests", () => countLines() === 8);
  const written = [
    gateway.output(),
    readFileSync(join(data.path, "postgres.log"), "utf8"),
    ...outcomes.flatMap(({ stdout, stderr }) => [stdout, stderr]),
  ].join("\n");
  for (const secret of [key, wrongKey, ...Object.values(secrets)]) expect(written).not.toContain(secret);
});

test("an unexpected error ends the gateway with one log line, without a secret in it", async () => {
  using data = createPreparedDirectory();
  const secret = `sk-slc-${"a".repeat(36)}`;
  const thrower = `process.on("SIGUSR2",()=>{throw new Error("broken ${secret}")})`;
  const environment = {
    SLUICE_DATA_DIR: data.path,
    SLUICE_PORT: await findFreePort(),
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(thrower)}`,
  };
  const gateway = await startGatewayProcess({ environment });
  gateway.kill("SIGUSR2");
  expect(await gateway.exited).toBe(1);
  const line =
    gateway
      .output()
      .split("\n")
      .find((text) => text.includes("uncaught exception")) ?? "{}";
  expect(JSON.parse(line)).toMatchObject({ level: "error", error: { message: "broken sk-slc-[hidden]" } });
  expect(gateway.output()).not.toContain(secret);
});

test("each request is one line with its id, route, status, times, account and key id", async () => {
  using data = createPreparedDirectory();
  const port = await findFreePort();
  await using gateway = await startGatewayProcess({ environment: { SLUICE_DATA_DIR: data.path, SLUICE_PORT: port } });
  const key = readFileSync(join(data.path, "secrets", "demo-key"), "utf8").trim();
  const response = await fetch(`http://localhost:${port}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
  const requestId = response.headers.get("x-request-id") ?? "none";
  const line = await waitUntil("the line", () =>
    gateway
      .output()
      .split("\n")
      .find((text) => text.includes(requestId)),
  );
  expect(JSON.parse(line)).toEqual({
    level: "info",
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    msg: "request",
    request_id: requestId,
    method: "GET",
    route: "/v1/models",
    status: 200,
    duration_ms: expect.any(Number),
    first_byte_ms: expect.any(Number),
    account_id: expect.stringMatching(/^acct_/),
    key_id: expect.stringMatching(/^key_/),
  });
});
