import { randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect } from "vitest";
import { createFiles, type FileLimits, type Files } from "../../../src/features/files/index.ts";
import {
  claimKey,
  forgetAnswer,
  freeKey,
  isKeyKnown,
  keepAnswer,
  lockClaim,
  parseIdempotencyKey,
  renewClaim,
} from "../../../src/features/idempotency/index.ts";
import type { Caller } from "../../../src/lib/caller.ts";
import { type AccountId, createIdSource, type IdSource } from "../../../src/lib/ids.ts";
import { standardLimits } from "../../../src/lib/limit-set.ts";
import { createMemoryCounters } from "../../../src/platform/counters/memory-counters.ts";
import { createDatabase, type Database } from "../../../src/platform/database/database.ts";
import { createHttpServer, type HttpServer } from "../../../src/platform/http/create-http-server.ts";
import { createImageReader } from "../../../src/platform/media/create-image-reader.ts";
import { createLogger } from "../../../src/platform/observability/logger.ts";
import type { ByteStore } from "../../../src/platform/storage/byte-store.ts";
import { createDiskStore } from "../../../src/platform/storage/create-disk-store.ts";
import { createSpool } from "../../../src/platform/storage/create-spool.ts";
import { dataParent } from "../data-parent.ts";
import { createAccounts } from "../ledger/ledger-process.ts";
import { createTestClock, type TestClock } from "../test-clock.ts";
import { createTestDatabase } from "../test-database.ts";

export type FilesStage = AsyncDisposable & {
  port: number;
  siteUrl: string;
  files: Files;
  database: Database;
  clock: TestClock;
  ids: IdSource;
  bytes: ByteStore;
  /** The errors that the feature reported. */
  troubles: unknown[];
  logs: Record<string, unknown>[];
  accountId: AccountId;
  otherAccountId: AccountId;
  /** Every file on the disk below the store and the spool. */
  listStored(): string[];
  /** Calls the API as an account. */
  call(path: string, options?: RequestInit & { as?: AccountId }): Promise<Response>;
  /** Uploads bytes as an account. */
  upload(bytes: Buffer, options?: UploadOptions): Promise<Response>;
};

type UploadOptions = {
  as?: AccountId;
  filename?: string;
  type?: string;
  key?: string;
  signal?: AbortSignal;
};

/** The fields that an answer may have; tests check which are present. */
type AnswerBody = {
  id: string;
  file_id: string;
  data: readonly { id: string }[];
  next_cursor: string | null;
  error: { message: string; type: string; param: string | null; code: string };
  request_id: string;
};

export async function readJson(response: Response): Promise<AnswerBody> {
  return (await response.json()) as AnswerBody;
}

/** The error of a response, after checking its schema. */
export async function readError(response: Response) {
  const { error, request_id: requestId } = await readJson(response);
  expect(requestId).toBe(response.headers.get("x-request-id"));
  expect(Object.keys(error)).toEqual(["message", "type", "param", "code"]);
  return { status: response.status, code: error.code, param: error.param };
}

const megabyte = 1024 * 1024;
const dayMs = 24 * 60 * 60 * 1000;

export const stageLimits: FileLimits = {
  uploadBytesMax: 2 * megabyte,
  outputBytesMax: 4 * megabyte,
  accountFilesMax: 1000,
  accountBytesMax: 100 * megabyte,
  unpaidFilesMax: 3,
  unpaidBytesMax: 1 * megabyte,
  retentionMs: 30 * dayMs,
};

type StageOptions = {
  limits?: Partial<FileLimits>;
  /** Accounts without money; all others have some. */
  isUnpaid?(accountId: AccountId): boolean;
  requestTimeoutMs?: number;
  /** Wraps the byte store, for faults between the feature and the disk. */
  wrapBytes?(bytes: ByteStore): ByteStore;
};

/** The feature behind a real socket, with a real database and disk. A bearer token is simply an account's id. */
export async function startFilesStage(options: StageOptions = {}): Promise<FilesStage> {
  const testDatabase = await createTestDatabase();
  const address = { connectionString: testDatabase.url };
  const database = createDatabase({ address, connectionsMax: 10, onConnectionError: () => {} });
  const [accountId = "acct_none", otherAccountId = "acct_none"] = await createAccounts(database, ["a", "b"]);
  const clock = createTestClock(new Date());
  const ids = createIdSource({ clock, randomBytes });
  const folder = mkdtempSync(join(dataParent, "sluice-files-"));
  const disk = await createDiskStore({ folder: join(folder, "store") });
  const bytes = options.wrapBytes?.(disk) ?? disk;
  const troubles: unknown[] = [];
  const onTrouble = (error: unknown): void => void troubles.push(error);
  const logs: Record<string, unknown>[] = [];
  const claimParts = { database, clock, validityMs: dayMs, releaseHold: async () => {} };
  const images = createImageReader();
  const files = createFiles({
    database,
    clock,
    ids,
    bytes,
    onTrouble,
    counters: createMemoryCounters({ clock }),
    images,
    spool: await createSpool({ folder: join(folder, "spool") }),
    limits: { ...stageLimits, ...options.limits },
    hasMoney: async (_database, accountId) => options.isUnpaid?.(accountId) !== true,
    linkKey: randomBytes(32),
    siteUrl: "https://files.example.com",
    keyedRequests: {
      parseKey: parseIdempotencyKey,
      isKeyKnown: (asked) => isKeyKnown({ database, clock }, asked),
      claimKey: (wanted) => claimKey(claimParts, { ...wanted, holdId: null }),
      renewClaim: (claim) => renewClaim({ database, clock, onTrouble }, claim),
      lockClaim,
      keepAnswer,
      freeKey: (claim) => freeKey(database, claim),
      forgetAnswer: (claim, answer) => forgetAnswer(database, claim, answer),
    },
  });
  const http = await createHttpServer({
    clock,
    ids,
    logger: createLogger({ level: "debug", format: "json", write: (line) => logs.push(JSON.parse(line)) }),
    limits: {
      bodyBytesMax: megabyte,
      json: { structureMax: 1000, escapesMax: 1000 },
      headerBytesMax: 16_384,
      headerTimeoutMs: 15_000,
      requestTimeoutMs: options.requestTimeoutMs ?? 60_000,
    },
    trustedProxies: [],
    async addRoutes(server) {
      files.addLinkRoutes(server);
      await server.register(
        async (v1: HttpServer) => {
          v1.addHook("onRequest", async (request) => {
            request.caller = createCaller(request.headers.authorization?.replace("Bearer ", "") as AccountId);
          });
          files.addRoutes(v1);
        },
        { prefix: "/v1" },
      );
    },
  });
  await http.listen({ port: 0, host: "127.0.0.1" });
  const { port } = http.server.address() as AddressInfo;
  const siteUrl = `http://127.0.0.1:${port}`;

  const call: FilesStage["call"] = (path, { as = accountId, headers, ...init } = {}) =>
    fetch(`${siteUrl}/v1${path}`, { ...init, headers: { authorization: `Bearer ${as}`, ...headers } });
  return {
    port,
    siteUrl,
    files,
    database,
    clock,
    ids,
    bytes,
    troubles,
    logs,
    accountId,
    otherAccountId,
    call,
    upload: (content, { as, filename = "file.bin", type = "", key, signal } = {}) => {
      const form = new FormData();
      form.append("purpose", "generation");
      form.append("file", new Blob([new Uint8Array(content)], { type }), filename);
      return call("/files", {
        method: "POST",
        body: form,
        headers: key === undefined ? {} : { "idempotency-key": key },
        ...(as === undefined ? {} : { as }),
        ...(signal === undefined ? {} : { signal }),
      });
    },
    listStored: () =>
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name)),
    async [Symbol.asyncDispose]() {
      http.server.closeAllConnections();
      await http.close();
      await images.close();
      await database.destroy();
      rmSync(folder, { recursive: true });
      await testDatabase.close();
    },
  };
}

function createCaller(accountId: AccountId): Caller {
  return {
    accountId,
    keyId: "key_test",
    lineageId: "key_test",
    planId: null,
    modelIds: null,
    budget: null,
    accountLimits: standardLimits,
    keyLimits: {},
    logsContent: false,
  };
}
