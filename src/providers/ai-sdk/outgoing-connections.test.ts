import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { startRecordingServer } from "../../../test/harness/servers/recording-server.ts";
import { anthropicMessage } from "./fixtures/anthropic-answers.ts";
import { googleAnswer } from "./fixtures/google-answers.ts";

const program = fileURLToPath(new URL("./fixtures/record-connections.ts", import.meta.url));

test("no vendor's package opens connections by itself, not for images and not because of the environment", async () => {
  const choices = [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }];
  const server = await startRecordingServer(({ path }, response) => {
    const answer = path.endsWith("/messages")
      ? anthropicMessage
      : path.includes("gemini")
        ? googleAnswer([{ text: "Hi" }], "STOP")
        : { choices };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
  });
  const lure = await startRecordingServer((_request, response) => {
    response.writeHead(500).end();
  });
  onTestFinished(async () => {
    for (const one of [server, lure]) await one[Symbol.asyncDispose]();
  });
  const { stdout } = await promisify(execFile)(process.execPath, [program, server.url], {
    env: {
      ANTHROPIC_BASE_URL: lure.url,
      ANTHROPIC_API_KEY: "lure",
      ANTHROPIC_AUTH_TOKEN: "lure",
      HTTP_PROXY: lure.url,
      http_proxy: lure.url,
    },
  });
  const { port } = new URL(server.url);
  const image = "image https://images.example/a.png";
  const ours = `connect 127.0.0.1:${port}`;
  expect(JSON.parse(stdout)).toEqual([image, ours, image, ours, image, ours]);
  expect(
    server.requests.map(({ headers }) => headers["x-api-key"] ?? headers["x-goog-api-key"] ?? headers.authorization),
  ).toEqual(["key", "key", "Bearer key"]);
  expect(lure.requests).toEqual([]);
  for (const { body } of server.requests) expect(String(body)).not.toContain("images.example");
});
