import fc from "fast-check";
import { expect, test } from "vitest";
import { unicodeText } from "../../../test/harness/unicode-text.ts";
import { nano } from "../../lib/money.ts";
import {
  allColumns,
  type BlockRecord,
  blockCallsMax,
  blockSpanMs,
  formBlocks,
  hashId,
  readBlock,
} from "./request-block.ts";
import { requestEndings } from "./request-record.ts";

const text = unicodeText({ maxLength: 40 });
const few = <T>(value: fc.Arbitrary<T>) => fc.option(value);
const tokens = few(fc.nat());

/** Records with values in every column, and with defaults. */
const record: fc.Arbitrary<BlockRecord> = fc.record({
  id: text,
  createdAt: fc.integer({ min: 0, max: blockSpanMs }).map((ms) => new Date(Date.UTC(2026, 10, 18) + ms)),
  accountId: fc.constant("acct_1" as const),
  keyId: fc.constantFrom("key_1" as const, "key_2" as const),
  clientRequestId: few(text),
  wire: few(fc.constantFrom("chat", "responses")),
  method: fc.constantFrom("POST", "GET"),
  route: few(text),
  model: few(text),
  status: fc.integer({ min: 100, max: 599 }),
  errorCode: few(text),
  ending: fc.constantFrom(...requestEndings),
  durationMs: fc.nat(),
  firstTokenMs: tokens,
  ...{ inputTokens: tokens, cachedInputTokens: tokens, cacheWriteTokens: tokens, outputTokens: tokens },
  ...{ reasoningTokens: tokens, audioInputTokens: tokens, audioOutputTokens: tokens },
  charge: few(fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }).map(nano)),
  chargeId: few(text),
  taskId: few(text),
  userAgent: few(text),
  isReplayed: fc.boolean(),
  upstream: few(text),
  upstreamRequestId: few(text),
  failedAttempts: fc.array(
    fc.record({
      ...{ upstream: text, kind: fc.constant("timeout" as const), status: few(fc.nat()) },
      ...{ durationMs: fc.nat(), words: few(text), upstreamRequestId: few(text) },
    }) as never,
    { maxLength: 2 },
  ),
  error: few(fc.record({ message: text, param: few(text) })),
  isAmendment: fc.boolean(),
});

const read = (body: Buffer) => readBlock(body, allColumns).map((one) => ({ ...one, accountId: "acct_1" }));
const byTime = (a: BlockRecord, b: BlockRecord) => a.createdAt.getTime() - b.createdAt.getTime();

test("a block returns the calls it was made of, compressed or not", () => {
  const isCompressed = new Set<boolean>();
  fc.assert(
    fc.property(fc.array(record, { minLength: 1, maxLength: 40 }), (records) => {
      const [block, ...others] = formBlocks("acct_1", records);
      expect(others).toEqual([]);
      const body = block?.body ?? Buffer.of();
      isCompressed.add(body[0] === 0x28);
      expect(read(body)).toEqual(records.toSorted(byTime));
    }),
  );
  expect(isCompressed).toEqual(new Set([true, false]));
});

test("a block states its period, its number of calls and the values that occur in it", () => {
  const [first, second] = fc.sample(record, 2).toSorted(byTime);
  if (first === undefined || second === undefined) throw new Error("no sample");
  const same = { keyId: "key_1", wire: "chat", model: "a", errorCode: null, clientRequestId: null } as const;
  const ids = { upstreamRequestId: "req_1", failedAttempts: [] };
  const [block] = formBlocks("acct_1", [
    { ...second, ...same, ...ids, status: 404, errorCode: "not_found", isAmendment: true },
    { ...first, ...same, ...ids, clientRequestId: "mine", status: 200, model: null, isAmendment: false },
  ]);
  expect(block).toMatchObject({ firstAt: first.createdAt, lastAt: second.createdAt, calls: 1 });
  expect(block?.contains).toEqual({
    ...{ keyIds: ["key_1"], wires: ["chat"], models: ["a"], errorCodes: ["not_found"] },
    idHashes: [hashId("mine"), hashId("req_1")],
    statuses: [200, 404],
  });
});

test("no block has more calls or a longer period than allowed", () => {
  const [sample] = fc.sample(record, 1);
  if (sample === undefined) throw new Error("no sample");
  const at = (ms: number) => ({ ...sample, createdAt: new Date(ms) });
  const crowd = Array.from({ length: blockCallsMax + 1 }, (_, index) => at(index));
  const periods = (records: BlockRecord[]) =>
    formBlocks("acct_1", records).map(({ firstAt, lastAt }) => [firstAt.getTime(), lastAt.getTime()]);
  expect(periods(crowd.toReversed())).toEqual([
    [0, blockCallsMax - 1],
    [blockCallsMax, blockCallsMax],
  ]);
  expect(periods([at(blockSpanMs * 2), at(0), at(blockSpanMs)])).toEqual([
    [0, blockSpanMs],
    [blockSpanMs * 2, blockSpanMs * 2],
  ]);
});

test("columns of other versions are skipped, and missing ones have their default", () => {
  const body = Buffer.from('2\nid:["req_1","req_2"]\ninvented:[1,2]\nstatus=204');
  expect(readBlock(body, ["id", "status", "model", "isReplayed", "charge"])).toEqual([
    { id: "req_1", status: 204, model: null, isReplayed: false, charge: null },
    { id: "req_2", status: 204, model: null, isReplayed: false, charge: null },
  ]);
});
