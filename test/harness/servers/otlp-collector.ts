import type { ServerResponse } from "node:http";
import { waitUntil } from "../wait-until.ts";
import { type RecordedRequest, startRecordingServer } from "./recording-server.ts";

export type CollectedSpan = {
  traceId: string;
  spanId: string;
  parentSpanId: string;
  name: string;
  kind: "internal" | "server" | "client" | "producer" | "consumer";
  startedNs: bigint;
  endedNs: bigint;
  attributes: Record<string, unknown>;
  events: { name: string; timeNs: bigint }[];
  links: { traceId: string; spanId: string }[];
  isError: boolean;
  /** The attributes of the process that sent it. */
  resource: Record<string, unknown>;
};

type CollectedPoint = { metric: string; attributes: Record<string, unknown>; value: number; buckets: number[] };

export type OtlpCollector = AsyncDisposable & {
  url: string;
  requests: readonly RecordedRequest[];
  spans(): CollectedSpan[];
  /** All points of all metrics, the latest at the end. */
  points(): CollectedPoint[];
  /** The first matching span, once it exists. */
  waitForSpan(fits: (span: CollectedSpan) => boolean): Promise<CollectedSpan>;
  /** Sets how requests are answered from now on; by default they are accepted. */
  answer(how?: (response: ServerResponse) => void): void;
};

/** An OTLP/HTTP collector for protobuf, decoded here by the published field numbers. */
export async function startOtlpCollector(): Promise<OtlpCollector> {
  const takeAll = (response: ServerResponse): void => void response.writeHead(200).end();
  let answer = takeAll;
  const taken: RecordedRequest[] = [];
  const server = await startRecordingServer((request, response) => {
    if (answer === takeAll) taken.push(request);
    answer(response);
  });
  const listBodies = (path: string): Buffer[] => taken.filter((one) => one.path === path).map(({ body }) => body);
  const spans = (): CollectedSpan[] => listBodies("/v1/traces").flatMap(decodeSpans);
  return {
    url: server.url,
    requests: server.requests,
    spans,
    points: () => listBodies("/v1/metrics").flatMap(decodePoints),
    waitForSpan: (fits) => waitUntil("a span to be exported", () => spans().find(fits)),
    answer(how = takeAll) {
      answer = how;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

type Field = { number: number; value: bigint | Buffer };

/** The fields of a protobuf message, in order: integers as they are, everything else as bytes. */
function* readFields(bytes: Buffer): Generator<Field, void, undefined> {
  let at = 0;
  const readVarint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes.readUInt8(at++);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const take = (count: number): Buffer => {
    at += count;
    return bytes.subarray(at - count, at);
  };
  while (at < bytes.length) {
    const tag = readVarint();
    const number = Number(tag >> 3n);
    switch (Number(tag & 7n)) {
      case 0:
        yield { number, value: readVarint() };
        break;
      case 1:
        yield { number, value: take(8) };
        break;
      case 2:
        yield { number, value: take(Number(readVarint())) };
        break;
      case 5:
        yield { number, value: take(4) };
        break;
      default:
        throw new Error("This is no protobuf.");
    }
  }
}

function list(bytes: Buffer, number: number): Buffer[] {
  return [...readFields(bytes)].flatMap((field) =>
    field.number === number && typeof field.value !== "bigint" ? [field.value] : [],
  );
}

function first(bytes: Buffer, number: number): Buffer {
  return list(bytes, number)[0] ?? Buffer.alloc(0);
}

function firstNumber(bytes: Buffer, number: number): number {
  const field = [...readFields(bytes)].find((one) => one.number === number);
  return typeof field?.value === "bigint" ? Number(field.value) : 0;
}

function decodeSpans(body: Buffer): CollectedSpan[] {
  return list(body, 1).flatMap((resourceSpans) => {
    const resource = decodeAttributes(list(first(resourceSpans, 1), 1));
    return list(resourceSpans, 2).flatMap((scopeSpans) =>
      list(scopeSpans, 2).map((span) => ({ ...decodeSpan(span), resource })),
    );
  });
}

function decodePoints(body: Buffer): CollectedPoint[] {
  const metrics = list(body, 1).flatMap((one) => list(one, 2).flatMap((scope) => list(scope, 2)));
  return metrics.flatMap((metric) => {
    const name = first(metric, 1).toString();
    const values = [5, 7].flatMap((kind) => list(first(metric, kind), 1)).map((point) => decodeNumber(point));
    const histograms = list(first(metric, 9), 1).map((point) => decodeHistogram(point));
    return [...values, ...histograms].map((point) => ({ metric: name, ...point }));
  });
}

function decodeNumber(point: Buffer): Omit<CollectedPoint, "metric"> {
  return { attributes: decodeAttributes(list(point, 7)), value: first(point, 4).readDoubleLE(), buckets: [] };
}

/** Its value is the count of observations. */
function decodeHistogram(point: Buffer): Omit<CollectedPoint, "metric"> {
  const counts = first(point, 6);
  const buckets = Array.from({ length: counts.length / 8 }, (_, index) => Number(counts.readBigUInt64LE(index * 8)));
  return { attributes: decodeAttributes(list(point, 9)), value: Number(first(point, 4).readBigUInt64LE()), buckets };
}

const kindNames = ["internal", "internal", "server", "client", "producer", "consumer"] as const;
const errorCode = 2;

function decodeSpan(span: Buffer): Omit<CollectedSpan, "resource"> {
  return {
    traceId: first(span, 1).toString("hex"),
    spanId: first(span, 2).toString("hex"),
    parentSpanId: first(span, 4).toString("hex"),
    name: first(span, 5).toString(),
    kind: kindNames[firstNumber(span, 6)] ?? "internal",
    startedNs: first(span, 7).readBigUInt64LE(),
    endedNs: first(span, 8).readBigUInt64LE(),
    attributes: decodeAttributes(list(span, 9)),
    events: list(span, 11).map((event) => ({
      name: first(event, 2).toString(),
      timeNs: first(event, 1).readBigUInt64LE(),
    })),
    links: list(span, 13).map((link) => ({
      traceId: first(link, 1).toString("hex"),
      spanId: first(link, 2).toString("hex"),
    })),
    isError: firstNumber(first(span, 15), 3) === errorCode,
  };
}

function decodeAttributes(attributes: readonly Buffer[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map((one) => [first(one, 1).toString(), decodeValue(first(one, 2))]));
}

function decodeValue(bytes: Buffer): unknown {
  const [field] = readFields(bytes);
  if (field === undefined) return null;
  const { number, value } = field;
  if (typeof value === "bigint") return number === 2 ? value === 1n : Number(value);
  if (number === 4) return value.readDoubleLE();
  return number === 5 ? list(value, 1).map(decodeValue) : value.toString();
}
