// @module-tag slow
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ByteStore } from "../../src/platform/storage/byte-store.ts";
import { type FilesStage, readError, readJson, stageLimits, startFilesStage } from "../harness/media/files-stage.ts";
import { makeMedia } from "../harness/media/media-files.ts";
import { waitUntil } from "../harness/wait-until.ts";
import { openWire, writeRequest } from "../harness/wire-connection.ts";

let stage: FilesStage;
let png: Buffer;
/** Set by a test that controls when bytes are written. */
let beforePut: (signal: AbortSignal) => Promise<void> = async () => {};

const slowable = (bytes: ByteStore): ByteStore => ({
  ...bytes,
  async put(key, source, options) {
    await beforePut(options.signal);
    await bytes.put(key, source, options);
  },
});

beforeAll(async () => {
  stage = await startFilesStage({ wrapBytes: slowable });
  png = await makeMedia("png");
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});
beforeEach(() => {
  beforePut = async () => {};
});

type Part = { name: string; filename?: string; content: string | Buffer; type?: string };

const purpose: Part = { name: "purpose", content: "generation" };

function writeForm(parts: readonly Part[], boundary: string): Buffer {
  const pieces = parts.flatMap(({ name, filename, content, type }) => {
    const file = filename === undefined ? "" : `; filename="${filename}"`;
    const typeLine = type === undefined ? "" : `Content-Type: ${type}\r\n`;
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n${typeLine}\r\n`;
    return [Buffer.from(head), Buffer.from(content), Buffer.from("\r\n")];
  });
  return Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]);
}

function sendForm(
  parts: readonly Part[],
  { key, boundary = "xyz", cut = 0 }: { key?: string; boundary?: string; cut?: number } = {},
) {
  const body = writeForm(parts, boundary);
  const headers = {
    "content-type": `multipart/form-data; boundary=${boundary}`,
    ...(key === undefined ? {} : { "idempotency-key": key }),
  };
  return stage.call("/files", {
    method: "POST",
    body: new Uint8Array(body.subarray(0, body.length - cut)),
    headers,
  });
}

async function expectNothingLeft(before: number): Promise<void> {
  await waitUntil("the end of everything", () => stage.listStored().length === before);
  const unowned = await stage.database.selectFrom("unowned_bytes").selectAll().execute();
  expect(unowned).toEqual([]);
}

describe("a form that is rejected before it has arrived completely", () => {
  const long = Buffer.alloc(stageLimits.uploadBytesMax / 2, "x");
  const file: Part = { name: "file", filename: "a.png", content: long };
  const callAs = (line: string, headers: Record<string, string>, body?: Buffer): Buffer =>
    writeRequest(line, { headers: { authorization: `Bearer ${stage.accountId}`, ...headers }, ...(body && { body }) });
  const form = { "content-type": "multipart/form-data; boundary=xyz" };
  const next = (): Buffer => callAs("GET /v1/files HTTP/1.1", {});

  test.each<[string, Part, string]>([
    ["a bad purpose", { name: "purpose", content: "fun" }, "invalid_parameter"],
    ["an unknown field", { name: "color", content: "red" }, "unknown_parameter"],
    ["a file where a text belongs", { name: "purpose", filename: "a.png", content: long }, "invalid_parameter"],
    ["a field that is too long", { name: "purpose", content: "x".repeat(3000) }, "invalid_parameter"],
  ])("by %s lets the next request on the connection pass", async (_name, part, code) => {
    const wire = await openWire(stage.port);
    wire.write(callAs("POST /v1/files HTTP/1.1", form, writeForm([part, file, purpose], "xyz")));
    const answer = await wire.read("POST");
    expect([answer.status, JSON.parse(answer.body).error.code]).toEqual([400, code]);
    wire.write(next());
    expect((await wire.read("GET")).status).toBe(200);
    wire.hangUp();
  });

  test("closes the connection if too much of it is still to come", async () => {
    const wire = await openWire(stage.port);
    const begun = writeForm([{ name: "purpose", content: "fun" }, file], "xyz");
    wire.write(callAs("POST /v1/files HTTP/1.1", { ...form, "content-length": String(64 * 1024 * 1024) }, begun));
    const answer = await wire.read("POST");
    expect([answer.status, answer.headers.connection]).toEqual([413, "close"]);
    await wire.closed();
  });
});

describe("a form", () => {
  test("may have its parts in either order", async () => {
    const file = { name: "file", filename: "a.png", content: png };
    expect((await sendForm([file, purpose])).status).toBe(200);
    expect((await sendForm([purpose, file])).status).toBe(200);
  });

  const file = (): Part => ({ name: "file", filename: "a.png", content: png });
  test.each<[string, () => Part[], { code: string; param: string | null }]>([
    ["no file", () => [purpose], { code: "missing_parameter", param: "file" }],
    ["no purpose", () => [file()], { code: "missing_parameter", param: "purpose" }],
    ["nothing", () => [], { code: "missing_parameter", param: "file" }],
    ["two files", () => [file(), purpose, file()], { code: "invalid_parameter", param: "file" }],
    ["two purposes", () => [purpose, purpose, file()], { code: "invalid_parameter", param: "purpose" }],
    [
      "another purpose",
      () => [{ ...purpose, content: "batch" }, file()],
      { code: "invalid_parameter", param: "purpose" },
    ],
    [
      "another purpose after the file",
      () => [file(), { ...purpose, content: "" }],
      { code: "invalid_parameter", param: "purpose" },
    ],
    [
      "a file as purpose",
      () => [{ ...purpose, filename: "x" }, file()],
      { code: "invalid_parameter", param: "purpose" },
    ],
    [
      "JSON as purpose",
      () => [{ ...purpose, content: "[1]", type: "application/json" }, file()],
      { code: "invalid_parameter", param: "purpose" },
    ],
    ["text as file", () => [purpose, { name: "file", content: "x" }], { code: "invalid_parameter", param: "file" }],
    [
      "an unknown field",
      () => [purpose, { name: "expires", content: "1" }, file()],
      { code: "unknown_parameter", param: "expires" },
    ],
    [
      "an unknown field at the end",
      () => [purpose, file(), { name: "x", content: "1" }],
      { code: "unknown_parameter", param: "x" },
    ],
    ["an unknown file", () => [purpose, { ...file(), name: "image" }], { code: "unknown_parameter", param: "image" }],
    [
      "an invalid field name",
      () => [{ name: "__proto__", content: "1" }, purpose, file()],
      { code: "unknown_parameter", param: null },
    ],
    [
      "an endless purpose",
      () => [{ ...purpose, content: "x".repeat(5000) }, file()],
      { code: "invalid_parameter", param: "purpose" },
    ],
    [
      "a hundred purposes",
      () => [...Array(100).fill(purpose), file()],
      { code: "invalid_parameter", param: "purpose" },
    ],
    ["an empty file", () => [purpose, { ...file(), content: "" }], { code: "invalid_file", param: "file" }],
    [
      "text with an image's file name",
      () => [purpose, { ...file(), content: "text", type: "image/png" }],
      { code: "invalid_file", param: "file" },
    ],
  ])("with %s is rejected, and nothing is stored", async (_name, parts, { code, param }) => {
    const before = stage.listStored().length;
    expect(await readError(await sendForm(parts()))).toEqual({ status: 400, code, param });
    await expectNothingLeft(before);
  });

  test.each([1, 2, 5, 30, 5000])("that lacks its last %i bytes is rejected, and nothing is stored", async (cut) => {
    const before = stage.listStored().length;
    const response = await sendForm([purpose, file()], { cut: cut + 2 });
    expect(await readError(response)).toEqual({ status: 400, code: "malformed_request", param: "file" });
    await expectNothingLeft(before);
  });

  test.each([
    ["application/json", "{}"],
    ["text/plain", "x"],
    ["application/x-www-form-urlencoded", "purpose=generation"],
    ["image/png", "x"],
    ["multipart/mixed; boundary=x", "x"],
  ])("is not %s", async (type, body) => {
    const response = await stage.call("/files", { method: "POST", body, headers: { "content-type": type } });
    expect(await readError(response)).toEqual({ status: 415, code: "unsupported_media_type", param: "Content-Type" });
  });

  test("has a boundary, and is not compressed", async () => {
    const noBoundary = { "content-type": "multipart/form-data" };
    const bare = await stage.call("/files", { method: "POST", body: "x", headers: noBoundary });
    expect(await readError(bare)).toMatchObject({ status: 400, code: "malformed_request" });
    const headers = { "content-type": "multipart/form-data; boundary=x", "content-encoding": "gzip" };
    const packed = await stage.call("/files", { method: "POST", body: "x", headers });
    expect(await readError(packed)).toMatchObject({ status: 415, param: "Content-Encoding" });
    const empty = await stage.call("/files", { method: "POST" });
    expect(await readError(empty)).toMatchObject({ status: 415, param: "Content-Type" });
  });
});

describe("a file name", () => {
  test.each([
    ["../../etc/passwd", "passwd"],
    ["..\\\\..\\\\x.png", "x.png"],
    ["a\0b.png", "ab.png"],
    ["a\u202egnp.exe", "agnp.exe"],
    ["..", "file"],
    ["", "file"],
    ["猫.png", "猫.png"],
    [`${"a".repeat(300)}.png`, "a".repeat(255)],
    ["💧".repeat(300), "💧".repeat(255)],
  ])("such as %j is only a name", async (filename, kept) => {
    const response = await sendForm([purpose, { name: "file", filename, content: png }]);
    const { id, ...rest } = await readJson(response);
    expect(rest).toMatchObject({ filename: kept });
    const content = await stage.call(`/files/${id}/content`);
    await content.arrayBuffer();
    const encoded = /filename\*=UTF-8''(.*)$/.exec(content.headers.get("content-disposition") ?? "")?.[1] ?? "";
    expect(decodeURIComponent(encoded)).toBe(kept);
  });
});

describe("a file that is too large", () => {
  const { uploadBytesMax } = stageLimits;

  test("is rejected at the first byte over the limit, and not before", async () => {
    const before = stage.listStored().length;
    const exact = Buffer.concat([png, Buffer.alloc(uploadBytesMax - png.length)]);
    // At the maximum size it is read to the end, and then rejected as not an image.
    expect(await readError(await stage.upload(exact))).toMatchObject({ status: 400, code: "invalid_file" });
    const beyond = Buffer.concat([exact, Buffer.alloc(1)]);
    expect(await readError(await stage.upload(beyond))).toEqual({
      status: 413,
      code: "payload_too_large",
      param: "file",
    });
    await expectNothingLeft(before);
  });

  test("is rejected by its declared length, before any of it is sent", async () => {
    const wire = await openWire(stage.port);
    const headers = {
      authorization: `Bearer ${stage.accountId}`,
      "content-type": "multipart/form-data; boundary=x",
      "content-length": String(uploadBytesMax + 100_000),
    };
    wire.write(writeRequest("POST /v1/files HTTP/1.1", { headers }));
    expect((await wire.read("POST")).status).toBe(413);
    wire.hangUp();
  });
});

/** Starts an upload of an image; the test sends the rest. */
function beginUpload(sent: number): Socket {
  const body = writeForm([purpose, { name: "file", filename: "a.png", content: png }], "x");
  const head = [
    "POST /v1/files HTTP/1.1",
    "Host: x",
    `Authorization: Bearer ${stage.accountId}`,
    "Content-Type: multipart/form-data; boundary=x",
    `Content-Length: ${body.length}`,
  ];
  const socket = connect(stage.port, "127.0.0.1");
  socket.on("error", () => {});
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  socket.write(body.subarray(0, sent));
  return socket;
}

describe("a caller who disconnects", () => {
  test("in the middle of an upload leaves nothing behind", async () => {
    const before = stage.listStored().length;
    const socket = beginUpload(png.length / 2);
    await waitUntil("the first bytes", () => stage.listStored().length === before + 1);
    socket.destroy();
    await expectNothingLeft(before);
  });

  test("after an upload, before its response, leaves nothing behind without a key", async () => {
    const before = stage.listStored().length;
    const writing = Promise.withResolvers<void>();
    beforePut = async (signal) => {
      writing.resolve();
      await once(signal, "abort");
    };
    const caller = new AbortController();
    const response = stage.upload(png, { signal: caller.signal });
    await writing.promise;
    caller.abort();
    await expect(response).rejects.toThrow();
    await expectNothingLeft(before);
  });

  test("with a key gets the file on retry", async () => {
    const [writing, proceed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    beforePut = async () => {
      writing.resolve();
      await proceed.promise;
    };
    const caller = new AbortController();
    const response = stage.upload(png, { signal: caller.signal, key: "gone" });
    await writing.promise;
    caller.abort();
    await expect(response).rejects.toThrow();
    proceed.resolve();
    const again = await waitUntil("the first to be done", async () => {
      const answer = await stage.upload(png, { key: "gone" });
      return answer.status === 200 && answer;
    });
    expect(again.headers.get("idempotent-replayed")).toBe("true");
  });
});

test("a slow caller times out, and leaves nothing behind", async () => {
  await using hasty = await startFilesStage({ requestTimeoutMs: 400 });
  const socket = connect(hasty.port, "127.0.0.1");
  socket.on("error", () => {});
  const head = ["POST /v1/files HTTP/1.1", "Host: x", `Authorization: Bearer ${hasty.accountId}`];
  const form = ["Content-Type: multipart/form-data; boundary=x", "Content-Length: 100000", "", "--x"];
  const part = ['Content-Disposition: form-data; name="file"; filename="a.png"', "", "begin"];
  socket.write([...head, ...form, ...part].join("\r\n"));
  const received: Buffer[] = [];
  socket.on("data", (data) => received.push(Buffer.from(data)));
  await once(socket, "close");
  expect(Buffer.concat(received).toString()).toMatch(/^HTTP\/1.1 408 /);
  await waitUntil("the end of everything", () => hasty.listStored().length === 0);
});

test("an eleventh concurrent upload is rejected, and succeeds when one has ended", async () => {
  const proceed = Promise.withResolvers<void>();
  let writing = 0;
  beforePut = async () => {
    writing += 1;
    await proceed.promise;
  };
  const running = Array.from({ length: 10 }, () => stage.upload(png));
  await waitUntil("ten of them to be written", () => writing === 10);
  const refused = await stage.upload(png);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(await readError(refused)).toEqual({ status: 429, code: "concurrency_limit_exceeded", param: null });
  const elsewhere = stage.upload(png, { as: stage.otherAccountId });
  await waitUntil("that of another account to be written", () => writing === 11);
  proceed.resolve();
  expect((await Promise.all(running)).map(({ status }) => status)).toEqual(Array(10).fill(200));
  expect((await elsewhere).status).toBe(200);
  expect((await stage.upload(png)).status).toBe(200);
});

describe("a quota", () => {
  test("of files is never exceeded by concurrent uploads", async () => {
    await using small = await startFilesStage({ limits: { accountFilesMax: 5 } });
    const uploads = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const response = await small.upload(png);
        return response.status === 429 ? await retry(small) : response;
      }),
    );
    const statuses = uploads.map(({ status }) => status).toSorted();
    expect(statuses).toEqual([...Array(5).fill(200), ...Array(15).fill(413)]);
    expect(small.listStored()).toHaveLength(5);
    const refused = await small.upload(png);
    expect(await readError(refused)).toEqual({ status: 413, code: "payload_too_large", param: "file" });
    const { data } = await readJson(await small.call("/files"));
    expect((await small.call(`/files/${data[0]?.id}`, { method: "DELETE" })).status).toBe(200);
    expect((await small.upload(png)).status).toBe(200);
    expect((await small.upload(png, { as: small.otherAccountId })).status).toBe(200);
  });

  /** Stays below the separate limit of ten concurrent uploads. */
  async function retry(small: FilesStage): Promise<Response> {
    return await waitUntil("a place", async () => {
      const response = await small.upload(png);
      return response.status !== 429 && response;
    });
  }

  test("of bytes is exact to the byte", async () => {
    await using small = await startFilesStage({ limits: { accountBytesMax: png.length * 2 } });
    expect((await small.upload(png)).status).toBe(200);
    expect((await small.upload(png)).status).toBe(200);
    expect(await readError(await small.upload(png))).toMatchObject({ status: 413, param: "file" });
    await using smaller = await startFilesStage({ limits: { accountBytesMax: png.length * 2 - 1 } });
    expect((await smaller.upload(png)).status).toBe(200);
    expect(await readError(await smaller.upload(png))).toMatchObject({ status: 413, param: "file" });
    expect(smaller.listStored()).toHaveLength(1);
  });
});

describe("the quota of an account without money", () => {
  const refused = { status: 402, code: "insufficient_balance", param: "file" };

  test("is small, is never exceeded by concurrent uploads, and is lifted once there is money", async () => {
    let hasPaid = false;
    await using small = await startFilesStage({ isUnpaid: (id) => id === "acct_a" && !hasPaid });
    const answers = await Promise.all(Array.from({ length: 9 }, () => small.upload(png)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, ...Array(6).fill(402)]);
    expect(small.listStored()).toHaveLength(3);
    expect(await readError(await small.upload(png))).toEqual(refused);
    expect((await small.upload(png, { as: small.otherAccountId })).status).toBe(200);
    hasPaid = true;
    expect((await small.upload(png)).status).toBe(200);
  });

  test("counts neither deleted nor expired files, swept or not", async () => {
    await using small = await startFilesStage({ isUnpaid: () => true });
    for (const _file of [1, 2, 3]) expect((await small.upload(png)).status).toBe(200);
    expect(await readError(await small.upload(png))).toEqual(refused);
    const { data } = await readJson(await small.call("/files"));
    expect((await small.call(`/files/${data[0]?.id}`, { method: "DELETE" })).status).toBe(200);
    expect((await small.upload(png)).status).toBe(200);
    expect((await small.upload(png)).status).toBe(402);
    small.clock.advance(stageLimits.retentionMs);
    for (const _file of [1, 2, 3]) expect((await small.upload(png)).status).toBe(200);
    expect((await small.upload(png)).status).toBe(402);
  });

  test("is checked by the length before the body is sent, or at the first byte over it without a length", async () => {
    await using small = await startFilesStage({ isUnpaid: () => true, limits: { unpaidBytesMax: png.length * 2 } });
    const large = Buffer.alloc(512 * 1024);
    expect(await readError(await small.upload(large))).toEqual(refused);
    expect((await small.upload(png)).status).toBe(200);
    const boundary = "b";
    const head = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="x.png"\r\n\r\n`;
    const body = ReadableStream.from(
      (async function* () {
        yield Buffer.from(head);
        for (;;) yield Buffer.alloc(16 * 1024);
      })(),
    );
    const endless = await small.call("/files", {
      method: "POST",
      body,
      headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
      ...{ duplex: "half" },
    });
    expect(await readError(endless)).toEqual(refused);
    expect(small.listStored()).toHaveLength(1);
  });

  test("does not prevent a retry from getting the response of a stored upload", async () => {
    await using small = await startFilesStage({ isUnpaid: () => true, limits: { unpaidFilesMax: 1 } });
    const first = await small.upload(png, { key: "once" });
    const again = await small.upload(png, { key: "once" });
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect((await readJson(again)).id).toBe((await readJson(first)).id);
    expect(await readError(await small.upload(png, { key: "twice" }))).toEqual(refused);
  });
});

describe("an Idempotency-Key", () => {
  const file = (filename = "a.png"): Part => ({ name: "file", filename, content: png });

  test("makes the same upload the same file, whatever lies between its parts", async () => {
    const before = stage.listStored().length;
    const first = await sendForm([purpose, file()], { key: "same", boundary: "one" });
    const body = await first.text();
    expect([first.status, first.headers.get("idempotent-replayed")]).toEqual([200, null]);
    const again = await sendForm([file(), purpose], { key: "same", boundary: "another" });
    expect([again.status, again.headers.get("idempotent-replayed"), await again.text()]).toEqual([200, "true", body]);
    expect(again.headers.get("content-type")).toBe(first.headers.get("content-type"));
    await expectNothingLeft(before + 1);
  });

  test("belongs to one upload: another name or content conflicts", async () => {
    expect((await sendForm([purpose, file()], { key: "reused" })).status).toBe(200);
    const reused = { status: 422, code: "idempotency_key_reused", param: "Idempotency-Key" };
    expect(await readError(await sendForm([purpose, file("b.png")], { key: "reused" }))).toEqual(reused);
    const gif = { ...file(), content: await makeMedia("gif") };
    expect(await readError(await sendForm([purpose, gif], { key: "reused" }))).toEqual(reused);
  });

  test("of a deleted or expired file uploads again", async () => {
    const bytes = await makeMedia("png");
    const upload = async () => {
      const response = await stage.upload(bytes, { key: "deleted-1" });
      return [response.headers.get("idempotent-replayed"), (await readJson(response)).id] as const;
    };
    const [, first] = await upload();
    expect(await upload()).toEqual(["true", first]);
    await stage.call(`/files/${first}`, { method: "DELETE" });
    const [isReplayed, second] = await upload();
    expect([isReplayed, (await stage.call(`/files/${second}`)).status]).toEqual([null, 200]);
    expect(await upload()).toEqual(["true", second]);
    await stage.database.updateTable("files").set({ expires_at: stage.clock.now() }).where("id", "=", second).execute();
    expect((await upload())[0]).toBeNull();
  });

  test("can be reused after a rejected upload", async () => {
    const bad = { ...file(), content: "no picture" };
    expect(await readError(await sendForm([purpose, bad], { key: "freed" }))).toMatchObject({ code: "invalid_file" });
    expect((await sendForm([purpose, file()], { key: "freed" })).status).toBe(200);
  });

  test("whose first upload was presumed dead makes one file, the second one", async () => {
    const before = stage.listStored().length;
    const [writing, proceed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    beforePut = async () => {
      beforePut = async () => {};
      writing.resolve();
      await proceed.promise;
    };
    const first = stage.upload(png, { key: "believed-dead" });
    await writing.promise;
    stage.clock.advance(61_000);
    expect((await stage.upload(png, { key: "believed-dead" })).status).toBe(200);
    proceed.resolve();
    expect(await readError(await first)).toMatchObject({ status: 409, code: "idempotency_in_progress" });
    await expectNothingLeft(before + 1);
  });

  test("must be visible text", async () => {
    const response = await stage.upload(png, { key: "a b" });
    expect(await readError(response)).toEqual({ status: 400, code: "invalid_parameter", param: "Idempotency-Key" });
  });

  test("sent a hundred times at once makes one file", async () => {
    const before = stage.listStored().length;
    const answers = await Promise.all(
      Array.from({ length: 100 }, async () => {
        const response = await stage.upload(png, { key: "crowd" });
        return { status: response.status, body: await readJson(response) };
      }),
    );
    const ids = new Set(answers.filter(({ status }) => status === 200).map(({ body }) => body.id));
    expect(ids.size).toBe(1);
    expect(answers.every(({ status }) => [200, 409, 429].includes(status))).toBe(true);
    await expectNothingLeft(before + 1);
  });
});
