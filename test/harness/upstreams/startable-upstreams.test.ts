import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { checkCatalog } from "../../../src/features/catalog/check-catalog.ts";
import { parseCatalog } from "../../../src/features/catalog/parse-catalog.ts";
import { repositoryDir } from "../repository-files.ts";
import { waitUntil } from "../wait-until.ts";
import { faultWords } from "./fault-words.ts";

test("the fake that is started by hand prints a catalog that applies, and serves its models", async () => {
  const script = join(repositoryDir, "scripts/fake-upstream.ts");
  const child = spawn(process.execPath, [script, "--port", "0"], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const lines: string[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      lines.push(line);
      if (lines.filter((printed) => printed.includes("<<fault:")).length > faultWords.length) break;
    }
    const parsed = parseCatalog(lines.join("\n"));
    if (parsed.kind === "malformed") throw new Error(JSON.stringify(parsed.problems));
    const hasSecret = (name: string) => name === "FAKE_UPSTREAM_KEY";
    const surroundings = {
      currency: "USD",
      planIds: new Set<string>(),
      accountIds: new Set<string>(),
      hasSecret,
      findPackageFault: () => null,
    };
    expect(checkCatalog(parsed.file, surroundings)).toEqual([]);
    expect(parsed.file.providers?.map(({ kind }) => kind)).toEqual(["openai-compatible", "anthropic", "google", "fal"]);
    const client = new OpenAI({ apiKey: "any", baseURL: parsed.file.providers?.[0]?.base_url ?? "" });
    const messages = [{ role: "user" as const, content: "Hi <<fault:text=Hello>>" }];
    const { choices } = await client.chat.completions.create({ model: "m", messages });
    expect(choices[0]?.message.content).toBe("Hello");
  } finally {
    child.kill();
    await once(child, "exit");
  }
});

describe("the upstream of the bench", () => {
  async function startFixedUpstream(...args: readonly string[]) {
    const child: ChildProcess = fork(join(repositoryDir, "bench/fixed-upstream.ts"), args);
    const [{ port }] = (await once(child, "message")) as [{ port: number }];
    const client = new OpenAI({ apiKey: "any", baseURL: `http://127.0.0.1:${port}/v1`, maxRetries: 0 });
    return {
      port,
      async ask(headers: Record<string, string> = {}) {
        return client.chat.completions.create({ model: "m", messages: [] }, { headers });
      },
      async stream(headers: Record<string, string> = {}) {
        return client.chat.completions.create({ model: "m", messages: [], stream: true }, { headers });
      },
      async [Symbol.asyncDispose]() {
        child.send("close");
        await once(child, "exit");
      },
    };
  }

  test("gives the same whole answer and the same stream of fifty chunks in every way of writing", async () => {
    await using upstream = await startFixedUpstream("--spacing-ms=1");
    const { choices, usage } = await upstream.ask();
    expect(usage).toMatchObject({ prompt_tokens: 21, completion_tokens: 50 });
    for (const way of ["one-write", "each-turn", "spaced"]) {
      const chunks = await Array.fromAsync(await upstream.stream({ "x-bench-chunks": way }));
      expect(chunks.length).toBe(52);
      expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("")).toBe(choices[0]?.message.content);
      expect(chunks.at(-1)).toMatchObject({ choices: [], usage });
      expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe("stop");
    }
  });

  test("delays its answer as set by an argument or a header", async () => {
    await using upstream = await startFixedUpstream("--delay-ms=60");
    const measure = async (headers?: Record<string, string>) => {
      const startedAt = performance.now();
      await upstream.ask(headers);
      return performance.now() - startedAt;
    };
    // A timer may fire up to a millisecond early; being late is fine.
    expect(await measure()).toBeGreaterThanOrEqual(59);
    expect(await measure({ "x-bench-delay": "90" })).toBeGreaterThanOrEqual(89);
  });

  test("keeps an idle stream open after its first chunk until the client disconnects", async () => {
    await using upstream = await startFixedUpstream("--chunks=idle");
    const stream = await upstream.stream();
    const chunks = stream[Symbol.asyncIterator]();
    expect((await chunks.next()).value?.choices[0]?.delta).toEqual({ role: "assistant", content: "Word" });
    let hasMore = false;
    const next = chunks.next().finally(() => {
      hasMore = true;
    });
    // Another call on its own connection completes in the meantime.
    await upstream.ask();
    expect(hasMore).toBe(false);
    stream.controller.abort();
    expect((await next).done).toBe(true);
  });

  test("ends with the bench that started it", async () => {
    const child = fork(join(repositoryDir, "bench/fixed-upstream.ts"));
    await once(child, "message");
    child.disconnect();
    expect(await once(child, "exit")).toEqual([0, null]);
  });

  test("accepts requests in pieces, with a length or in chunks", async () => {
    await using upstream = await startFixedUpstream();
    const { connect } = await import("node:net");
    const url = "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n";
    const requests = [
      [url, "Content-Length: 15\r\n", "\r\n", '{"stream":', "true}"],
      [url, "Transfer-Encoding: chunked\r\n\r\n", '8\r\n{"stream\r\n', "7\r\n", '":true}\r\n', "0\r\n\r\n"],
      [`${url}content-length: 2\r\n\r\n{}`],
    ];
    for (const [at, pieces] of requests.entries()) {
      let received = "";
      const socket = connect(upstream.port, "127.0.0.1").setNoDelay(true);
      socket.on("data", (data) => {
        received += String(data);
      });
      for (const piece of pieces) {
        expect(received).toBe("");
        await new Promise((written) => socket.write(piece, written));
        // After two other calls, the piece has been read.
        if (piece !== pieces.at(-1)) await upstream.ask().then(() => upstream.ask());
      }
      await waitUntil("the answer", () => received.includes('"total_tokens":71'));
      // A chunk's frames split the second body, so it does not look like a request for a stream.
      expect(received.includes("text/event-stream")).toBe(at === 0);
      socket.destroy();
    }
  });
});
