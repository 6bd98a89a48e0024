// @module-tag extended
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startRecordingServer } from "../../harness/servers/recording-server.ts";
import type { TaskCaller, TaskGateway } from "../../harness/tasks/task-gateway.ts";
import { buildUsersCli, openUsersCli, type UsersCli } from "../../harness/users-cli/users-cli.ts";
import { openCliGateway } from "../../harness/users-cli/users-cli-gateway.ts";
import { waitUntil } from "../../harness/wait-until.ts";

let stage: TaskGateway;
let site: string;
let build: ReturnType<typeof buildUsersCli>;
let caller: TaskCaller;
let cli: UsersCli;
let environment: Record<string, string>;

beforeAll(async () => {
  build = buildUsersCli();
  ({ stage, site } = await openCliGateway());
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  build[Symbol.dispose]();
});
beforeEach(async () => {
  caller = await stage.createCaller();
  cli = openUsersCli(build.program);
  environment = { SLUICE_API_KEY: caller.key, SLUICE_SITE: site };
});
afterEach(() => {
  expect(cli.seen()).not.toContain(caller.key);
  cli[Symbol.dispose]();
});

/** A server that answers every chat with these events. */
function answerWith(...events: readonly string[]) {
  return startRecordingServer((_request, response) => {
    response.setHeader("content-type", "text/event-stream").end(events.map((event) => `data: ${event}\n\n`).join(""));
  });
}

const piece = (content: string): string => JSON.stringify({ choices: [{ delta: { content } }] });

describe("one question", () => {
  test("is answered on standard output, with nothing else there", async () => {
    const { exitCode, stdout, stderr } = await cli.run(["chat", "Hello", "there"], { environment });
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/\S.*\n$/s);
    const told = JSON.parse((await cli.run(["chat", "Hello there", "--json"], { environment })).stdout);
    expect(told).toMatchObject({ model: "sandbox-chat", finish_reason: "stop", usage: { charge: expect.any(String) } });
    expect(`${told.content}\n`).toBe(stdout);
  });

  test("can be standard input, or contain it", async () => {
    await using server = await answerWith(piece("Yes"), "[DONE]");
    const elsewhere = { ...environment, SLUICE_SITE: server.url };
    await cli.run(["chat", "-m", "a"], { environment: elsewhere, input: "All of it" });
    const words = [
      "chat",
      "-m",
      "a",
      "--system",
      "Be brief",
      "--temperature",
      "0.5",
      "--max-tokens",
      "9",
      "About:",
      "-",
    ];
    expect((await cli.run(words, { environment: elsewhere, input: "this" })).stdout).toBe("Yes\n");
    const bodies = server.requests.map(({ body }) => JSON.parse(body.toString()));
    expect(bodies[0].messages).toEqual([{ role: "user", content: "All of it" }]);
    expect(bodies[1]).toMatchObject({
      temperature: 0.5,
      max_completion_tokens: 9,
      messages: [
        { role: "system", content: "Be brief" },
        { role: "user", content: "About: \n\nthis" },
      ],
    });
    expect(server.requests.map(({ headers }) => headers["idempotency-key"])).toEqual([undefined, undefined]);
  });

  test("whose answer breaks off, or ends because money ran out, is marked as incomplete", async () => {
    await using broken = await answerWith(piece("Half"));
    const half = await cli.run(["chat", "-m", "a", "Hi"], { environment: { ...environment, SLUICE_SITE: broken.url } });
    expect([half.exitCode, half.stdout, half.stderr]).toEqual([1, "Half", expect.stringContaining("Lost the conn")]);
    const error = JSON.stringify({ error: { message: "No upstream answered.", code: "upstream_unavailable" } });
    await using failing = await answerWith(piece("Half"), error);
    const failed = await cli.run(["chat", "-m", "a", "Hi"], {
      environment: { ...environment, SLUICE_SITE: failing.url },
    });
    expect([failed.exitCode, failed.stderr]).toEqual([1, expect.stringContaining("No upstream answered.")]);
    const end = JSON.stringify({
      choices: [{ delta: {}, finish_reason: "length" }],
      stopped_by: "insufficient_balance",
    });
    await using poor = await answerWith(piece("Half"), end, "[DONE]");
    const stopped = await cli.run(["chat", "-m", "a", "Hi"], {
      environment: { ...environment, SLUICE_SITE: poor.url },
    });
    expect([stopped.exitCode, stopped.stderr]).toEqual([4, expect.stringContaining("balance is used up")]);
  });

  test("waits for Retry-After and retries, but never if the server says that retrying is useless", async () => {
    let refusals = 2;
    await using busy = await startRecordingServer((_request, response) => {
      if (refusals-- > 0) response.writeHead(429, { "retry-after-ms": "20" }).end("{}");
      else response.end(`data: ${piece("At last")}\n\ndata: [DONE]\n\n`);
    });
    const patient = await cli.run(["chat", "-m", "a", "Hi"], {
      environment: { ...environment, SLUICE_SITE: busy.url },
    });
    expect([patient.exitCode, patient.stdout, busy.requests.length]).toEqual([0, "At last\n", 3]);
    await using final = await startRecordingServer((_request, response) => {
      response.writeHead(503, { "x-should-retry": "false", "x-request-id": "req_1" }).end("{}");
    });
    const told = await cli.run(["chat", "-m", "a", "Hi"], { environment: { ...environment, SLUICE_SITE: final.url } });
    expect([told.exitCode, told.stderr, final.requests.length]).toEqual([1, expect.stringContaining("req_1"), 1]);
  });

  test("stops, and stops costing, at Ctrl-C", async () => {
    const running = cli.start(["chat", "Count to 500 [[slow:0.05]]"], { environment });
    await waitUntil("the answer", () => running.stdout().length > 5);
    running.kill("SIGINT");
    expect((await running.ended).exitCode).toBe(130);
    await waitUntil("the charge", async () => (await caller.listCharges()).length === 1);
    await waitUntil("nothing to be on hold", async () => (await caller.readBalance()).frozen === "0.00");
  });
});

describe("a conversation", () => {
  test("keeps its history, follows commands, survives Ctrl-C in an answer, and ends with the second one", async () => {
    const talk = cli.startOnTerminal(["chat", "-m", "sandbox-chat"], { environment });
    await talk.sees(/Chatting with sandbox-chat/);
    talk.write("/model\r");
    await talk.sees(/The model is sandbox-chat\./);
    talk.write("Count to 500 [[slow:0.05]]\r");
    await talk.sees(/1[,\s]+2/);
    talk.write("\x03");
    await talk.sees(/Stopped\./);
    talk.write("Hello\r");
    await talk.sees(/\d+ tokens · cost/);
    talk.write("\x03");
    await talk.sees(/Ctrl-C again/);
    talk.write("\x03");
    expect((await talk.ended).exitCode).toBe(130);
  });

  test("sends its history until it is cleared, and cannot inject terminal escapes", async () => {
    await using server = await answerWith(piece("\x1b]0;evil\x07Yes\x1b[2J"), "[DONE]");
    const talk = cli.startOnTerminal(["chat", "-m", "a"], { environment: { ...environment, SLUICE_SITE: server.url } });
    await talk.sees(/Chatting with a/);
    for (const [index, line] of ["One", "Two", "/clear", "Three"].entries()) {
      talk.write(`${line}\r`);
      if (line === "/clear") await talk.sees(/History cleared/);
      else await waitUntil("the answer", () => talk.stdout().split("Yes").length > (index > 2 ? 3 : index + 1));
    }
    talk.write("/exit\r");
    expect((await talk.ended).exitCode).toBe(0);
    const asked = server.requests.map(({ body }) =>
      JSON.parse(body.toString()).messages.map(({ content }: { content: string }) => content.replaceAll("\x1b", "")),
    );
    expect(asked).toEqual([["One"], ["One", "]0;evil\x07Yes[2J", "Two"], ["Three"]]);
    expect(talk.stdout()).not.toContain("\x1b]0;");
    expect(talk.stdout()).not.toContain("\x1b[2J");
  });
});
